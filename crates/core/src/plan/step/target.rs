//! Which file a word or a fence names.

use crate::path::RepoPath;
use crate::plan::{Action, FileRef, token};

use super::gap::{Gap, short};
use super::omission;

/// Longest file list that short names are looked up in.
const FILES: usize = 200;
/// Extensions of files that no plan lists code for, and that no property of an object is called.
const EXTENSIONS: &str = " png jpg jpeg gif webp ico bmp pdf zip gz tar woff woff2 ttf mp3 mp4 wav wasm snap log tsv bak tmp \
    orig hbs ejs pug sass styl coffee rst adoc erb jl r pl pm m mm hs elm clj fs vb ";

/// What the task's list of files says.
pub(super) struct Files<'a>(&'a [FileRef]);

impl<'a> Files<'a> {
    pub(super) fn new(files: &'a [FileRef]) -> Self {
        Self(&files[..files.len().min(FILES)])
    }

    /// Whether the list says that the file is there already.
    pub(super) fn is_there(&self, path: &RepoPath) -> bool {
        let there = |action| matches!(action, Action::Modify | Action::Read | Action::Delete);
        self.0.iter().any(|file| file.path == *path && there(file.action))
    }

    /// The file that a text names. A short one stands for the one listed file that ends with it.
    pub(super) fn find(&self, text: &str) -> Result<RepoPath, Gap> {
        let path = inside(text)?;
        let tail = format!("/{path}");
        let mut same: Vec<&RepoPath> = self
            .0
            .iter()
            .map(|file| &file.path)
            .filter(|file| file.as_str().ends_with(&tail))
            .collect();
        same.sort();
        same.dedup();
        let listed = self.0.iter().any(|file| file.path == path);
        match same.as_slice() {
            [..] if listed => Ok(path),
            [] => Ok(path),
            [one] => Ok((*one).clone()),
            _ => Err(Gap::path(format!("`{path}` is the name of several files of the task"))),
        }
    }

    /// Whether the list is of other files than one that is named without its folder.
    pub(super) fn lacks(&self, path: &RepoPath) -> bool {
        path.folder().is_empty()
            && !self.0.is_empty()
            && self.0.iter().all(|file| file.path != *path)
    }

    /// The one file of the task, if its list has no other.
    pub(super) fn single(&self) -> Option<RepoPath> {
        let first = &self.0.first()?.path;
        self.0.iter().all(|file| file.path == *first).then(|| first.clone())
    }

    /// The one file of a kind that the list gives, if it fits the language of the code.
    pub(super) fn only(&self, kind: Action, language: &str) -> Option<&RepoPath> {
        let is_test =
            |file: &FileRef| file.action == Action::Test || token::is_test(file.path.as_str());
        let wanted = |file: &&FileRef| match kind {
            Action::Test => is_test(file),
            kind => file.action == kind && !is_test(file),
        };
        let mut found = self.0.iter().filter(wanted);
        let first = found.next()?;
        let single = found.all(|other| other.path == first.path);
        let new = matches!(first.action, Action::Test | Action::Create) && first.lines.is_none();
        (single && new && fits(&first.path, language)).then_some(&first.path)
    }

    /// The file that the fence itself names: in its info string, or alone in a comment on its first line.
    pub(super) fn of_fence(&self, info: &str, content: &str) -> Result<Option<RepoPath>, Gap> {
        let titled = info.split_whitespace().skip(1).map(|word| {
            let word = word.split_once('=').map_or(word, |(_, value)| value);
            word.trim_matches(['"', '\'', '{', '}'])
        });
        let first = content.lines().find(|line| !line.starts_with("#!"));
        let comment = first.and_then(omission::comment).map(|words| {
            let words = words.trim_start_matches("File:").trim_start_matches("file:").trim();
            words.trim_matches('`')
        });
        let colon = info.split_once(':').map(|(_, path)| path);
        let mut found = titled.chain(comment).chain(colon).filter(|word| is_plain_path(word));
        found.next().map(|path| self.find(path)).transpose()
    }
}

/// Whether code in this language can be all of a file of this name.
fn fits(path: &RepoPath, language: &str) -> bool {
    let extension = path.extension().unwrap_or_default().to_lowercase();
    let kinds: &[&[&str]] = &[
        &["rust", "rs"],
        &["python", "py", "python3"],
        &["javascript", "js", "jsx", "mjs", "cjs", "node"],
        &["typescript", "ts", "tsx", "mts", "cts"],
        &["bash", "sh", "shell", "zsh", "bats"],
        &["markdown", "md", "mdx"],
        &["yaml", "yml"],
        &["ruby", "rb"],
        &["kotlin", "kt", "kts"],
        &["csharp", "cs", "c#"],
        &["cpp", "c++", "cc", "hpp", "cxx", "h"],
        &["c", "h"],
        &["golang", "go"],
        &["elixir", "ex", "exs"],
        &["json", "jsonc", "json5"],
    ];
    let language = language.to_lowercase();
    !language.is_empty()
        && (language == extension
            || kinds.iter().any(|kind| {
                kind.contains(&language.as_str()) && kind.contains(&extension.as_str())
            }))
}

/// Whether code can be a path at all: after the word "file" it is one.
pub(super) fn may_be_path(code: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || "{}<>*|\"'$=;,?!@`".contains(c);
    let call = code.contains('(') && !code.contains('/');
    !(code.is_empty()
        || code.contains(odd)
        || code.contains("://")
        || code.starts_with('-')
        || call)
        && bare(code).is_some()
}

/// Whether code is a path by its look: a folder in it, a known extension, a known name.
pub(super) fn is_path(code: &str) -> bool {
    may_be_path(code)
        && bare(code).is_some_and(|path| {
            let extension = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
            let known = extension.is_some_and(|end| EXTENSIONS.contains(&format!(" {end} ")));
            known || token::is_file(path) || path.trim_start_matches('/').contains('/')
        })
}

/// Whether a word without backticks is a path: it must be plain that it is a file.
pub(super) fn is_plain_path(word: &str) -> bool {
    token::is_likely(word) && is_path(word) && bare(word).is_some_and(token::is_file)
}

/// The path that a token spells, freed of the lines it points at. Parentheses are a part of it inside of a folder's name only.
fn bare(token: &str) -> Option<&str> {
    let plain = if token.contains('/') { token.replace(['(', ')'], "_") } else { token.to_owned() };
    let (paths, _) = token::read(&plain)?;
    let [path] = paths.as_slice() else { return None };
    plain.starts_with(path.as_str()).then(|| &token[..path.len()])
}

/// A path inside of the repository.
pub(super) fn inside(text: &str) -> Result<RepoPath, Gap> {
    let path = bare(text).ok_or_else(|| Gap::path(format!("`{}` is not a path", short(text))))?;
    RepoPath::parse(path)
        .map_err(|error| Gap::path(format!("`{}` cannot be used: {error}", short(path))))
}
