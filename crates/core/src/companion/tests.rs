use super::*;

const DESIGN: &str = "\
# Design

Intro.

## Mail

Mails are sent by the queue.

- [ ] 1.1 CANARY first
- [x] 1.2 CANARY second
  - deeper CANARY

After the list.

## Tasks

CANARY in prose.

## Storage

- plain item
";

#[test]
fn lists_of_tasks_are_cut_and_kept_apart() {
    let companion = Companion::parse("design.md", None, DESIGN);
    let headings: Vec<_> = companion.sections.iter().map(|one| one.heading.as_str()).collect();
    assert_eq!(headings, ["Design", "Mail", "Storage"]);
    assert!(companion.sections.iter().all(|section| !section.text.contains("CANARY")));
    assert!(companion.sections[1].text.contains("After the list."));
    let withheld: Vec<_> = companion.task_lists.iter().map(|one| one.heading.as_str()).collect();
    assert_eq!(withheld, ["Mail", "Tasks"]);
}

#[test]
fn each_format_has_its_own_companions() {
    for (format, path, expected) in [
        (Format::SpecKit, "contracts/api.yaml", true),
        (Format::SpecKit, "tasks.md", false),
        (Format::Kiro, "requirements.md", true),
        (Format::OpenSpec, "specs/mail/spec.md", true),
        (Format::OpenSpec, "tasks.md", false),
        (Format::Superpowers, "design.md", false),
    ] {
        assert_eq!(belongs(format, path), expected, "{format:?} {path}");
    }
}

#[test]
fn a_section_of_tasks_goes_with_all_that_stands_under_it() {
    let text = "# Plan\n\nKept.\n\n## Implementation Tasks (phase 1)\n\n1. CANARY\n\n### Task 1: CANARY\n\nCANARY body.\n\n## Risks\n\nFew.\n";
    let companion = Companion::parse("plan.md", None, text);
    let kept: Vec<_> = companion.sections.iter().map(|one| one.heading.as_str()).collect();
    assert_eq!(kept, ["Plan", "Risks"]);
}

#[test]
fn lists_and_tables_of_ids_are_lists_of_tasks() {
    for block in [
        "- T002 CANARY\n- T003 CANARY\n",
        "* **A.1.2** CANARY\n",
        "| id | what |\n|---|---|\n| T004 | CANARY |\n",
    ] {
        let companion =
            Companion::parse("plan.md", None, &format!("# Plan\n\nKept.\n\n{block}\nAlso kept.\n"));
        assert!(companion.sections.iter().all(|one| !one.text.contains("CANARY")), "{block}");
        assert!(companion.sections[0].text.contains("Also kept."), "{block}");
    }
    let design = "# Design\n\n- Version 1.2 is needed.\n- 404 for the rest.\n";
    assert_eq!(Companion::parse("design.md", None, design).task_lists, []);
}
