//! Grep: lines by a regular expression.

mod search;

use std::ops::ControlFlow;
use std::path::Path;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::file::binary_kind;
use crate::glob::Pattern;
use crate::lines::note;
use crate::root::failed;
use crate::tool::{Seen, Tool};
use crate::walk::{Tally, walk};
use crate::workbench::Workbench;
use search::{Hits, Numbers, show_lines};

/// Lines or files that are shown, unless `head_limit` says less.
const MATCHES: usize = 1_000;
const CONTEXT: usize = 100;
/// Room for what is said after the matches.
const WORDS: usize = 512;
/// A larger automaton is a mistake or an attack.
const REGEX_BYTES: usize = 4 << 20;

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
                "multiline": {"type": "boolean", "description": "Let a match span lines, and `.` match line breaks."},
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
            note(
                &mut output,
                format_args!("There are more matches. Narrow the search to see them."),
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
    matcher: RegexMatcher,
    searcher: Searcher,
    mode: Mode,
    numbers: Numbers,
    /// Lines or files that may still be shown.
    left: usize,
    room: usize,
    output: String,
    cut: bool,
}

impl<'b> Search<'b> {
    fn new(bench: &'b Workbench, args: &Args) -> Result<Self, Outcome> {
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
        let mut searcher = SearcherBuilder::new();
        searcher.binary_detection(BinaryDetection::none()).multi_line(args.multiline);
        if !args.multiline {
            regex.crlf(true);
            searcher.line_terminator(LineTerminator::crlf());
        }
        if args.output_mode == Mode::Content {
            let around = |given: Option<usize>| given.or(args.around).unwrap_or(0).min(CONTEXT);
            searcher.before_context(around(args.before)).after_context(around(args.after));
        }
        Ok(Self {
            bench,
            matcher: regex.build(&args.pattern).map_err(told)?,
            searcher: searcher.build(),
            mode: args.output_mode,
            numbers: if args.numbers == Some(false) { Numbers::Hidden } else { Numbers::Shown },
            left: args.head_limit.unwrap_or(MATCHES).clamp(1, MATCHES),
            room: bench.settings.output_bytes.saturating_sub(WORDS),
            output: String::new(),
            cut: false,
        })
    }

    fn file(&mut self, path: &Path, tally: &mut Tally) -> ControlFlow<()> {
        let Ok(bytes) = self.bench.root.read(path) else {
            tally.unreadable();
            return ControlFlow::Continue(());
        };
        let most = match self.mode {
            Mode::FilesWithMatches => 1,
            Mode::Content => self.left + 1,
            Mode::Count => usize::MAX,
        };
        let mut hits = Hits::new(most);
        if binary_kind(&bytes).is_some()
            || self.searcher.search_slice(&self.matcher, &bytes, &mut hits).is_err()
            || hits.matches == 0
        {
            return ControlFlow::Continue(());
        }
        let lines = match self.mode {
            Mode::FilesWithMatches => vec![path.display().to_string()],
            Mode::Count => vec![format!("{}:{}", path.display(), hits.matches)],
            Mode::Content => show_lines(path, &bytes, &hits, self.numbers),
        };
        if hits.has_context() && !self.output.is_empty() {
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
        ControlFlow::Continue(())
    }
}
