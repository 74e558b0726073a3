//! The files and interfaces that a task's text lists.

mod entry;

use std::collections::HashSet;
use std::ops::Range;

use super::label::{self, Topic};
use super::markdown::{Block, Document, Kind};
use super::mention::{self, Verbless};
use super::{Action, FileHint, FileRef, Interfaces, token};
use crate::fault::{Code, Fault, Place};
use crate::path::{self, RepoPath};

use entry::{entry_tokens, renamed};

/// What the labelled lists of a task say.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) files: Vec<FileRef>,
    /// Files to touch if they are there, and those that entries mention which are no path.
    pub(super) hints: Vec<FileHint>,
    /// A list of files is there and every entry of it was understood.
    pub(super) declared: bool,
    pub(super) interfaces: Interfaces,
    /// Where the consumed interfaces stand: they may name the tasks they come from.
    pub(super) consumed: Vec<Range<usize>>,
    /// Entries that name no single file: a folder, a pattern, a sentence.
    pub(super) unread: Vec<Range<usize>>,
}

/// Reads **Files:** and **Interfaces:** in a task's text.
pub(super) fn listed(
    document: &Document<'_>,
    range: &Range<usize>,
    warnings: &mut Vec<Fault>,
) -> Listed {
    let mut reader = Reader {
        document,
        warnings,
        found: Listed::default(),
        collected: Collected::default(),
        conditional: Collected::default(),
        topic: None,
        action: None,
        entry: None,
    };
    for block in document.blocks_in(range) {
        reader.take(block);
    }
    let mut found = reader.found;
    found.declared &= found.unread.is_empty();
    let mut hints = reader.conditional;
    for entry in &found.unread {
        mention::read_sentence(document, entry, Verbless::Writes, &mut hints);
    }
    found.hints = hints.into_hints();
    found.files = reader.collected.files;
    found
}

struct Reader<'r, 'a> {
    document: &'r Document<'a>,
    warnings: &'r mut Vec<Fault>,
    found: Listed,
    collected: Collected,
    /// Files that are named with a condition, such as `(if exists)`.
    conditional: Collected,
    topic: Option<Topic>,
    /// Of the item above: `- Create:` with the paths nested beneath.
    action: Option<(u8, Action)>,
    /// The depth of the last item that names a file: what is nested beneath says what to do in it.
    entry: Option<u8>,
}

impl Reader<'_, '_> {
    fn take(&mut self, block: &Block<'_>) {
        let words = self.document.text(&block.words);
        match block.kind {
            Kind::Heading(_) => {
                self.topic = label::topic(words.trim_end_matches([':', '：']))
                    .filter(|topic| of_task(*topic));
                self.found.declared |= matches!(self.topic, Some(Topic::Files(_)));
            }
            Kind::Paragraph => {
                let mut at = block.words.start;
                if block.within.is_none() {
                    let labelled = label::split(words).and_then(|(name, _)| label::topic(name));
                    self.topic = self.topic.filter(|_| labelled.is_some());
                }
                for line in words.split_inclusive('\n') {
                    self.take_line(at..at + line.trim_end().len());
                    at += line.len();
                }
            }
            Kind::Item(item) if item.mark.is_some() => self.topic = None,
            Kind::Item(item) => {
                if self.action.is_some_and(|(depth, _)| item.depth <= depth) {
                    self.action = None;
                }
                self.entry = self.entry.filter(|depth| *depth < item.depth);
                self.take_item(block.words.clone(), item.depth);
            }
            Kind::Fence(_) | Kind::Rule => self.topic = None,
        }
    }

    /// A line of a paragraph: a label with what stands behind it, or an entry of the open list.
    fn take_line(&mut self, line: Range<usize>) {
        let text = self.document.text(&line);
        let topic = label::split(text).and_then(|(name, rest)| Some((label::topic(name)?, rest)));
        if let Some((topic, rest)) = topic.filter(|(topic, _)| of_task(*topic)) {
            self.open(topic, line.start + rest..line.end);
        } else if label::is_marked(text) && !matches!(self.topic, Some(Topic::Files(_))) {
            self.topic = None;
        } else if let (Some(Topic::Files(_)), false) = (self.topic, text.trim().is_empty()) {
            self.take_entry(line, 0);
        }
    }

    fn open(&mut self, topic: Topic, rest: Range<usize>) {
        self.topic = Some(topic);
        self.action = None;
        let text = self.document.text(&rest).trim();
        match topic {
            Topic::Files(_) => {
                self.found.declared = true;
                if !text.is_empty() && !is_none(text) {
                    self.take_entry(rest, 0);
                }
            }
            _ if !text.is_empty() => self.interface(topic, rest),
            _ => {}
        }
    }

