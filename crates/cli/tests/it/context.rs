//! `sequester context`.

use std::fs;

use serde_json::Value;

use crate::command::{Bench, FILES, PLAN, shop};

#[test]
fn every_byte_is_accounted_for_and_says_why_it_is_there() {
    let (bench, plan) = shop();
    let context = bench.run(&["context", &plan, "b", "--json"]).json();
    assert_eq!(context["task"], "b");
    assert_eq!(context["agent"], "writer");
    for part in ["system", "prompt"] {
        let text = context[part].as_str().unwrap();
        let rows = context["fragments"].as_array().unwrap();
        let mut at = 0;
        for row in rows.iter().filter(|row| row["part"] == part) {
            assert_eq!(row["start"], at, "{row}");
            at = row["end"].as_u64().unwrap();
            for key in ["kind", "source", "rule", "tokens", "form"] {
                assert!(!row[key].is_null(), "{key} in {row}");
            }
        }
        assert_eq!(at as usize, text.len());
    }
}

#[test]
fn only_the_tasks_own_text_of_the_plan_is_shown() {
    let (bench, plan) = shop();
    for (id, own) in [("a", "A-CANARY"), ("b", "B-CANARY"), ("c", "C-CANARY")] {
        let out = bench.run(&["context", &plan, id]).out;
        for mark in ["A-CANARY", "B-CANARY", "C-CANARY", "PROSE-CANARY"] {
            assert_eq!(out.contains(mark), mark == own, "{mark} in the context of {id}");
        }
    }
}

#[test]
fn the_plan_stays_unseen_wherever_it_lies_in_the_repository() {
    for place in ["plan.md", "docs/plans/reset.md", "src/mail_notes.md", ".github/plan.md"] {
        let bench = Bench::with(&FILES);
        bench.write(place, PLAN);
        bench.write("docs/copy of the plan.md", PLAN);
        bench.commit("plan");
        bench.write(place, PLAN.replace("hour", "day"));
        for dirty in [false, true] {
            let mut arguments = vec!["context", place, "b"];
            arguments.extend(dirty.then_some("--include-dirty"));
            let answer = bench.run(&arguments);
            assert_eq!(answer.code, Some(0), "{answer:?}");
            let name = place.rsplit('/').next().unwrap();
            for mark in ["A-CANARY", "C-CANARY", "PROSE-CANARY", name] {
                assert!(!answer.out.contains(mark), "{mark} with the plan in {place}");
            }
        }
    }
}

#[test]
fn ignored_files_secret_files_and_our_own_folder_never_enter() {
    let bench = Bench::with(&FILES);
    bench.write(".gitignore", "ignored/\n");
    bench.write("ignored/mail.rs", "// send token mail IGNORED-CANARY\n");
    bench.write(".env", "MAIL_TOKEN=SECRET-CANARY\n");
    bench.write(".sequester/notes.md", "send token mail FOLDER-CANARY\n");
    bench.write("plan.md", PLAN);
    bench.git(&["add", "--force", ".env", ".sequester"]);
    bench.commit("more");
    for arguments in
        [&["context", "plan.md", "b"][..], &["context", "plan.md", "b", "--include-dirty"]]
    {
        let out = bench.run(arguments).out;
        for mark in ["IGNORED-CANARY", "SECRET-CANARY", "FOLDER-CANARY", ".env", ".sequester"] {
            assert!(!out.contains(mark), "{mark} in\n{out}");
        }
    }
}

#[test]
fn secrets_in_admitted_files_are_redacted_and_said() {
    let bench = Bench::with(&FILES);
    let token = format!("gh{}_{}", "p", "k7Qz2LmX9vB4nR8tY1wC5pD3hJ6gF0sAeUiO");
    bench.write("src/mail.rs", format!("const KEY: &str = \"{token}\";\npub fn send() {{}}\n"));
    bench.write("plan.md", PLAN);
    bench.commit("secret");
    let context = bench.run(&["context", "plan.md", "b", "--json"]).json();
    assert!(!context.to_string().contains(&token));
    let row = find(&context, "src/mail.rs");
    assert_eq!(row["redacted"].as_array().unwrap().len(), 1, "{row}");
}

