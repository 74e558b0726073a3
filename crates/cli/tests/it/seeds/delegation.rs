//! The Task tool in plain sight (004).

use std::sync::Arc;

use sequester_testkit::model::{Request, Script, Setup, Turn};
use serde_json::json;

use crate::command::Bench;
use crate::rows::{Row, report, results, wrote};

fn is_lead(request: &Request) -> bool {
    request.system.contains("You lead one large piece of work")
}

#[test]
fn main_agent_gets_task_and_children_hand_back_numbered_plans_and_findings() {
    let bench = Bench::with(&[("src/auth/login.py", "def login(): pass\n")]);
    let play = |request: &Request| {
        let task = |kind: &str, prompt: &str| {
            Turn::call(
                "Task",
                json!({ "description": "part of it", "prompt": prompt, "subagent_type": kind }),
            )
        };
        match (is_lead(request), request.turn) {
            (true, 0) => task("Explore", "Find all auth files"),
            (true, 1) => {
                let told = results(request);
                assert!(
                    told.contains("existing implementations:\n1. src/auth/login.py:1"),
                    "{told}"
                );
                task("Plan", "Design the migration")
            }
            (true, 2) => {
                let told = results(request);
                assert!(told.contains("steps:\n1. Add the library\n2. Create utils"), "{told}");
                task("general-purpose", "Implement it")
            }
            (true, _) => Turn::report(wrote(request)),
            _ if request.system.contains("You explore") => Turn::report(report(
                request,
                "research",
                &json!({ "existing_implementations": ["src/auth/login.py:1 login"], "conflicts": [], "patterns_found": [], "recommendations": [] }),
            )),
            _ if request.system.contains("You design") => Turn::report(report(
                request,
                "plan",
                &json!({ "steps": ["Add the library", "Create utils"] }),
            )),
            (false, 0) => crate::rows::bash("echo jwt > src/auth/jwt.py"),
            _ => Turn::report(wrote(request)),
        }
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let done = row.json(&[
        "task",
        "Refactor auth to use JWT",
        "--agent",
        "orchestrator",
        "--model",
        crate::rows::A,
    ]);
    assert_eq!(done["outcome"], "done", "{done}");
    assert_eq!(done["findings"]["files_changed"], json!(["src/auth/jwt.py"]));
    row.is_proved(done["run"].as_str().unwrap());
}

#[test]
fn agents_say_who_may_delegate_and_a_plan_cannot_ask_for_them() {
    let bench = Bench::with(&[("README.md", "x\n")]);
    let list = bench.run(&["agents"]).out;
    let line = list.lines().find(|line| line.starts_with("orchestrator")).unwrap();
    assert!(line.split_whitespace().nth(2) == Some("yes"), "{line}");
    let writer = list.lines().find(|line| line.starts_with("writer")).unwrap();
    assert!(!writer.contains(" yes "), "{writer}");
    std::fs::write(
        bench.path("plan.md"),
        crate::rows::plan("build", &[("a", "agent: orchestrator", "Do it all.")]),
    )
    .unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let refused = bench.run(&["run", &plan, "--model", "literal", "--yes"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.err.contains("full-access"), "{refused:?}");
}

#[test]
fn a_workflow_of_the_users_own_that_delegates_is_not_for_a_plan_or_a_repository_to_name() {
    let bench = Bench::with(&[("README.md", "x\n")]);
    let folder = bench.path("home/.config/sequester/workflows");
    std::fs::create_dir_all(&folder).unwrap();
    let lead = "name: lead\nsteps:\n  - {id: all, agent: orchestrator}\n";
    std::fs::write(folder.join("lead.yaml"), lead).unwrap();
    let run = |workflow: &str, more: &[&str]| {
        let text = crate::rows::plan(workflow, &[("a", "", "Do it all.")]);
        std::fs::write(bench.path("plan.md"), text).unwrap();
        let plan = bench.path("plan.md").display().to_string();
        let asked = [&["run", plan.as_str(), "--model", "literal", "--yes"], more].concat();
        bench.run(&asked)
    };
    let refused = run("lead", &[]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.err.contains("the workflow `lead`, whose step `all`"), "{refused:?}");
    let named = run("build", &["--workflow", "lead"]);
    assert_eq!(named.code, Some(1), "a person may: {named:?}");
    assert!(named.err.contains("[orchestrator] a Write a"), "{named:?}");
    let text =
        crate::rows::plan("build", &[("a", "", "Do it all.")]).replace("workflow: build\n", "");
    std::fs::write(bench.path("plan.md"), text).unwrap();
    bench.write("sequester.toml", "workflow = \"lead\"\n");
    let plan = bench.path("plan.md").display().to_string();
    let refused = bench.run(&["run", &plan, "--model", "literal", "--yes"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.err.contains("workflow lead, step all"), "{refused:?}");
}
