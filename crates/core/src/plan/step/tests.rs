use super::*;
use crate::protected::Grants;

mod adversarial;
mod bounds;
mod reason;
mod scope;
mod table;

/// The actions of a text, each in one line.
fn told(text: &str) -> Vec<String> {
    read(text).within(Grants::none()).steps.iter().map(|step| tell(&step.action)).collect()
}

fn tell(action: &Action) -> String {
    match action {
        Action::Write { path, content, fresh } => {
            format!("{} {path} {content:?}", if *fresh { "new" } else { "write" })
        }
        Action::Append { path, content } => format!("append {path} {content:?}"),
        Action::Replace { path, old, new } => format!("replace {path} {old:?} {new:?}"),
        Action::Patch { path, hunks } => {
            let hunks: Vec<String> =
                hunks.iter().map(|hunk| format!("{:?} {:?}", hunk.old, hunk.new)).collect();
            format!("patch {path} {}", hunks.join(" "))
        }
        Action::Insert { path, line, after, content } => {
            format!(
                "insert {path} {} {line:?} {content:?}",
                if *after { "after" } else { "before" }
            )
        }
        Action::Delete { path, folder } => {
            format!("{} {path}", if *folder { "delete-folder" } else { "delete" })
        }
        Action::Rename { from, to } => format!("rename {from} {to}"),
        Action::Run { command, expect } => {
            let text = expect.text.as_ref().map(|text| format!(" {text:?}")).unwrap_or_default();
            let silent = if expect.silent { " silent" } else { "" };
            let count = expect.count.map(|count| format!(" {count}")).unwrap_or_default();
            let lines: Vec<String> = expect.lines.iter().map(|line| format!(" {line:?}")).collect();
            let lines = lines.concat();
            format!("run {command:?} {:?}{text}{lines}{count}{silent}", expect.exit)
        }
        Action::Ask { question, options, default, answer } => {
            let answer = answer.as_ref().map(|answer| format!(" {answer:?}")).unwrap_or_default();
            format!("ask {question:?} {options:?} {default:?}{answer}")
        }
        Action::Commit { message } => format!("commit {message:?}"),
        Action::Unclear { reason, .. } => format!("unclear {reason}"),
    }
}

#[track_caller]
fn same(text: &str, expected: &[&str]) {
    assert_eq!(told(text), expected, "{text}");
}

#[track_caller]
fn unclear(text: &str, part: &str) {
    let told = told(text);
    assert!(
        told.iter().any(|one| one.starts_with("unclear ") && one.contains(part)),
        "{text}\n{told:#?}"
    );
}

#[test]
fn a_fence_is_a_new_file_by_the_sentence_before_it() {
    for lead in [
        "Create `src/a.ts`:",
        "Write `src/a.ts` with:",
        "1. Create the file `src/a.ts`:",
        "`src/a.ts`:",
        "In `src/a.ts`:",
        "Then create `src/a.ts` (new file):",
    ] {
        same(&format!("{lead}\n\n```ts\nlet a;\n```\n"), &["new src/a.ts \"let a;\\n\""]);
    }
    same(
        "- [ ] **Step 1: The types**\n\n```ts\n// src/a.ts\nlet a;\n```\n",
        &["new src/a.ts \"// src/a.ts\\nlet a;\\n\""],
    );
    same(
        "- [ ] **Step 1: Write the test** — `t/a.test.ts`\n\n```ts\nx\n```\n",
        &["new t/a.test.ts \"x\\n\""],
    );
    same(
        "Create `app/(org)/[slug]/page.tsx`:\n\n```tsx\nx\n```\n",
        &["new app/(org)/[slug]/page.tsx \"x\\n\""],
    );
    same("### Step 1: Write setup.sh\n\n```bash\necho 1\n```\n", &["new setup.sh \"echo 1\\n\""]);
    unclear("Create `a.ts`:\n\n```ts\n// b.ts\nx\n```\n", "its code names `b.ts`");
}

#[test]
fn only_words_of_all_of_it_replace_a_file() {
    for lead in [
        "Replace the entire contents of `a.md` with:",
        "Replace `a.md` with:",
        "Overwrite `a.md` with exactly:",
    ] {
        same(&format!("{lead}\n\n```md\nx\n```\n"), &["write a.md \"x\\n\""]);
    }
    for part in [
        "Write the following at the bottom of `a.md`:",
        "Add the following to `a.md`:",
        "Add a section to `a.md`:",
        "Update `a.md`:",
        "In `a.md`, add:",
    ] {
        unclear(&format!("{part}\n\n```md\nx\n```\n"), "word for word");
    }
}

