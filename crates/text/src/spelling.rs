//! What somebody may have meant.

/// The known name that differs from `wanted` by few letters; ties go to the first in the order of names.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wanted.chars().count().div_ceil(3).min(3);
    let far = |name: &str| distance(&name.to_lowercase(), &wanted.to_lowercase());
    let measured = known.into_iter().map(|name| (far(name), name));
    measured.filter(|(far, _)| *far <= limit).min().map(|(_, name)| name)
}

/// The nearest name as a hint.
pub fn perhaps<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wanted, known).map(|meant| format!("Perhaps `{meant}` is meant."))
}

/// How many letters differ.
pub fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().take(64).enumerate() {
        let mut left = i + 1;
        let mut corner = std::mem::replace(&mut row[0], left);
        for (j, b) in two.iter().enumerate() {
            let above = row[j + 1];
            left = (corner + usize::from(a != *b)).min(above + 1).min(left + 1);
            corner = above;
            row[j + 1] = left;
        }
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        let known = ["model", "models", "limits"];
        assert_eq!(nearest("modle", known), Some("model"));
        assert_eq!(nearest("modl", known), Some("model"));
        assert_eq!(nearest("Limits", known), Some("limits"));
        assert_eq!(nearest("weather", known), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), known), None);
    }
}
