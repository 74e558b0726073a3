//! How long a question waits, as people write it.

use std::time::Duration;

/// `90s`, `30m`, `2h`, `1d`; nothing for what is none of these.
pub(super) fn read(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.chars().next_back()?;
    let count: u64 = text[..text.len() - unit.len_utf8()].trim().parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_a_number_with_a_unit() {
        assert_eq!(read("90s"), Some(Duration::from_secs(90)));
        assert_eq!(read(" 2 h "), Some(Duration::from_hours(2)));
        for none in ["", "h", "-1h", "soon", "99999999999999999999d", "é"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
