//! A repository, a ranker and an outliner that live in memory.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::outliner::{Outliner, Symbol};
use sequester_core::path::RepoPath;
use sequester_core::ranker::{Ranked, Ranker};
use sequester_core::repository::{Each, Entry, EntryKind, Error, ErrorKind, Snapshot, Stamp};

/// A snapshot made of texts.
#[derive(Clone, Debug, Default)]
pub struct MemoryRepository {
    files: BTreeMap<String, Vec<u8>>,
    entries: Vec<Entry>,
}

impl MemoryRepository {
    pub fn new<P: AsRef<str>, C: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, C)>) -> Self {
        let files: BTreeMap<String, Vec<u8>> = files
            .into_iter()
            .map(|(path, content)| (path.as_ref().to_owned(), content.as_ref().to_vec()))
            .collect();
        let entries = files
            .iter()
            .filter_map(|(path, content)| {
                let stamp = Stamp::Content(format!("{:x}", checksum(content)));
                let path = RepoPath::parse(path).ok()?;
                Some(Entry { path, kind: EntryKind::File, stamp })
            })
            .collect();
        Self { files, entries }
    }
}

/// FNV-1a: good enough to tell test files apart.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Snapshot for MemoryRepository {
    fn label(&self) -> &'static str {
        "memory"
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error> {
        let missing = || Error::new(ErrorKind::NotFound, format!("`{path}` is not there."));
        let bytes = self.files.get(path.as_str()).ok_or_else(missing)?;
        if bytes.len() as u64 > limit {
            return Err(Error::new(ErrorKind::TooLarge, format!("`{path}` is too large.")));
        }
        Ok(bytes.clone())
    }

    fn read_many(&self, wanted: &[usize], limit: u64, each: Each<'_>) {
        for &at in wanted {
            let read = self.read(&self.entries[at].path, limit);
            each(at, read.as_deref().map_err(|error| Error::new(error.kind, &error.message)));
        }
    }
}

/// Ranks by the number of distinct words that a file shares with the text.
pub struct WordRanker<'a>(pub &'a dyn Snapshot);

impl Ranker for WordRanker<'_> {
    fn rank(&self, text: &str, top: usize) -> Vec<Ranked> {
        let asked: BTreeSet<&str> = words(text).collect();
        let mut ranked: Vec<Ranked> = self
            .0
            .entries()
            .iter()
            .filter_map(|entry| {
                let bytes = self.0.read(&entry.path, 1 << 20).ok()?;
                let content = String::from_utf8_lossy(&bytes).into_owned();
                let shared = words(&content).collect::<BTreeSet<_>>().intersection(&asked).count();
                (shared > 0).then(|| Ranked {
                    path: entry.path.clone(),
                    score: shared as f64,
                    why: format!("{shared} words"),
                })
            })
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        ranked.truncate(top);
        ranked
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2)
}

/// Takes every line that begins with `fn ` or `def ` as a definition up to the next one.
pub struct LineOutliner;

impl Outliner for LineOutliner {
    fn outline(&self, _path: &RepoPath, text: &str) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = Vec::new();
        let mut offset = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let defined = line.strip_prefix("fn ").or_else(|| line.strip_prefix("def "));
            if let Some(rest) = defined {
                let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
                symbols.push(Symbol {
                    name: name.unwrap_or_default().to_owned(),
                    kind: "function".to_owned(),
                    bytes: offset..offset,
                    lines: (number as u32 + 1, number as u32 + 1),
                    signature: line.trim_end().to_owned(),
                    depth: 0,
                });
            }
            offset += line.len();
            if let Some(last) = symbols.last_mut() {
                last.bytes.end = offset;
                last.lines.1 = number as u32 + 1;
            }
        }
        symbols
    }
}
