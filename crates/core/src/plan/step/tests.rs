use super::*;

/// The actions of a text, each in one line.
fn told(text: &str) -> Vec<String> {
    read(text).steps.iter().map(|step| tell(&step.action)).collect()
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
        Action::Delete { path, folder } => {
            format!("{} {path}", if *folder { "delete-folder" } else { "delete" })
        }
        Action::Rename { from, to } => format!("rename {from} {to}"),
        Action::Run { command, expect } => {
            let text = expect.text.as_ref().map(|text| format!(" {text:?}")).unwrap_or_default();
            let silent = if expect.silent { " silent" } else { "" };
            format!("run {command:?} {:?}{text}{silent}", expect.exit)
        }
        Action::Ask { question, options, default } => {
            format!("ask {question:?} {options:?} {default:?}")
        }
        Action::Commit { message } => format!("commit {message:?}"),
        Action::Unclear { reason } => format!("unclear {reason}"),
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
fn a_fence_is_a_file_by_the_sentence_before_it() {
    for lead in [
        "Create `src/a.ts`:",
        "Write `src/a.ts` with:",
        "1. Create the file `src/a.ts`:",
        "Overwrite `src/a.ts` with exactly:",
    ] {
        same(&format!("{lead}\n\n```ts\nlet a;\n```\n"), &["write src/a.ts \"let a;\\n\""]);
    }
    same(
        "Replace the entire contents of `a.md` with:\n\n```md\nx\n```\n",
        &["write a.md \"x\\n\""],
    );
    same("Replace `a.md` with:\n\n```md\nx\n```\n", &["write a.md \"x\\n\""]);
}

#[test]
fn a_path_alone_makes_a_new_file() {
    for text in [
        "`src/a.ts`:\n\n```ts\nlet a;\n```\n",
        "In `src/a.ts`:\n\n```ts\nlet a;\n```\n",
        "Here it is.\n\n```ts title=\"src/a.ts\"\nlet a;\n```\n",
    ] {
        same(text, &["new src/a.ts \"let a;\\n\""]);
    }
    same(
        "- [ ] **Step 1: The types**\n\n```ts\n// src/a.ts\nlet a;\n```\n",
        &["new src/a.ts \"// src/a.ts\\nlet a;\\n\""],
    );
    same(
        "- [ ] **Step 1: Write the test** — `t/a.test.ts`\n\n```ts\nx\n```\n",
        &["new t/a.test.ts \"x\\n\""],
    );
}

#[test]
fn a_path_may_hold_parentheses_and_brackets() {
    same(
        "Create `app/(org)/[slug]/page.tsx`:\n\n```tsx\nx\n```\n",
        &["write app/(org)/[slug]/page.tsx \"x\\n\""],
    );
}

#[test]
fn a_title_may_name_the_file() {
    same(
        "- [ ] **Step 1: Create `src/a.ts`**\n\nIt holds all.\n\n```ts\nlet a;\n```\n",
        &["write src/a.ts \"let a;\\n\""],
    );
    same("### Step 1: Write setup.sh\n\n```bash\necho 1\n```\n", &["write setup.sh \"echo 1\\n\""]);
}

#[test]
fn a_list_of_files_settles_what_it_lists_once() {
    let files = "**Files:**\n- Create: `src/a/b.py`\n- Test: `tests/test_b.py`\n\n";
    same(
        &format!("{files}**Step 1: Write the failing test**\n\n```python\nt\n```\n"),
        &["new tests/test_b.py \"t\\n\""],
    );
    same(
        &format!("{files}**Step 3: Write minimal implementation**\n\n```python\nb\n```\n"),
        &["write src/a/b.py \"b\\n\""],
    );
    same(
        &format!("{files}**Step 3: Create b.py**\n\n```python\nb\n```\n"),
        &["write src/a/b.py \"b\\n\""],
    );
    unclear(
        &format!(
            "{files}**Step 3: Implement b**\n\n```python\nb\n```\n\n**Step 4: Implement c**\n\n```python\nc\n```\n"
        ),
        "an earlier step writes",
    );
    unclear(
        "**Files:**\n- Modify: `src/b.py`\n\n**Step 3: Implement b**\n\n```python\nb\n```\n",
        "which file",
    );
    unclear(
        "**Files:**\n- Modify: `src/b.py`\n\n**Step 3: Implement `src/b.py`**\n\n```python\nb\n```\n",
        "where in `src/b.py`",
    );
}

#[test]
fn text_is_replaced_by_text_in_pairs_of_fences_or_in_one_sentence() {
    let expected = ["replace a.py \"x = 1\\n\" \"x = 2\\n\""];
    for (find, with) in [
        ("In `a.py`, replace:", "with:"),
        ("In `a.py`, change line 16 from:", "to:"),
        ("Open `a.py` and find:", "Replace with:"),
        ("In `a.py`, find:", "Replace it with:"),
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
    same("In `a.py`, replace `x = 1` with `x = 2`.", &["replace a.py \"x = 1\" \"x = 2\""]);
    same(
        "In `a.py`, after the line `import os`, add:\n\n```python\nimport re\n```\n",
        &["replace a.py \"import os\\n\" \"import os\\nimport re\\n\""],
    );
    unclear("In `a.py`, replace:\n\n```\nx\n```\n", "not what to put in its place");
    unclear("Change `a` to `b` everywhere in `a.py`.", "not spelled out");
    unclear("Replace:\n\n```\nx\n```\n\nwith:\n\n```\ny\n```\n", "in which file");
}

#[test]
fn text_is_appended_at_the_end_of_a_file_only() {
    for lead in [
        "Append to `a.md`:",
        "Add to the end of `a.md`:",
        "Add this at the bottom of `a.md`:",
        "In `a.md`, append:",
    ] {
        same(&format!("{lead}\n\n```\nx\n```\n"), &["append a.md \"x\\n\""]);
    }
    unclear("Append to `a.md` after the list:\n\n```\nx\n```\n", "where in `a.md`");
    unclear("Add to `a.py`:\n\n```python\nx\n```\n", "where in `a.py`");
}

#[test]
fn a_diff_becomes_its_hunks() {
    same(
        "```diff\n--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-y\n+z\n```\n",
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
fn files_are_deleted_and_renamed() {
    same("Delete `src/a.ts` and `src/b.ts`.", &["delete src/a.ts", "delete src/b.ts"]);
    same("- [ ] Remove the file `src/a.ts` (unused)", &["delete src/a.ts"]);
    same("Delete the folder `old/`.", &["delete-folder old"]);
    same("Rename `a.ts` to `src/b.ts`.", &["rename a.ts src/b.ts"]);
    same(
        "```bash\ngit rm -r old/x\ngit mv a b\ngit commit -m 'gone'\n```\n",
        &["delete-folder old/x", "rename a b", "commit Some(\"gone\")"],
    );
    unclear("Remove `foo` from `src/a.ts`.", "not spelled out");
    unclear("Delete `../up.ts`.", "leaves the repository");
}

#[test]
fn a_command_is_run_and_its_end_expected() {
    same(
        "Run: `npm test`\nExpected: FAIL with \"not defined\"\n",
        &["run \"npm test\" Fail \"not defined\""],
    );
    same("Run `npm test` and verify it passes.", &["run \"npm test\" Pass"]);
    same(
        "- [ ] **Step 2: Run test to verify it fails**\n\nRun: `npm test`\n",
        &["run \"npm test\" Fail"],
    );
    same(
        "Run:\n\n```bash\ncd a\nnpm test\n```\n\nExpected: all tests pass, 0 failed.\n",
        &["run \"cd a\\nnpm test\" Pass"],
    );
    same("Run: `x`\nExpected: `CLEAN`\n", &["run \"x\" Any \"CLEAN\""]);
    same("Run: `x`\n\n**Expected:** exits 2\n", &["run \"x\" Code(2)"]);
    same("Run: `x`\nExpected: No output\n", &["run \"x\" Any silent"]);
    same("Run: `x`\n\nExpected output:\n\n```\na\nb\n```\n", &["run \"x\" Any \"a\\nb\""]);
    same("Run: `x`\nExpected: FAIL because nothing passes it yet.\n", &["run \"x\" Fail"]);
    same("```console\n$ make\n# Expected: PASS\n```\n", &["run \"make\" Pass"]);
    same("Run `a`, then `b`.", &["run \"a\\nb\" Pass"]);
}

#[test]
fn an_expectation_that_only_a_reader_can_judge_is_unclear() {
    unclear("Run: `x`\nExpected: Shows the list of skills\n", "described");
    unclear("Run: `x`\nExpected: Tests 1-5 pass. Tests 6-8 may fail.\n", "described");
    unclear("- [ ] **Step 1: Verify it fails**\n\nRun: `x`\nExpected: PASS\n", "contradict");
    unclear("- [ ] **Step 1: Run it**\n\nExpected: PASS\n", "no command");
    unclear("Run `npm test` in `web/`.", "not spelled out");
    unclear("If it is safe, run:\n\n```bash\nrm -rf x\n```\n", "condition");
    unclear("Run: `git push origin main`", "`git push` changes the repository");
    unclear("Run: `deploy <name>`", "`<name>` stands for");
    unclear("```\n$ make\nall good\n```\n\nRun `x`.", "which file");
}

#[test]
fn commits_are_taken_over() {
    same(
        "- [ ] **Step 5: Commit**\n\n```bash\ngit add a b\ngit commit -m \"feat: x\"\n```\n",
        &["commit Some(\"feat: x\")"],
    );
    same("**Step 5: Commit**\n`git add -A && git commit -m 'x'`\n", &["commit Some(\"x\")"]);
    same("- [ ] **Step 5: Commit**\n", &["commit None"]);
    same(
        "```bash\ncargo fmt\ngit add -A\ngit commit -am \"a\" -m \"b\"\n```\n",
        &["run \"cargo fmt\" Pass", "commit Some(\"a\\n\\nb\")"],
    );
    same(
        "```bash\ngit commit -m \"$(cat <<'EOF'\nfeat: x\n\nwhy\nEOF\n)\"\n```\n",
        &["commit Some(\"feat: x\\n\\nwhy\")"],
    );
    unclear("Run: `npm test && git commit -m x`", "mixes");
}

#[test]
fn a_question_is_asked_with_its_options_and_default() {
    let expected = ["ask \"Which store?\" [\"sqlite\", \"files\"] Some(\"sqlite\")"];
    same("Ask: Which store?\n\n- sqlite\n- files\n\nDefault: sqlite\n", &expected);
    same("- [ ] Ask: Which store?\n  Options: sqlite, files\n  Default: `sqlite`.\n", &expected);
    same("Ask: Which store?\n- `sqlite` (default)\n- files\n", &expected);
}

#[test]
fn what_is_not_spelled_out_is_never_guessed() {
    unclear("Implement validation.", "does not give the text");
    unclear("- [ ] **Step 1: Update the tests accordingly**\n", "not word for word");
    unclear("Create `a.ts`.", "does not give the text");
    unclear("Create `a.ts`. Usage is like this:\n\n```ts\na()\n```\n", "what its code is for");
    unclear("Create `a.ts`:\n\n```ts\n// ... existing code\nlet a;\n```\n", "leaves something out");
    unclear("Create `a.md`:\n\n```markdown\n```bash\nx\n```\nmore\n```\n", "same marks");
    unclear("Create `a.ts` like `b.ts`:\n\n```ts\nx\n```\n", "more than one file");
    unclear("Create `/etc/x.conf`:\n\n```\nx\n```\n", "absolute");
    unclear("```bash\n#!/bin/sh\necho\n```\n", "which file");
    unclear("Write the script:\n\n```bash\nrm -rf x\n```\n", "which file");
    unclear(
        "- [ ] **Step 3: Update exports**\n\n- `src/a.ts`: add `Foo`\n\nRun: `x`\n",
        "not spelled out",
    );
    unclear(
        "- [ ] **Step 3: Update exports**\n\nFoo belongs in the list.\n\nRun: `x`\n",
        "`Foo belongs in the list.` is not spelled out",
    );
    unclear(
        "- [ ] **Step 3: Update exports**\n\nThe list holds Foo then.\n\nRun: `x`\n",
        "not word for word",
    );
    unclear("", "spells out no step");
    unclear("A task about nothing in particular.", "spells out no step");
    unclear(
        "Create `a.ts`:\n\n```ts\nx\n```\n\nNote: add `import y` to the other files.\n",
        "not spelled out",
    );
}

#[test]
fn what_is_done_or_asks_for_nothing_is_left_out() {
    same(
        "- [x] **Step 1: Create `a.ts`**\n\n```ts\nx\n```\n\n- [ ] **Step 2: Run it**\n\nRun: `x`\n",
        &["run \"x\" Pass"],
    );
    same(
        "Add a thing to the parser.\n\n**Interfaces:**\n- Produces: `f()`\n\n```ts\nf(): void\n```\n\n- [ ] **Step 1: Go**\n\nRun: `x`\n\n**Acceptance criteria:**\n- [ ] It works\n",
        &["run \"x\" Pass"],
    );
    same(
        "Run `x`.\n\n### Acceptance criteria\n\nAll of them:\n\n- [ ] Add nothing\n",
        &["run \"x\" Pass"],
    );
    unclear("Run `x`.\n\n### Dependencies\n\nAdd the new crate.\n", "not spelled out");
    same("```task\nneeds: [a]\n```\n\nRun `x`.", &["run \"x\" Pass"]);
}

#[test]
fn fences_are_freed_of_their_lists_and_line_ends() {
    same(
        "- [ ] Create `a.py`:\n\n  ```python\n  def f():\n      pass\n  ```\n",
        &["write a.py \"def f():\\n    pass\\n\""],
    );
    same(
        "Create `a.md`:\r\n\r\n~~~~md\r\n```sh\r\nx\r\n```\r\n~~~~\r\n",
        &["write a.md \"```sh\\nx\\n```\\n\""],
    );
    same(
        "Create `p.py`:\n\n```python\nclass P:\n    def f(self):\n        ...\n```\n",
        &["write p.py \"class P:\\n    def f(self):\\n        ...\\n\""],
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
    ] {
        assert!(!read(&piece.repeat(200_000 / piece.len())).steps.is_empty());
    }
    assert_eq!(told(&"Run `x`.\n\n".repeat(2_000)).len(), 1);
    assert_eq!(told(&"a".repeat(TEXT + 1)).len(), 1);
}

const CREATED: &str =
    "- [ ] **Step 1: Write it**\n\nCreate `f.txt`:\n\n```\nold\n```\n\nRun `echo ok`.";

#[test]
fn words_that_ask_for_more_are_never_passed_over() {
    for more in [
        "Afterwards, rewrite f.txt so that it says new.",
        "You should also handle empty input.",
        "The README must mention it too.",
        "Afterwards make sure the docs mention it.",
        "If tests fail, run `touch evil`.",
        "Once done, mention it in the changelog.",
        "Optionally, tidy the imports.",
        "It is old, tweak it.",
        "The function is slow; rework the loop.",
        "Mention the flag in the manual.",
        "The docs as well.",
        "When the file is there, touch the other one.",
        "Because the loop is slow, rework it.",
        "README の説明を直す。",
        "Actualizar los documentos.",
    ] {
        unclear(&format!("{CREATED} {more}\n"), more.trim_end_matches(['.', '。']));
        unclear(&format!("{CREATED}\n\n- {more}\n"), more.trim_end_matches(['.', '。']));
    }
    for whole in [
        "Run `echo ok` and update the docs.",
        "Run `echo ok` and check the list.",
        "Create `a.ts` and register it in the router:\n\n```ts\nx\n```\n",
        "Never run:\n\n```bash\nrm -rf x\n```\n",
        "Wrong usage:\n\n```bash\nrm -rf x\n```\n",
    ] {
        unclear(&format!("{CREATED}\n\n{whole}"), "spelled out");
    }
}

#[test]
fn what_explains_is_passed_over_and_named() {
    for why in [
        "This keeps the two in step.",
        "It holds all of them.",
        "The function returns early because nothing is left.",
        "`count` is the sum.",
        "When the list is empty, the function returns zero.",
        "Why: the old one is slow.",
    ] {
        let told = read(&format!("{CREATED} {why}\n"));
        assert_eq!(told.passed, [why], "{:?}", told.steps);
        assert_eq!(told.steps.len(), 2, "{:?}", told.steps);
    }
    let told = read(&format!("You must know that this is new.\n\n{CREATED}\n"));
    assert_eq!((told.steps.len(), told.passed.len()), (2, 0), "the preface is about all steps");
}

#[test]
fn a_command_in_words_of_another_language_must_say_what_it_expects() {
    for title in ["失敗を確認する", "Verificar que el test falla", "Проверить ошибку"]
    {
        let step = format!("- [ ] **Step 2: {title}**\n\nRun: `x`\n");
        unclear(&step, "`Expected:`");
        same(&format!("{step}Expected: FAIL\n"), &["run \"x\" Fail"]);
    }
    let step = "- [ ] **Step 2: Run**\n\nテストが失敗することを確認：\n\n```bash\nx\n```\n";
    unclear(step, "`Expected:`");
    same(&format!("{step}\nExpected: FAIL\n"), &["run \"x\" Fail"]);
}

#[test]
fn a_remark_that_asks_is_unclear_and_any_other_is_named() {
    unclear(&format!("{CREATED}\n\n**Context:** Update the manual.\n"), "Update the manual.");
    unclear(&format!("{CREATED}\n\n**Why:**\n- Docs must say so.\n"), "Docs must say so.");
    let told = read(&format!("{CREATED}\n\n**Why:** Old habits.\n"));
    assert_eq!((told.steps.len(), told.passed), (2, vec!["Old habits.".to_owned()]));
}

#[test]
fn files_that_are_listed_to_be_changed_are_changed_by_some_step() {
    let files = "**Files:**\n- Modify: `src/b.py`\n\nThe order is new.\n\n";
    unclear(&format!("{files}**Step 2: Run tests**\n\nRun: `x`\n"), "no step changes one");
    same(
        &format!("{files}- [x] **Step 1: Do it**\n\n- [ ] **Step 2: Run tests**\n\nRun: `x`\n"),
        &["run \"x\" Pass"],
    );
}

#[test]
fn quotes_and_tables_are_not_dropped_in_silence() {
    for block in
        ["> Update the manual.", "| file | do |\n|---|---|\n| a | rewrite |", "      make x"]
    {
        unclear(&format!("{CREATED}\n\n{block}\n"), "not carried out");
        unclear(&format!("- [ ] **Step 1: Run**\n\n{block}\n\nRun `x`.\n"), "not carried out");
        assert_eq!(read(&format!("{block}\n\n{CREATED}\n")).steps.len(), 2, "{block}");
    }
    let told = read(&format!("{CREATED}\n\n> It is new.\n"));
    assert_eq!((told.steps.len(), told.passed), (2, vec!["It is new.".to_owned()]));
}
