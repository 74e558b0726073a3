use super::super::{Options, Parsed, parse};
use super::*;

const PLAN: &str = "---\nphase: 04-links\nplan: 02\ndepends_on: [\"04-01\"]\nmust_haves:\n  truths:\n    - \"Links end\"\n---\n\n<objective>\nLinks that end.\n</objective>\n\n<context>\n@src/store.rs\nTimes are seconds.\n</context>\n\n<tasks>\n\n<task type=\"auto\">\n  <name>Task 1: Keep the end</name>\n  <files>src/store.rs, `src/link.rs` (new)</files>\n  <action>\n  Write it:\n  ```xml\n  <task type=\"auto\">\n  </task>\n  ```\n  </action>\n  <done>It is kept</done>\n</task>\n\n<task type=\"checkpoint:decision\" gate=\"blocking\">\n  <decision>Which answer?</decision>\n  <options>\n    <option id=\"a\"><name>410</name></option>\n    <option id=\"b\"><name>404</name></option>\n  </options>\n</task>\n\n<task type=\"auto\">\n  <name>Task 3: Refuse it</name>\n  <files>src/api.rs</files>\n  <action>Answer it.</action>\n</task>\n\n</tasks>\n";

fn read_text(source: &str) -> Parsed {
    parse(source.as_bytes(), &Options::default())
}

fn rows(parsed: &Parsed) -> Vec<String> {
    let row = |task: &Task| {
        let needs: Vec<&str> = task.needs.iter().map(|need| need.id.as_str()).collect();
        let files: Vec<&str> = task.files.iter().map(|file| file.path.as_str()).collect();
        let done = if task.done { " done" } else { "" };
        format!("{}: {} <- {} [{}]{done}", task.id, task.title, needs.join(" "), files.join(" "))
    };
    parsed.plan.tasks.iter().map(row).collect()
}

/// The warnings with their lines.
fn codes(parsed: &Parsed) -> Vec<(Code, u32)> {
    parsed.warnings.iter().map(|warning| (warning.code, warning.place.line)).collect()
}

#[test]
fn one_plan_is_its_tasks_in_order_and_a_checkpoint_asks() {
    let parsed = read_text(PLAN);
    assert_eq!((&parsed.faults, codes(&parsed)), (&vec![], vec![(Code::UnknownNeed, 1)]));
    assert_eq!(
        rows(&parsed),
        [
            "04-02.1: Keep the end <-  [src/store.rs src/link.rs]",
            "04-02.2: Which answer? <- 04-02.1 []",
            "04-02.3: Refuse it <- 04-02.2 [src/api.rs]",
        ]
    );
    let plan = &parsed.plan;
    assert_eq!((plan.format, plan.title.as_str()), (Format::Gsd, "04-02 (04-links)"));
    assert_eq!(plan.goal.as_deref(), Some("Links that end."));
    assert_eq!(plan.tasks[1].text, "Ask: Which answer?\n\n- 410\n- 404\n");
    assert_eq!(plan.tasks[1].settings.model.as_deref(), Some("literal"));
    let first = &plan.tasks[0];
    assert!(first.files_declared && first.text.contains("</task>\n  ```"), "{}", first.text);
    assert_eq!(
        first.parents[0].text,
        "Links that end.\n\nTimes are seconds.\n\nWhen the plan is done:\n- Links end"
    );
}

#[test]
fn a_phase_directory_is_one_plan_in_the_order_of_its_dependencies() {
    let plan = |file_name: &str, front: &str, done: bool| PhasePlan {
        file_name: file_name.to_owned(),
        text: format!(
            "---\nphase: 04-links\n{front}\n---\n<tasks>\n<task type=\"auto\">\n<name>Do</name>\n<action>x</action>\n</task>\n<task type=\"auto\">\n<name>Do more</name>\n</task>\n</tasks>"
        ),
        done,
    };
    let joined = join_phase(vec![
        plan("04-03-PLAN.md", "plan: 03\ndepends_on: [04-01-PLAN.md, \"02\", 03-07]", false),
        plan("04-01-PLAN.md", "plan: 01\ndepends_on: []", true),
        plan("04-02-PLAN.md", "plan: 02\ndepends_on: [\"04-04\"]", false),
        plan("04-04-PLAN.md", "plan: 04", false),
        plan("04-05-PLAN.md", "plan: 05\nstatus: superseded", false),
    ]);
    let parsed = read_text(&joined);
    assert_eq!((&parsed.faults, codes(&parsed)), (&vec![], vec![(Code::UnknownNeed, 32)]));
    assert!(
        parsed.warnings[0]
            .message
            .starts_with("In `04-03-PLAN.md`, line 1: The plan depends on the plan `03-07`")
    );
    assert_eq!(
        rows(&parsed),
        [
            "04-01.1: Do <-  [] done",
            "04-01.2: Do more <- 04-01.1 [] done",
            "04-02.1: Do <- 04-04.2 []",
            "04-02.2: Do more <- 04-02.1 []",
            "04-03.1: Do <- 04-01.2 04-02.2 []",
            "04-03.2: Do more <- 04-03.1 []",
            "04-04.1: Do <-  []",
            "04-04.2: Do more <- 04-04.1 []",
        ]
    );
    assert!(parsed.plan.aside[0].why.starts_with("The plan is superseded."));
}

