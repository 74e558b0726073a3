//! Glob: files by the pattern of their path.

use std::ops::ControlFlow;
use std::path::Path;

use globset::{GlobBuilder, GlobSet};
use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::lines::note;
use crate::root::{failed, refuse};
use crate::tool::{Seen, Tool};
use crate::walk::walk;
use crate::workbench::Workbench;

const FILES: usize = 1_000;
const PATTERN_BYTES: usize = 1_000;
/// Room for what is said after the paths.
const WORDS: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    pattern: String,
    path: Option<String>,
}

pub(crate) struct Glob;

impl Tool for Glob {
    type Args = Args;
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Finds files by a pattern such as `**/*.rs` or `src/*.{ts,tsx}`; one without a slash is looked \
        for in every folder. Gives paths in the workspace, sorted; files that `.gitignore` names are left out.";
    const EFFECT: Effect = Effect::Reads;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The pattern, relative to `path`."},
                "path": {"type": "string", "description": "The folder to look in; the workspace's root if left out."},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, _: &Seen) -> Result<Returned, Outcome> {
        let place = bench.root.place(args.path.as_deref().unwrap_or("."))?;
        let pattern = Pattern::parse(&args.pattern)?;
        let room = bench.settings.output_bytes.saturating_sub(WORDS);
        let (mut output, mut files, mut cut) = (String::new(), 0, false);
        let tally = walk(bench, &place, |path, _| {
            let inner = path.strip_prefix(place.as_str()).unwrap_or(path);
            let inner = if inner.as_os_str().is_empty() { path } else { inner };
            if pattern.fits(inner) {
                let line = format!("{}\n", path.display());
                cut = files == FILES || output.len() + line.len() > room;
                if cut {
                    return ControlFlow::Break(());
                }
                output += &line;
                files += 1;
            }
            ControlFlow::Continue(())
        })?;
        if files == 0 {
            output = format!("No file in `{place}` fits `{}`.\n", args.pattern);
        }
        if cut {
            note(
                &mut output,
                format_args!("Only the first {files} files are shown. Narrow the pattern."),
            );
        }
        Ok(Outcome::Output(output + &tally.told()).into())
    }
}

/// A glob over paths; over names only, if it has no slash.
pub(crate) struct Pattern {
    matcher: GlobSet,
    of_names: bool,
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Result<Self, Outcome> {
        let pattern = text.strip_prefix("./").unwrap_or(text);
        if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
            return Err(refuse(&format!(
                "The pattern `{text}` leads out of its folder. Give it relative to `path`."
            )));
        }
        if pattern.len() > PATTERN_BYTES {
            let bytes = pattern.len();
            return Err(failed(format!(
                "The pattern has {bytes} bytes; {PATTERN_BYTES} are the most."
            )));
        }
        // A set of one: what cannot be compiled, such as braces in braces without end, is an error there and a panic in
        // a single matcher.
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let matcher = glob.and_then(|glob| GlobSet::new([glob]));
        let matcher =
            matcher.map_err(|error| failed(format!("The pattern is no glob: {error}.")))?;
        Ok(Self { matcher, of_names: !pattern.contains('/') })
    }

    pub(crate) fn fits(&self, path: &Path) -> bool {
        match path.file_name() {
            Some(name) if self.of_names => self.matcher.is_match(name),
            _ => self.matcher.is_match(path),
        }
    }
}
