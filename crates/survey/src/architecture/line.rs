//! One line of untrusted text, made fit to show.

/// On one line, without control and direction characters, cut with an ellipsis after `most` characters.
pub(super) fn clean(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    let mut gap = false;
    for character in text.chars() {
        if character.is_whitespace() {
            gap = count > 0;
            continue;
        }
        if character.is_control() || is_invisible(character) {
            continue;
        }
        let needed = 1 + usize::from(gap);
        if count + needed >= most {
            line.push('…');
            return line;
        }
        if gap {
            line.push(' ');
        }
        line.push(character);
        count += needed;
        gap = false;
    }
    line
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `1 file`, `2 files`.
pub(super) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// The first `most`, joined, and how many more there are.
pub(super) fn some<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let rest = names.len().saturating_sub(most);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_flat_visible_and_bounded() {
        assert_eq!(clean("  a\t\u{1b}[31mb\r\n c\u{202e} ", 80), "a [31mb c");
        assert_eq!(clean("abcdef", 4), "abc…");
        assert_eq!(clean("", 4), "");
    }
}