    fn take_item(&mut self, words: Range<usize>, depth: u8) {
        let text = self.document.text(&words);
        let labelled =
            label::split(text).and_then(|(name, rest)| Some((label::topic(name)?, rest)));
        match (self.topic, labelled.filter(|(topic, _)| of_task(*topic))) {
            (_, Some((topic, rest))) => self.open(topic, words.start + rest..words.end),
            (Some(Topic::Files(_)), None) => self.take_entry(words, depth),
            (Some(topic), None) => self.interface(topic, words),
            (None, None) => {}
        }
    }

    fn interface(&mut self, topic: Topic, words: Range<usize>) {
        let text = self.document.text(&words).trim().to_owned();
        if text.is_empty() || is_none(&text) {
            return;
        }
        if topic == Topic::Consumes {
            self.found.interfaces.consumes.push(text);
            self.found.consumed.push(words);
        } else if topic == Topic::Produces {
            self.found.interfaces.produces.push(text);
        }
    }

    fn take_entry(&mut self, words: Range<usize>, depth: u8) {
        let text = self.document.text(&words);
        let default = match self.topic {
            Some(Topic::Files(default)) => default,
            _ => None,
        };
        if let Some(paths) = renamed(self.document, &words) {
            return self.take_rename(paths);
        }
        let mut tokens = entry_tokens(self.document, &words);
        if self.entry.is_some() {
            tokens.retain(|(_, token)| token.contains('/') || token::is_file(token));
            if tokens.is_empty() {
                return;
            }
        }
        self.entry = self.entry.or((!tokens.is_empty() && depth > 0).then_some(depth));
        // A remark such as `(new)` holds for the path before it, so of several it is not the entry's.
        let remark = trailing_action(text).filter(|_| tokens.len() < 2);
        // Under `Files to modify`, `(add the host)` says what is modified; `(delete)` and `(new file)` name another action.
        let remark = remark.filter(|_| default.is_none() || says_new(text) || ends_in_word(text));
        let own = leading_action(text).or(remark);
        let action =
            own.or(self.action.map(|(_, action)| action)).or(default).unwrap_or(Action::Change);
        if tokens.is_empty() {
            let heads = text.trim_end_matches('*').ends_with([':', '：']);
            if let Some(own) = own.filter(|_| heads) {
                self.action = Some((depth, own));
            } else if !is_none(text) && action != Action::Test {
                self.found.unread.push(words);
            }
            return;
        }
        let is_conditional = has_condition(text);
        for (number, (at, token)) in tokens.iter().copied().enumerate() {
            let next = tokens.get(number + 1).map_or(words.end, |(next, _)| *next);
            let remark = self.document.text(&(at + token.len()..next));
            let action = match (tokens.len(), leading_action(text)) {
                (2.., None) => trailing_action(remark).unwrap_or(action),
                (_, Some(_)) if says_new(remark) => Action::Create,
                _ => action,
            };
            let Some((paths, lines)) = token::read(token).or_else(|| token::read_spaced(token))
            else {
                self.found.unread.push(at..at + token.len());
                continue;
            };
            for path in paths {
                let named = Named { at, path: &path, action, lines };
                if is_conditional {
                    self.conditional.add_hint(self.document, named);
                } else if path.ends_with('/') && action != Action::Create {
                    self.found.unread.push(at..at + token.len());
                } else {
                    self.collected.add(self.document, named, self.warnings);
                }
            }
        }
    }
}

impl Reader<'_, '_> {
    /// The file is deleted at its old path and created at its new one. Directories are not followed file by file.
    fn take_rename(&mut self, [old, new]: [(usize, &str); 2]) {
        for ((at, token), action) in [(old, Action::Delete), (new, Action::Create)] {
            let paths = token::read(token).or_else(|| token::read_spaced(token));
            match paths.as_ref().map(|(paths, _)| &paths[..]) {
                Some([path]) if !path.ends_with('/') => {
                    let named = Named { at, path, action, lines: None };
                    self.collected.add(self.document, named, self.warnings);
                }
                _ => self.found.unread.push(at..at + token.len()),
            }
        }
    }
}

/// Files in the order they were named, each once per action.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) files: Vec<FileRef>,
    seen: HashSet<(RepoPath, Action)>,
}

impl Collected {
    /// Adds a file. A path that is none of the repository's is left out, with a warning.
    pub(super) fn add(
        &mut self,
        document: &Document<'_>,
        named: Named<'_>,
        warnings: &mut Vec<Fault>,
    ) {
        let place = document.lines.place(named.at);
        let Named { path, action, lines, .. } = named;
        match RepoPath::parse(path) {
            Ok(path) if self.seen.insert((path.clone(), action)) => {
                self.files.push(FileRef { path, action, lines, place });
            }
            Ok(_) => {}
            Err(error) => warnings.push(outside_repository(path, error, place)),
        }
    }

