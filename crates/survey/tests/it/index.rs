use std::fs::{self, File};
use std::sync::atomic::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use sequester_core::cache::{Cache, Forgetful};
use sequester_core::limits::Limits;
use sequester_core::ranker::Ranker;
use sequester_core::repository::{Snapshot, Stamp};
use sequester_survey::{Folder, Index};
use tempfile::TempDir;

use crate::memory::{Kept, Memory, Past, open, ranking};

const KEY: &str = "file-index-2";

fn stat(size: usize, instant: i128) -> Stamp {
    Stamp::Stat { size: size as u64, modified: instant, changed: instant, inode: 1 }
}

#[test]
fn a_second_look_reads_nothing() {
    let cache = Kept::default();
    let memory = Memory::new([("a.rs", "alpha"), ("b.rs", "beta")]);
    open(&memory, &cache);
    assert_eq!(memory.reads.swap(0, Ordering::Relaxed), 2);
    assert_eq!(ranking(&open(&memory, &cache), "beta"), ["b.rs"]);
    assert_eq!(memory.reads.load(Ordering::Relaxed), 0);
}

#[test]
fn only_what_changed_is_read_again() {
    let cache = Kept::default();
    open(&Memory::new([("a.rs", "alpha"), ("b.rs", "beta"), ("d.rs", "delta")]), &cache);
    let now =
        Memory::new([("a.rs", "alpha"), ("b.rs", "epsilon"), ("c.rs", "zeta"), ("d.rs", "delta")]);
    let index = open(&now, &cache);
    assert_eq!(now.reads.load(Ordering::Relaxed), 2);
    for (text, path) in [("alpha", "a.rs"), ("epsilon", "b.rs"), ("omega_thing delta", "d.rs")] {
        assert_eq!(ranking(&index, text), [path], "{text}");
    }
    assert_eq!(ranking(&index, "beta"), [""; 0]);
}

#[test]
fn a_file_as_young_as_the_index_is_compared_by_content() {
    let cache = Kept::default();
    let look = |content: &'static [u8]| {
        Memory::stamped([
            ("old.rs", &b"older"[..], stat(5, 10)),
            ("young.rs", content, stat(5, 20)),
        ])
    };
    let first = look(b"alpha");
    open(&first, &cache);
    let same = look(b"alpha");
    assert_eq!(ranking(&open(&same, &cache), "alpha"), ["young.rs"]);
    assert_eq!(same.reads.load(Ordering::Relaxed), 1, "the old file is not read again");
    // The same size in the same tick: nothing that the file system tells has changed.
    let changed = look(b"gamma");
    assert_eq!(first.entries(), changed.entries());
    assert_eq!(ranking(&open(&changed, &cache), "gamma"), ["young.rs"]);
    assert_eq!(ranking(&open(&changed, &cache), "alpha"), [""; 0]);
}

#[test]
fn a_file_rewritten_in_the_same_tick_with_its_time_restored_is_seen() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("a.rs");
    let cache = Kept::default();
    fs::write(&path, "word000").unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    for round in 1..200 {
        open(&Folder::list(root.path()).unwrap(), &cache);
        let text = format!("word{round:03}");
        fs::write(&path, &text).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let index = open(&Folder::list(root.path()).unwrap(), &cache);
        assert_eq!(ranking(&index, &text), ["a.rs"], "round {round}");
    }
}

#[test]
fn a_file_that_could_not_be_read_is_tried_again() {
    let cache = Kept::default();
    let root = TempDir::new().unwrap();
    for name in ["a.rs", "b.rs"] {
        fs::write(root.path().join(name), "alpha").unwrap();
    }
    let listed = Folder::list(root.path()).unwrap();
    fs::rename(root.path().join("b.rs"), root.path().join("c.rs")).unwrap();
    assert_eq!(ranking(&open(&listed, &cache), "alpha"), ["a.rs"]);
    fs::rename(root.path().join("c.rs"), root.path().join("b.rs")).unwrap();
    assert_eq!(ranking(&open(&listed, &cache), "alpha"), ["a.rs", "b.rs"]);
}

