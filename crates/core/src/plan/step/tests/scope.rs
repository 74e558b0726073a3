//! What stands above an instruction decides whether it counts: headings, labels, sentences, quotes, comments.

use super::*;

const RUN: &str = "Run `rm -rf x`.";
const STEPS: [&str; 4] = [
    "Run `rm -rf x`.",
    "- [ ] Run `rm -rf x`",
    "**Step 1: Clean up**\n\nRun `rm -rf x`.",
    "- [ ] **Step 1: Clean up**\n\n```bash\nrm -rf x\n```",
];

/// Whether all of it is clear, and the command is run.
fn does(text: &str) -> bool {
    let told = told(text);
    !told.iter().any(|one| one.starts_with("unclear "))
        && told.iter().any(|one| one.contains("rm -rf"))
}

#[track_caller]
fn refused(text: &str) {
    assert!(!does(text), "{text}\n{:#?}", told(text));
}

#[track_caller]
fn done(text: &str) {
    assert!(does(text), "{text}\n{:#?}", told(text));
}

/// Something that is carried out, so that a text is not refused for being empty.
const BEFORE: &str = "### Set up\n\n- [ ] Run `make`\n\n";

#[test]
fn the_names_of_parts_that_a_text_was_put_together_from_ask_for_nothing() {
    let text =
        "Description:\nAdd a sum function.\n\nDetails:\nCreate `a.py`:\n\n```python\nx = 1\n```\n";
    assert_eq!(told(text), ["new a.py \"x = 1\\n\""]);
    assert_eq!(told("Details:\nRun: `make`\n"), told("Run: `make`\n"));
    assert_eq!(told("Description:\nRun: `make`\n"), told("Run: `make`\n"), "it says all");
    // Of any other name nobody knows what it does to what stands below.
    assert!(told("Postponed:\nRun: `make`\n")[0].starts_with("unclear"));
}

#[test]
fn a_line_about_a_test_strategy_takes_nothing_away_from_the_steps_below_it() {
    for before in ["", "Details:\nCreate `a.py`:\n\n```python\nx = 1\n```\n\n"] {
        for words in ["Test strategy:\nBy hand.", "Test strategy: by hand.", "Test strategy:"] {
            for step in STEPS {
                let text = format!("{before}{words}\n\n{step}\n");
                let told = told(&text);
                let kept = |one: &String| one.starts_with("unclear ") || one.contains("rm -rf");
                assert!(told.iter().any(kept), "{text}\n{told:#?}");
            }
        }
    }
}

#[test]
fn an_aside_holds_until_a_heading_of_its_own_level() {
    for name in [
        "Rollback",
        "Rollback plan",
        "Roll back",
        "Example",
        "Examples",
        "Alternatives",
        "Out of scope",
        "Non-goals",
        "Notes",
        "Background",
        "Troubleshooting",
        "Current behaviour",
        "Appendix",
        "Future work",
        "Rejected ideas",
    ] {
        for step in STEPS {
            refused(&format!("{BEFORE}### {name}\n\n{step}\n"));
            refused(&format!("{BEFORE}### {name}\n\n#### Details\n\n{step}\n"));
            refused(&format!("{BEFORE}### {name}\n\n#### Step 2: Clean up\n\n{step}\n"));
            refused(&format!("{BEFORE}### {name}\n\nSome words.\n\n---\n\n{step}\n"));
        }
        done(&format!("## {name}\n\n### More\n\n- [ ] Run `touch y`\n\n## Steps\n\n- [ ] {RUN}\n"));
        done(&format!("### {name}\n\nIt is new.\n\n## Steps\n\n- [ ] {RUN}\n"));
    }
}