    /// Adds a file that is only mentioned; a path that is none of the repository's is dropped.
    pub(super) fn add_hint(&mut self, document: &Document<'_>, named: Named<'_>) {
        self.add(document, named, &mut Vec::new());
    }

    pub(super) fn into_hints(self) -> Vec<FileHint> {
        self.files.into_iter().map(FileHint).collect()
    }
}

/// The warning that a list names what is not in the repository.
pub(super) fn outside_repository(path: &str, error: path::Error, place: Place) -> Fault {
    Fault::new(
        Code::BadPath,
        place,
        format!("`{path}` is not a path inside the repository: {error}. The entry is ignored."),
        "Write the path relative to the repository's root, without leaving it.",
    )
}

/// A path as the text names it.
#[derive(Clone, Copy)]
pub(super) struct Named<'t> {
    pub(super) at: usize,
    pub(super) path: &'t str,
    pub(super) action: Action,
    pub(super) lines: Option<(u32, u32)>,
}

/// Labels that a task's text may carry.
fn of_task(topic: Topic) -> bool {
    matches!(topic, Topic::Files(_) | Topic::Interfaces | Topic::Consumes | Topic::Produces)
}

const NONE: [&str; 10] =
    ["none", "n/a", "nothing", "keine", "ninguno", "aucun", "无", "なし", "없음", "нет"];

fn is_none(text: &str) -> bool {
    let word = text.trim_start_matches(['*', '_', '(', '-', ' ']).to_lowercase();
    let says_no = word.strip_prefix("no ").is_some_and(|rest| {
        ["file", "files", "change", "changes"]
            .iter()
            .any(|what| rest.split(|c: char| !c.is_alphabetic()).take(3).any(|word| word == *what))
    });
    says_no || NONE.iter().any(|none| word.starts_with(none))
}

/// The verb of an entry: `Create: ...`, `**Modify** ...`, `... (new)`.
fn entry_action(text: &str) -> Option<Action> {
    leading_action(text).or_else(|| trailing_action(text))
}

fn leading_action(text: &str) -> Option<Action> {
    let plain = text.trim_start_matches(['*', '_', ' ']);
    let first: String = plain.chars().take_while(|c| c.is_alphabetic()).collect();
    label::action(&first)
}

/// What a remark behind a path says: `(new)`, `— modify it`.
fn trailing_action(text: &str) -> Option<Action> {
    let (_, tail) = text
        .rsplit_once('(')
        .or_else(|| text.rsplit_once('—'))
        .or_else(|| text.rsplit_once(" - "))?;
    let word: String = tail.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    label::action(&word)
}

/// Whether a remark in brackets at the end is one word.
fn ends_in_word(text: &str) -> bool {
    text.rsplit_once('(').is_some_and(|(_, remark)| remark.split_whitespace().count() == 1)
}

/// Whether a remark behind a path is nothing but `(new)`, which holds whatever the entry's verb is.
fn says_new(remark: &str) -> bool {
    let inner = remark.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let word = inner.map_or("", |(inner, _)| inner.trim());
    ["new", "new file", "neu"].iter().any(|new| word.eq_ignore_ascii_case(new))
}

/// Whether an entry says that its file may not be there, or need no change.
fn has_condition(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "(if ",
        "(only if ",
        "(when ",
        "(optional",
        "(maybe",
        "(possibly",
        "(as needed",
        "if it exists",
        "if exists",
        "if present",
        "if needed",
        "if necessary",
        "if any",
    ]
    .iter()
    .any(|condition| lower.contains(condition))
}

/// A gap without what it says in brackets first: ` (the parser), `.
fn without_remark(gap: &str) -> String {
    let remark = gap.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
    remark.map_or_else(|| gap.to_owned(), |(_, rest)| rest.to_owned())
}

pub(super) fn is_separator(gap: &str) -> bool {
    gap.split_whitespace().all(|word| {
        let word = word.trim_matches(|c: char| ",、，+&/;".contains(c));
        matches!(word, "" | "and" | "or" | "und" | "y" | "et" | "e" | "和" | "と")
    })
}

/// Words with their offsets, without the punctuation around them.
pub(super) fn split_words(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let edge = |c: char| ",;()[]*_\"'、，。".contains(c);
    text.split(|c: char| c.is_whitespace() || "、，".contains(c)).filter_map(move |word| {
        let right = word.trim_end_matches(|c: char| edge(c) || c == '.' || c == ':');
        // The underscores of `__init__.py` are its own; those of `_a.py_` are not.
        let is_emphasis = word.trim_end_matches([',', ';', ')', '.', ':']).ends_with('_');
        let word = right.trim_start_matches(|c: char| edge(c) && (c != '_' || is_emphasis));
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        (!word.is_empty()).then_some((start + at, word))
    })
}