#[test]
fn a_task_that_is_not_closed_ends_at_the_next_with_a_warning() {
    let source = "<task type=\"auto\">\n<name>One</name>\n<action>x</action>\n\n<task type=\"auto\">\n<name>Two</name>\n</task>\n";
    let parsed = read_text(source);
    assert_eq!(rows(&parsed), ["1: One <-  []", "2: Two <- 1 []"]);
    assert_eq!(parsed.warnings.len(), 1, "{:?}", parsed.warnings);
    let empty = read_text("<task type=\"auto\">\n<name></name>\n</task>\n<task>\n</task>\n");
    assert_eq!(empty.faults[0].code, Code::EmptyTask, "{empty:?}");
}

#[test]
fn front_matter_that_is_no_yaml_is_a_warning() {
    let parsed = read_text("---\nphase: [\n---\n<task>\n<name>One</name>\n</task>\n");
    assert_eq!((rows(&parsed), parsed.warnings.len()), (vec!["1: One <-  []".to_owned()], 1));
}

/// A phase directory with a file for each front matter; those without words have no task.
fn phase(plans: &[(&str, &str, &str)]) -> Parsed {
    let plan = |(file_name, front, work): &(&str, &str, &str)| PhasePlan {
        file_name: (*file_name).to_owned(),
        text: if work.is_empty() {
            format!("---\n{front}\n---\nWords.\n")
        } else {
            format!("---\n{front}\n---\n<task type=\"auto\">\n<name>{work}</name>\n</task>\n")
        },
        done: false,
    };
    let parsed = read_text(&join_phase(plans.iter().map(plan).collect()));
    let (_, faults) = crate::graph::TaskGraph::new(&parsed.plan);
    assert_eq!((&parsed.faults, faults), (&vec![], vec![]));
    parsed
}

#[test]
fn a_need_on_a_plan_that_is_superseded_or_has_no_task_is_met() {
    let parsed = phase(&[
        ("04-01-PLAN.md", "phase: 04\nplan: 01\nstatus: superseded", "Old"),
        ("04-02-PLAN.md", "phase: 04\nplan: 02", ""),
        ("04-03-PLAN.md", "phase: 04\nplan: 03\ndepends_on: [\"04-01\", \"04-02\"]", "New"),
    ]);
    assert_eq!(rows(&parsed), ["04-03.1: New <-  []"]);
    let aside: Vec<&str> = parsed.plan.aside.iter().map(|aside| aside.text.as_str()).collect();
    assert_eq!(aside, ["04-01 (04)", "04-02 (04)"]);
}

#[test]
fn a_plan_without_a_number_is_named_by_its_file() {
    let parsed = phase(&[
        ("4-1-PLAN.md", "phase: links", "One"),
        ("04-02-PLAN.md", "depends_on: 04-01", "Two"),
        ("PLAN.md", "phase: 04", "Three"),
    ]);
    assert_eq!(
        rows(&parsed),
        ["04-02.1: Two <- 04-01.1 []", "04-01.1: One <-  []", "PLAN.md.1: Three <-  []"]
    );
}

#[test]
fn lines_may_end_as_on_windows() {
    let parsed = read_text(&PLAN.replace('\n', "\r\n"));
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &read_text(PLAN).warnings));
    assert_eq!(rows(&parsed), rows(&read_text(PLAN)));
    assert_eq!(parsed.plan.title, "04-02 (04-links)");
}

