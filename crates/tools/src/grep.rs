//! Grep: lines by a regular expression.

mod search;
mod show;

use std::ops::ControlFlow;
use std::path::Path;

use grep_regex::RegexMatcherBuilder;
use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::{binary_kind, decode};
use crate::glob::Pattern;
use crate::lines::note;
use crate::root::failed;
use crate::tool::{Seen, Tool};
use crate::walk::{Reason, Tally, walk};
use crate::workbench::Workbench;
use search::{Finder, Reach, Want};
use show::{Around, Numbers, show_lines};

/// Lines or files that are shown, unless `head_limit` says less.
const MATCHES: usize = 1_000;
const CONTEXT: usize = 100;
/// Room for what is said after the matches.
const WORDS: usize = 512;
/// A longer pattern or a larger automaton is a mistake or an attack. The automaton's size also bounds the time that one
/// window of a file can take.
const PATTERN_BYTES: usize = 10_000;
const REGEX_BYTES: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    output_mode: Mode,
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    #[serde(rename = "-A")]
    after: Option<usize>,
    #[serde(rename = "-B")]
    before: Option<usize>,
    #[serde(rename = "-C")]
    around: Option<usize>,
    #[serde(default)]
    multiline: bool,
    head_limit: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

pub(crate) struct Grep;

impl Tool for Grep {
    type Args = Args;
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Searches the files of the workspace for a regular expression (Rust's syntax, as in ripgrep). \
        Shows the files with matches unless `output_mode` says otherwise, sorted by path. Files that `.gitignore` names, \
        binary files and links are left out.";
    const EFFECT: Effect = Effect::Reads;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The regular expression."},
                "path": {"type": "string", "description": "The file or folder to search; the workspace's root if left out."},
                "glob": {"type": "string", "description": "Only files that fit, such as `*.ts` or `src/**/*.py`; `!` in front turns it round."},
                "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"],
                    "description": "`content` shows lines, `files_with_matches` paths, `count` the matches of each file."},
                "-i": {"type": "boolean", "description": "Ignore case."},
                "-n": {"type": "boolean", "description": "Show line numbers in `content`; true if left out."},
                "-A": {"type": "integer", "minimum": 0, "description": "Lines to show after each match in `content`."},
                "-B": {"type": "integer", "minimum": 0, "description": "Lines to show before each match in `content`."},
                "-C": {"type": "integer", "minimum": 0, "description": "Lines to show before and after each match in `content`."},
                "multiline": {"type": "boolean", "description": "Let a match span lines, up to 16 KiB, and `.` match line breaks."},
                "head_limit": {"type": "integer", "minimum": 1, "description": "Show at most so many lines or files."},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, _: &Seen) -> Result<Returned, Outcome> {
        let place = bench.root.place(args.path.as_deref().unwrap_or("."))?;
        let mut search = Search::new(bench, &args)?;
        let filter = Filter::parse(args.glob.as_deref())?;
        let tally = walk(bench, &place, |path, tally| {
            let inner = path.strip_prefix(place.as_str()).unwrap_or(path);
            if filter.fits(inner, path) {
                search.file(path, tally)
            } else {
                ControlFlow::Continue(())
            }
        })?;
        let Search { mut output, cut, .. } = search;
        if output.is_empty() {
            output += "No matches.\n";
        }
        if cut {
            let shown = match output.lines().count() {
                1 => "line is".to_owned(),
                lines => format!("{lines} lines are"),
            };
            note(
                &mut output,
                format_args!(
                    "There are more matches; only the first {shown} shown. Narrow the search."
                ),
            );
        }
        Ok(Outcome::Output(output + &tally.told()).into())
    }
}

/// Which files are searched.
enum Filter {
    All,
    Only(Pattern),
    Not(Pattern),
}

impl Filter {
    fn parse(glob: Option<&str>) -> Result<Self, Outcome> {
        Ok(match glob.map(|glob| (glob, glob.strip_prefix('!'))) {
            None => Self::All,
            Some((_, Some(glob))) => Self::Not(Pattern::parse(glob)?),
            Some((glob, None)) => Self::Only(Pattern::parse(glob)?),
        })
    }

