//! Checks and reviews that speak against a change.

use sequester_testkit::model::{Request, Script, Setup, Turn};
use serde_json::json;

use super::{
    BOTH, Row, bash, bench, content, deliver, is_first_model, is_fix, one, pass, results, reviewed,
    role, wrote,
};

#[test]
fn failing_checks_are_mended_twice_then_a_stronger_model_begins_anew_then_somebody_is_asked() {
    let play = |request: &Request| match request.turn {
        0 if is_fix(request) && is_first_model(request) => bash("cat a.txt; echo again >> a.txt"),
        0 => bash("test ! -e a.txt && echo wrong > a.txt && echo CLEAN").saying("SECRET OF MINE"),
        _ => {
            let wanted = match (is_fix(request), is_first_model(request)) {
                (true, true) => "wrong",
                _ => "CLEAN",
            };
            assert!(results(request).contains(wanted), "{wanted} in {}", results(request));
            Turn::report(wrote(request))
        }
    };
    let row = Row::new(&one("solo"), play);
    let ran = row.run(&["--model", BOTH]);
    let run = ran.ended(3, "waiting");
    let wanted =
        ["write first a done", "write fix a done", "write fix a done", "write stronger b done"];
    assert_eq!(row.tried(run, "a"), wanted);
    let prompts = row.prompts("a");
    for fix in &prompts[1..3] {
        for told in ["`grep right a.txt` ended with exit code 1", "\nwrong"] {
            assert!(fix.contains(told), "{told} in {fix}");
        }
        assert!(!fix.contains("SECRET OF MINE"), "{fix}");
    }
    assert!(prompts[2].contains("\nagain") && !prompts[1].contains("\nagain"));
    assert!(!prompts[3].contains("\nwrong"), "the stronger one begins anew: {}", prompts[3]);
    let question = row.question();
    assert!(question["question"].as_str().unwrap().contains("still fail"), "{question}");
    row.is_proved(run);
    row.answer("Give up");
    row.resume(run).ended(1, "failed");
    assert_eq!(row.state(run, "a").0, "failed");
    assert_eq!(row.git(&["branch", "--list", "sequester/*"]), "", "nothing of it is committed");
}

#[test]
fn what_a_review_finds_reaches_the_fix_with_file_and_line() {
    for (configuration, steps) in [
        ("", &["write first", "review first", "write fix", "review first"][..]),
        (
            "review = \"two-stage\"\n",
            &[
                "write first",
                "review-spec first",
                "write fix",
                "review-spec first",
                "review first",
                "write fix",
                "review-spec first",
                "review first",
            ],
        ),
    ] {
        let play = move |request: &Request| {
            let prompt = request.prompt();
            let finding = |text: &str| {
                let found = json!({
                    "severity": "important", "file": "a.txt", "line": 7, "text": text,
                });
                json!({ "verdict": "fail", "findings": [found] })
            };
            match role(request) {
                "writer" if prompt.contains("SECOND FINDING") => {
                    deliver(request, "a.txt", "right, once and twice\n")
                }
                "writer" if prompt.contains("FIRST FINDING") => {
                    deliver(request, "a.txt", "right, once\n")
                }
                "writer" => deliver(request, "a.txt", "right\n"),
                _ if !prompt.contains("right, once") => {
                    Turn::report(reviewed(request, &finding("FIRST FINDING"), &pass()))
                }
                "quality-reviewer" if !prompt.contains("twice") => {
                    Turn::report(reviewed(request, &pass(), &finding("SECOND FINDING")))
                }
                _ => Turn::report(content(request)),
            }
        };
        let row = Row::set(bench(configuration, &one("build")), Setup::new(Script::new(play)));
        let ran = row.run(&[]);
        let run = ran.ended(0, "done");
        let wanted: Vec<String> = steps.iter().map(|step| format!("{step} a done")).collect();
        assert_eq!(row.tried(run, "a"), wanted, "{configuration}");
        let prompts = row.prompts("a");
        let fix = prompts.iter().find(|prompt| prompt.contains("mend this")).unwrap();
        for told in ["FIRST FINDING", "a.txt:7:", "\nright"] {
            assert!(fix.contains(told), "{told} in {fix}");
        }
        assert_eq!(row.json(&["status", run])["reviewed"], true);
        row.is_proved(run);
    }
}
