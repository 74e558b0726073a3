//! Runs that somebody else recorded, and bundles of one's own.

use std::fs;

use sequester_core::digest::Digest;
use serde_json::Value;

use crate::command::{Answer, Bench, FILES};

const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Shop\n\n## [a] Say hello\n\nRun: `echo hello > hello.txt`\n";

/// A repository with one run that is done.
fn done() -> (Bench, String) {
    let bench = Bench::with(&FILES);
    fs::write(bench.path("plan.md"), PLAN).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let answer = bench.run(&["run", &plan, "--model", "literal"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = bench.run(&["show", "--json"]).json()["run"].as_str().unwrap().to_owned();
    (bench, run)
}

/// As for a person who cloned the repository: another key, or none.
fn as_another(bench: &Bench) {
    fs::rename(bench.keys(), bench.path("keys-of-another")).unwrap();
}

#[test]
fn a_store_of_somebody_elses_is_looked_at_and_nothing_more_until_it_is_accepted() {
    let (bench, run) = done();
    as_another(&bench);
    let question = format!("{run}-1");
    let plan = bench.path("plan.md").display().to_string();
    for arguments in
        [&["status"][..], &["show", &run], &["log", &run], &["inbox"], &["audit", &run]]
    {
        let answer = bench.run(arguments);
        assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
        let err = answer.err.replace('\n', " ");
        assert!(err.contains(&format!("Run `{run}` is not yours")), "{arguments:?}: {answer:?}");
    }
    for arguments in [
        &["run", plan.as_str(), "--model", "literal"][..],
        &["resume", &run],
        &["cancel", &run],
        &["answer", &question, "yes"],
        &["apply", &run],
        &["gc"],
        &["task", "Say hello.", "--model", "literal"],
    ] {
        let answer = bench.run(arguments);
        assert_eq!(answer.code, Some(5), "{arguments:?}: {answer:?}");
        assert!(answer.err.contains("SQ0311"), "{arguments:?}: {answer:?}");
    }
    let listed = bench.run(&["trust", "--json"]);
    assert_eq!(listed.code, Some(5), "{listed:?}");
    assert_eq!(listed.json()["store"]["runs"][0]["run"], run.as_str());
    let accepted = bench.run(&["trust", "--yes"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert_eq!(bench.run(&["apply", &run]).code, Some(0));
    assert_eq!(bench.run(&["trust", "--json"]).json()["store"], Value::Null);
    // Who recorded it stays known.
    let signature = bench.run(&["audit", &run, "--json"]).json()["signature"].clone();
    assert_eq!(signature["own"], true);
    let recorded_by = signature["accepted"]["recorded_by"].as_str().unwrap();
    assert!(recorded_by.starts_with("ed25519:") && signature["signer"] != recorded_by);
}

#[test]
fn a_run_whose_tail_was_cut_is_told_by_the_audit() {
    let (bench, run) = done();
    let signature =
        |answer: &Answer| answer.json()["signature"]["state"].as_str().unwrap().to_owned();
    let audit = bench.run(&["audit", &run, "--json"]);
    assert_eq!((audit.code, signature(&audit)), (Some(0), "signed".to_owned()));
    let script = "import sqlite3, sys\nstore = sqlite3.connect(sys.argv[1])\nstore.executescript(sys.argv[2])";
    let cut = "DELETE FROM events WHERE seq > 5; \
        UPDATE runs SET count = 5, hash = (SELECT hash FROM events WHERE seq = 5);";
    let store = bench.repo().join(".sequester/store.db");
    let mut python = std::process::Command::new("python3");
    let status = python.args(["-c", script]).arg(store).arg(cut).status().unwrap();
    assert!(status.success());
    let audit = bench.run(&["audit", &run, "--json"]);
    assert_eq!((audit.code, signature(&audit)), (Some(1), "broken".to_owned()));
    assert_eq!(audit.json()["signature"]["since"], 6);
    assert!(bench.run(&["audit", &run]).out.contains("Broken since event 6"));
}

#[test]
fn a_bundle_is_verified_without_the_repository_and_its_signer_told() {
    let (bench, run) = done();
    let file = bench.path("run.bundle").display().to_string();
    let audit = bench.run(&["audit", &run, "--bundle", &file, "--json"]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
    let key = audit.json()["signature"]["signer"].as_str().unwrap().to_owned();
    as_another(&bench);
    let elsewhere = bench.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let verify = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["verify", file.as_str()].into_iter().chain(more.iter().copied()).collect();
        bench.run_in(&elsewhere, &arguments, &[])
    };
    let unknown = verify(&[]);
    assert_eq!(unknown.code, Some(0), "{unknown:?}");
    assert!(unknown.out.contains("Consistent, signer unknown"), "{unknown:?}");
    let known = verify(&["--signer", &key]);
    assert!(known.code == Some(0) && known.out.contains("Consistent, signed by"), "{known:?}");
    let wrong = verify(&["--signer", "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]);
    assert!(wrong.code == Some(1) && wrong.out.contains("Consistent, but not by"), "{wrong:?}");
    let letter = bench.path("letter.txt").display().to_string();
    fs::write(&letter, "mine\n").unwrap();
    assert_eq!(bench.run(&["audit", &run, "--bundle", &letter]).code, Some(2));
    assert_eq!(fs::read_to_string(&letter).unwrap(), "mine\n");
    assert_eq!(bench.run(&["audit", &run, "--bundle", &file]).code, Some(0), "a bundle again");
    assert_eq!(verify(&["--signer", "nobody"]).code, Some(2));
    let text = fs::read_to_string(&file).unwrap();
    let spoilt: [(String, &str); 4] = [
        (text.replacen("run_started", "run_stopped", 1), "is not"),
        (without_line(&text, 3), "Not consistent"),
        (swap_blobs(&text), "not what their name says"),
        (text.replacen("\"count\":", "\"count\":1", 1), "Not consistent"),
    ];
    let spoilt = spoilt.into_iter().chain(without_evidence(&text));
    for (changed, told) in spoilt {
        assert_ne!(changed, text);
        fs::write(&file, changed).unwrap();
        let answer = verify(&["--signer", &key]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        assert!(answer.out.contains(told), "{told}: {answer:?}");
    }
}

fn without_line(text: &str, number: usize) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    [&lines[..number], &lines[number + 1..]].concat().concat()
}

/// The names of two blobs in each other's place.
fn swap_blobs(text: &str) -> String {
    let name = |line: &str| line.strip_prefix("{\"blob\":\"").map(|rest| rest[..64].to_owned());
    let names: Vec<String> = text.lines().filter_map(name).take(2).collect();
    let [one, other] = &names[..] else { panic!("too few blobs") };
    let swap = |line: &str| match name(line) {
        Some(found) if found == *one => line.replacen(one.as_str(), other, 1),
        Some(found) if found == *other => line.replacen(other.as_str(), one, 1),
        _ => line.to_owned(),
    };
    text.lines().map(|line| swap(line) + "\n").collect()
}

/// The bundle without each of its blobs, and with each of its last lines twice, made to fit as far as anybody can without the key.
fn without_evidence(text: &str) -> Vec<(String, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let of = |mark: &str| -> Vec<usize> {
        let marked = |at: &usize| lines[*at].starts_with(mark);
        (1..lines.len() - 1).filter(marked).collect()
    };
    let (blobs, commits) = (of("{\"blob\""), of("{\"commit\""));
    assert!(blobs.len() > 10 && commits.len() == 1, "{} {}", blobs.len(), commits.len());
    let count = |name: &str, from: usize, to: usize| {
        let told = |number: usize| format!("\"{name}\":{number},");
        lines[0].replace(&told(from), &told(to))
    };
    let sealed = |header: String, rest: Vec<&str>| {
        let body = header + "\n" + &rest.join("\n") + "\n";
        let end = Digest::of(body.as_bytes());
        format!("{body}{{\"end\":\"{}\"}}\n", end.as_str())
    };
    let last = lines.len() - 1;
    let mut changed: Vec<(String, &str)> = Vec::new();
    for at in &blobs {
        let rest = (1..last).filter(|one| one != at).map(|one| lines[one]).collect();
        changed.push((sealed(count("blobs", blobs.len(), blobs.len() - 1), rest), "missing"));
    }
    let again = lines[1..last].iter().copied().chain([lines[commits[0]]]).collect();
    changed.push((sealed(count("commits", 1, 2), again), "twice"));
    changed
}