#[test]
fn a_list_of_files_settles_the_only_file_of_a_kind() {
    let files = "**Files:**\n- Create: `src/a/b.py`\n- Test: `tests/test_b.py`\n\n";
    let step = |title: &str| format!("{files}**Step 1: {title}**\n\n```python\nx\n```\n");
    same(&step("Write the failing test"), &["new tests/test_b.py \"x\\n\""]);
    same(&step("Write minimal implementation"), &["new src/a/b.py \"x\\n\""]);
    same(&step("Create `b.py`"), &["new src/a/b.py \"x\\n\""]);
    unclear(&step("Write minimal implementation").replace("```python", "```rust"), "which file");
    unclear(
        &step("Write minimal implementation").replace("- Test", "- Create: `src/c.py`\n- Test"),
        "which file",
    );
    unclear(
        &step("Write the failing test").replace("- Test", "- Test: `tests/test_c.py`\n- Test"),
        "which file",
    );
    unclear(
        &step("Create `b.py`").replace("- Test", "- Create: `src/c/b.py`\n- Test"),
        "several files",
    );
    unclear(
        "**Files:**\n- Modify: `src/b.py`\n\n**Step 3: Implement `src/b.py`**\n\n```python\nb\n```\n",
        "where in `src/b.py`",
    );
    let twice = format!(
        "{}\n**Step 2: Implement c**\n\n```python\nc\n```\n",
        step("Write minimal implementation")
    );
    unclear(&twice, "an earlier step writes");
}

#[test]
fn lines_are_replaced_by_lines_and_text_by_text() {
    let expected = ["patch a.py \"x = 1\\n\" \"x = 2\\n\""];
    for (find, with) in [
        ("In `a.py`, replace:", "with:"),
        ("In `a.py`, change line 16 from:", "to:"),
        ("Open `a.py` and find:", "Replace with:"),
        ("In `a.py`, find the old value:", "Replace it with:"),
        ("Old text (exact) of `a.py`:", "New text (exact):"),
    ] {
        same(
            &format!("{find}\n\n```python\nx = 1\n```\n\n{with}\n\n```python\nx = 2\n```\n"),
            &expected,
        );
    }
    same(
        "- [ ] **Update `a.py`**\n\nBefore:\n```\nx = 1\n```\nAfter:\n```\nx = 2\n```\n",
        &expected,
    );
    same("Change `x = 1` to `x = 2` in `a.py`.", &["replace a.py \"x = 1\" \"x = 2\""]);
    same(
        "In `a.py`, after the line `import os`, add:\n\n```python\nimport re\n```\n",
        &["insert a.py after \"import os\" \"import re\\n\""],
    );
    unclear("In `a.py`, replace:\n\n```\nx\n```\n", "what stands in place");
    unclear("Change `a` to `b` everywhere in `a.py`.", "word for word");
    unclear("In `a.py`, after `parse()`, add:\n\n```\nx\n```\n", "word for word");
    unclear("Replace:\n\n```\nx\n```\n\nwith:\n\n```\ny\n```\n", "which file");
}

#[test]
fn a_diff_becomes_its_hunks() {
    same(
        "Apply this diff:\n\n```diff\n--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-y\n+z\n```\n",
        &["patch src/x.rs \"a\\nb\\n\" \"a\\nc\\n\" \"y\\n\" \"z\\n\""],
    );
    same("In `x.rs`:\n\n```diff\n a\n-b\n```\n", &["patch x.rs \"a\\nb\\n\" \"a\\n\""]);
    same("```diff\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n```\n", &["new n.txt \"n\\n\""]);
    same("```diff\n--- a/n.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-n\n```\n", &["delete n.txt"]);
    unclear("```diff\n-a\n+b\n```\n", "names no file");
    unclear("In `x.rs`:\n\n```diff\n+b\n```\n", "where it belongs");
    unclear("In `x.rs`:\n\n```diff\nfn a() {\n-b\n+c\n```\n", "neither");
}

#[test]
fn titles_that_are_instructions_are_carried_out_once() {
    same("**Step 2:** Delete `logo.png`\n", &["delete logo.png"]);
    same("- [ ] Rename `a.rs` to `b.rs`\n", &["rename a.rs b.rs"]);
    same("- [ ] Create an empty file `pkg/__init__.py`\n", &["new pkg/__init__.py \"\""]);
    same(
        "- [ ] Delete `Makefile`, `.gitignore` and `src/x`\n",
        &["delete Makefile", "delete .gitignore", "delete src/x"],
    );
    same("- [ ] Remove the file `src/a.ts` (unused)\n", &["delete src/a.ts"]);
    same("- [ ] Run `make`\n\n  Expected: FAIL\n", &["run \"make\" Fail"]);
    same("- [ ] Delete `a.ts`\n\n```bash\ngit rm a.ts\n```\n", &["delete a.ts"]);
    same("Delete the folder `old/`.", &["delete-folder old"]);
    same(
        "- [ ] Clean up\n\n```bash\ngit rm -r old/x\ngit mv a b\ngit commit -m 'gone'\n```\n",
        &["delete-folder old/x", "rename a b", "commit Some(\"gone\")"],
    );
    unclear("Delete `parseOld`.", "word for word");
    unclear("Remove `foo` from `src/a.ts`.", "word for word");
    unclear("Delete `../up.ts`.", "leaves the repository");
}