    /// A pattern may be meant from the folder that is searched or from the root.
    fn fits(&self, inner: &Path, path: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Only(pattern) => pattern.fits(inner) || pattern.fits(path),
            Self::Not(pattern) => !pattern.fits(inner) && !pattern.fits(path),
        }
    }
}

/// A search under way, and what it found so far.
struct Search<'b> {
    bench: &'b Workbench,
    finder: Finder,
    mode: Mode,
    around: Around,
    numbers: Numbers,
    /// Lines or files that may still be shown.
    left: usize,
    room: usize,
    output: String,
    cut: bool,
}

impl<'b> Search<'b> {
    fn new(bench: &'b Workbench, args: &Args) -> Result<Self, Outcome> {
        let bytes = args.pattern.len();
        if bytes > PATTERN_BYTES {
            return Err(failed(format!(
                "The pattern has {bytes} bytes; {PATTERN_BYTES} are the most. Search for a part of it."
            )));
        }
        let told = |error: grep_regex::Error| {
            let hint =
                if args.multiline { "" } else { " A match that spans lines needs `multiline`." };
            failed(format!("The pattern is no regular expression that can be used: {error}.{hint}"))
        };
        let mut regex = RegexMatcherBuilder::new();
        regex
            .case_insensitive(args.ignore_case)
            .size_limit(REGEX_BYTES)
            .dfa_size_limit(REGEX_BYTES)
            .multi_line(true)
            .dot_matches_new_line(args.multiline);
        if !args.multiline {
            regex.crlf(true);
        }
        let reach = if args.multiline { Reach::Lines } else { Reach::Line };
        let around = |given: Option<usize>| given.or(args.around).unwrap_or(0).min(CONTEXT);
        Ok(Self {
            bench,
            finder: Finder::new(regex.build(&args.pattern).map_err(told)?, reach),
            mode: args.output_mode,
            around: Around { before: around(args.before), after: around(args.after) },
            numbers: if args.numbers == Some(false) { Numbers::Hidden } else { Numbers::Shown },
            left: args.head_limit.unwrap_or(MATCHES).clamp(1, MATCHES),
            room: bench.settings.output_bytes.saturating_sub(WORDS),
            output: String::new(),
            cut: false,
        })
    }

    fn file(&mut self, path: &Path, tally: &mut Tally) -> ControlFlow<()> {
        let bytes = match self.bench.root.read(path) {
            Ok(bytes) => bytes,
            Err(fault) => {
                tally.unreadable(path, fault);
                return ControlFlow::Continue(());
            }
        };
        if binary_kind(&bytes).is_some() {
            tally.leave_out(Reason::Binary, || format!("`{}`", path.display()));
            return ControlFlow::Continue(());
        }
        let want = match self.mode {
            Mode::FilesWithMatches => Want::Lines(1),
            Mode::Content => Want::Lines(self.left + 1),
            Mode::Count => Want::Count,
        };
        let (hits, flow) = self.finder.search(&bytes, want, || tally.is_time_up());
        if hits.matches == 0 {
            return flow;
        }
        let name = path.display();
        let lines = match self.mode {
            Mode::FilesWithMatches => vec![name.to_string()],
            Mode::Count if flow.is_break() => vec![format!("{name}:{} or more", hits.matches)],
            Mode::Count => vec![format!("{name}:{}", hits.matches)],
            Mode::Content => {
                // One more than there is room for: then it is known that some are left out.
                let most = self.left.saturating_add(1);
                let text = decode(&bytes).text;
                // Of the whole file: one line of a key does not look like a secret.
                let clean = self.bench.redact(&text).text;
                show_lines(path, &clean, &hits.lines, self.around, self.numbers, most)
            }
        };
        if self.mode == Mode::Content && !self.around.is_empty() && !self.output.is_empty() {
            self.output += "--\n";
        }
        for line in lines {
            if self.left == 0 || self.output.len() + line.len() >= self.room {
                self.cut = true;
                return ControlFlow::Break(());
            }
            self.left -= 1;
            self.output += &line;
            self.output.push('\n');
        }
        flow
    }
}