fn find<'a>(context: &'a Value, source: &str) -> &'a Value {
    let rows = context["fragments"].as_array().unwrap();
    rows.iter().find(|row| row["source"] == source).unwrap_or_else(|| panic!("no row of {source}"))
}

#[test]
fn the_same_input_gives_the_same_bytes_in_every_locale_and_time_zone() {
    let (bench, plan) = shop();
    let arguments = ["context", plan.as_str(), "b", "--json"];
    let first = bench.run(&arguments).out;
    for environment in [
        [("LC_ALL", "tr_TR.UTF-8"), ("TZ", "Asia/Kolkata")],
        [("LANG", "de_DE.UTF-8"), ("TZ", "America/St_Johns")],
        [("LC_ALL", "C"), ("XDG_CACHE_HOME", "/nonexistent")],
    ] {
        assert_eq!(bench.run_in(&bench.repo(), &arguments, &environment).out, first);
    }
}

#[test]
fn the_order_in_which_files_were_made_does_not_matter() {
    let one = Bench::plain();
    let two = Bench::plain();
    for (path, text) in FILES {
        one.write(path, text);
    }
    for (path, text) in FILES.iter().rev() {
        two.write(path, text);
    }
    let contexts: Vec<String> = [&one, &two]
        .iter()
        .map(|bench| {
            fs::write(bench.path("plan.md"), PLAN).unwrap();
            bench.run(&["context", "../plan.md", "b"]).out
        })
        .collect();
    assert!(contexts[0].contains("B-CANARY"));
    assert_eq!(contexts[0], contexts[1]);
}

#[test]
fn a_file_that_a_need_creates_is_not_there_yet() {
    let bench = Bench::with(&FILES);
    let plan = PLAN.replace("modify: [src/mail.rs]", "modify: [src/mail.rs, src/token.rs]");
    fs::write(bench.path("plan.md"), plan).unwrap();
    let context = bench.run(&["context", "../plan.md", "b", "--json"]).json();
    assert_eq!(find(&context, "src/token.rs")["form"], "not there yet");
}

#[test]
fn two_contexts_share_the_prefix_and_not_their_texts() {
    let (bench, plan) = shop();
    let difference = bench.run(&["context", &plan, "a", "--diff", "c", "--json"]).json();
    let kinds = |list: &str| -> Vec<String> {
        difference[list].as_array().unwrap().iter().map(|row| row["kind"].to_string()).collect()
    };
    assert!(kinds("shared").contains(&"\"agent\"".to_owned()));
    assert!(!kinds("shared").contains(&"\"task\"".to_owned()));
    assert!(kinds("only_task").contains(&"\"task\"".to_owned()));
    assert!(kinds("only_other").contains(&"\"task\"".to_owned()));
    assert!(bench.run(&["context", &plan, "a", "--diff", "c"]).out.contains("only c"));
}

#[test]
fn the_arguments_of_a_task_call_carry_the_whole_context() {
    let (bench, plan) = shop();
    let call = bench.run(&["context", &plan, "b", "--task-call", "--agent", "Explore"]).json();
    assert_eq!(call["subagent_type"], "Explore");
    assert_eq!(call["description"], "b: Send the mail");
    let text = bench.run(&["context", &plan, "b", "--agent", "Explore"]).out;
    let own = |text: &str| text.split("# What to report").next().unwrap().to_owned();
    let prompt = call["prompt"].as_str().unwrap();
    assert_eq!(own(prompt), own(&text));
    assert!(prompt.contains("there is no `report`") && !text.contains("there is no `report`"));
}

#[test]
fn the_manifest_names_what_was_admitted_and_withheld() {
    let (bench, plan) = shop();
    let out = bench.run(&["context", &plan, "b", "--manifest"]).out;
    for expected in
        ["src/mail.rs: named by the plan for this task", "withheld", "2 others of the plan"]
    {
        assert!(out.contains(expected), "{expected:?} is missing in\n{out}");
    }
}

