//! The output of a check that does not pass, bounded.

use super::terminal::{cut, plural};

/// Lines that are shown from the beginning and from the end.
const HEAD: usize = 10;
const TAIL: usize = 30;
const LINE_CHARS: usize = 200;

/// What failing checks printed, each below its command.
pub(crate) fn render(outputs: &[(String, String)]) -> String {
    let told = outputs.iter().map(|(command, output)| {
        let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return format!("  `{command}` printed nothing\n");
        }
        format!("  output of `{command}`:\n{}", head_and_tail(&lines))
    });
    told.collect()
}

fn head_and_tail(lines: &[&str]) -> String {
    let line = |line: &&str| format!("    {}\n", cut(line, LINE_CHARS));
    let left_out = lines.len().saturating_sub(HEAD + TAIL);
    if left_out == 0 {
        return lines.iter().map(line).collect();
    }
    let head: String = lines.iter().take(HEAD).map(line).collect();
    let tail: String = lines.iter().skip(HEAD + left_out).map(line).collect();
    format!("{head}    … {} left out\n{tail}", plural(left_out, "line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_and_the_tail_are_shown_and_the_rest_is_counted() {
        let lines: Vec<String> = (1..=50).map(|line| format!("line {line}")).collect();
        let long = lines.join("\n");
        let shown = render(&[("make".to_owned(), long), ("true".to_owned(), "\n".to_owned())]);
        assert!(shown.starts_with("  output of `make`:\n    line 1\n"), "{shown}");
        assert!(shown.contains("    line 10\n    … 10 lines left out\n    line 21\n"), "{shown}");
        assert!(shown.ends_with("    line 50\n  `true` printed nothing\n"), "{shown}");
    }
}