#[test]
fn steps_inherit_what_their_headings_say() {
    for heading in [
        "If the release failed",
        "What must never be done",
        "Do not run",
        "Only on staging",
        "Not yet",
        "Optional",
        "When it breaks",
        "Cancelled",
        "Deprecated",
        "~~Cleaning~~",
        "Withdrawn: cleaning",
        "Old plan",
        "For later",
        "No ejecutes",
        "Nicht ausführen",
        "実行しないこと",
        "不要执行",
        "Не запускать",
        "Manual steps",
        "Common mistakes",
        "Dangerous",
        "How it was done before",
        "Skip",
        "Superseded by the new plan",
        "On hold",
        "एक",
        "Draft",
    ] {
        for step in STEPS {
            refused(&format!("{BEFORE}### {heading}\n\n{step}\n"));
            refused(&format!("{BEFORE}## {heading}\n\n### Backend\n\n{step}\n"));
        }
        refused(&format!("- [ ] **Step 1: {heading}**\n\nRun: `rm -rf x`\nExpected: PASS\n"));
    }
    for heading in [
        "Backend",
        "Steps",
        "Phase 2: the parser",
        "Remove deprecated calls",
        "Clean up the old plan's files",
    ] {
        done(&format!("### {heading}\n\n- [ ] {RUN}\n"));
    }
    for title in ["Remove the deprecated calls", "Tests", "失敗を確認する", "Clean up"] {
        done(&format!("- [ ] **Step 1: {title}**\n\nRun: `rm -rf x`\nExpected: PASS\n"));
    }
}

#[test]
fn a_label_alone_on_its_line_holds_until_the_next_step() {
    for label in [
        "Do not run:",
        "**Do not run:**",
        "**Rollback**",
        "**Rollback:**",
        "Out of scope:",
        "Example:",
        "**Example**",
        "For reference:",
        "**Alternative**",
        "Never do this:",
        "**What not to do**",
        "If it fails:",
        "**Optional**",
        "Later:",
        "**Not in scope**",
        "Bad:",
        "The old way:",
        "On Windows:",
        "**Danger**",
    ] {
        for block in [
            "Run `rm -rf x`.",
            "```bash\nrm -rf x\n```",
            "- Run `rm -rf x`.",
            "1. Run `rm -rf x`.",
            "- [ ] Run `rm -rf x`",
        ] {
            for step in ["- [ ] **Step 1: Clean up**", "### Clean up", "**Step 1: Clean up**"] {
                refused(&format!("{step}\n\nRun `make`.\n\n{label}\n\n{block}\n"));
                refused(&format!(
                    "{step}\n\nRun `make`.\n\n{label}\n\nThe old script:\n\n{block}\n"
                ));
                refused(&format!(
                    "{step}\n\nRun `make`.\n\n{label}\n\n```bash\ntouch y\n```\n\n{block}\n"
                ));
                refused(&format!(
                    "{step}\n\nRun `make`.\n\n{label}\n\nIt is new.\n\n---\n\n{block}\n"
                ));
            }
        }
    }
    for label in ["Rollback:", "**Example:**", "**Out of scope:**\n\n- Windows"] {
        done(&format!("**Step 1: Build it**\n\nRun `make`.\n\n{label}\n\n```bash\ntouch y\n```\n\n**Step 2: Clean up**\n\n{RUN}\n").replace(
            "- Windows\n\n```bash\ntouch y\n```", "- Windows"));
    }
    for label in [
        "**Goal:** Add the parser.",
        "**Why:** The old one is slow.",
        "**Files:**\n- Modify: `x/a.rs`",
    ] {
        done(&format!("{label}\n\n- [ ] Delete `x/a.rs`\n\n- [ ] {RUN}\n"));
    }
}

