//! Ranking the records that one task may see, beside one look at all of their texts for a single word.
//!
//! `cargo bench -p sequester-core --bench recall`

use std::fmt::Write as _;

use divan::{Bencher, black_box};
use sequester_core::recall::{self, Entry, Index, Query, Relevance, Seen};

const COUNTS: [usize; 2] = [1_000, 100_000];
/// As many different words as a large project's records have.
const WORDS: usize = 20_000;
const QUESTION: &str = "reader: keep the socket from blocking when the pool of w40 is empty

The timer of the w7 connection must not fire while `src/w3/w12.rs` holds the lock, and the retry counter has to be
reset after a successful handshake of the w150 upstream, as w2 and w900 expect it of every w5 listener.";

fn main() {
    divan::main();
}

/// A fixed sequence, so that every run ranks the same texts.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Small numbers far more often than great ones, as words are.
    fn word(&mut self) -> usize {
        let bound = self.below(WORDS) + 1;
        let bound = self.below(bound) + 1;
        self.below(bound)
    }
}

struct Records {
    texts: Vec<String>,
    index: Index,
    seen: Vec<Seen>,
}

impl Records {
    /// Sixty words each, three paths, as summaries have.
    fn new(count: usize) -> Self {
        let mut sequence = Sequence(7);
        let (mut texts, mut index) = (Vec::new(), Index::default());
        for at in 0..count {
            let mut text = String::new();
            for _ in 0..60 {
                let _ = write!(text, "w{} ", sequence.word());
            }
            let paths: Vec<String> = (0..3)
                .map(|_| format!("src/w{}/w{}.rs", sequence.word(), sequence.word()))
                .collect();
            let title = format!("Task w{} of {at}: w{}", sequence.word(), sequence.word());
            index.add(&Entry { title: &title, summary: &text, paths: &paths });
            texts.push(text);
        }
        let age = |at: usize| u32::try_from(count - at).unwrap_or(u32::MAX);
        let seen = (0..count).map(|at| Seen { at, age: age(at), uses: 0 }).collect();
        Self { texts, index, seen }
    }
}

#[divan::bench(args = COUNTS, sample_count = 50)]
fn rank_and_choose(bencher: Bencher<'_, '_>, count: usize) {
    let records = Records::new(count);
    let query = Query { text: QUESTION, paths: &[] };
    bencher.bench_local(|| {
        let ranked = records.index.rank(black_box(&query), &records.seen, Relevance::Words);
        recall::choose(&ranked, count).len()
    });
}

#[divan::bench(args = COUNTS, sample_count = 50)]
fn look_for_one_word(bencher: Bencher<'_, '_>, count: usize) {
    let records = Records::new(count);
    bencher.bench_local(|| {
        records.texts.iter().filter(|text| text.contains(black_box("w900 "))).count()
    });
}

#[divan::bench(args = [1_000, 60_000], sample_count = 3)]
fn answer_one_question(bencher: Bencher<'_, '_>, count: usize) {
    let Records { texts, seen, .. } = Records::new(count);
    let query = Query { text: QUESTION, paths: &[] };
    bencher.bench_local(|| {
        let mut index = Index::about(black_box(&query));
        for text in &texts {
            index.add(&Entry { title: "", summary: text, paths: &[] });
        }
        index.rank(&query, &seen, Relevance::Words).len()
    });
}

#[divan::bench(args = [1_000], sample_count = 20)]
fn build_the_index(bencher: Bencher<'_, '_>, count: usize) {
    bencher.bench_local(|| Records::new(black_box(count)).index.len());
}
