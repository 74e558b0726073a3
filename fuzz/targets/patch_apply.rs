//! A diff in a plan, applied to a file as the `literal` model does: each edit finds its text once, and all of them
//! give the lines that the hunks say. Taken back, they give the file as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequester_core::plan::step::{self, Action, Hunk};
use sequester_llm::fuzzing::apply_hunk;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (file, diff) = text.split_once('\0').unwrap_or(("", text));
    let told = step::read(&format!("Apply this patch to `a.txt`:\n\n~~~~~~diff\n{diff}\n~~~~~~\n"));
    for one in told.steps {
        match one.action {
            Action::Patch { hunks, .. } => apply(file, &hunks),
            Action::Write { path, .. } | Action::Delete { path, .. } => {
                assert!(
                    !path.as_str().starts_with('/')
                        && !path.as_str().split('/').any(|part| part == "..")
                );
            }
            _ => {}
        }
    }
});

fn apply(file: &str, hunks: &[Hunk]) {
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    for hunk in hunks {
        assert!(!hunk.old.trim().is_empty() && hunk.old != hunk.new);
        let before = lines.clone();
        let Ok(edit) = apply_hunk(&mut lines, hunk) else {
            assert_eq!(lines, before, "a hunk that does not fit changed the file");
            return;
        };
        let (old, new): (Vec<&str>, Vec<&str>) =
            (hunk.old.lines().collect(), hunk.new.lines().collect());
        assert_eq!(lines.len() + old.len(), before.len() + new.len());
        // The edit, carried out on the text, gives the same lines.
        let shown = before.join("\n");
        match edit {
            None => assert_eq!(lines, before),
            Some((from, to)) if shown.find(&from) == shown.rfind(&from) => {
                assert_eq!(shown.replacen(&from, &to, 1), lines.join("\n"), "{from:?} {to:?}");
            }
            // More lines than are taken along read the same: `Edit` refuses, and nothing is changed.
            Some((from, _)) => {
                assert!(from.lines().count() > 200 || from == shown || from.is_empty(), "{from:?}")
            }
        }
        // The new lines are there now, so a hunk that finds them once finds them at their place.
        let mut back = lines.clone();
        let reversed = Hunk { old: hunk.new.clone(), new: hunk.old.clone() };
        if !new.is_empty() && apply_hunk(&mut back, &reversed).is_ok() {
            assert_eq!(back, before);
        }
    }
}
