//! What is wrong with a plan, where, all at once.

use sequester_core::fault::Code;
use sequester_core::graph::TaskGraph;
use sequester_core::path::RepoPath;
use sequester_core::plan::{self, Format, Options, Presence, check};

use crate::fixture::{faults, read, text};

fn graph_faults(plan: &plan::Plan) -> Vec<String> {
    faults(&TaskGraph::new(plan).1)
}

#[test]
fn what_is_no_plan_is_said_with_its_place() {
    for (source, code, line) in [
        (&b""[..], Code::EmptyPlan, 1),
        (b" \n\t\n", Code::EmptyPlan, 1),
        (b"\xef\xbb\xbf", Code::EmptyPlan, 1),
        (b"# T\n\nbad \xff byte", Code::NotText, 3),
        (b"\xff\xfe#\0", Code::NotText, 1),
        (b"ELF\n\0\0", Code::NotText, 2),
        (b"# A title\n\nAnd words.\n", Code::NoTasks, 1),
        (b"{\"tasks\": [", Code::BadSyntax, 1),
    ] {
        let parsed = plan::parse(source, &Options::default());
        let found: Vec<_> =
            parsed.faults.iter().map(|fault| (fault.code, fault.place.line)).collect();
        assert_eq!(found, [(code, line)], "{source:?}");
    }
}

#[test]
fn a_plan_past_the_limit_is_refused() {
    let options = Options { limit: 3, file_name: "plan.md".into(), ..Options::default() };
    let parsed = plan::parse(b"# Title", &options);
    assert_eq!(
        faults(&parsed.faults),
        ["1:1 PlanTooLarge plan.md has more than 3 bytes, which is the limit."]
    );
}

#[test]
fn a_format_that_is_asked_for_is_the_one_that_is_read() {
    let options = Options { format: Format::parse("Spec-Kit"), ..Options::default() };
    let parsed = plan::parse(b"### Task 1: a\nwords\n", &options);
    assert_eq!(faults(&parsed.faults), ["1:1 NoTasks No task of the format `spec-kit` was found."]);
    for format in Format::ALL {
        assert_eq!(Format::parse(format.as_str()), Some(format));
    }
    assert_eq!(Format::parse("word"), None);
}

#[test]
fn every_fault_of_a_native_plan_has_its_own_place() {
    let parsed = read("native/ugly.md");
    let found: Vec<String> =
        faults(&parsed.faults).iter().map(|line| line.chars().take(60).collect()).collect();
    assert_eq!(
        found,
        [
            "3:1 UnknownKey `wrkflow` is not a key that is known here.",
            "18:1 UnknownKey `fils` is not a key that is known here.",
            "19:46 UnknownKey `mend` is not a key that is known here.",
            "20:6 BadSyntax `tdd` must be `true` or `false`.",
            "29:1 BadSyntax The `task` block of `c` does not stand direct",
            "36:8 BadSyntax This is not the YAML that was expected: unclosed bracket",
            "41:1 EmptyTask Task `e` has a heading and nothing else.",
        ]
        .map(|line| line.chars().take(60).collect::<String>())
    );
    let told = faults(&parsed.warnings);
    assert!(told[0].starts_with("19:18 BadPath `../up.rs`"), "{told:?}");
    assert!(told[1].starts_with("19:30 BadPath `/etc/passwd`"), "{told:?}");
    assert_eq!(
        graph_faults(&parsed.plan),
        ["17:15 UnknownNeed Task `b` needs `nowhere`, and the plan has no such task."]
    );
}

#[test]
fn circles_doubled_ids_and_unknown_needs_are_named_together() {
    let parsed = read("taskmaster/ugly.json");
    assert_eq!(
        faults(&parsed.faults),
        [
            "4:3 BadSyntax This is not the JSON of Task Master: a task has no `id`.",
            "6:3 EmptyTask Task `4` has no title, description, details or test strategy.",
        ]
    );
    assert_eq!(
        graph_faults(&parsed.plan),
        [
            "2:64 Cycle Tasks need each other in a circle: `1` needs `2` (line 2), `2` needs `1` (line 3).",
            "3:67 UnknownNeed Task `2` needs `7`, and the plan has no such task.",
            "5:3 DoubledId Task `2` is there twice; the first is in line 3.",
        ]
    );
}

