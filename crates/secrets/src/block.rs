//! Private keys of many lines, whole or cut off at either end.

use std::ops::Range;

use regex::Regex;

use super::value;

/// Calls `each` with every key whose first or last line `fence` knows. What stands between must look like a key:
/// code that only names the fences is left alone, a key whose other end is cut off is not.
pub(super) fn find(text: &str, fence: &Regex, mut each: impl FnMut(Range<usize>)) {
    let mut fences = fence.find_iter(text).peekable();
    let mut done = 0;
    while let Some(found) = fences.next() {
        let next = fences.peek();
        let (body, closing) = if is_closing(found.as_str()) {
            let above = done..found.start();
            (before(text, above), Some(found.end()))
        } else {
            let below = found.end()..next.map_or(text.len(), regex::Match::start);
            let closing = next.filter(|next| is_closing(next.as_str()));
            let body = after(text, below.clone()).map(|end| found.start()..end);
            let whole =
                body.as_ref().is_some_and(|body| text[body.end..below.end].trim().is_empty());
            (body, closing.filter(|_| whole).map(regex::Match::end))
        };
        done = found.end();
        if let Some(body) = body {
            done = closing.unwrap_or(body.end);
            each(body.start..done);
            fences.next_if(|next| next.end() <= done);
        }
    }
}

fn is_closing(fence: &str) -> bool {
    fence.contains("END")
}

/// Where the key that fills `below` from its start ends.
fn after(text: &str, below: Range<usize>) -> Option<usize> {
    let mut body = Body::default();
    let mut end = below.start;
    for line in text[below.clone()].split_inclusive('\n').flat_map(split_escapes) {
        if !body.take(line) {
            break;
        }
        end += line.len();
    }
    let blank = text[below.start..end].len() - text[below.start..end].trim_end().len();
    body.is_key().then_some(end - blank)
}

/// The key that fills `above` up to its end.
fn before(text: &str, above: Range<usize>) -> Option<Range<usize>> {
    let mut body = Body::default();
    let mut start = above.end;
    for line in text[above.clone()].split_inclusive('\n').rev() {
        for part in split_escapes(line).collect::<Vec<_>>().into_iter().rev() {
            if !body.take(part) {
                return body.is_key().then_some(start..above.end);
            }
            start -= part.len();
        }
    }
    body.is_key().then_some(start..above.end)
}

/// A `\n` that is written as an escape ends a line of a key too.
fn split_escapes(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive("\\n")
}

/// What has been seen of a key's inside.
#[derive(Default)]
struct Body<'t> {
    longest: &'t str,
}

impl<'t> Body<'t> {
    /// Whether the line can be one of a key: base64, a header of the old formats, or nothing.
    fn take(&mut self, line: &'t str) -> bool {
        let bare = strip_number(strip_dress(line));
        if bare.bytes().all(is_base64) {
            if bare.len() > self.longest.len() {
                self.longest = bare;
            }
            return true;
        }
        is_header(bare)
    }

    fn is_key(&self) -> bool {
        self.longest.len() >= 32 && value::entropy(self.longest) >= 3.5
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Takes away the quotes, signs and escapes that source code puts around a line of a key.
fn strip_dress(line: &str) -> &str {
    let is_dress = |edge: char| edge.is_whitespace() || "\"'`,;.\\|>#*()+/-".contains(edge);
    let line = line.strip_suffix("\\n").unwrap_or(line);
    let line = line.strip_suffix("\\r").unwrap_or(line);
    line.trim_matches(is_dress)
}

/// Takes away the line number that tools print in front.
fn strip_number(line: &str) -> &str {
    line.trim_start_matches(|digit: char| digit.is_ascii_digit())
        .strip_prefix([':', '\t', '|', ' ', '-', '\u{2192}'])
        .map_or(line, str::trim_start)
}

/// `Proc-Type: 4,ENCRYPTED`, `DEK-Info: ...`, `Comment: ...`.
fn is_header(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, content)| {
        content.len() <= 200
            && name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}
