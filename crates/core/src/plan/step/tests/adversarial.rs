//! What must never be carried out.

use super::*;
use crate::plan::step::form::{FORMS, Form};

const CREATED: &str =
    "- [ ] **Step 1: Write it**\n\nCreate `f.txt`:\n\n```\nold\n```\n\nRun `echo ok`.";

/// Whether the text would run or change anything beyond [`CREATED`].
fn runs(text: &str) -> bool {
    let told = told(text);
    !told.iter().any(|one| one.starts_with("unclear "))
        && told.iter().any(|one| one.contains("rm -rf"))
}

#[test]
fn commands_that_are_shown_are_not_run() {
    for caption in [
        "Do not run:",
        "Never run:",
        "Rollback",
        "Rollback:",
        "**Rollback:**",
        "Current behaviour",
        "**Current behaviour:**",
        "Verify by hand:",
        "**Verify by hand:**",
        "For reference",
        "For reference:",
        "Example",
        "Example:",
        "**Example:**",
        "Alternative",
        "**Alternative:**",
        "Alternatively:",
        "If it fails:",
        "Optional:",
        "Wrong usage:",
        "Later:",
        "This is what it runs:",
        "The old script was:",
        "You can also run:",
        "Run this only on Linux:",
        "Run after release:",
    ] {
        for form in [
            format!("{CREATED}\n\n{caption}\n\n```bash\nrm -rf x\n```\n"),
            format!(
                "{CREATED}\n\n### {}\n\n```bash\nrm -rf x\n```\n",
                caption.trim_matches(['*', ':'])
            ),
            format!("{CREATED}\n\n- [ ] {caption}\n\n```bash\nrm -rf x\n```\n"),
        ] {
            assert!(!runs(&form), "{form}\n{:?}", told(&form));
        }
    }
}

#[test]
fn headings_that_ask_for_nothing_hold_until_the_next() {
    for heading in ["Out of scope", "Notes", "Background", "Rollback"] {
        let aside = format!(
            "### {heading}\n\nDelete `a.txt`.\n\n- [ ] Run `rm -rf x`\n\n```bash\nrm -rf y\n```\n\n"
        );
        same(&format!("{aside}### Steps\n\nRun `x`.\n"), &["run \"x\" Pass"]);
        let told = read(&format!("{CREATED}\n\n{aside}"));
        assert_eq!(told.steps.len(), 2, "{:?}", told.steps);
        assert!(told.passed.contains(&"Delete `a.txt`.".to_owned()));
    }
}

#[test]
fn a_tail_that_holds_it_back_is_unclear() {
    for text in [
        "Run `x` if the tests fail.",
        "Delete `y.txt` unless it is used.",
        "Once that works, delete `y.txt`.",
        "Run `x` or `y`.",
        "Run `x` only on Linux.",
        "After the release, delete `y.txt`.",
        "Optionally, run `x`.",
        "Run `x` when done.",
        "Delete `y.txt` (optional).",
        "Run `x` (if needed).",
        "Rename `a.txt` to `b.txt` or `c.txt`.",
        "Run `x` in the background.",
        "Run `x` in another terminal.",
        "Don't delete `y.txt`.",
        "Run `x` twice.",
        "- [ ] Delete `y.txt` (optional)\n",
        "- [ ] If needed, run `x`\n",
        "- [ ] **Optional: clean up**\n\nDelete `y.txt`.\n",
        "- [ ] **Only on Linux**\n\nRun `x`.\n",
        "### If it breaks\n\nRun `x`.\n",
        "### Troubleshooting tips\n\nRun `x`.\n",
        "Run `x`.\n\n- [ ] **Step 1: Run it**\n\nRun `y`.\n",
        "- [ ] Run `y`\n\n### More\n\nRun `x`.\n",
        "- [ ] Install it\n\n```bash\nnpm i\n# or\nyarn\n```\n",
        "- [ ] Install it\n\n```bash\nnpm i  # if you use npm\n```\n",
        "- [ ] **Make the change that the design describes**\n\n```bash\nmake\n```\n",
        "~~Delete `a.txt`.~~",
        "- [ ] **Choose one**\n\nRun `a`.\nExpected: PASS\n\nRun `b`.\nExpected: PASS\n",
    ] {
        unclear(text, "");
    }
    let long = format!("- [ ] **Run it {} only if needed**\n\nRun `x`.\n", "again and ".repeat(30));
    unclear(&long, "");
}

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
        "The function is slow so rework the loop.",
        "Mention the flag in the manual.",
        "The docs as well.",
        "Here is what not to do.",
        "It is only for Linux.",
        "These are alternatives.",
        "The README is to be updated.",
        "When the file is there, touch the other one.",
        "Because the loop is slow, rework it.",
        "README の説明を直す。",
        "Actualizar los documentos.",
        "**Context:** Update the manual.",
        "**Why:** Docs must say so.",
        "Note: update the docs.",
    ] {
        unclear(&format!("{CREATED}\n\n{more}\n"), "");
    }
    for whole in [
        "Run `echo ok` and update the docs.",
        "Run `echo ok` and check the list.",
        "Create `a.ts` and register it in the router:\n\n```ts\nx\n```\n",
        "Create `a.ts`. Usage is like this:\n\n```ts\na()\n```\n",
        "Create `a.ts`. The old one was:\n\n```ts\na()\n```\n",
        "Create `a.ts` like `b.ts`:\n\n```ts\nx\n```\n",
        "> Update the manual.",
        "| file | do |\n|---|---|\n| a | rewrite |",
        "<details>\nUpdate the manual.\n</details>",
        "      make x",
    ] {
        unclear(&format!("{CREATED}\n\n{whole}\n"), "");
    }
}