#[test]
fn a_title_is_met_by_what_stands_below_it() {
    for (title, body) in [
        ("Update exports", "Run: `x`"),
        ("Add the parser and update the list", "Create `a.ts`:\n\n```ts\nx\n```"),
        ("Update `b.ts`", "Create `a.ts`:\n\n```ts\nx\n```"),
        ("Run the tests and update the list", "Run: `x`"),
        ("Verify it", "This is all."),
    ] {
        unclear(&format!("- [ ] **Step 1: {title}**\n\n{body}\n"), "");
    }
    same("- [ ] **Step 1: Install it**\n\n```bash\nnpm i x\n```\n", &["run \"npm i x\" Pass"]);
    unclear("### Details\n\n```bash\nnpm i x\n```\n", "to be run");
}

#[test]
fn a_command_is_run_and_its_end_expected() {
    for (said, expected) in [
        ("FAIL with \"not defined\"", "Fail \"not defined\""),
        ("PASS", "Pass"),
        ("all tests pass, 0 failed.", "Pass"),
        ("PASS (5 tests)", "Pass 5"),
        ("5 passed", "Pass 5"),
        ("PASS - 9 passed", "Pass 9"),
        ("PASS: 9 tests", "Pass 9"),
        ("PASS with 9 tests", "Pass 9"),
        ("PASS, all 9 tests green", "Pass 9"),
        ("PASS — in 2 seconds, tests and all", "Pass"),
        ("`3 passed`", "Pass \"3 passed\""),
        ("FAIL — `no module`", "Fail \"no module\""),
        ("FAIL because nothing passes it yet.", "Fail"),
        ("exits 2", "Code(2)"),
        ("No output", "Pass silent"),
        ("output contains `CLEAN`.", "Pass \"CLEAN\""),
        ("no errors.", "Pass"),
    ] {
        same(&format!("Run: `x`\n\n**Expected:** {said}\n"), &[&format!("run \"x\" {expected}")]);
    }
    same("Run: `x`\n\nExpected output:\n\n```\na\nb\n```\n", &["run \"x\" Pass \"a\" \"b\""]);
    same("Run: `x`\nExpected: PASS:\n\n```\n1 passed\n```\n", &["run \"x\" Pass \"1 passed\""]);
    same("Run: `x`\nExpected: FAIL\n\n```\nboom\n```\n", &["run \"x\" Fail \"boom\""]);
    same("Run `npm test` and verify it passes.", &["run \"npm test\" Pass"]);
    same(
        "- [ ] **Step 2: Run test to verify it fails**\n\nRun: `npm test`\n",
        &["run \"npm test\" Fail"],
    );
    same("- [ ] Build it\n\n```console\n$ make\n# Expected: PASS\n```\n", &["run \"make\" Pass"]);
    same("Run `a`, then `b`.", &["run \"a\\nb\" Pass"]);
}

#[test]
fn an_expectation_that_only_a_reader_can_judge_is_unclear() {
    for said in [
        "Shows the list of skills",
        "Tests 1-5 pass. Tests 6-8 may fail.",
        "PASS (some may fail)",
        "PASS or FAIL",
        "`a` and `b`",
    ] {
        unclear(&format!("Run: `x`\nExpected: {said}\n"), "");
    }
    unclear("- [ ] **Step 1: Verify it fails**\n\nRun: `x`\nExpected: PASS\n", "contradict");
    unclear("- [ ] **Step 1: Run it**\n\nExpected: PASS\n", "no command");
    unclear("Run `npm test` in `web/`.", "word for word");
    unclear("Run: `git push origin main`", "nothing leaves or enters the workspace");
    unclear("Run: `git reset --hard`", "`git reset` changes the repository");
    unclear("Run: `deploy <name>`", "`<name>` stands for");
    let step = "- [ ] **Step 2: 失敗を確認する**\n\nRun: `x`\n";
    unclear(step, "`Expected:`");
    same(&format!("{step}Expected: FAIL\n"), &["run \"x\" Fail"]);
    for title in ["Verificar que el test falla", "Baseline"] {
        unclear(&format!("- [ ] **Step 2: {title}**\n\nRun: `x`\nExpected: FAIL\n"), title);
    }
}