#[test]
fn what_is_no_task_in_json_is_said_without_inner_names() {
    assert_eq!(
        faults(&text("[{\"id\": 1, \"description\": \"x\"},\n {\"title\": 7}, {\"id\": 2, \"subtasks\": 3}]").faults),
        [
            "2:2 BadSyntax This is not the JSON of Task Master: invalid type: integer `7`, expected a string.",
            "2:16 BadSyntax This is not the JSON of Task Master: invalid type: integer `3`, expected a sequence.",
        ]
    );
}

#[test]
fn faults_in_json_have_their_place_in_the_whole_file_by_characters() {
    for (source, place) in [
        ("{\n  \"meta\": {},\n\n  \"tasks\": {\"id\": 1}}", "4:12"),
        ("{\"é\": {\n \"é\": 1, \"tasks\": 7}}", "2:19"),
        ("{\"tasks\": [{\"id\": 1, \"title\": \"ééééé\" x}]}", "1:39"),
        ("{\"tasks\": [\n  {\"id\": 1}\n  {\"id\": 2}]}", "3:3"),
    ] {
        let found = faults(&text(source).faults);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(&format!("{place} BadSyntax")), "{place} {found:?}");
    }
}

#[test]
fn a_need_on_a_later_task_is_ignored_where_the_order_is_that_of_the_plan() {
    for source in [
        "### Task 1: a\nDepends on: Task 3\n### Task 2: b\nb\n### Task 3: c\nc\n",
        "- [ ] 1. a\n  depends on Task 3\n- [ ] 2. b\n- [ ] 3. c\n",
        "- [ ] A.1.1 a\n  depends on A.1.3\n- [ ] A.1.2 b\n- [ ] A.1.3 c\n",
    ] {
        let parsed = text(source);
        assert_eq!(graph_faults(&parsed.plan), Vec::<String>::new(), "{source}");
        let told: Vec<(Code, u32)> =
            parsed.warnings.iter().map(|one| (one.code, one.place.line)).collect();
        assert_eq!(told, [(Code::UnusedOrder, 2)], "{source}");
    }
    let tracks = text("- [ ] A.1.1 a\n  depends on B.1.1\n- [ ] B.1.1 b\n");
    assert_eq!(tracks.plan.tasks[0].needs.len(), 1);
}

#[test]
fn a_heading_without_words_is_an_empty_task() {
    let parsed = text("### Task 1: a\n\n### Task 2: b\nwords\n");
    assert_eq!(faults(&parsed.faults), ["1:1 EmptyTask Task `1` has a heading and nothing else."]);
}

#[test]
fn a_box_with_a_number_and_no_words_is_an_empty_task_in_every_format() {
    for (format, source) in [
        (
            Format::OpenSpec,
            "## 1. Setup\n\n- [ ] 1.1 Do it\n- [ ] 1.2\n- [x] 1.3\n- [ ] 1.4\n  Words below.\n",
        ),
        (Format::SpecKit, "## Phase 1\n\n- [ ] T001 Do it\n- [ ] T002 [P]\n- [x] T003\n"),
        (Format::Kiro, "# Plan\n\n- [ ] 1. Do it\n- [ ] 2.\n- [ ] 3. Then\n"),
        (Format::Track, "## A.1 Part\n\n- [ ] A.1.1 Do it\n- [ ] A.1.2\n"),
    ] {
        let options = Options { format: Some(format), ..Options::default() };
        let parsed = plan::parse(source.as_bytes(), &options);
        let found: Vec<_> =
            parsed.faults.iter().map(|fault| (fault.code, fault.place.line)).collect();
        assert_eq!(found, [(Code::EmptyTask, 4)], "{format:?}: {:?}", parsed.faults);
    }
}

