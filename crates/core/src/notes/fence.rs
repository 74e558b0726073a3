//! Code between fences: what looks like a heading or a pin in it is none.

use super::heading;
use super::mark::Mark;

/// A line that begins or ends code.
#[derive(Clone, Copy)]
struct Fence {
    is_tilde: bool,
    length: usize,
    /// Only a fence without a word behind it ends code.
    is_bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let inner = line.trim_start_matches(' ');
        let sign = inner.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = inner.trim_start_matches(sign);
        let (is_tilde, length) = (sign == '~', inner.len() - info.len());
        let is_fence =
            line.len() - inner.len() < 4 && length > 2 && (is_tilde || !info.contains('`'));
        is_fence.then_some(Self { is_tilde, length, is_bare: info.is_empty() })
    }

    fn is_closed_by(self, other: Self) -> bool {
        other.is_bare && other.is_tilde == self.is_tilde && other.length >= self.length
    }
}

/// For each line, whether it stands between fences. Only a person's count, and only those that are closed: a fence that nobody
/// closed hides nobody's section, and whatever subagents write, and wherever it stands, changes nothing.
pub(super) fn fenced(lines: &[&str]) -> Vec<bool> {
    let theirs = theirs(lines);
    let fence = |at: usize| Fence::of(lines[at]).filter(|_| !theirs[at]);
    // From the end, so that a thousand fences that nobody closed are no thousand searches.
    let (mut longest, mut closings) = ([0; 2], vec![[0; 2]; lines.len()]);
    for at in (0..lines.len()).rev() {
        closings[at] = longest;
        if let Some(fence) = fence(at).filter(|fence| fence.is_bare) {
            let kind = &mut longest[usize::from(fence.is_tilde)];
            *kind = fence.length.max(*kind);
        }
    }
    let mut open: Option<Fence> = None;
    let mut fenced = vec![false; lines.len()];
    for at in 0..lines.len() {
        fenced[at] = open.is_some() && !theirs[at];
        match (open, fence(at)) {
            (Some(begun), Some(fence)) if begun.is_closed_by(fence) => open = None,
            (None, Some(fence)) => {
                let is_closed = closings[at][usize::from(fence.is_tilde)] >= fence.length;
                open = is_closed.then_some(fence);
            }
            _ => {}
        }
    }
    fenced
}

/// For each line, whether a mark says that a subagent wrote it.
fn theirs(lines: &[&str]) -> Vec<bool> {
    let mut mark: Option<Mark> = None;
    let is_theirs = |line: &&str| {
        let begun = Mark::parse(line);
        let is_ended = mark.as_ref().is_some_and(|mark| mark.is_ended_by(line));
        if begun.is_some() {
            mark = begun;
        } else if heading(line).is_some() {
            mark = None;
        }
        let is_theirs = mark.is_some();
        if is_ended {
            mark = None;
        }
        is_theirs
    };
    lines.iter().map(is_theirs).collect()
}
