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