#[test]
fn a_named_file_that_cannot_be_shown_is_still_spoken_of() {
    let bench = Bench::with(&FILES);
    bench.write("src/mail.rs", vec![b'x'; 9 << 20]);
    bench.write("logo.bin", b"\0\x01\x02");
    bench.commit("large");
    let plan = PLAN.replace("modify: [src/mail.rs]", "modify: [src/mail.rs, logo.bin]");
    fs::write(bench.path("plan.md"), plan).unwrap();
    let context = bench.run(&["context", "../plan.md", "b", "--json"]).json();
    for source in ["src/mail.rs", "logo.bin"] {
        assert_eq!(find(&context, source)["form"], "path");
    }
    let prompt = context["prompt"].as_str().unwrap();
    assert!(prompt.contains("Not shown: it is larger than any file that is read."), "{prompt}");
    assert!(prompt.contains("Not shown: it is not text."), "{prompt}");
}

#[test]
fn the_subagent_is_told_what_it_may_write() {
    let (bench, plan) = shop();
    let prompt = bench.run(&["context", &plan, "a"]).out;
    assert!(prompt.contains("- create `src/token.rs`\n- modify `src/lib.rs`\n"), "{prompt}");
}

#[test]
fn a_secret_in_a_heading_is_redacted_wherever_the_heading_goes() {
    let bench = Bench::with(&FILES);
    let token = format!("gh{}_{}", "p", "k7Qz2LmX9vB4nR8tY1wC5pD3hJ6gF0sAeUiO");
    bench.write("plan.md", PLAN.replace("Send the mail", &format!("Send {token}")));
    for flag in ["--json", "--task-call", "--manifest"] {
        let answer = bench.run(&["context", "plan.md", "b", flag]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(!answer.out.contains(&token), "{flag}: {}", answer.out);
    }
}

#[test]
fn only_the_files_that_were_granted_are_named() {
    let bench = Bench::with(&FILES);
    for at in 0..30 {
        bench.write(&format!("lib/deep/NAMECANARY{at}.txt"), "nothing in common\n");
    }
    bench.commit("more");
    fs::write(bench.path("plan.md"), PLAN).unwrap();
    let out = bench.run(&["context", "../plan.md", "b"]).out;
    assert!(!out.contains("NAMECANARY"), "{out}");
}

#[test]
fn the_survey_takes_no_part_of_a_secret() {
    let bench = Bench::with(&FILES);
    let token = format!("gh{}_{}", "p", "k7Qz2LmX9vB4nR8tY1wC5pD3hJ6gF0sAeUiO");
    // In another encoding than UTF-8, and where a long line is cut.
    let mut rules = b"# R\xe8gles\n\n- Always ".to_vec();
    rules.extend("keep to the rules of the house and ".repeat(6).bytes());
    rules.extend(format!("{token} and more words after it\n- Use tabs.\n").bytes());
    bench.write("AGENTS.md", rules);
    let fence = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
    let key = [
        "MIIEowIBAAKCAQEA7bq3Zk9vX2LmQ8tY1wC5pD3hJ6gF0sAeUiOk7Qz2LmX9vB4n",
        "R8tY1wC5pD3hJ6gF0sAeUiOk7Qz2LmX9vB4nMIIEowIBAAKCAQEA7bq3Zk9vX2Lm",
        "Q8tY1wC5pD3hJ6gF0sAeUiOk7Qz2LmX9vB4nR8tY1wC5pD3hJ6gF0sAeUiOk7Qz2",
    ];
    let lines = key.join("\n- ");
    let rules = format!("# Rules\n\n- {}\n- {lines}\n- {}\n", fence("BEGIN"), fence("END"));
    bench.write("CLAUDE.md", rules);
    bench.commit("rules");
    fs::write(bench.path("plan.md"), PLAN).unwrap();
    let out = bench.run(&["context", "../plan.md", "b"]).out;
    assert!(out.contains("Use tabs."), "{out}");
    for part in [&token[4..16], key[0], key[1], key[2]] {
        assert!(!out.contains(part), "{part} in\n{out}");
    }
}

/// A file of so many functions, a line each.
fn functions(count: usize) -> String {
    let lines: Vec<_> =
        (0..count).map(|at| format!("pub fn part_{at}() -> usize {{ {at} }}\n")).collect();
    lines.concat()
}

#[test]
fn a_profile_that_lowers_a_limit_shows_the_same_bytes_before_a_run_and_in_it() {
    let large = functions(2_000);
    let bench = Bench::with(&[("src/large.rs", large.as_str())]);
    bench.write(
        ".sequester/profiles/small.yaml",
        "name: small\nextends: writer\nlimits: {file: 300}\n",
    );
    bench.commit("a profile");
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Shop\n\n## [a] Read it\n\n```task\nprofile: small\n\
        files: {read: [src/large.rs], create: [a.txt]}\n```\n\nCreate `a.txt`:\n\n```\nhello\n```\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let before = bench.run(&["context", &plan, "a"]).out;
    assert!(before.len() < 20_000, "{}", before.len());
    let answer = bench.run(&["run", &plan, "--model", "literal", "--no-checks"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = bench.run(&["show", "--json"]).json()["run"].as_str().unwrap().to_owned();
    assert_eq!(bench.run(&["context", "--run", &run, "a"]).out, before);
}

#[test]
fn a_named_file_of_more_than_a_mebibyte_is_shown_by_its_outline() {
    let large = functions(40_000);
    assert!(large.len() > 1 << 20);
    let bench = Bench::with(&[("src/large.rs", large.as_str())]);
    let plan = "---\nsequester: 1\n---\n# Shop\n\n## [a] Mend it\n\n```task\nfiles: {modify: [src/large.rs]}\n```\n\n\
        Change `part_39999` to return 1.\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let context = bench.run(&["context", &plan, "a"]).out;
    assert!(context.contains("fn part_39999"), "{}", &context[..context.len().min(4_000)]);
}

#[test]
fn what_an_attempt_hands_on_and_a_plan_have_limits_that_can_be_set() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let set = [("summary", 200), ("backpack", 100), ("report", 9_000), ("notes_file", 4_096)];
    let set: Vec<String> =
        set.iter().map(|(name, value)| format!("limits.{name} = \"{value}\"\n")).collect();
    bench.write("sequester.toml", &(set.concat() + "jobs = 3\n"));
    let limits = bench.run(&["doctor", "--no-checks", "--json"]).json()["limits"].clone();
    let found = ["summary", "backpack", "report", "notes_file", "plan", "jobs"]
        .map(|name| limits[name].as_u64());
    assert_eq!(found, [200, 100, 9_000, 4_096, 32 << 20, 3].map(Some));
    let plan =
        "---\nsequester: 1\n---\n# Shop\n\n## [a] Mend it\n\nChange `a.txt` as you see fit.\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let context = bench.run(&["context", &plan, "a"]);
    assert!(context.out.contains("a summary of at most 200 tokens"), "{context:?}");
    bench.write("sequester.toml", "limits.plan = \"50\"\n");
    let refused = bench.run(&["plan", &plan]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.out.contains("50 bytes"), "{refused:?}");
}

#[test]
fn a_copy_of_the_plan_is_in_no_context_whatever_its_name() {
    let bench = Bench::with(&[("src/token.rs", "pub fn token() {}\n")]);
    let plan = "---\nsequester: 1\n---\n# Shop\n\n## [a] Add tokens\n\nAdd expiry to `src/token.rs`, with the words of the shop.\n\n\
        ## [b] Add mails\n\nThe mails of the shop have expiry and the word zebra.\n";
    for name in [
        "plan.md.orig",
        "plan.bak",
        "docs/kept.txt",
        "docs/PLAN",
        "docs/plan.adoc",
        "docs/plan.mdx",
        "vendor.bin",
    ] {
        bench.write(name, plan);
    }
    bench.commit("copies");
    fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let context = bench.run(&["context", &plan, "a"]).out;
    assert!(context.contains("expiry") && !context.contains("zebra"), "{context}");
}
