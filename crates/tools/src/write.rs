//! Write: a whole file, new or in place of the one that was read.

use sequester_core::secret;
use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::{Form, check_seen, decode, digest};
use crate::lines::count;
use crate::root::{Fault, Place, refuse};
use crate::tool::{Seen, Tool};
use crate::workbench::Workbench;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    file_path: String,
    content: String,
}

pub(crate) struct Write;

impl Tool for Write {
    type Args = Args;
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = "Writes a whole file, and the folders above it. A file that exists is replaced, and must have \
        been read as it is now; it keeps its line ends. To change a part of a file use `Edit`.";
    const EFFECT: Effect = Effect::Edits;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The file, relative to the workspace or absolute beneath it."},
                "content": {"type": "string", "description": "All that the file shall hold."},
            },
            "required": ["file_path", "content"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, seen: &Seen) -> Result<Returned, Outcome> {
        let place = bench.root.writable(&args.file_path)?;
        let (done, bytes, kept) = match bench.root.read(place.as_ref()) {
            Ok(old) => {
                check_seen(seen, &place, &old)?;
                check_marks(&place, &old, &args.content)?;
                let (bytes, kept) = Form::of(&old).apply(&args.content);
                ("Replaced", bytes, kept)
            }
            Err(Fault::Missing) => ("Created", args.content.into_bytes(), None),
            Err(fault) => return Err(fault.told(place.as_str())),
        };
        bench.root.replace(&place, &bytes)?;
        let size = count(bytes.len(), "byte");
        let lines = count(decode(&bytes).text.lines().count(), "line");
        let kept = kept.map(|kept| format!(" It keeps {kept}, which `Read` does not show."));
        let kept = kept.unwrap_or_default();
        Ok(Returned {
            seen: Seen::from([(place.as_str().to_owned(), digest(&bytes))]),
            ..Outcome::Output(format!("{done} `{place}`: {size}, {lines}.{kept}")).into()
        })
    }
}

/// Refuses to put marks where the file holds secrets that the subagent was not shown.
fn check_marks(place: &Place, old: &[u8], new: &str) -> Result<(), Outcome> {
    let old = decode(old).text;
    let marks = |text: &str| text.matches(secret::MARK).count();
    // A secret of another file may be hidden in this one too: the marks stand in the place of some of its lines.
    let hides = |line: &str| {
        line.contains(secret::MARK)
            && old.lines().any(|old| old != line && secret::is_less_of(line, old))
    };
    let is_hidden = || !secret::redact(&old).found.is_empty() || new.lines().any(hides);
    if marks(new) > marks(&old) && is_hidden() {
        return Err(refuse(&format!(
            "`{place}` holds secrets that are shown to you as marks, and this would write the marks in their place. \
             Change other parts of it with `Edit`."
        )));
    }
    Ok(())
}