#[test]
fn a_sentence_above_an_instruction_may_take_it_back() {
    for said in [
        "This is what the old script did.",
        "That is for Windows.",
        "These commands are for Windows.",
        "It was withdrawn.",
        "Nothing below is to be run.",
        "The commands below are for Windows.",
        "The following is the old way.",
        "Below is what the previous team did.",
        "The steps are cancelled.",
        "The plan was abandoned.",
        "This task is void.",
        "The next command is destructive.",
        "The script is deprecated.",
        "The approach is a mistake.",
        "This was the old plan:",
        "The old script was:",
        "These are for Windows:",
        "The team forgot:",
        "This describes a failed attempt.",
        "No ejecutes esto.",
        "A partir de ahora no ejecutes estos comandos.",
        "An Produktion niemals ausführen, was folgt.",
        "Nicht ausführen.",
        "No longer needed.",
        "It is forbidden.",
        "The rest is history.",
        "All of this is obsolete.",
        "Each command is a trap.",
        "We no longer do this.",
        "What follows is wrong.",
        "There is nothing to do.",
        "This belongs to another task.",
        "This applies to Windows.",
        "It would be a disaster.",
        "Here is a bad idea.",
        "If the release failed, the following restores it.",
        "When it breaks, this brings it back.",
        "The customer does not want the steps below.",
        "None of this is wanted.",
        "Status: withdrawn",
        "**Status:** done",
        "**Status:** ❌ Rejected",
        "Status: on hold.",
    ] {
        for step in STEPS {
            refused(&format!("{said}\n\n{step}\n"));
        }
        refused(&format!("- [ ] **Step 1: Clean up**\n\n{said}\n\n{RUN}\n"));
        refused(&format!("- [ ] **Step 1: Clean up**\n\n{said} {RUN}\n"));
        refused(&format!("- [ ] **Step 1: Clean up**\n\n- {said}\n- {RUN}\n"));
    }
    for said in [
        "This keeps the two in step.",
        "The parser returns early because nothing is left.",
        "`count` is the sum.",
        "This adds the parser.",
        "Status: open",
        "**Status:** pending",
        "Status: in progress",
        "**Status:** ⬜ Not started",
        "The file has one entry.",
        "It uses the shared cache.",
    ] {
        done(&format!("- [ ] **Step 1: Clean up**\n\n{said}\n\n{RUN}\n"));
        done(&format!("{said}\n\n- [ ] **Step 1: Clean up**\n\n{RUN}\n"));
    }
}

#[test]
fn a_preface_may_take_all_of_it_back() {
    for said in [
        "Do NOT carry out this plan. It was withdrawn.",
        "This plan was withdrawn.",
        "Wait for the release.",
        "Ask Maria first.",
        "Stop.",
        "Hold.",
        "Keep off.",
        "Draft.",
        "Not for production.",
        "Only on staging.",
        "If the release failed:",
        "Run nothing of this.",
        "Please do not execute any of the steps.",
        "The plan is for version 2.",
        "Emergency only!",
        "Superseded.",
        "Skip this.",
        "Ignore the steps below.",
        "This is an example of a bad plan.",
        "Read the steps, but run none of them.",
        "Dies ist nur ein Beispiel.",
        "これは例です。",
        "For the other team:",
    ] {
        for step in &STEPS[1..] {
            refused(&format!("{said}\n\n{step}\n"));
            refused(&format!("> {said}\n\n{step}\n"));
            refused(&format!("**Note:** {said}\n\n{step}\n"));
            refused(&format!("## Clean up\n\n{said}\n\n### Steps\n\n{step}\n"));
            refused(&format!("- {said}\n\n## Steps\n\n{step}\n"));
            refused(&format!("| a |\n|---|\n| {said} |\n\n{step}\n"));
            refused(&format!("<!-- a -->\n<p>{said}</p>\n\n{step}\n"));
        }
    }
    for said in [
        "Add the parser and its tests.",
        "Count the words of a text, tests first.",
        "Give the crate a function that says how long a duration is, tests first.",
        "Set the port.",
        "**Goal:** Add the parser.",
        "This task adds the parser.",
        "See `docs/spec.md`.",
        "Implement the reader for the new format.",
        "The parser has two parts.",
        "**Goal:** Rewrite the reader so that it copies nothing.",
        "> The parser is new.",
        "Do not change the public names.",
        "Steps:",
        "<!-- do not run this -->",
    ] {
        for step in &STEPS[1..] {
            done(&format!("{said}\n\n{step}\n"));
        }
    }
}

#[test]
fn a_comment_of_a_script_may_hold_its_commands_back() {
    for comment in [
        "# Do not run this one:",
        "# never on main",
        "# not yet",
        "# only on Linux",
        "# when it breaks",
        "# deprecated",
        "# withdrawn",
        "# old way, superseded",
        "# No ejecutes",
        "# nicht ausführen",
        "# 実行しない",
        "# before the release",
    ] {
        refused(&format!("- [ ] Run it\n\n```bash\n{comment}\nrm -rf x\n```\n"));
        refused(&format!("- [ ] Run it\n\n```bash\nrm -rf x  {comment}\n```\n"));
        refused(&format!("- [ ] Run it\n\n```bash\nmake\n\n{comment}\n\nrm -rf x\n```\n"));
    }
    for comment in ["# clean up", "# the cache", "# Expected: PASS", "# 1. remove it"] {
        done(&format!("- [ ] Run it\n\n```bash\n{comment}\nrm -rf x\n```\n"));
    }
}