#[test]
fn a_task_without_a_name_is_named_by_its_tag_or_its_first_words() {
    let parsed = read_text(
        "# 22-01\n\n<must_haves>\n- [ ] It works\n</must_haves>\n\n\
         <task id=\"1\" title=\"Keep it\">\nDo it.\n</task>\n\n\
         <task id=\"2\">\n<title>Use it</title>\n<instructions>x</instructions>\n</task>\n\n\
         <task id=\"3\" title='Show it' depends_on=\"1, 9\">\n### What\nx\n</task>\n\n\
         <task id=\"4\" type=\"execute\">\n<action>\nTell of it.\nThen stop.\n</action>\n</task>\n\n\
         <success_criteria>\n1. One\n2. Two\n</success_criteria>\n",
    );
    assert_eq!((parsed.plan.format, &parsed.faults), (Format::Gsd, &vec![]));
    let wanted = [
        "1: Keep it <-  []",
        "2: Use it <- 1 []",
        "3: Show it <- 1 9 []",
        "4: Tell of it. <- 3 []",
    ];
    assert_eq!(rows(&parsed), wanted);
    let only = read_text(
        "<task type=\"checkpoint:human-verify\">\n<what-built>A page</what-built>\n</task>\n",
    );
    assert_eq!(rows(&only), ["1: A page <-  []"]);
}

#[test]
fn files_that_the_text_between_tags_mentions_are_hints() {
    let source = "<task type=\"auto\">\n  <name>Task 1: Hello</name>\n  <action>Implement hello() in `greet.py`.\nThen update `Vec<u8>` in `a.rs`.</action>\n  <verify><automated>python greet.py</automated></verify>\n</task>\n";
    let parsed = parse(source.as_bytes(), &Options::default());
    let hints = parsed.plan.tasks[0].hints.iter().map(|hint| hint.0.path.as_str());
    assert_eq!(hints.collect::<Vec<_>>(), ["greet.py", "a.rs"]);
}

fn detected(source: &str) -> (Format, usize) {
    let parsed = read_text(source);
    (parsed.plan.format, parsed.plan.tasks.len())
}

#[test]
fn tasks_that_a_plan_of_another_format_quotes_make_it_no_plan_of_this_one() {
    let quoted = "<task name=\"compile\">\n<javac/>\n</task>\n";
    let native = format!("---\nsequester: 1\n---\n## [a] A\n\n{quoted}\n## [b] B\n\nDo b.\n");
    assert_eq!(detected(&native), (Format::Native, 2));
    let cursor = "---\ntodos:\n  - a\n---\n<task>\n<name>x</name>\n</task>\n";
    assert_eq!(detected(cursor), (Format::Cursor, 1));
    let typed = "<task type=\"auto\">\n<name>Example</name>\n</task>\n";
    let plan = |text: &str| format!("# P\n\n### Task 1: a\n\n{text}\n### Task 2: b\n\nDo b.\n");
    for text in [
        typed,
        &format!("````markdown\n```\nx\n{typed}```\n````\n"),
        "    <task type=\"auto\">\n    x\n    </task>\n",
        "~~~\n<task>\nx\n</task>\n~~~\n",
    ] {
        assert_eq!(detected(&plan(text)), (Format::Superpowers, 2), "{text}");
    }
    let one = "### Task 1: a\n\nWrite:\n\n    <task type=\"auto\">\n    x\n    </task>\n";
    assert_eq!(detected(one), (Format::Superpowers, 1));
    let kiro = "- [ ] 1. Build it:\n\n<task name=\"compile\">\n</task>\n";
    assert_eq!(detected(kiro).0, Format::Kiro);
    let headed = format!("{typed}\n{}", typed.replace("<name>", "### Task 7: x\n<name>"));
    assert_eq!(detected(&headed), (Format::Gsd, 2));
    let criteria =
        format!("{typed}<success_criteria>\n- [ ] 1. a\n- [ ] 2. b\n</success_criteria>\n");
    assert_eq!(detected(&criteria), (Format::Gsd, 1));
}

