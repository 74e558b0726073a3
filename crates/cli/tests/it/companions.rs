//! Documents beside the plan: what they specify is shown, whose task it is never.

use crate::command::Bench;

fn context(bench: &Bench, plan: &str, task: &str) -> serde_json::Value {
    let answer = bench.run(&["context", plan, task, "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.json()
}

fn specs(context: &serde_json::Value) -> Vec<String> {
    let rows = context["fragments"].as_array().unwrap().iter().filter(|row| row["kind"] == "spec");
    rows.map(|row| row["source"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_kiro_task_gets_the_requirements_it_names_and_no_others() {
    let bench = Bench::with(&[
        (
            ".kiro/specs/mail/tasks.md",
            "# Implementation Plan\n\n- [ ] 1. Queue\n  - Make the queue. FIRST-CANARY\n  - _Requirements: 1.1_\n\n\
             - [ ] 2. Send\n  - Send from the queue. SECOND-CANARY\n  - _Requirements: 2.1, 2.2_\n",
        ),
        (
            ".kiro/specs/mail/requirements.md",
            "# Requirements\n\n## Introduction\n\nINTRO-CANARY.\n\n### Requirement 1: Queue\n\nMails wait. QUEUE-CANARY\n\n\
             ### Requirement 2: Sending\n\nMails go out. SENDING-CANARY\n\n#### Acceptance Criteria\n\n1. WHEN sent THEN gone.\n",
        ),
        (
            ".kiro/specs/mail/design.md",
            "# Design\n\n## Send\n\nThe queue sends one by one. DESIGN-CANARY\n\n## Tasks\n\n- [ ] LIST-CANARY\n",
        ),
    ]);
    let plan = ".kiro/specs/mail/tasks.md";
    let second = context(&bench, plan, "2");
    let prompt = second["prompt"].as_str().unwrap();
    for (mark, shown) in [
        ("SECOND-CANARY", true),
        ("SENDING-CANARY", true),
        ("WHEN sent THEN gone", true),
        ("DESIGN-CANARY", true),
        ("FIRST-CANARY", false),
        ("QUEUE-CANARY", false),
        ("INTRO-CANARY", false),
        ("LIST-CANARY", false),
    ] {
        assert_eq!(second.to_string().contains(mark), shown, "{mark} in\n{prompt}");
    }
    assert_eq!(specs(&second)[0], "requirements.md: Requirement 2: Sending");
}

#[test]
fn a_spec_kit_task_gets_sections_that_share_its_words() {
    let bench = Bench::with(&[
        (
            "specs/001-mail/tasks.md",
            "# Tasks: Mail\n\n## Phase 1: Setup\n\n- [ ] T001 Create the mail queue in src/queue.py FIRST-CANARY\n\
             - [ ] T002 [P] Render the invoice in src/invoice.py SECOND-CANARY\n",
        ),
        ("specs/001-mail/spec.md", "# Mail\n\n## Queue\n\nThe queue keeps mails. QUEUE-CANARY\n"),
        (
            "specs/001-mail/plan.md",
            "# Plan\n\n## Invoices\n\nAn invoice is rendered. INVOICE-CANARY\n",
        ),
        ("specs/001-mail/contracts/api.yaml", "paths: {/queue: {get: {summary: the queue}}}\n"),
        ("specs/002-other/spec.md", "# Other\n\nThe queue of others. OTHER-CANARY\n"),
    ]);
    let first = context(&bench, "specs/001-mail/tasks.md", "T001");
    let found = specs(&first);
    assert!(found.contains(&"spec.md: Queue".to_owned()), "{found:?}");
    assert!(found.contains(&"contracts/api.yaml".to_owned()), "{found:?}");
    assert!(!found.iter().any(|source| source.contains("002-other")), "{found:?}");
    assert!(!first.to_string().contains("SECOND-CANARY"));
}

#[test]
fn a_link_among_the_companions_is_not_followed() {
    let bench = Bench::with(&[(
        "openspec/changes/mail/tasks.md",
        "## 1. Mail\n\n- [ ] 1.1 Send the mail\n- [ ] 1.2 Count the mail\n",
    )]);
    std::fs::write(bench.path("outside.md"), "# Mail\n\nSend the mail. OUTSIDE-CANARY\n").unwrap();
    let link = bench.repo().join("openspec/changes/mail/proposal.md");
    std::os::unix::fs::symlink(bench.path("outside.md"), link).unwrap();
    let first = context(&bench, "openspec/changes/mail/tasks.md", "1.1");
    assert!(!first.to_string().contains("OUTSIDE-CANARY"));
}
