//! Checks that several fuzz targets share.

use sequester_core::fault::Place;

/// Fails unless the place lies in the text, or right behind its end.
pub fn assert_inside(text: &str, place: Place, what: &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    assert!(place.line > 0 && place.column > 0, "{place:?} {what}");
    let line = text.split('\n').nth(place.line as usize - 1);
    let length = line.unwrap_or_else(|| panic!("no line {} {what}", place.line)).chars().count();
    assert!(place.column as usize <= length + 1, "{place:?} in a line of {length} {what}");
}

/// The first byte and the rest, which must be UTF-8: a target takes its variant from that byte.
pub fn variant_and_text(bytes: &[u8]) -> Option<(usize, &str)> {
    let (first, text) = bytes.split_first()?;
    Some((usize::from(*first), std::str::from_utf8(text).ok()?))
}
