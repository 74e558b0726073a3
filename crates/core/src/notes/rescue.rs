//! Two versions of the file of which neither was made from the other.

use std::collections::BTreeSet;

/// Where lines go that another save of the file had.
const SECTION: &str = "Saved at the same time";

/// `text` with the lines of `other` that are not in it, below all that is there; nothing where none is missing.
pub fn rescue(text: &str, other: &str) -> Option<String> {
    let known: BTreeSet<&str> = text.lines().map(str::trim_end).collect();
    let missing = |line: &&str| !line.is_empty() && !known.contains(line);
    let missing: Vec<&str> = other.lines().map(str::trim_end).filter(missing).collect();
    if missing.is_empty() {
        return None;
    }
    let end = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Some(format!("{text}{end}## {SECTION}\n\n{}\n", missing.join("\n")))
}