#[test]
fn what_is_struck_out_is_not_carried_out() {
    for text in [
        "- [ ] ~~**Step 1: Clean up**~~\n\nRun `rm -rf x`.\n",
        "- [ ] **~~Step 1~~: Clean up**\n\nRun `rm -rf x`.\n",
        "~~Run `rm -rf x`.~~",
        "Run ~~`rm -rf x`~~.",
        "### ~~Clean up~~\n\nRun `rm -rf x`.\n",
        "- [ ] ~~Run `rm -rf x`~~\n",
        "- [ ] **Clean up**\n\n~~Run:~~ `rm -rf x`\n",
        "- [ ] <del>Run `rm -rf x`</del>\n",
        "- [ ] <s>Clean up</s>\n\n```bash\nrm -rf x\n```\n",
        "- [ ] **Clean up**\n\n~Run:~\n\n```bash\nrm -rf x\n```\n",
    ] {
        refused(text);
    }
}

#[test]
fn a_comment_that_goes_on_is_none() {
    for html in [
        "<!-- a --> Do not run the steps.",
        "<!-- a -->\nDo not run the steps.",
        "<!-- a --> It was withdrawn. <!-- b -->",
        "<!--> It was withdrawn. -->",
    ] {
        refused(&format!("{html}\n\n- [ ] {RUN}\n"));
        refused(&format!("- [ ] Run `make`\n\n{html}\n\n- [ ] {RUN}\n"));
    }
    refused(&format!("- [ ] {RUN}\n\n<!-- It was withdrawn.\n"));
    done(&format!("<!-- a -->\n\n- [ ] {RUN}\n\n<!-- b\nc -->\n"));
}

#[test]
fn text_behind_a_ticked_box_does_not_vanish() {
    for said in [
        "The next step is cancelled.",
        "Do not go on.",
        "Step 2 is obsolete.",
        "Nothing below is to be run.",
        "Stop here.",
    ] {
        refused(&format!(
            "- [x] **Step 1: Make it**\n\nRun `make`.\n\n{said}\n\n- [ ] **Step 2: Clean up**\n\n{RUN}\n"
        ));
        refused(&format!(
            "- [x] **Step 1: Make it.** {said}\n\n- [ ] **Step 2: Clean up**\n\n{RUN}\n"
        ));
    }
    done(&format!(
        "- [x] **Step 1: Make it**\n\nCreate `a`:\n\n```\nx\n```\n\nIf it fails, look again.\n\n- [ ] **Step 2: Clean up**\n\n{RUN}\n"
    ));
}

#[test]
fn a_heading_without_steps_is_met_like_a_title() {
    for text in [
        "### Update the docs\n\nRun `rm -rf x`.\n",
        "### Update `b.ts`\n\nRun `rm -rf x`.\n",
        "### Update the docs\n\n### Clean up\n\nRun `rm -rf x`.\n",
        "### Rewrite the parser\n\n### Run it\n\nRun `rm -rf x`.\n",
    ] {
        unclear(text, "");
    }
    done(
        "## Clean up and run it\n\n### Clean up\n\nRun `rm -rf x`.\n\n### Run it\n\nRun `make`.\n",
    );
    done("## Steps\n\nRun `rm -rf x`.\n");
}

const STEP: &str = "- [ ] **Step 1: Clean up**\n\nRun `rm -rf x`.\n";

