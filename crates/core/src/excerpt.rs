//! Cutting a text to a size, and saying so: the beginning and the end stay.

use std::borrow::Cow;

/// At most `limit` bytes and one line that says what was cut. Lines stay whole where they can.
pub fn excerpt(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    // A line is cut in two only where whole lines would leave less than half.
    let head =
        text[..head].rfind('\n').map_or(head, |end| if end > head / 2 { end + 1 } else { head });
    let room = text.len() - tail;
    let tail = text[tail..]
        .find('\n')
        .map_or(tail, |end| if end < room / 2 { tail + end + 1 } else { tail });
    let cut = tail - head;
    let break_before = if text[..head].ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!(
        "{}{break_before}[... {cut} of {} bytes were cut here ...]\n{}",
        &text[..head],
        text.len(),
        &text[tail..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_stays_as_it_is() {
        assert_eq!(excerpt("abc", 3), "abc");
    }

    #[test]
    fn head_and_tail_stay_and_the_cut_is_said() {
        let text =
            (0..1_000).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n") + "\n";
        let cut = excerpt(&text, 100);
        assert!(cut.starts_with("line 0\n") && cut.ends_with("line 999\n"), "{cut}");
        assert!(cut.contains("of 8890 bytes were cut here ...]\nline 99"), "{cut}");
        assert!(cut.len() < 160);
    }

    #[test]
    fn characters_are_never_cut_in_two() {
        let text = "ä".repeat(1_000);
        for limit in 0..40 {
            let cut = excerpt(&text, limit);
            assert!(cut.len() < limit + 60, "{cut}");
        }
    }
}