#[test]
fn a_sentence_may_begin_with_any_character() {
    for first in ["\u{1f6d1}", "$\u{1f6d1}", "\u{2019}", "é\u{301}", "：", "\u{202e}"] {
        for sentence in ["B.1 Adds a page.", "see: the page", "add: a page", ""] {
            let text = format!("{first}{sentence}\n\nRun: `make`\n");
            assert!(told(&text).iter().any(|one| one.contains("make")), "{text}");
        }
    }
}

#[test]
fn a_diff_that_puts_back_what_it_takes_away_is_unclear() {
    let text = "Apply this patch to `a.txt`:\n\n```diff\n-t\n+t\n```\n";
    unclear(text, "a part of its diff changes nothing");
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
        "> It is new.",
    ] {
        let told = read(&format!("{CREATED}\n\n{why}\n"));
        assert_eq!(told.passed, [why.trim_start_matches("> ")], "{:?}", told.steps);
        assert_eq!(told.steps.len(), 2, "{:?}", told.steps);
    }
    let told = read(&format!("Add the reader of the new format.\n\n{CREATED}\n"));
    assert_eq!((told.steps.len(), told.passed.len()), (2, 0), "the preface is about all steps");
    same(
        "- [x] **Step 1: Create `a.ts`**\n\n```ts\nx\n```\n\n- [ ] **Step 2: Run it**\n\nRun: `x`\n",
        &["run \"x\" Pass"],
    );
    same(
        "Run `x`.\n\n### Acceptance criteria\n\nAll of them:\n\n- [ ] Add nothing\n",
        &["run \"x\" Pass"],
    );
    let files = "**Files:**\n- Modify: `src/b.py`\n\n";
    unclear(&format!("{files}**Step 2: Run tests**\n\nRun: `x`\n"), "no step changes one");
}

#[test]
fn what_is_left_out_of_a_fence_is_never_written() {
    for content in [
        "// ... existing code\nlet a;",
        "...",
        "// existing code",
        "TODO",
        "name: <your name here>",
    ] {
        unclear(&format!("Create `a.ts`:\n\n```ts\n{content}\n```\n"), "");
    }
    unclear("Create `a.md`:\n\n```markdown\n```bash\nx\n```\nmore\n```\n", "where its code ends");
    unclear("Create `a.md`:\n\n```markdown\na\n```\nb\n```\n", "where its code ends");
    unclear("Create `a.ts`:\n\n```ts\na\n", "where its code ends");
    unclear("Create `p.py`:\n\n```python\nclass P:\n    ...\n```\n", "leaves something out");
    unclear("Create `/etc/x.conf`:\n\n```\nx\n```\n", "absolute");
    unclear("Implement validation.", "does not give the text");
    unclear("", "spells out no step");
}

const HELD_BACK: [&str; 12] = [
    "not",
    "if",
    "unless",
    "or",
    "only",
    "optionally",
    "after",
    "when",
    "never",
    "except",
    "maybe",
    "once",
];

/// A sentence that is carried out, with whatever follows it.
fn whole(form: Form, sentence: &str) -> String {
    let fence = "\n\n```\nx\n```\n";
    match form {
        Form::Find => format!("{sentence}{fence}\nwith:{fence}"),
        Form::With => format!("In `a.txt`, replace:{fence}\n{sentence}{fence}"),
        Form::Caption => format!("Create `a.txt`:\n\n{sentence}{fence}"),
        Form::Patch => format!("{sentence}\n\n```diff\n a\n-b\n```\n"),
        Form::CreateTest | Form::CreateCode => {
            format!("{sentence}\n\n```ts\n// src/a.ts\nx\n```\n")
        }
        Form::Run if !sentence.contains('`') => format!("{sentence}{fence}"),
        Form::Create | Form::Overwrite | Form::Append | Form::After | Form::Before => {
            format!("{sentence}{fence}")
        }
        _ => sentence.to_owned(),
    }
}

/// Each place between two words of a sentence, code spans left whole, with a word put there.
fn held_back<'s>(sentence: &'s str, word: &'s str) -> impl Iterator<Item = String> + 's {
    let inside = |at: usize| sentence[..at].matches('`').count() % 2 == 1;
    let gaps = sentence.match_indices(' ').map(|(at, _)| at).filter(move |at| !inside(*at));
    let within = gaps.map(move |at| format!("{} {word}{}", &sentence[..at], &sentence[at..]));
    let end = sentence.trim_end_matches([':', '.']);
    let last = format!("{end} {word}{}", &sentence[end.len()..]);
    within.chain([format!("{word} {sentence}"), last])
}

#[test]
fn no_sentence_is_carried_out_with_a_word_that_holds_it_back() {
    let mut tried = 0;
    for (_, form, example) in FORMS {
        for step in ["", "- [ ] **Step 1: Update `a.txt`**\n\n", "- [ ] "] {
            let before = told(&format!("{step}{}", whole(*form, example)));
            for word in HELD_BACK {
                for sentence in held_back(example, word) {
                    let text = format!("{step}{}", whole(*form, &sentence));
                    let told = told(&text);
                    let refused = told.iter().any(|one| one.starts_with("unclear "));
                    assert!(refused, "{text}\n{told:?}\nbefore: {before:?}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 5_000, "{tried}");
}

#[test]
fn no_expectation_is_taken_with_a_word_that_holds_it_back() {
    for said in [
        "PASS",
        "FAIL",
        "FAIL with `x`",
        "5 passed",
        "all tests pass",
        "`3 passed`",
        "exit code 2",
        "no errors",
    ] {
        for word in
            ["if", "unless", "or", "only", "optionally", "when", "except", "maybe", "not", "never"]
        {
            for sentence in held_back(said, word) {
                unclear(&format!("Run: `x`\nExpected: {sentence}\n"), "");
            }
        }
    }
}
