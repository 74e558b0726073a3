//! Code blocks that show others of the same kind. Markdown closes the outer one at the first bare fence; the writer means the last.

use std::borrow::Cow;

/// How many fences a code block is searched for its end.
const MOST_FENCES: usize = 256;

/// A line that is a fence: three or more backticks or tildes, and what follows them.
#[derive(Clone, Copy, Debug)]
struct FenceLine {
    /// Where its signs begin.
    at: usize,
    sign: u8,
    length: usize,
    /// It names a language, so that it only opens.
    is_named: bool,
}

impl FenceLine {
    fn read(line: &str, start: usize) -> Option<Self> {
        let text = line.trim_start();
        let sign = *text.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
        let length = text.bytes().take_while(|byte| *byte == sign).count();
        let info = text[length..].trim();
        let is_named = info.starts_with(char::is_alphanumeric) && !info.contains('`');
        let is_fence = length >= 3 && (info.is_empty() || is_named);
        let at = start + line.len() - text.len();
        is_fence.then_some(Self { at, sign, length, is_named })
    }

    fn closes(&self, open: &Self) -> bool {
        !self.is_named && self.is_like(open)
    }

    fn is_like(&self, open: &Self) -> bool {
        self.sign == open.sign && self.length >= open.length
    }
}

/// The source with the inner fences of such blocks blotted out. Every byte stays at its place.
pub(super) fn blot_inner(source: &str) -> Cow<'_, str> {
    let mut at = 0;
    let lines = source.split_inclusive('\n').filter_map(|line| {
        at += line.len();
        FenceLine::read(line, at - line.len())
    });
    let fences: Vec<FenceLine> = lines.collect();
    let inner = inner_fences(&fences);
    if inner.is_empty() {
        return Cow::Borrowed(source);
    }
    let mut blotted = String::with_capacity(source.len());
    let mut done = 0;
    for fence in inner {
        blotted.push_str(&source[done..fence.at]);
        blotted.extend(std::iter::repeat_n('\'', fence.length));
        done = fence.at + fence.length;
    }
    blotted.push_str(&source[done..]);
    Cow::Owned(blotted)
}

fn inner_fences(fences: &[FenceLine]) -> Vec<FenceLine> {
    let mut inner = Vec::new();
    let mut rest = fences;
    while let Some((open, behind)) = rest.split_first() {
        let plain = behind.iter().position(|fence| fence.closes(open));
        let shown = &behind[..plain.unwrap_or(behind.len())];
        let nests =
            shown.iter().take(MOST_FENCES).any(|fence| fence.is_named && fence.is_like(open));
        let end = if nests { meant_end(open, behind) } else { None };
        if let Some(end) = end {
            inner.extend_from_slice(&behind[..end]);
        }
        let Some(last) = end.or(plain) else { break };
        rest = &behind[last + 1..];
    }
    inner
}

/// Where an outer block ends, if each inner one is closed and Markdown would make nonsense of what follows: the fence that
/// ends it would open a block that shows a named fence or never ends.
fn meant_end(open: &FenceLine, behind: &[FenceLine]) -> Option<usize> {
    let end = nested_end(open, behind)?;
    let near = &behind[..behind.len().min(end + MOST_FENCES)];
    let mut next = 1 + near.iter().position(|fence| fence.closes(open))?;
    while next < end {
        let (inner, after) = near[next..].split_first()?;
        next += 2 + after.iter().position(|fence| fence.closes(inner))?;
    }
    let (last, after) = near[end..].split_first()?;
    let stray = after.iter().find(|fence| fence.is_like(last));
    (next == end && stray.is_none_or(|fence| fence.is_named)).then_some(end)
}

fn nested_end(open: &FenceLine, behind: &[FenceLine]) -> Option<usize> {
    let mut opened = vec![*open];
    for (at, fence) in behind.iter().enumerate().take(MOST_FENCES) {
        let last = opened.last()?;
        if fence.closes(last) {
            opened.pop();
        } else if fence.is_named && fence.is_like(last) {
            opened.push(*fence);
        }
        if opened.is_empty() {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that stay fences.
    fn kept(source: &str) -> Vec<usize> {
        let blotted = blot_inner(source);
        assert_eq!(blotted.len(), source.len());
        let lines = blotted.lines().enumerate();
        lines.filter(|(_, line)| line.trim().starts_with("```")).map(|(at, _)| at + 1).collect()
    }

    #[test]
    fn a_block_that_shows_others_ends_where_its_writer_means() {
        let shows_two =
            "```bash\n```js\na\n```\n## Task 1\n```js\nb\n```\nc\n```\n\n```bash\nd\n```\n";
        assert_eq!(kept(shows_two), [1, 10, 12, 14]);
        let at_the_end = "```md\n```js\na\n```\n## b\n```\n";
        assert_eq!(kept(at_the_end), [1, 6]);
        let twice = "```md\n```js\n```\n```\n```md\n```js\n```\n```\n";
        assert_eq!(kept(twice), [1, 4, 5, 8]);
    }

    #[test]
    fn sound_blocks_stay_as_they_are() {
        for source in [
            "```js\na\n```\n\n```\nb\n```\n",
            "````md\n```js\na\n```\n````\n",
            "```\n```js\na\n```\nb\n",
            "```js\na\n\n```js\nb\n```\n\n```\nc\n```\n",
            "```js\na\n",
        ] {
            assert_eq!(blot_inner(source), source);
        }
    }

    #[test]
    fn many_fences_take_no_time_that_grows_with_their_square() {
        let repeated = ["```a\n", "```a\n```\n~~~b\n", "```a\n```a\n```\n~~~b\n```\n"];
        for source in repeated {
            blot_inner(&source.repeat(50_000));
        }
    }
}
