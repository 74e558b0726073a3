//! Edit: one exact span of a file is replaced by another.

mod nearest;

use std::ops::Range;

use memchr::memmem;
use sequester_core::secret;
use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::{check_seen, decode, digest};
use crate::lines::{count, numbered, push_numbered};
use crate::root::{Place, failed, refuse};
use crate::tool::{Seen, Tool};
use crate::workbench::Workbench;

/// Lines shown around a change.
const AROUND: usize = 2;
/// Changes that are shown, and places that are named.
const SHOWN: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

pub(crate) struct Edit;

impl Tool for Edit {
    type Args = Args;
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = "Replaces exact text in a file that was read before. `old_string` must be in the file exactly \
        once, white space included and line numbers left out, unless `replace_all` is true.";
    const EFFECT: Effect = Effect::Edits;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The file, relative to the workspace or absolute beneath it."},
                "old_string": {"type": "string", "description": "The text to replace, as it stands in the file."},
                "new_string": {"type": "string", "description": "The text to put in its place."},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence; false if left out."},
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, seen: &Seen) -> Result<Returned, Outcome> {
        let place = bench.root.writable(&args.file_path)?;
        let old = bench.root.read(place.as_ref()).map_err(|fault| fault.told(place.as_str()))?;
        check_seen(seen, &place, &old)?;
        let change = Change::find(&place, &old, &args)?;
        check_secrets(&place, &old, &change)?;
        let (new, spans) = change.apply(&old);
        bench.root.replace(&place, &new)?;
        Ok(Returned {
            outcome: Outcome::Output(show(&place, &new, &spans)),
            seen: Seen::from([(place.as_str().to_owned(), digest(&new))]),
        })
    }
}

/// Which bytes are replaced, and by what.
struct Change {
    starts: Vec<usize>,
    from: String,
    to: String,
}

impl Change {
    fn find(place: &Place, old: &[u8], args: &Args) -> Result<Self, Outcome> {
        let Args { old_string, new_string, replace_all, .. } = args;
        if old_string.is_empty() {
            return Err(failed("`old_string` is empty. Write a whole file with `Write`.".into()));
        }
        if old_string == new_string {
            return Err(failed("`old_string` and `new_string` are the same.".into()));
        }
        let found = forms(old, old_string, new_string).into_iter().find_map(|(from, to)| {
            let starts: Vec<usize> = memmem::find_iter(old, from.as_bytes()).collect();
            (!starts.is_empty()).then_some(Self { starts, from, to })
        });
        let Some(change) = found else {
            if old_string.contains(secret::MARK) {
                return Err(redacted(place));
            }
            let hint = nearest::hint(&secret::redact(&decode(old).text).text, old_string);
            return Err(failed(format!("`old_string` is not in `{place}`. {hint}")));
        };
        if change.starts.len() > 1 && !replace_all {
            let times = change.starts.len();
            let lines = change.lines(old);
            return Err(failed(format!(
                "`old_string` is {times} times in `{place}`, at lines {lines}. Take in more of the text around it, or set \
                 `replace_all`."
            )));
        }
        Ok(change)
    }

    /// The first lines at which it applies.
    fn lines(&self, old: &[u8]) -> String {
        let (mut line, mut at) = (1, 0);
        let mut named = Vec::new();
        for &start in self.starts.iter().take(SHOWN) {
            line += memchr::memchr_iter(b'\n', &old[at..start]).count();
            at = start;
            named.push(line.to_string());
        }
        let more = if self.starts.len() > SHOWN { ", ..." } else { "" };
        named.join(", ") + more
    }

    fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        self.starts.iter().map(|start| *start..*start + self.from.len())
    }

    /// The changed bytes, and where in them the new text stands.
    fn apply(&self, old: &[u8]) -> (Vec<u8>, Vec<Range<usize>>) {
        let mut new = Vec::with_capacity(old.len() + self.to.len());
        let mut copied = 0;
        let mut placed = Vec::with_capacity(self.starts.len());
        for span in self.spans() {
            new.extend_from_slice(&old[copied..span.start]);
            placed.push(new.len()..new.len() + self.to.len());
            new.extend_from_slice(self.to.as_bytes());
            copied = span.end;
        }
        new.extend_from_slice(&old[copied..]);
        (new, placed)
    }
}

/// The texts to look for. `Read` shows no carriage returns, so a model cannot write them: in a file whose lines end with
/// them they are put back.
fn forms(old: &[u8], from: &str, to: &str) -> Vec<(String, String)> {
    let crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let returned = memmem::find_iter(old, b"\r\n").count();
    let as_given = (from.to_owned(), to.to_owned());
    match memchr::memchr_iter(b'\n', old).count() {
        _ if returned == 0 => vec![as_given],
        breaks if breaks == returned => vec![(crlf(from), crlf(to))],
        _ => vec![as_given, (crlf(from), crlf(to))],
    }
}

/// Refuses a change that takes away a secret which the subagent never saw.
fn check_secrets(place: &Place, old: &[u8], change: &Change) -> Result<(), Outcome> {
    let touched = match str::from_utf8(old) {
        Ok(text) => {
            let found = secret::redact(text).found;
            change.spans().any(|span| {
                let after = found.partition_point(|secret| secret.end <= span.start);
                found.get(after).is_some_and(|secret| secret.start < span.end)
            })
        }
        // Places in the shown text are not places in the file; the span alone has to tell.
        Err(_) => !secret::redact(&change.from).found.is_empty(),
    };
    if touched { Err(redacted(place)) } else { Ok(()) }
}

fn redacted(place: &Place) -> Outcome {
    refuse(&format!(
        "Edit on a redacted span is refused: there `{place}` holds a secret that was not shown to you. Change the text \
         around it."
    ))
}

/// The changed lines as they are now.
fn show(place: &Place, new: &[u8], spans: &[Range<usize>]) -> String {
    let mut output = format!("Edited `{place}`: {}.\n", count(spans.len(), "replacement"));
    let shown = decode(new).text;
    let clean = secret::redact(&shown);
    let mut ranges = around(new, spans).into_iter().peekable();
    for (number, text) in numbered(&clean.text) {
        if ranges.next_if(|range| range.end <= number).is_some() && ranges.peek().is_some() {
            output.push_str("   ...\n");
        }
        match ranges.peek() {
            Some(range) if range.contains(&number) => push_numbered(&mut output, number, text),
            Some(_) => {}
            None => break,
        }
    }
    output
}

/// Ranges of lines that hold the spans and a little around them; they do not touch.
fn around(new: &[u8], spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let breaks = |span: Range<usize>| memchr::memchr_iter(b'\n', &new[span]).count();
    let (mut line, mut at) = (1, 0);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for span in spans.iter().take(SHOWN) {
        line += breaks(at..span.start);
        at = span.start;
        let (from, to) = (line.saturating_sub(AROUND), line + breaks(span.clone()) + AROUND + 1);
        match ranges.last_mut() {
            Some(before) if before.end >= from => before.end = to,
            _ => ranges.push(from..to),
        }
    }
    ranges
}
