//! Which file the words around a fence name.

use crate::path::RepoPath;
use crate::plan::{Action, FileRef, files, token};

use super::code;
use super::sentence::Sentence;

/// Longest file list that short names are looked up in.
const FILES: usize = 200;

/// What the task's list of files says.
pub(super) struct Files<'a>(&'a [FileRef]);

impl<'a> Files<'a> {
    pub(super) fn new(files: &'a [FileRef]) -> Self {
        Self(&files[..files.len().min(FILES)])
    }

    pub(super) fn says(&self, path: &RepoPath, action: Action) -> bool {
        self.0.iter().any(|file| file.path == *path && file.action == action)
    }

    /// Whether the list says that the file is there already.
    pub(super) fn changes(&self, path: &RepoPath) -> bool {
        [Action::Modify, Action::Read, Action::Delete]
            .into_iter()
            .any(|action| self.says(path, action))
    }

    /// A bare name stands for the one listed file that ends with it.
    fn full(&self, path: RepoPath) -> Result<RepoPath, String> {
        if self.0.iter().any(|file| file.path == path) {
            return Ok(path);
        }
        let tail = format!("/{path}");
        let mut paths: Vec<&RepoPath> = self
            .0
            .iter()
            .map(|file| &file.path)
            .filter(|file| file.as_str().ends_with(&tail))
            .collect();
        paths.sort();
        paths.dedup();
        match paths.as_slice() {
            [] => Ok(path),
            [one] => Ok((*one).clone()),
            _ => Err(format!("`{path}` is the name of several files of the task")),
        }
    }

    /// The one file that the list gives for tests, or for anything else that is to be created.
    pub(super) fn only(&self, test: bool) -> Option<&RepoPath> {
        let mut found = self.0.iter().filter(|file| {
            let is_test = file.action == Action::Test || token::is_test(file.path.as_str());
            is_test == test
                && matches!(file.action, Action::Test | Action::Create)
                && file.lines.is_none()
        });
        let first = found.next()?;
        (found.all(|other| other.path == first.path) && !self.changes(&first.path))
            .then_some(&first.path)
    }

    /// The one file that a sentence names: none, or a reason why it cannot be told.
    pub(super) fn named(&self, sentence: &Sentence) -> Result<Option<RepoPath>, String> {
        let mut tokens: Vec<&str> =
            sentence.codes.iter().map(String::as_str).filter(|code| is_path(code)).collect();
        if tokens.is_empty() {
            let words = files::split_words(&sentence.raw, 0).map(|(_, word)| word);
            tokens = words
                .filter(|word| {
                    token::is_likely(word) && !word.contains('`') && token::is_file(word)
                })
                .collect();
        }
        tokens.dedup();
        match tokens.as_slice() {
            [] => Ok(None),
            [one] => self.full(inside(one)?).map(Some),
            _ => Err("it names more than one file".to_owned()),
        }
    }

    /// The file that the fence itself names: in its info string, or alone in a comment on its first line.
    pub(super) fn of_fence(&self, info: &str, content: &str) -> Result<Option<RepoPath>, String> {
        let titled = info.split_whitespace().skip(1).map(|word| {
            let word = word.split_once('=').map_or(word, |(_, value)| value);
            word.trim_matches(['"', '\'', '{', '}'])
        });
        let first = content.lines().find(|line| !line.starts_with("#!"));
        let comment = first.and_then(code::comment).map(|words| {
            let words = words.trim_start_matches("File:").trim_start_matches("file:").trim();
            words.trim_matches('`')
        });
        let colon = info.split_once(':').map(|(_, path)| path);
        let mut found =
            titled.chain(comment).chain(colon).filter(|word| is_path(word) && token::is_file(word));
        found.next().map(|path| inside(path).and_then(|path| self.full(path))).transpose()
    }
}

/// Whether a code span is one path: a file by its name, or something in a folder.
pub(super) fn is_path(code: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || "{}<>*|\"'$=;,?!@`".contains(c);
    if code.is_empty() || code.contains(odd) || code.contains("://") || code.starts_with('-') {
        return false;
    }
    bare(code).is_some_and(|path| {
        let inner = path.trim_start_matches('/');
        token::is_file(path) || inner.contains('/') && !path.contains('(')
    })
}

/// The path that a token spells, freed of the lines it points at. Parentheses are a part of it inside of a folder's name only.
fn bare(token: &str) -> Option<&str> {
    let plain = if token.contains('/') { token.replace(['(', ')'], "_") } else { token.to_owned() };
    let (paths, _) = token::read(&plain)?;
    let [path] = paths.as_slice() else { return None };
    plain.starts_with(path.as_str()).then(|| &token[..path.len()])
}

/// A path inside of the repository.
pub(super) fn inside(text: &str) -> Result<RepoPath, String> {
    let path = bare(text).ok_or_else(|| format!("`{}` is not a path", short(text)))?;
    RepoPath::parse(path).map_err(|error| format!("`{}` cannot be used: {error}", short(path)))
}

/// The start of a text, for a message.
pub(super) fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(60)]
}
