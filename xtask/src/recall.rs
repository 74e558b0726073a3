//! How often the ranking of records finds what a task builds on, on cases from real histories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use sequester_core::recall::{self, Entry, Index, Query, Ranked, Relevance, Seen};
use serde_json::Value;

/// How many of the latest records a task sees.
const WINDOWS: [usize; 5] = [200, 10, 5, 3, 2];

/// Whether something was found, for one kind of link.
#[derive(Default)]
struct Tally {
    cases: usize,
    hits: usize,
    chosen_hits: usize,
    chosen: usize,
    given_hits: usize,
    given: usize,
}

struct Case {
    kind: String,
    repo: String,
    query: String,
    /// Ids, oldest first.
    candidates: Vec<String>,
    /// 2 for what the task builds on, 1 for what touched the same file.
    gold: BTreeMap<String, u64>,
}

struct Record {
    id: String,
    text: String,
    files: Vec<String>,
}

/// `QUALITY_CASES` names a file of cases, a JSON value a line with `kind`, `repo`, `query`, `candidates` and `gold`;
/// `QUALITY_RECORDS` one of records with `id`, `text` and `files`.
pub(crate) fn run() -> Result<()> {
    let cases: Vec<Case> = read("QUALITY_CASES", Case::parse)?;
    let records: Vec<Record> = read("QUALITY_RECORDS", Record::parse)?;
    let records: BTreeMap<&str, &Record> =
        records.iter().map(|record| (record.id.as_str(), record)).collect();
    for by in [Relevance::Words, Relevance::Seed] {
        for window in WINDOWS {
            println!("\n{}, the last {window} records", by.as_str());
            print(&score(&cases, &records, window, by)?);
        }
    }
    Ok(())
}

fn read<T>(variable: &str, parse: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    let path = path.with_context(|| format!("`{variable}` is not set"))?;
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let line = |line| parse(&serde_json::from_str(line)?).context("a line lacks something");
    text.lines().map(line).collect()
}

impl Case {
    fn parse(value: &Value) -> Option<Self> {
        let grade = |(id, grade): (&String, &Value)| Some((id.clone(), grade.as_u64()?));
        Some(Self {
            kind: text(&value["kind"])?,
            repo: text(&value["repo"])?,
            query: text(&value["query"])?,
            candidates: value["candidates"].as_array()?.iter().filter_map(text).collect(),
            gold: value["gold"].as_object()?.iter().filter_map(grade).collect(),
        })
    }
}

impl Record {
    fn parse(value: &Value) -> Option<Self> {
        let files = value["files"].as_array()?.iter().filter_map(text).collect();
        Some(Self { id: text(&value["id"])?, text: text(&value["text"])?, files })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn score(
    cases: &[Case],
    records: &BTreeMap<&str, &Record>,
    window: usize,
    by: Relevance,
) -> Result<BTreeMap<String, Tally>> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for case in cases {
        let seen = &case.candidates[case.candidates.len().saturating_sub(window)..];
        let gold: BTreeSet<usize> =
            (0..seen.len()).filter(|at| case.gold.get(&seen[*at]) == Some(&2)).collect();
        // Where nothing is related there are only ten, and elsewhere something must be there to be found.
        let null = case.kind == "null";
        if null && window > case.candidates.len() || !null && gold.is_empty() {
            continue;
        }
        let ranked = rank(case, seen, records, by)?;
        let chosen = recall::choose(&ranked, seen.len());
        let given = in_a_chain(chosen, seen.len());
        let hits = |ranked: &[Ranked]| ranked.iter().any(|one| gold.contains(&one.at));
        for name in [case.kind.clone(), format!("{} {}", case.kind, case.repo)] {
            let tally = tallies.entry(name).or_default();
            tally.cases += 1;
            tally.hits += usize::from(hits(&ranked[..ranked.len().min(recall::TOP)]));
            tally.chosen_hits += usize::from(hits(chosen));
            tally.chosen += chosen.len();
            tally.given_hits += usize::from(given.iter().any(|at| gold.contains(at)));
            tally.given += given.len();
        }
    }
    Ok(tallies)
}

/// What a task is given whose only direct need is the task just before: that one too, and the last two where nothing is chosen.
fn in_a_chain(chosen: &[Ranked], count: usize) -> BTreeSet<usize> {
    let mut given: BTreeSet<usize> = chosen.iter().map(|one| one.at).collect();
    let latest = if given.is_empty() { 2 } else { 1 };
    given.extend(count.saturating_sub(latest)..count);
    given
}

/// All of what is seen: what shares nothing comes last, newest first.
fn rank(
    case: &Case,
    ids: &[String],
    records: &BTreeMap<&str, &Record>,
    by: Relevance,
) -> Result<Vec<Ranked>> {
    let mut index = Index::default();
    for id in ids {
        let record = records.get(id.as_str()).with_context(|| format!("no record `{id}`"))?;
        let Record { text: summary, files: paths, .. } = record;
        let title = summary.lines().next().unwrap_or_default();
        index.add(&Entry { title, summary, paths });
    }
    let seen: Vec<Seen> =
        (0..ids.len()).map(|at| Seen { at, age: (ids.len() - at) as u32, uses: 0 }).collect();
    let mut ranked = index.rank(&Query { text: &case.query, paths: &[] }, &seen, by);
    let found: BTreeSet<usize> = ranked.iter().map(|one| one.at).collect();
    let others = (0..ids.len()).rev().filter(|at| !found.contains(at));
    ranked.extend(others.map(|at| Ranked { at, score: 0.0, why: String::new() }));
    Ok(ranked)
}

fn print(tallies: &BTreeMap<String, Tally>) {
    for (name, Tally { cases, hits, chosen_hits, chosen, given_hits, given }) in tallies {
        let share = |count: &usize| *count as f64 / *cases as f64;
        println!(
            "  {name:<22} n={cases:<4} hit@3 {:.3}  chosen {:.2}, with a hit {:.3}  in a chain {:.2}, with a hit {:.3}",
            share(hits),
            share(chosen),
            share(chosen_hits),
            share(given),
            share(given_hits)
        );
    }
}
