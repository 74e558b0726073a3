//! What stands in the way of a step is told as it is.

use super::*;

#[test]
fn what_no_change_may_hold_is_told_before_anything_is_done() {
    for text in [
        "Create `.github/workflows/ci.yml`:\n\n```yaml\non: push\n```\n",
        "Delete `.vscode/settings.json`.",
        "Rename `a.json` to `.mcp.json`.",
        "Create `.env`:\n\n```\nA=1\n```\n",
    ] {
        unclear(text, "no change may hold `.");
    }
    same("Delete `.github/CODEOWNERS`.", &["delete .github/CODEOWNERS"]);
    let mut grants = Grants::default();
    grants.grant(".vscode").unwrap();
    let told = read("Delete `.vscode/settings.json`.").within(&grants);
    assert!(matches!(told.steps[..], [Step { action: Action::Delete { .. }, .. }]), "{told:?}");
}

#[test]
fn a_reason_behind_a_failure_may_say_what_is_not_there() {
    for reason in
        ["(cannot find function `tide`)", "— `tide` is not defined", "(not defined: `a.b`)"]
    {
        same(&format!("Run: `x`\nExpected: FAIL {reason}\n"), &["run \"x\" Fail"]);
    }
    for open in ["(if `tide` is missing)", "(not always)", "or PASS"] {
        unclear(&format!("Run: `x`\nExpected: FAIL {open}\n"), "described, not spelled out");
    }
    unclear("Run: `x`\nExpected: PASS (not yet)\n", "described, not spelled out");
}

#[test]
fn shell_code_is_the_file_that_is_named_unless_it_may_be_what_makes_it() {
    let create = |path: &str, code: &str| format!("Create `{path}`:\n\n```sh\n{code}\n```\n");
    for path in ["hooks/foo", "bin/run.sh"] {
        same(&create(path, "make"), &[&format!("new {path} \"make\\n\"")]);
    }
    for (path, code) in
        [("conf/ci.yml", "make"), ("hooks/foo", "touch hooks/foo"), ("src/Makefile", "./configure")]
    {
        unclear(&create(path, code), "its code is marked as `sh`, and may be commands that make");
    }
}

#[test]
fn what_the_work_is_for_may_stand_before_its_list() {
    let list = "1. Create `sum.js`:\n\n   ```js\n   x\n   ```\n";
    for aim in [
        "**Goal:** A sum function.",
        "**Goal:** Add a sum function.",
        "**Objective:** A sum function.",
        "Add a sum function.",
        "**Goal:** A sum.\n\nAdd a sum function.",
    ] {
        same(&format!("{aim}\n\n{list}"), &["new sum.js \"x\\n\""]);
    }
    for held in [
        "**Goal:** A sum function, if it is needed.",
        "**Goal:** Not needed any more.",
        "**Goal:** Everything but this:",
        "**Background:** The old way.",
        "**Goal:** Please add tests everywhere.",
        "Add a sum function if there is none.",
        "Add nothing.",
        "Never add a sum function.",
        "Add a sum function. Add its tests.",
    ] {
        unclear(&format!("{held}\n\n{list}"), "");
    }
    unclear("Add a sum function.\n\n1. Run `ls`.\n", "what is wanted");
}

#[test]
fn work_that_is_put_off_or_only_shown_is_unclear() {
    for text in [
        "- [ ] Clean up tomorrow\n\n  Run `x`.\n",
        "- [ ] Clean up on the server\n\n  Run `x`.\n",
        "- [ ] **Run it in your head**\n\n  Run `x`.\n",
        "- [ ] Verify that nobody runs this\n\n  Run `x`.\n",
        "**Purpose:** training material\n\n- [ ] Run `x`\n",
        "**Overview:** three options, one of them is taken\n\n- [ ] Run `x`\n",
        "The tests are for Windows.\n\n- [ ] Run `x`\n",
    ] {
        unclear(text, "");
    }
}

#[test]
fn a_step_that_asks_for_nothing_is_told_apart_from_one_that_says_too_little() {
    for (text, reason) in [
        ("- [ ] ~~Run `x`~~\n", "is struck out"),
        ("- [ ] Run `y`\n\n  ~~Run `x`.~~\n", "is struck out"),
        ("- [ ] Do not run `x`\n", "says what is not to be done"),
        ("Run `y`.\n\nDo not run `x`.\n", "says what is not to be done"),
        ("- [ ] Run the tests and make sure they pass\n", "names no command"),
        ("- [ ] Add validation\n", "what is wanted, but not word for word how"),
    ] {
        unclear(text, reason);
    }
    let pass = "- [ ] Run the tests and make sure they pass\n\n  Run `x`.\n";
    same(pass, &["run \"x\" Pass"]);
}
