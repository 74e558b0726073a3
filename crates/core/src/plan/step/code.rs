//! What makes a fence something else than a whole text: things left out, marks that end it too early.

/// Words by which a comment says that something is left out.
const LEFT_OUT: [&str; 14] = [
    "existing",
    "rest of",
    "remaining",
    "unchanged",
    "same as",
    "omitted",
    "previous",
    "other",
    "as before",
    "etc",
    "your code",
    "more",
    "implementation here",
    "keep",
];

/// Why a fence is not what it should be, word for word.
pub(super) fn fault(content: &str, info: &str, marks: usize) -> Option<&'static str> {
    if is_cut(content, marks) {
        return Some(
            "its code holds a fence with the same marks, so that it is not clear where it ends",
        );
    }
    has_gap(content, info).then_some("its code leaves something out (`...`)")
}

/// A line that opens a fence with as many backticks inside of a fence: the first bare one after it ended the outer one.
fn is_cut(content: &str, marks: usize) -> bool {
    content.lines().any(|line| {
        let line = line.trim_start();
        let info = line.trim_start_matches('`');
        marks > 0
            && line.len() - info.len() >= marks
            && info.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

fn has_gap(content: &str, info: &str) -> bool {
    let python = matches!(info, "python" | "py" | "pyi" | "python3");
    let mut before = "";
    for line in content.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // In Python an ellipsis is the body of what has none.
        let body = python && before.ends_with(':');
        if matches!(line, "..." | "…" | "[...]" | "(...)") && !body {
            return true;
        }
        if let Some(comment) = comment(line) {
            let lower = comment.to_lowercase();
            let dots = lower.contains("...") || lower.contains('…');
            let bare = lower.trim_matches(['.', '…', ' ']).is_empty() && dots;
            let framed = lower.starts_with("...") || lower.starts_with('…');
            if bare || dots && (framed || LEFT_OUT.iter().any(|word| lower.contains(word))) {
                return true;
            }
        }
        if !python && ["{ ... }", "{ … }", "(…)"].iter().any(|gap| line.contains(gap)) {
            return true;
        }
        before = line;
    }
    false
}

/// The words of a line that is nothing but a comment.
pub(super) fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let inner = ["//", "#", "--", ";", "%"].iter().find_map(|mark| line.strip_prefix(mark));
    let framed =
        [("<!--", "-->"), ("/*", "*/"), ("{/*", "*/}"), ("\"\"\"", "\"\"\""), ("{{!", "}}")]
            .iter()
            .find_map(|(open, close)| line.strip_prefix(open)?.strip_suffix(close));
    framed.or(inner).map(|inner| inner.trim_start_matches(['/', '#', '!', '-']).trim())
}