#[test]
fn no_task_sees_what_another_one_says() {
    let texts = [
        "<objective>\nGoal\n</objective>\n<tasks>\n<task type=\"auto\">\n<name>A</name>\n<context>SECRET</context>\n</task>\n<task type=\"auto\">\n<name>B</name>\n</task>\n</tasks>\n",
        "<objective>\nGoal\n<tasks>\n<task type=\"auto\">\n<name>A</name>\nSECRET\n</task>\n<task type=\"auto\">\n<name>B</name>\nsee </objective> SECRET\n</task>\n",
        "<objective>\nGoal\n\n<task type=\"auto\">\n<name>A</name>\nSECRET</objective>\n</task>\n",
        "```\n<context>\n```\n<objective>\nGoal\n</objective>\n<task type=\"auto\">\n<name>A</name>\nSECRET\nWrite `</context>`\n</task>\n",
        "<objective>\nGoal\n</objective>\n\n    <task>\n\n<task type=\"auto\">\n<name>A</name>\n<context>\nSECRET\n</context>\n</task>\n",
    ];
    for text in texts {
        let parsed = read_text(text);
        assert_eq!(parsed.plan.goal.as_deref(), Some("Goal"), "{text}");
        for task in &parsed.plan.tasks {
            let parents: Vec<&str> = task.parents.iter().map(|one| one.text.as_str()).collect();
            assert_eq!(parents, ["Goal"], "{text}");
        }
    }
}

#[test]
fn tags_have_many_forms() {
    let source = "<tasks>\n<Task type=\"auto\">\n<name>A</name>\na\n</TASK>\n<task\n  type=\"auto\" title=\"x > y\">\n<name>B</name>\nb\n</task>\n- <task type=\"auto\">\n  <name>C</name>\n  c\n  </task>\n<task type=\"auto\">Write d.txt</task>\n<task type=\"auto\"><name>E</name>\ne\n</task><task>Write f.txt</task>\n</tasks>\n";
    let parsed = read_text(source);
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &vec![]));
    let texts: Vec<String> =
        parsed.plan.tasks.iter().map(|one| one.text.replace('\n', " ")).collect();
    let wanted = [
        "<name>A</name> a",
        "<name>B</name> b",
        "<name>C</name>   c",
        "Write d.txt",
        "<name>E</name> e",
        "Write f.txt",
    ];
    assert_eq!(texts, wanted);
    assert_eq!(rows(&parsed)[3], "4: Write d.txt <- 3 []");

    let indented = "<tasks>\n\n    <task type=\"auto\">\n      <name>A</name>\n      do it</task>\n\n    <task type=\"auto\">\n      <name>B</name>\n      SECRET\n    </task>\n</tasks>\n";
    for source in [indented.to_owned(), indented.replace("do it</task>", "do it")] {
        let parsed = read_text(&source);
        assert_eq!(rows(&parsed), ["1: A <-  []", "2: B <- 1 []"]);
        assert!(!parsed.plan.tasks[0].text.contains("SECRET"), "{parsed:?}");
    }
}

#[test]
fn a_tag_that_begins_no_task_is_a_warning() {
    let source = "<task type=\"auto\">\n<name>A</name>\n  <task>\n  x\n  </task>\n```\n<task type=\"auto\">\n```\nSay `<task>`.\n</task>\n\n    <task>\n\n<task />\nText: <task>x</task>\n```\n<task>\n```\n<task type=\n";
    let parsed = read_text(source);
    assert_eq!(rows(&parsed), ["1: A <-  []"]);
    assert!(parsed.plan.tasks[0].text.ends_with("Say `<task>`."));
    let lines = [3, 12, 14, 15, 19].map(|line| (Code::UntakenTask, line));
    assert_eq!(codes(&parsed), lines);
}

#[test]
fn a_code_block_that_is_left_open_hides_no_task() {
    let source = "```sh\nrun\n\n<task type=\"auto\">\n<name>A</name>\n```rust\na\n</task>\n<task type=\"auto\">\n<name>B</name>\n```rust\nb\n```\n</task>\n";
    assert_eq!(rows(&read_text(source)), ["1: A <-  []", "2: B <- 1 []"]);
}