#[test]
fn commits_are_taken_over() {
    same(
        "- [ ] **Step 5: Commit**\n\n```bash\ngit add a b\ngit commit -m \"feat: x\"\n```\n",
        &["commit Some(\"feat: x\")"],
    );
    same("**Step 5: Commit**\n`git add -A && git commit -m 'x'`\n", &["commit Some(\"x\")"]);
    same("- [ ] **Step 5: Commit**\n", &["commit None"]);
    same("- [ ] Run `git commit -am x`\n", &["commit Some(\"x\")"]);
    same("Run: `git commit -am x`\n", &["commit Some(\"x\")"]);
    same(
        "- [ ] Format and commit\n\n```bash\ncargo fmt\ngit add -A\ngit commit -am \"a\" -m \"b\"\n```\n",
        &["run \"cargo fmt\" Pass", "commit Some(\"a\\n\\nb\")"],
    );
    same(
        "- [ ] Commit\n\n```bash\ngit commit -m \"$(cat <<'EOF'\nfeat: x\n\nwhy\nEOF\n)\"\n```\n",
        &["commit Some(\"feat: x\\n\\nwhy\")"],
    );
    same(
        "- [ ] Commit\n\n```bash\ngit add app/(org)/[slug]/page.tsx\ngit commit -m x\n```\n",
        &["commit Some(\"x\")"],
    );
    unclear("Run: `npm test && git commit -m x`", "mixes");
}

#[test]
fn a_question_is_asked_with_its_options_and_default() {
    let expected = ["ask \"Which store?\" [\"sqlite\", \"files\"] Some(\"sqlite\")"];
    same("Ask: Which store?\n\n- sqlite\n- files\n\nDefault: sqlite\n", &expected);
    same(
        "- [ ] Choose\n\n  Ask: Which store?\n  Options: sqlite, files\n  Default: `sqlite`.\n",
        &expected,
    );
    same("Ask: Which store?\n- `sqlite` (default)\n- files\n", &expected);
    for step in ["- [ ] Ask: Which store?", "- [ ] **Ask:** Which store?"] {
        same(&format!("{step}\n  - sqlite (default)\n  - files\n"), &expected);
        same(&format!("{step}\n  - sqlite\n  - files\n\n  Default: sqlite\n"), &expected);
    }
}

#[test]
fn fences_are_freed_of_their_lists_and_line_ends() {
    same(
        "- [ ] Create `a.py`:\n\n  ```python\n  def f():\n      pass\n  ```\n",
        &["new a.py \"def f():\\n    pass\\n\""],
    );
    same(
        "Create `a.md`:\r\n\r\n~~~~md\r\n```sh\r\nx\r\n```\r\n~~~~\r\n",
        &["new a.md \"```sh\\nx\\n```\\n\""],
    );
}

#[test]
fn a_step_says_where_it_stands() {
    let steps = read("---\n\n- [ ] **Step 1: Run it**\n\n  Run: `x`\n").steps;
    assert_eq!((steps[0].title.as_str(), steps[0].line), ("Run it", 5));
    assert_eq!(message(&read("Commit: `feat: a`\n").steps), Some("feat: a".to_owned()));
}

#[test]
fn hostile_text_is_read_in_bounded_time() {
    for piece in [
        "`",
        "``a`",
        "<",
        "- [ ] a\n",
        "Run: `x`\n\n",
        "```\n",
        "> ",
        "**Step 1: ",
        "Expected: \"",
        "In `a.b`, ",
        "git commit -m \"$(cat <<",
        "<a ",
        "the ",
        "Create the ",
        "Delete `a.b` and ",
    ] {
        assert!(!read(&piece.repeat(200_000 / piece.len())).steps.is_empty());
    }
    for script in ["\"$(cat <<A\n", "$(", "\"$(", "'a'", "git rm a\n", "cd a && ", "\\\n"] {
        let script = script.repeat(200_000 / script.len());
        assert!(!read(&format!("Run:\n\n```bash\n{script}\n```\n")).steps.is_empty());
    }
    for head in [
        "# a\n\n",
        "###### if\n\n",
        "- Status: a\n",
        "**Example**\n\n",
        "It is a:\n\n",
        "<!-- a -->\n\n",
    ] {
        let text = format!("{}Run `x`.\n", head.repeat(200_000 / head.len()));
        assert!(!read(&text).steps.is_empty());
    }
    assert_eq!(told(&"Run `x`.\n\n".repeat(2_000)).len(), 1);
    assert_eq!(told(&"a".repeat(TEXT + 1)).len(), 1);
}
