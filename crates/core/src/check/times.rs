//! Output without what the clock put into it: the same checks tell the same in every run.

/// Units that make a number before them a duration.
const UNITS: [&str; 13] =
    ["s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds", "m", "min", "minutes", "h"];

/// With `*` in the place of durations (`0.03s`, `in 12 seconds`) and of times of day (`09:41:07`).
pub(crate) fn without_times(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = &rest[..at];
        plain.push_str(before);
        let end = rest[at..].find(|c: char| !c.is_ascii_digit() && !".,:".contains(c));
        let number = &rest[at..end.map_or(rest.len(), |end| at + end)];
        let number = number.trim_end_matches(['.', ',', ':']);
        let after = &rest[at + number.len()..];
        // `v2s` and `sha1 s` are names, not times.
        let starts_word = !before.ends_with(|c: char| c.is_alphanumeric() || "_-./".contains(c));
        let is_time = starts_word && (is_time_of_day(number) || is_before_unit(number, after));
        plain.push_str(if is_time { "*" } else { number });
        rest = after;
    }
    plain.push_str(rest);
    plain
}

fn is_time_of_day(number: &str) -> bool {
    let mut parts = number.split(':');
    let two = |part: Option<&str>| part.is_some_and(|part| part.len() == 2);
    let seconds = |part: Option<&str>| {
        part.is_some_and(|part| part.split('.').next().map(str::len) == Some(2))
    };
    two(parts.next()) && two(parts.next()) && seconds(parts.next()) && parts.next().is_none()
}

fn is_before_unit(number: &str, after: &str) -> bool {
    let spaced = after.strip_prefix(' ').unwrap_or(after);
    let end = spaced.find(|c: char| !c.is_alphabetic()).unwrap_or(spaced.len());
    !number.contains(':') && UNITS.contains(&&spaced[..end])
}

#[cfg(test)]
mod tests {
    use super::without_times;

    #[test]
    fn durations_and_times_of_day_are_left_out_and_numbers_stay() {
        for (line, plain) in [
            ("Ran 3 tests in 0.013s", "Ran 3 tests in *s"),
            (
                "test result: ok. 2 passed; finished in 0.00s",
                "test result: ok. 2 passed; finished in *s",
            ),
            ("=== 4 passed in 1.02 seconds ===", "=== 4 passed in * seconds ==="),
            ("# duration_ms 41.5", "# duration_ms 41.5"),
            ("Start at  09:41:07", "Start at  *"),
            ("Time: 1,204 ms", "Time: * ms"),
            ("src/a.rs:12:5: error in v2s", "src/a.rs:12:5: error in v2s"),
            ("3 messages, 2 modules", "3 messages, 2 modules"),
        ] {
            assert_eq!(without_times(line), plain);
        }
    }
}
