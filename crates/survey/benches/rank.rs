//! File ranking against its floor: listing and reading the same bytes, in the same run, in CPU time.
//!
//! `cargo bench -p sequester-survey --bench rank`; with `RANK_FOLDER` set, that folder is measured and left as it is.
#![allow(clippy::print_stdout, reason = "a benchmark's result is what it prints")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot write its files has no result")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use divan::{Bencher, black_box};
use rustix::time::{ClockId, clock_gettime};
use sequester_core::cache::Cache;
use sequester_core::limits::Limits;
use sequester_core::ranker::Ranker;
use sequester_core::repository::Snapshot;
use sequester_survey::{Folder, Index};
use tempfile::TempDir;

const FILES: usize = 100_000;
const FILES_OF_A_PROJECT: usize = 5_000;
const QUESTION: &str = "reader: keep `open_socket` from blocking when the buffer pool is empty

The timer of the connection pool must not fire while `src/m3/f12.rs` holds the lock, and the retry
counter has to be reset after a successful handshake of the upstream server.";

#[derive(Default)]
struct Kept(Mutex<BTreeMap<String, Vec<u8>>>);

impl Cache for Kept {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(key).cloned()
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        self.0.lock().unwrap().insert(key.to_owned(), bytes.to_vec());
    }
}

/// A fixed sequence, so that every run indexes the same bytes.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Small numbers far more often than great ones, as words are.
    fn skewed(&mut self, limit: usize) -> usize {
        let bound = self.below(limit) + 1;
        let bound = self.below(bound) + 1;
        self.below(bound)
    }
}

fn word(number: usize) -> String {
    const COMMON: [&str; 12] = [
        "buffer", "socket", "reader", "pool", "timer", "retry", "server", "lock", "open", "count",
        "index", "value",
    ];
    const SYLLABLES: [&str; 16] = [
        "ra", "ve", "ti", "lo", "mu", "sen", "dor", "kap", "lin", "fex", "gra", "sto", "ply",
        "qui", "zen", "wor",
    ];
    if let Some(word) = COMMON.get(number) {
        return (*word).to_owned();
    }
    let mut rest = number;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[rest % 16]);
        rest /= 16;
    }
    word
}

fn compound(number: usize) -> String {
    format!("{}_{}", word(number % 1_000), word(number / 1_000 * 7))
}

/// About 5 KB of code-like text a file. As in real code a file repeats its own names: some 200 distinct ones among 700.
fn source(sequence: &mut Sequence) -> String {
    let words: Vec<String> = (0..150).map(|_| word(sequence.skewed(30_000))).collect();
    let names: Vec<String> = (0..50).map(|_| compound(sequence.skewed(400_000))).collect();
    let mut text = String::new();
    for line in 0..60 + sequence.below(80) {
        let [a, b, c, d] = std::array::from_fn(|_| &words[sequence.below(words.len())]);
        let [name, called] = std::array::from_fn(|_| &names[sequence.below(names.len())]);
        let _ = match line % 4 {
            0 => writeln!(text, "pub fn {name}({c}: &str) -> {d} {{"),
            1 => writeln!(text, "    let {a} = {b}.{called}({line});"),
            2 => writeln!(text, "    // the {a} of {b} is {c} until {d}"),
            _ => writeln!(text, "    {a}.{b}({c}, {d});\n}}"),
        };
    }
    text
}

fn tree(files: usize) -> TempDir {
    let root = TempDir::new().unwrap();
    let mut sequence = Sequence(1);
    for number in 0..files {
        let folder = root.path().join(format!("src/m{}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&folder).unwrap();
        }
        fs::write(folder.join(format!("f{}.rs", number % 100)), source(&mut sequence)).unwrap();
    }
    root
}

fn cpu<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let start = now();
    let result = work();
    (now() - start, result)
}

/// Lists the folder and reads every file, as anything that looks at content must.
fn floor(root: &Path) -> u64 {
    let walk = ignore::WalkBuilder::new(root).hidden(false).require_git(false).build();
    let files = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(|entry| fs::read(entry.path()).map_or(0, |content| content.len() as u64)).sum()
}

fn open(root: &Path, cache: &Kept) -> Index {
    let folder = Folder::list(root).unwrap();
    Index::open(&folder, None, cache, &Limits::default())
}

fn report_ratios(root: &Path, cache: &Kept) {
    floor(root);
    let (floor, bytes) = cpu(|| floor(root));
    let (cold, _) = cpu(|| open(root, cache));
    let (listing, folder) = cpu(|| Folder::list(root).unwrap());
    let (warm, index) = cpu(|| Index::open(&folder, None, cache, &Limits::default()));
    let (asked, _) = cpu(|| index.rank(QUESTION, 50));
    let stored: usize = cache.0.lock().unwrap().values().map(Vec::len).sum();
    println!(
        "{} files, {:.0} MB, index {:.0} MB; seconds of CPU",
        folder.entries().len(),
        bytes as f64 / 1e6,
        stored as f64 / 1e6
    );
    println!("floor: list and read      {floor:8.3}");
    println!("cold: list, read, index   {cold:8.3}   {:.1} x floor", cold / floor);
    println!("listing alone             {listing:8.3}");
    println!("warm: the index alone     {warm:8.3}");
    println!(
        "warm: with the listing    {:8.3}   cold is {:.1} x as much",
        listing + warm,
        cold / (listing + warm)
    );
    println!("one question              {asked:8.4}");
}

fn report_change(root: &Path, cache: &Kept) {
    fs::write(root.join("src/m7/f7.rs"), "fn changed() {}\n").unwrap();
    let (changed, _) = cpu(|| open(root, cache));
    println!("one file changed          {changed:8.3}");
}

static PROJECT: LazyLock<(TempDir, Kept)> = LazyLock::new(|| {
    let project = (tree(FILES_OF_A_PROJECT), Kept::default());
    open(project.0.path(), &project.1);
    project
});

#[divan::bench(sample_count = 3)]
fn cold_5000() -> Index {
    open(PROJECT.0.path(), &Kept::default())
}

#[divan::bench]
fn warm_5000() -> Index {
    open(PROJECT.0.path(), &PROJECT.1)
}

#[divan::bench]
fn question_5000(bencher: Bencher<'_, '_>) {
    let index = open(PROJECT.0.path(), &PROJECT.1);
    bencher.bench_local(|| index.rank(black_box(QUESTION), 50));
}

fn main() {
    let cache = Kept::default();
    if let Some(folder) = std::env::var_os("RANK_FOLDER") {
        return report_ratios(Path::new(&folder), &cache);
    }
    let root = tree(FILES);
    report_ratios(root.path(), &cache);
    report_change(root.path(), &cache);
    drop((root, cache));
    divan::main();
}