#[test]
fn a_need_that_the_plan_does_not_have_is_a_fault_and_another_phase_a_warning() {
    let unknown = |parsed: &Parsed| -> Vec<String> {
        let (_, faults) = crate::graph::TaskGraph::new(&parsed.plan);
        faults.into_iter().map(|fault| fault.message).collect()
    };
    let task = |number: usize, needs: &str| {
        format!(
            "<task type=\"auto\" depends_on=\"{needs}\">\n<name>Task {number}: x</name>\n</task>\n"
        )
    };
    let parsed = read_text(
        &[task(1, ""), task(1, "Task 1, zzz"), task(2, "[]"), task(3, "task-1")].concat(),
    );
    assert_eq!(unknown(&parsed), ["Task `2` needs `zzz`, and the plan has no such task."]);
    assert_eq!(rows(&parsed)[2..], ["3: x <- 2 []", "4: x <- 1 []"]);

    let plan = |number: usize, needs: &str| PhasePlan {
        file_name: format!("01-0{number}-PLAN.md"),
        text: format!("---\nphase: 01-x\ndepends_on: {needs}\n---\n{}", task(1, "")),
        done: false,
    };
    let parsed =
        read_text(&join_phase(vec![plan(1, "none"), plan(2, "[01-01, 01-99, \"00-07\"]")]));
    assert_eq!(rows(&parsed)[1], "01-02.1: x <- 01-01.1 01-99 []");
    assert_eq!(unknown(&parsed), ["Task `01-02.1` needs `01-99`, and the plan has no such task."]);
    assert_eq!(codes(&parsed), [(Code::UnknownNeed, 10)]);
}

#[test]
fn a_plan_may_show_the_line_that_begins_a_file() {
    let shown = "```\n<!-- plan file: x-PLAN.md -->\n```";
    let text =
        |name: &str| format!("<task type=\"auto\">\n<name>{name}</name>\n{shown}\n</task>\n");
    let plan = |number: usize| PhasePlan {
        file_name: format!("01-0{number}-PLAN.md"),
        text: text(&number.to_string()),
        done: false,
    };
    let parsed = read_text(&join_phase(vec![plan(1), plan(2)]));
    assert_eq!(rows(&parsed), ["01-01.1: 1 <-  []", "01-02.1: 2 <-  []"]);
    assert_eq!(rows(&read_text(&text("One"))), ["1: One <-  []"]);
    assert!(parsed.plan.tasks.iter().all(|task| task.text.ends_with(shown)));
}

#[test]
fn a_fault_in_a_phase_directory_names_the_file() {
    let plan = |name: &str, text: &str| PhasePlan {
        file_name: name.to_owned(),
        text: text.to_owned(),
        done: false,
    };
    let parsed = read_text(&join_phase(vec![
        plan("01-01-PLAN.md", "<task>\nx\n</task>\n"),
        plan("01-02-PLAN.md", "# P\n<task>\n</task>\n"),
    ]));
    assert_eq!(
        parsed.faults[0].message,
        "In `01-02-PLAN.md`, line 2: Task `01-02.1` is an empty element."
    );
}

#[test]
fn a_test_driven_plan_is_its_feature_and_one_without_work_is_told() {
    let plan = |file_name: &str, text: &str| PhasePlan {
        file_name: file_name.to_owned(),
        text: text.to_owned(),
        done: false,
    };
    let one = "---\nphase: 01-price\nplan: 01\n---\n<task type=\"auto\">\n<name>Begin</name>\n<action>x</action>\n</task>\n";
    let two = "---\nphase: 01-price\nplan: 02\ntype: tdd\ndepends_on: [01-01]\n---\n<feature>\n  <name>Price</name>\n  <files>b.py</files>\n  <behavior>price(0) is 100</behavior>\n</feature>\n";
    let three = one.replace("plan: 01", "plan: 03\ndepends_on: [01-02]");
    let four = "---\nphase: 01-price\nplan: 04\n---\nOnly words.\n";
    let joined = join_phase(vec![
        plan("01-01-PLAN.md", one),
        plan("01-02-PLAN.md", two),
        plan("01-03-PLAN.md", &three),
        plan("01-04-PLAN.md", four),
    ]);
    let parsed = read_text(&joined);
    assert_eq!(
        rows(&parsed),
        [
            "01-01.1: Begin <-  []",
            "01-02.1: Price <- 01-01.1 [b.py]",
            "01-03.1: Begin <- 01-02.1 []"
        ]
    );
    let told: Vec<(Code, &str)> =
        parsed.warnings.iter().map(|one| (one.code, one.message.as_str())).collect();
    let [(Code::UntakenTask, message)] = told[..] else { panic!("{told:?}") };
    assert!(
        message.contains("`01-04-PLAN.md`") && message.contains("nothing of it is worked on"),
        "{message}"
    );
    assert_eq!(rows(&read_text(two)), ["01-02.1: Price <-  [b.py]"]);
}

#[test]
fn a_bare_element_in_a_prompt_is_no_plan() {
    let parsed = read_text("Say this.\n\n<task>Finish the tasks.</task>\n");
    assert_eq!(parsed.faults[0].code, Code::NoTasks);
}
