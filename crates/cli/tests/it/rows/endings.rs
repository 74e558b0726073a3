//! PROCEED, STOP, and no report at all.

use std::time::Duration;

use sequester_testkit::model::{Fault, Faults, Request, Script, Setup, Turn};

use super::{
    A, BOTH, Row, bash, bench, content, deliver, is_first_model, is_fix, one, own, plan, results,
    role, stopped, write, wrote,
};

const SOLO: &str = "solo";

#[test]
fn proceed_leads_from_phase_to_phase_and_onto_the_branch() {
    let play = |request: &Request| match role(request) {
        "executor" => deliver(request, "a.txt", "right\n"),
        _ => Turn::report(content(request)),
    };
    let row = Row::new(&one("pipeline"), play);
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    let wanted = ["plan", "review", "execute", "verify"].map(|step| format!("{step} first a done"));
    assert_eq!(row.tried(run, "a"), wanted);
    assert_eq!(row.file(run, "a.txt"), "right\n");
    row.is_proved(run);
}

#[test]
fn a_stop_of_research_or_of_writing_blocks_what_needs_it_and_nothing_else() {
    let tasks = [
        ("a", "workflow: chain\nfiles: {create: [a.txt]}", "Write the letter a."),
        ("b", "needs: [a]\nfiles: {create: [b.txt]}", "Write the letter b."),
        ("c", "files: {create: [c.txt]}", "Write the letter c."),
        ("d", "files: {create: [d.txt]}", "Write the letter d."),
        ("e", "needs: [d]\nfiles: {create: [e.txt]}", "Write the letter e."),
    ];
    let play = |request: &Request| match own(request) {
        "a" => stopped(content(request), "complete", "There is one.", "Take that one."),
        "c" => deliver(request, "c.txt", "c\n"),
        "d" => stopped(content(request), "partial", "There is no ink.", "Buy ink."),
        other => panic!("`{other}` was begun"),
    };
    let row = Row::new(&plan(SOLO, &tasks), play);
    let ran = row.run(&[]);
    let run = ran.ended(1, "failed");
    assert_eq!(row.tried(run, "a"), ["research first a stopped"]);
    assert_eq!(row.tried(run, "d"), ["write first a stopped"]);
    for (task, need, reason, resolution) in
        [("b", "a", "There is one.", "Take that one."), ("e", "d", "There is no ink.", "Buy ink.")]
    {
        assert_eq!(row.state(run, need), ("failed".to_owned(), reason.to_owned()));
        let (state, why) = row.state(run, task);
        assert_eq!(state, "blocked");
        assert!(why.contains(&format!("`{need}`")) && why.contains(reason), "{why}");
        assert_eq!(row.json(&["show", run, task])["resolution"], resolution);
    }
    assert_eq!(row.file(run, "c.txt"), "c\n", "the rest goes on");
    row.is_proved(run);
}

#[test]
fn whoever_is_blocked_hands_over_to_the_next_model_on_the_clean_base() {
    let play = |request: &Request| match (is_first_model(request), request.turn) {
        (true, 0) => write("rubbish.txt", "rubbish of the first\n"),
        (true, _) => stopped(wrote(request), "blocked", "I cannot.", "Ask another."),
        (false, 0) => bash("ls; cat *"),
        (false, 1) => {
            assert!(!results(request).contains("rubbish"), "{}", results(request));
            write("a.txt", "right\n")
        }
        (false, _) => Turn::report(wrote(request)),
    };
    let row = Row::new(&one(SOLO), play);
    let ran = row.run(&["--model", BOTH]);
    let run = ran.ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first a stopped", "write next_model b done"]);
    let prompts = row.prompts("a");
    assert_eq!(prompts[0], prompts[1], "it is told nothing of the first");
    assert_eq!(row.git(&["diff", "--name-only", "main", &format!("sequester/{run}")]), "a.txt\n");
    row.is_proved(run);
}

#[test]
fn a_stop_of_who_judges_is_mended_like_a_failing_check() {
    for (workflow, judge, writer) in [
        ("build", "reviewer", "writer"),
        ("chain", "validator", "writer"),
        ("pipeline", "verifier", "executor"),
    ] {
        let play = move |request: &Request| {
            let role = role(request);
            if role == writer {
                let text = if is_fix(request) { "right and mended\n" } else { "right\n" };
                return deliver(request, "a.txt", text);
            }
            if role == judge && !request.prompt().contains("mended") {
                return stopped(content(request), "complete", "It is too short.", "Say more.");
            }
            Turn::report(content(request))
        };
        let row = Row::new(&one(workflow), play);
        let ran = row.run(&[]);
        let run = ran.ended(0, "done");
        assert_eq!(row.file(run, "a.txt"), "right and mended\n", "{workflow}");
        let fixes: Vec<String> =
            row.prompts("a").into_iter().filter(|prompt| prompt.contains("mend this")).collect();
        assert_eq!(fixes.len(), 1, "{workflow}");
        for told in ["It is too short.", "Say more.", "\nright"] {
            assert!(fixes[0].contains(told), "{workflow}: {told} in {}", fixes[0]);
        }
        let tried = row.tried(run, "a");
        assert_eq!(tried.iter().filter(|line| line.contains(" stopped")).count(), 1, "{tried:?}");
        row.is_proved(run);
    }
}

#[test]
fn no_valid_report_is_one_fresh_attempt_on_the_next_model_and_then_a_failure() {
    let silent = |_: &Request| Turn::text("All is well, believe me.");
    let row = Row::new(&one(SOLO), silent);
    let ran = row.run(&["--model", BOTH]);
    let run = ran.ended(1, "failed");
    assert_eq!(row.tried(run, "a"), ["write first a failed", "write repeat b failed"]);
    assert_eq!(row.state(run, "a").0, "failed");
    row.is_proved(run);

    let second = |request: &Request| {
        if is_first_model(request) {
            Turn::text("Well.")
        } else {
            deliver(request, "a.txt", "right\n")
        }
    };
    let row = Row::new(&one(SOLO), second);
    let ran = row.run(&["--model", BOTH]);
    let run = ran.ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first a failed", "write repeat b done"]);
    assert!(!row.prompts("a").last().unwrap().contains("Well."));
    row.is_proved(run);
}

#[test]
fn a_key_that_is_not_accepted_is_bad_input_and_told_with_the_remedy() {
    let setup = Setup::new(Script::new(|_: &Request| panic!("nobody is asked")));
    let setup = setup.faults(Faults::when(|_, _| Some(Fault::Unauthorized)));
    let row = Row::set(bench("", &one(SOLO)), setup);
    let ran = row.run(&[]);
    let run = ran.ended(2, "failed");
    let remedy = row.json(&["show", run, "a"])["resolution"].clone();
    assert_eq!(remedy, "Check the key in the provider's environment variable.");
}

#[test]
fn who_is_asked_again_later_is_told_of_with_the_time() {
    let play = |request: &Request| deliver(request, "a.txt", "right\n");
    let busy = Fault::TooManyRequests { retry_after: Duration::from_millis(1_200) };
    let setup = Setup::new(Script::new(play)).faults(Faults::at(vec![(0, busy)]));
    let row = Row::set(bench("", &one(SOLO)), setup);
    let plan = row.plan();
    let told = row.command(&["run", &plan, "--yes", "--model", A]).output().unwrap();
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("(rate_limited, asked again in 1."), "{told}");
}
