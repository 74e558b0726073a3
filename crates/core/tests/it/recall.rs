//! The ranking of records, as those that pass them on see it.

use proptest::prelude::*;
use proptest::sample::SizeRange;
use sequester_core::recall::{Entry, FEW, Index, Query, Ranked, Relevance, Seen, TOP, choose};

#[derive(Clone, Debug)]
struct Record {
    title: String,
    summary: String,
    paths: Vec<String>,
}

impl Record {
    fn entry(&self) -> Entry<'_> {
        Entry { title: &self.title, summary: &self.summary, paths: &self.paths }
    }
}

fn index<'a>(records: impl IntoIterator<Item = &'a Record>) -> Index {
    let mut index = Index::default();
    for record in records {
        index.add(&record.entry());
    }
    index
}

/// Few words, so that texts share some.
fn text(words: impl Into<SizeRange>) -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("cart"),
        Just("login"),
        Just("parse_url"),
        Just("URLs"),
        Just("the"),
        Just("数据库"),
        Just("url:"),
        Just("src/cart.rs"),
        Just("кэш"),
        Just("\0"),
        Just("\n"),
        Just("caching"),
        Just("cache"),
        Just("e"),
    ];
    prop::collection::vec(word, words).prop_map(|words| words.join(" "))
}

fn record() -> impl Strategy<Value = Record> {
    let paths = prop::collection::vec("[a-c]/(cart|url)\\.rs", 0..3);
    (text(0..5), text(0..12), paths).prop_map(|(title, summary, paths)| Record {
        title,
        summary,
        paths,
    })
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(record(), 0..12)
}

fn all(count: usize) -> Vec<Seen> {
    (0..count).map(|at| Seen { at, age: (count - at) as u32, uses: (at % 3) as u32 }).collect()
}

fn by() -> impl Strategy<Value = Relevance> {
    prop::sample::select(Relevance::ALL.to_vec())
}

/// What a ranking says, with records by what they are instead of by number.
fn told(ranked: &[Ranked], of: impl Fn(usize) -> usize) -> Vec<(usize, u64, String)> {
    ranked.iter().map(|one| (of(one.at), one.score.to_bits(), one.why.clone())).collect()
}

proptest! {
    #[test]
    fn no_number_changes_when_a_record_is_added_that_is_not_seen(
        seen in records(), hidden in records(), query in text(0..8), by in by()
    ) {
        let query = Query { text: &query, paths: &[] };
        let alone = index(&seen).rank(&query, &all(seen.len()), by);
        // Before the others, and after them.
        let more = index(hidden.iter().chain(&seen).chain(&hidden));
        let shifted: Vec<Seen> =
            all(seen.len()).into_iter().map(|one| Seen { at: one.at + hidden.len(), ..one }).collect();
        let among = more.rank(&query, &shifted, by);
        prop_assert_eq!(told(&among, |at| at - hidden.len()), told(&alone, |at| at));
    }

    #[test]
    fn an_index_for_one_question_answers_it_as_one_for_all_does(
        records in records(), query in text(0..8), by in by()
    ) {
        let query = Query { text: &query, paths: &[] };
        let mut about = Index::about(&query);
        for record in &records {
            about.add(&record.entry());
        }
        let seen = all(records.len());
        prop_assert_eq!(about.rank(&query, &seen, by), index(&records).rank(&query, &seen, by));
    }

    #[test]
    fn the_order_of_adding_does_not_matter_but_for_ties(
        records in records(), query in text(0..8), by in by()
    ) {
        let query = Query { text: &query, paths: &[] };
        let count = records.len();
        let forth = index(&records).rank(&query, &all(count), by);
        let turned: Vec<Seen> =
            all(count).into_iter().rev().map(|one| Seen { at: count - 1 - one.at, ..one }).collect();
        let back = index(records.iter().rev()).rank(&query, &turned, by);
        // Every age is another, so that nothing ties.
        prop_assert_eq!(told(&back, |at| count - 1 - at), told(&forth, |at| at));
    }

    #[test]
    fn rankings_are_sorted_and_the_best_three_at_most_are_chosen(
        records in records(), query in text(0..8), by in by(), visible in 0_usize..20
    ) {
        let query = Query { text: &query, paths: &[] };
        let index = index(&records);
        let ranked = index.rank(&query, &all(records.len()), by);
        prop_assert_eq!(&ranked, &index.rank(&query, &all(records.len()), by));
        for pair in ranked.windows(2) {
            let newer = pair[0].score > pair[1].score || pair[0].at > pair[1].at;
            prop_assert!(pair[0].score >= pair[1].score && newer, "{:?}", pair);
        }
        prop_assert!(ranked.iter().all(|one| one.score > 0.0 && !one.why.is_empty()));
        let chosen = choose(&ranked, visible);
        prop_assert!(chosen.len() <= TOP.min(ranked.len()));
        prop_assert_eq!(chosen, &ranked[..chosen.len()]);
        let is_filled = chosen.len() == TOP.min(ranked.len());
        prop_assert!(is_filled || visible >= FEW, "any evidence is enough among few");
    }
}

/// Records and tasks of one meaning and no common word.
fn paraphrases() -> Vec<(Record, String)> {
    let lines = include_str!("recall/paraphrases.jsonl").lines();
    let parse = |line: &str| -> (Record, String) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        let paths = value["paths"].as_array().unwrap().iter();
        let paths = paths.map(|path| path.as_str().unwrap().to_owned()).collect();
        (Record { title: text("title"), summary: text("summary"), paths }, text("query"))
    };
    lines.map(parse).collect()
}

#[test]
fn words_do_not_find_what_says_the_same_in_other_words() {
    let cases = paraphrases();
    assert!(cases.len() >= 60);
    let index = index(cases.iter().map(|(record, _)| record));
    let seen: Vec<Seen> = (0..cases.len()).map(|at| Seen { at, age: 1, uses: 0 }).collect();
    let mut loaded = 0;
    for (at, (record, text)) in cases.iter().enumerate() {
        let ranked = index.rank(&Query { text, paths: &[] }, &seen, Relevance::Words);
        let found = ranked.iter().any(|one| one.at == at);
        assert!(!found, "`{}` shares a word with `{text}`", record.title);
        loaded += choose(&ranked, seen.len()).len();
    }
    // Whatever is chosen here is chosen by chance; among so many, a rare word in a task's first line is enough.
    let mean = loaded as f64 / cases.len() as f64;
    assert!(mean <= 0.9, "{mean} records on average have nothing to do with the task");
}
