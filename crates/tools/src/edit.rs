//! Edit: one exact span of a file is replaced by another.

mod nearest;
mod span;

use std::ops::Range;

use sequester_core::secret;
use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::{check_seen, decode, digest, to_crlf};
use crate::lines::{count, numbered, push_numbered};
use crate::root::{FILE_BYTES, Place, failed, refuse};
use crate::tool::{Seen, Tool};
use crate::workbench::Workbench;
use span::Span;

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
        let spans = find(&place, &old, &args)?;
        check_secrets(&place, &old, &args.old_string, &spans)?;
        let (new, spans) = replace(&place, &old, &spans, &args.new_string)?;
        bench.root.replace(&place, &new)?;
        Ok(Returned {
            seen: Seen::from([(place.as_str().to_owned(), digest(&new))]),
            ..Outcome::Output(show(bench, &place, &new, &spans)).into()
        })
    }
}

/// More are no edit that a person would make.
const PLACES: usize = 100_000;

/// Where the text to replace stands: once, unless all shall be replaced.
fn find(place: &Place, old: &[u8], args: &Args) -> Result<Vec<Span>, Outcome> {
    let Args { old_string, new_string, replace_all, .. } = args;
    if old_string.is_empty() {
        return Err(failed("`old_string` is empty. Write a whole file with `Write`.".into()));
    }
    if old_string == new_string {
        return Err(failed("`old_string` and `new_string` are the same.".into()));
    }
    let spans = span::find(old, old_string, PLACES + 1);
    match spans.len() {
        times if times > PLACES => Err(failed(format!(
            "`old_string` is more than {PLACES} times in `{place}`. Take a longer text, or use `Bash`, for example `sed -i`."
        ))),
        0 if old_string.contains(secret::MARK) => Err(redacted(place)),
        0 => {
            let hint = nearest::hint(&secret::redact(&decode(old).text).text, old_string);
            Err(failed(format!("`old_string` is not in `{place}`. {hint}")))
        }
        times if times > 1 && !replace_all => {
            let lines = lines(old, &spans);
            Err(failed(format!(
                "`old_string` is {times} times in `{place}`, at lines {lines}. Take in more of the text around it, or set \
                 `replace_all`."
            )))
        }
        1 if !replace_all && span::overlaps_itself(old, old_string) => Err(failed(format!(
            "`old_string` stands in `{place}` twice, and the two places overlap. Include more of the text around it."
        ))),
        _ => Ok(spans),
    }
}

/// The lines of the first spans.
fn lines(old: &[u8], spans: &[Span]) -> String {
    let (mut line, mut at) = (1, 0);
    let mut named = Vec::new();
    for Span { bytes, .. } in spans.iter().take(SHOWN) {
        line += memchr::memchr_iter(b'\n', &old[at..bytes.start]).count();
        at = bytes.start;
        named.push(line.to_string());
    }
    let more = if spans.len() > SHOWN { ", ..." } else { "" };
    named.join(", ") + more
}

/// The changed bytes, and where in them the new text stands.
fn replace(
    place: &Place,
    old: &[u8],
    spans: &[Span],
    to: &str,
) -> Result<(Vec<u8>, Vec<Range<usize>>), Outcome> {
    let returned = to_crlf(to);
    let text = |span: &Span| if span.crlf { returned.as_bytes() } else { to.as_bytes() };
    let gone: usize = spans.iter().map(|span| span.bytes.len()).sum();
    let length = old.len() - gone + spans.iter().map(|span| text(span).len()).sum::<usize>();
    if length as u64 > FILE_BYTES {
        return Err(failed(format!(
            "`{place}` would have {length} bytes, and at most {FILE_BYTES} are written."
        )));
    }
    let mut new = Vec::with_capacity(length);
    let mut copied = 0;
    let mut placed = Vec::with_capacity(spans.len());
    for span in spans {
        new.extend_from_slice(&old[copied..span.bytes.start]);
        placed.push(new.len()..new.len() + text(span).len());
        new.extend_from_slice(text(span));
        copied = span.bytes.end;
    }
    new.extend_from_slice(&old[copied..]);
    Ok((new, placed))
}

/// Refuses a change that takes away a secret which the subagent never saw.
fn check_secrets(place: &Place, old: &[u8], from: &str, spans: &[Span]) -> Result<(), Outcome> {
    let touched = match str::from_utf8(old) {
        Ok(text) => {
            let found = secret::redact(text).found;
            spans.iter().any(|Span { bytes, .. }| {
                let after = found.partition_point(|secret| secret.end <= bytes.start);
                found.get(after).is_some_and(|secret| secret.start < bytes.end)
            })
        }
        // Places in the shown text are not places in the file; the span alone has to tell.
        Err(_) => !secret::redact(from).found.is_empty(),
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
fn show(bench: &Workbench, place: &Place, new: &[u8], spans: &[Range<usize>]) -> String {
    let mut output = format!("Edited `{place}`: {}.\n", count(spans.len(), "replacement"));
    let shown = decode(new).text;
    let clean = bench.redact(&shown);
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