#[test]
fn a_name_that_is_not_plainly_that_of_work_holds_it_back() {
    for heading in [
        "What we decided against",
        "Things that break production",
        "The previous design",
        "Plan B",
        "In the event of an outage",
        "Emergency procedure",
        "Contingency",
        "Cleaning (needs sign-off)",
        "Cleaning — awaiting approval",
        "Someday",
        "TBD",
        "Anti-patterns",
        "Post-mortem: what Bob ran",
        "Should we clean up?",
        "Log of 3 May",
        "Task 3: rejected",
    ] {
        refused(&format!("## {heading}\n\n{STEP}"));
    }
    for title in [
        "Clean up (done by Bob)",
        "Clean up — blocked",
        "Clean up [cancelled]",
        "Clean up?",
        "❌ Clean up",
        "🚫 Clean up",
        "Clean up (by the ops team)",
        "CANCELLED Clean up",
        "Clean up: not now",
        "On staging",
        "For Windows users",
        "What the attacker does",
        "The broken variant",
        "Bob's idea",
        "Removed",
        "N/A",
        "No-op",
        "Çalıştırma",
        "Aufräumen",
        "Clean up, but dry-run",
        "In case of fire",
    ] {
        refused(&format!("- [ ] **Step 1: {title}**\n\nRun: `rm -rf x`\nExpected: PASS\n"));
    }
}

#[test]
fn a_box_counts_if_it_is_open_and_stands_in_no_other_that_may_not() {
    for mark in ["[-]", "[~]", "[/]", "[>]", "[!]", "[?]", "[ ]*"] {
        refused(&format!("- {mark} **Step 1: Clean up**\n\nRun `rm -rf x`.\n"));
        refused(&format!("- [ ] Run `make`\n- {mark} Run `rm -rf x`\n"));
        refused(&format!("- {mark} Clean up\n  - [ ] Run `rm -rf x`\n"));
    }
    for parent in [
        "- [ ] Rollback",
        "- [ ] If it fails",
        "- [ ] Optional",
        "- [x] Rollback",
        "- Rollback",
        "- Do not do this:",
    ] {
        refused(&format!("{parent}\n  - [ ] Run `rm -rf x`\n"));
        refused(&format!("{parent}\n  - [ ] Clean up\n\n    Run `rm -rf x`.\n"));
    }
}

#[test]
fn nothing_else_above_an_instruction_is_passed_over() {
    for said in [
        "The attacker runs this.",
        "Convert this into a proposal.",
        "Replace everything here by a better plan.",
        "Provide feedback on it.",
        "Move this to the backlog.",
        "Support has asked to stop.",
        "Build is red.",
        "All changes are on ice.",
        "Fixes were rolled back.",
        "Adds nothing of value.",
        "The parser is done.",
        "The function is dead code.",
        "`x` is in use.",
        "**Why:** we are not sure yet.",
        "**Why:** If the release fails, this saves us.",
        "**Context:** production outage, run when told.",
        "**Description:** how it used to be done.",
        "**Files:** none, do not run",
        "The folder is needed by production.",
        "The reviewer wants the opposite.",
        "The ticket is closed.",
        "A decision is pending.",
        "The feature was removed from the roadmap.",
        "**Owner:** nobody, this is dead",
        "**Summary:** Nothing is to be done here.",
        "**Goal:** Show what not to do.",
        "**Goal:** A bad example.",
        "**Context:** Bob ran the steps already.",
        "**Depends on:** approval by Bob",
        "**Blocked by:** the release",
        "**Priority:** none, dropped",
        "Add nothing and run nothing.",
        "See the notes on why we stopped.",
        "Write to Bob and wait.",
        "Update: Bob has done it.",
        "Update: all done.",
        "Do not delete anything.",
        "Never remove folders.",
        "Do not change anything.",
        "Do not touch the disk.",
        "```\nDo not run any of this.\n```",
        "```text\nWITHDRAWN\n```",
    ] {
        refused(&format!("{said}\n\n{STEP}"));
    }
    for line in [
        "## WARNING",
        "# variant A",
        "# TODO: check with Bob",
        "# Windows:",
        "# Ask Bob first!",
        ": never run this",
    ] {
        refused(&format!("- [ ] **Step 1: Clean up**\n\n```bash\n{line}\nrm -rf x\n```\n"));
    }
    refused("- [ ] **Step 1: Clean up**\n\n```console\nrm -rf x\nremoved\n```\n");
    refused(&format!("{STEP}\n(The ops team does it.)\n"));
    for said in [
        "**Depends on:** Task 3",
        "**Depends on:** Task 1, Task 2",
        "**Goal:** The reader copies nothing.",
    ] {
        done(&format!("{said}\n\n{STEP}"));
    }
}
