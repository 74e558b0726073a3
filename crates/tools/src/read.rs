//! Read: a text file or a part of it, with line numbers.

use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::{Text, binary_kind, decode, digest};
use crate::lines::{count, note, numbered, push_numbered};
use crate::root::{Place, failed};
use crate::tool::{Seen, Tool};
use crate::workbench::Workbench;

const LINES: usize = 2_000;
/// Room for what is said after the lines.
const WORDS: usize = 1_024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    file_path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

pub(crate) struct Read;

impl Tool for Read {
    type Args = Args;
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Reads a text file of the workspace. Each line comes with its number and a tab before it, \
        which are no part of the file. Gives up to 2000 lines; use `offset` and `limit` for other parts of a long file. \
        A file must be read before it is edited or overwritten.";
    const EFFECT: Effect = Effect::Reads;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The file, relative to the workspace or absolute beneath it."},
                "offset": {"type": "integer", "minimum": 1, "description": "The first line to read; 1 if left out."},
                "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read; 2000 if left out."},
            },
            "required": ["file_path"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, _: &Seen) -> Result<Returned, Outcome> {
        let place = bench.root.file(&args.file_path)?;
        let bytes = bench.root.read(place.as_ref()).map_err(|fault| fault.told(place.as_str()))?;
        if let Some(kind) = binary_kind(&bytes) {
            let size = bytes.len();
            return Err(Outcome::Refused(format!(
                "`{place}` is {kind} of {size} bytes. Only text can be read."
            )));
        }
        let shown = show(bench, &place, &bytes, &args)?;
        Ok(Returned {
            seen: Seen::from([(place.as_str().to_owned(), digest(&bytes))]),
            ..Outcome::Output(shown).into()
        })
    }
}

fn show(bench: &Workbench, place: &Place, bytes: &[u8], args: &Args) -> Result<String, Outcome> {
    let room = bench.settings.output_bytes;
    let Text { text, lossy } = decode(bytes);
    // Of the whole file, before it is cut into lines: a range may begin inside a key.
    let clean = bench.redact(&text);
    let total = clean.text.lines().count();
    if total == 0 {
        return Ok(format!("`{place}` is empty."));
    }
    let first = args.offset.unwrap_or(1).max(1);
    if first > total {
        let lines = count(total, "line");
        return Err(failed(format!("`{place}` has {lines}; there is no line {first}.")));
    }
    let mut output = String::new();
    let mut last = first;
    let wanted = args.limit.unwrap_or(LINES).max(1);
    for (number, line) in numbered(&clean.text).skip(first - 1).take(wanted) {
        let before = output.len();
        push_numbered(&mut output, number, line);
        // Lines are left out at the end, never in the middle, so that the next call can read on.
        if output.len() > room.saturating_sub(WORDS) && number > first {
            output.truncate(before);
            break;
        }
        last = number;
    }
    if last < total {
        let next = last + 1;
        note(
            &mut output,
            format_args!("Lines {first} to {last} of {total}. Read on with `offset` {next}."),
        );
    }
    if lossy {
        note(
            &mut output,
            format_args!("The file is not UTF-8; bytes that are no text are shown as \u{FFFD}."),
        );
    }
    if !clean.found.is_empty() {
        let secrets = count(clean.found.len(), "secret");
        note(
            &mut output,
            format_args!("{secrets} in this file: shown as marks, which `Edit` cannot replace."),
        );
    }
    Ok(output)
}