fn checked(source: &str, base: &[(&str, Presence)]) -> Vec<String> {
    let parsed = text(source);
    assert_eq!(parsed.faults, []);
    let (graph, _) = TaskGraph::new(&parsed.plan);
    let presence = |path: &RepoPath| {
        let found = base.iter().find(|(name, _)| *name == path.as_str());
        found.map_or(Presence::Absent, |(_, presence)| *presence)
    };
    let paths: Vec<RepoPath> =
        base.iter().map(|(name, _)| RepoPath::parse(name).unwrap()).collect();
    let found = check(&parsed.plan, &graph, &presence, &paths);
    faults(&found)
        .iter()
        .zip(&found)
        .map(|(line, fault)| format!("{line} {}", fault.hint))
        .collect()
}

#[test]
fn files_must_be_there_or_come_from_a_task_that_is_needed() {
    let native = "---\nsequester: 1\n---\n## [a] A\n```task\nfiles: {create: [new.rs]}\n```\nx\n\
                  ## [b] B\n```task\nneeds: [a]\nfiles: {modify: [new.rs, old.rs], test: [t.rs]}\n```\nx\n\
                  ## [c] C\n```task\nfiles: {read: [new.rs], delete: [odl.rs], modify: [nowhere.rs]}\n```\nx\n\
                  ## [d] D\n```task\ndone: true\nfiles: {modify: [gone.rs]}\n```\nx\n";
    assert_eq!(
        checked(native, &[("old.rs", Presence::File)]),
        [
            "17:16 MissingNeed Task `c` names `new.rs`, which only task `a` creates, and it does not need that task. \
             It may start without the file. Let `c` need `a`.",
            "17:34 MissingFile Task `c` names `odl.rs`, which does not exist and which no task creates. \
             The task starts without it. \
             Did you mean `old.rs`? Otherwise list it under the files to create.",
            "17:52 MissingFile Task `c` names `nowhere.rs`, which does not exist and which no task creates. \
             The task starts without it. \
             List it under the files to create, or correct the path.",
        ]
    );
}

#[test]
fn links_and_folders_are_no_files() {
    let plan = "### Task 1: a\n**Files:**\n- Modify: `link/x.rs`\n- Create: `src`\n- `new.rs`\n- Read: `src`\n- Delete: `src`\n";
    let base = [("link/x.rs", Presence::Symlink), ("src", Presence::Folder)];
    assert_eq!(
        checked(plan, &base),
        [
            "3:12 BadPath `link/x.rs` is a symbolic link or lies behind one. Its content is not shown to the task. Name the file itself: links may lead out of the repository.",
            "6:10 BadPath `src` is a directory. Its files are not shown to the task. Name a file in it.",
            "7:12 BadPath `src` is a directory. Its files are not shown to the task. Name a file in it.",
        ]
    );
}

#[test]
fn a_created_directory_covers_what_is_below_it() {
    let plan = "### Task 1: a\n**Files:**\n- Create: `web/`\n\n### Task 2: b\n**Files:**\n- Modify: `web/package.json`\n- Modify: `webs.json`\n";
    let found = checked(plan, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`webs.json`"), "{found:?}");
}

#[test]
fn many_missing_files_are_all_named_and_the_first_get_hints() {
    let list: Vec<String> =
        (0..60).map(|number| format!("- Modify: `src/fil{number}.rs`\n")).collect();
    let plan = format!("### Task 1: a\n**Files:**\n{}", list.concat());
    let names: Vec<String> = (0..60).map(|number| format!("src/file{number}.rs")).collect();
    let base: Vec<_> = names.iter().map(|name| (name.as_str(), Presence::File)).collect();
    let found = checked(&plan, &base);
    assert_eq!(found.len(), 60);
    assert!(found[49].contains("Did you mean `src/file49.rs`?"));
    assert!(found[50..].iter().all(|line| !line.contains("Did you mean")));
}