#[test]
fn a_limit_is_part_of_what_an_index_is() {
    let cache = Kept::default();
    let memory = Memory::new([("a.rs", "alpha"), ("b.rs", "alpha beta")]);
    let tight = Limits { file_bytes: 5, ..Limits::default() };
    for (limits, expected) in [(Limits::default(), 2), (tight, 1), (Limits::default(), 2)] {
        let index = Index::open(&memory, None, &cache, &limits);
        assert_eq!(index.rank("alpha", 9).len(), expected);
    }
}

#[test]
fn a_history_is_read_once_per_id() {
    let cache = Kept::default();
    let memory = Memory::new([("a.rs", "alpha"), ("b.rs", "beta")]);
    let mut past = Past::new(&[("uplink", &["b.rs"])]);
    let look = |past: &Past, memory: &Memory| {
        ranking(&Index::open(memory, Some(past), &cache, &Limits::default()), "uplink")
    };
    assert_eq!(look(&past, &memory), ["b.rs"]);
    past.commits.clear();
    assert_eq!(look(&past, &memory), ["b.rs"], "from the cache");
    let fewer = Memory::new([("b.rs", "beta")]);
    assert_eq!(look(&past, &fewer), ["b.rs"], "the files have other numbers now");
    past.id = "another".to_owned();
    assert_eq!(look(&past, &memory), [""; 0]);
}

const WORDS: [&str; 12] = [
    "alpha",
    "beta",
    "def gamma",
    "delta_force",
    "deltaForce",
    "class Epsilon",
    "\n",
    "zeta();",
    "alpha.rs",
    "src/beta.rs",
    "(",
    "gamma",
];
const PATHS: [&str; 8] = [
    "alpha.rs",
    "beta.md",
    "src/beta.rs",
    "src/delta_force.rs",
    "src/gamma/alpha.rs",
    "tests/beta.rs",
    "x",
    "zeta.lock",
];
const QUESTIONS: [&str; 4] =
    ["alpha beta", "delta_force: gamma src/beta.rs", "Epsilon zeta", "alphas in beta.rs"];

type State = Vec<(usize, Vec<usize>)>;

fn repository(state: &State) -> Memory {
    let text =
        |words: &Vec<usize>| words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
    let files: std::collections::BTreeMap<&str, String> =
        state.iter().map(|(path, words)| (PATHS[*path], text(words))).collect();
    Memory::new(files.iter().map(|(path, text)| (*path, text.as_str())))
}

fn states() -> impl Strategy<Value = Vec<State>> {
    vec(vec((0..PATHS.len(), vec(0..WORDS.len(), 0..6)), 0..8), 1..6)
}

fn past() -> Past {
    Past::new(&[
        ("alpha and beta", &["alpha.rs", "src/beta.rs"]),
        ("gamma", &["src/gamma/alpha.rs", "x", "gone"]),
    ])
}

fn answers(memory: &Memory, cache: &dyn Cache) -> String {
    let index = Index::open(memory, Some(&past()), cache, &Limits::default());
    format!("{:?}", QUESTIONS.map(|question| index.rank(question, 20)))
}

proptest! {
    #[test]
    fn answers_never_depend_on_what_the_cache_holds(states in states()) {
        let cache = Kept::default();
        for state in &states {
            let memory = repository(state);
            prop_assert_eq!(answers(&memory, &cache), answers(&memory, &Forgetful));
            // What was merged is, byte for byte, what is built from nothing.
            let cold = Kept::default();
            open(&memory, &cold);
            prop_assert_eq!(cache.get(KEY), cold.get(KEY));
        }
    }

    #[test]
    fn a_damaged_cache_is_no_cache(
        states in states(),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
        cut in any::<bool>(),
    ) {
        let cache = Kept::default();
        for state in &states {
            let memory = repository(state);
            answers(&memory, &cache);
            for bytes in cache.0.lock().unwrap().values_mut() {
                let at = at.index(bytes.len());
                if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
            }
            prop_assert_eq!(answers(&memory, &cache), answers(&memory, &Forgetful));
        }
    }
}
