//! The code blocks of a plan that is no Markdown: their fences stand at any indent.

use std::ops::Range;

/// The code blocks of a range, in its order. One that is left open is none: it would hide the tasks behind it. So is one in
/// which a fence of its sign and length opens another.
pub(super) fn code_blocks(source: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, usize)> = None;
    let mut at = range.start;
    for line in source[range.clone()].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = without_bullet(line).trim_end();
        let Some(sign) = text.chars().next().filter(|sign| matches!(sign, '`' | '~')) else {
            continue;
        };
        let info = text.trim_start_matches(sign);
        let length = text.len() - info.len();
        // A line such as ```` ```a``` ```` is a code span.
        let is_fence = length >= 3 && (sign == '~' || !info.contains('`'));
        if !is_fence || open.is_some_and(|open| open.0 != sign || length < open.1) {
            continue;
        }
        match open.take().filter(|_| info.is_empty()) {
            Some((_, _, begin)) => blocks.push(begin..at),
            None => open = Some((sign, length, start)),
        }
    }
    blocks
}

/// The one of sorted ranges in which an offset stands.
pub(in super::super) fn range_at(ranges: &[Range<usize>], offset: usize) -> Option<&Range<usize>> {
    let behind = ranges.partition_point(|range| range.end <= offset);
    ranges.get(behind).filter(|range| range.start <= offset)
}

/// A line without its indent and bullet.
pub(super) fn without_bullet(line: &str) -> &str {
    line.trim_start().trim_start_matches("- ").trim_start()
}
