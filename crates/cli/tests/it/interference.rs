//! Non-interference through the whole program: real survey, real ranking, every format, the plan and an old copy of it
//! in the repository.

use crate::command::{Bench, FILES};

/// A plan of one format in which everything that the task `own` may not see holds `noise`.
struct Shape {
    path: &'static str,
    own: &'static str,
    write: fn(noise: &str) -> String,
}

const SHAPES: [Shape; 7] = [
    Shape {
        path: "plan.md",
        own: "b",
        write: |noise| {
            format!(
                "---\nsequester: 1\n---\n# Mail\n\nProse {noise}.\n\n## [a] First {noise}\n\nText {noise}.\n\n\
                 ## [b] Send the mail\n\n```task\nfiles: {{modify: [src/mail.rs]}}\n```\n\nSend it.\n\n\
                 ## [c] Third {noise}\n\n### Constraints\n\n{noise}\n\n# Other {noise}\n"
            )
        },
    },
    Shape {
        path: "docs/plans/mail.md",
        own: "1",
        write: |noise| {
            format!(
                "# Mail Implementation Plan\n\n**Goal:** Mail.\n\n**Architecture:** A queue.\n\n---\n\n\
                 ### Task 1: Send the mail\n\n**Files:**\n- Modify: `src/mail.rs`\n\n- [ ] **Step 1: Send it**\n\n\
                 ### Task 2: Second {noise}\n\n- [ ] **Step 1: {noise}**\n\n## Notes {noise}\n\n{noise}\n"
            )
        },
    },
    Shape {
        path: "tracks.md",
        own: "A.1.1",
        write: |noise| {
            format!(
                "# Tracks\n\n## A.1 Mail\n\n### A.1.1 Send the mail\n\nSend it with `src/mail.rs`.\n\n\
                 ### A.1.2 Count {noise}\n\nCount {noise}.\n\n## B.1 Else {noise}\n\n### B.1.1 Else {noise}\n\nElse {noise}.\n"
            )
        },
    },
    Shape {
        path: "specs/001-mail/tasks.md",
        own: "T001",
        write: |noise| {
            format!(
                "# Tasks: Mail\n\n## Phase 1: Setup\n\n- [ ] T001 Send the mail in src/mail.rs\n- [ ] T002 [P] Count {noise} in src/{noise}.rs\n\n\
                 ## Phase 2: {noise}\n\n- [ ] T003 Third {noise}\n\n## Notes\n\n{noise}\n"
            )
        },
    },
    Shape {
        path: "openspec/changes/mail/tasks.md",
        own: "1.1",
        write: |noise| {
            format!(
                "## 1. Mail\n\n- [ ] 1.1 Send the mail\n- [ ] 1.2 Count {noise}\n\n## 2. Else {noise}\n\n- [ ] 2.1 {noise} too\n"
            )
        },
    },
    Shape {
        path: ".kiro/specs/mail/tasks.md",
        own: "1",
        write: |noise| {
            format!(
                "# Implementation Plan\n\n- [ ] 1. Send the mail\n  - Send it with `src/mail.rs`\n  - _Requirements: 1.1_\n\n\
                 - [ ] 2. Count {noise}\n  - Count {noise}\n  - _Requirements: 2.1_\n"
            )
        },
    },
    Shape {
        path: ".taskmaster/tasks/tasks.json",
        own: "1",
        write: |noise| {
            format!(
                "{{\n  \"master\": {{\n    \"tasks\": [\n      {{\n        \"id\": 1, \"title\": \"Send the mail\", \"description\": \"Send it.\",\n        \
                 \"details\": \"In src/mail.rs.\", \"dependencies\": [], \"status\": \"pending\"\n      }},\n      {{\n        \"id\": 2, \"title\": \"Count {noise}\", \
                 \"description\": \"{noise}\", \"dependencies\": [1], \"status\": \"pending\"\n      }}\n    ]\n  }}\n}}\n"
            )
        },
    },
];

#[test]
fn what_others_are_to_do_changes_no_byte_in_any_format() {
    for shape in &SHAPES {
        let bench = Bench::with(&FILES);
        bench.write(shape.path, (shape.write)("OLDCANARY"));
        let old = format!("docs/old-{}", shape.path.rsplit('/').next().unwrap());
        bench.write(&old, (shape.write)("OLDCANARY"));
        bench.commit("plan");
        let contexts: Vec<String> = ["OLDCANARY", "SIBLINGCANARY", "mail send queue"]
            .iter()
            .map(|noise| {
                bench.write(shape.path, (shape.write)(&noise.replace(' ', "-")));
                let answer = bench.run(&["context", shape.path, shape.own]);
                assert_eq!(answer.code, Some(0), "{}: {answer:?}", shape.path);
                answer.out
            })
            .collect();
        assert!(contexts[0].contains("Send the mail"), "{}", contexts[0]);
        for context in &contexts {
            assert_eq!(context, &contexts[0], "{}", shape.path);
            assert!(
                !context.contains("SIBLINGCANARY") && !context.contains("OLDCANARY"),
                "{context}"
            );
        }
    }
}
