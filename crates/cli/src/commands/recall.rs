//! `sequester recall`: which records a task's text is about.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use sequester_core::fault::{Code, Fault, FileFault, Place};
use sequester_core::recall::{self, Entry, Index, Query, Ranked, Relevance, Seen};
use sequester_core::record::ListedRecord;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::args::{Args, RecallArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{table, terminal};
use crate::wire::records::Shelves;
use crate::wire::runs::Runs;
use crate::wire::trust::Trust;
use crate::wire::{Agents, Settings, config, find_root};

/// The largest list that is read; 100,000 records of some lines each have less.
const MOST_BYTES: u64 = 64 << 20;
const SHAPE: &str = "Each line is one JSON object: `{\"id\": \"a\", \"title\": \"...\", \"summary\": \"...\", \"paths\": [\"src/a.rs\"], \"age\": 1}`.";

pub(crate) fn run(args: &Args, recall: &RecallArgs) -> Outcome {
    let text = super::read_text(&recall.text)?;
    let by = match recall.relevance {
        Some(by) => by,
        None => configured(args)?,
    };
    let rows = match &recall.records {
        Some(file) => read(file)?,
        None => of_run(args, recall)?,
    };
    let ranked = rank(&rows, &text, by);
    let shown: Vec<Shown<'_>> = if let Some(top) = recall.top {
        all(&rows, &ranked, by).take(usize::from(top)).collect()
    } else {
        let chosen = recall::choose(&ranked, rows.len());
        // A person who asks about a run looks for something, as a subagent does that asks.
        let is_asked = recall.records.is_none() && chosen.is_empty();
        let shown = if is_asked { &ranked[..ranked.len().min(recall::TOP)] } else { chosen };
        shown.iter().map(|one| Shown::of(&rows, one)).collect()
    };
    if args.json {
        output::print_json(&shown)?;
    } else {
        output::print(&render(&shown, rows.len(), by))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// By what a run would choose here.
fn configured(args: &Args) -> Result<Relevance, Failure> {
    let (root, configuration, trust) = (find_root(args)?, config::folder(), Trust::look());
    let configuration = configuration.as_deref();
    let agents = Agents::read(&root, configuration, &trust);
    Ok(Settings::load(&root, configuration, &agents, &trust)?.relevance())
}

/// All that the tasks of a run left: a person may see it.
fn of_run(args: &Args, recall: &RecallArgs) -> Result<Vec<Row>, Failure> {
    let (runs, run) = Runs::seek(&find_root(args)?, recall.run.as_deref())?;
    let all = Shelves::of(&runs, &runs.state(&run)?)?.all();
    let mut rows = Vec::with_capacity(all.len());
    let (mut age, mut last) = (0, None);
    for ListedRecord { record, uses, .. } in all.into_iter().rev() {
        if last.replace(record.task.clone()).as_ref() != Some(&record.task) {
            age += 1;
        }
        rows.push(Row {
            id: record.id.to_string(),
            title: record.title.clone(),
            summary: record.text.clone(),
            paths: record.paths.clone(),
            age: Some(age),
            uses,
        });
    }
    rows.reverse();
    Ok(rows)
}

/// A record as a line of the list has it. What else the line says is for others.
#[derive(Deserialize)]
struct Row {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    paths: Vec<String>,
    /// How many tasks back it was left; where it is not said, the last line is 1.
    age: Option<u32>,
    #[serde(default)]
    uses: u32,
}

fn age(rows: &[Row], place: usize) -> u32 {
    let from_the_end = || u32::try_from(rows.len() - place).unwrap_or(u32::MAX);
    rows[place].age.unwrap_or_else(from_the_end)
}

fn rank(rows: &[Row], text: &str, by: Relevance) -> Vec<Ranked> {
    let query = Query { text, paths: &[] };
    let mut index = Index::about(&query);
    let seen: Vec<Seen> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let Row { title, summary, paths, uses, .. } = row;
            let at = index.add(&Entry { title, summary, paths });
            Seen { at, age: age(rows, place), uses: *uses }
        })
        .collect();
    index.rank(&query, &seen, by)
}

fn read(file: &Path) -> Result<Vec<Row>, Failure> {
    let name = terminal::clean(&file.display().to_string()).into_owned();
    let refuse = |message: String, hint: &str| {
        Failure::input(Code::Unreadable, &name, message, hint.to_owned())
    };
    let bytes = read_bytes(file).map_err(|error| {
        let message = format!("The records cannot be read: {error}.");
        refuse(message, "Name a text file you may read.")
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("The records are larger than {} MB.", MOST_BYTES >> 20);
        return Err(refuse(message, "Leave out the oldest, or shorten their summaries."));
    }
    let (rows, faults) = parse(&bytes);
    let of_file = |fault| FileFault { file: name.clone(), fault };
    let faults: Vec<FileFault> = faults.into_iter().map(of_file).collect();
    Failure::of_files(&faults).map_or(Ok(rows), Err)
}

fn read_bytes(file: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(file)?.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The records, and all that is wrong with the lines. Empty lines are none.
fn parse(bytes: &[u8]) -> (Vec<Row>, Vec<Fault>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fault = |column: usize, code, message, hint: &str| {
            let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            Fault::new(code, Place { line: place(at + 1), column: place(column) }, message, hint)
        };
        match serde_json::from_slice::<Row>(line) {
            Err(error) => {
                let message = format!("The line is no record: {}.", plain(&error));
                faults.push(fault(error.column().max(1), Code::BadSyntax, message, SHAPE));
            }
            Ok(row) => {
                if let Some(first) = lines.get(&row.id) {
                    let message = format!("The record `{}` is on line {first} too.", row.id);
                    let hint = "Give each record an id of its own.";
                    faults.push(fault(1, Code::DoubledId, message, hint));
                }
                lines.entry(row.id.clone()).or_insert(at + 1);
                rows.push(row);
            }
        }
    }
    (rows, faults)
}

/// What the parser says without the place, which would be that in the line.
fn plain(error: &serde_json::Error) -> String {
    let told = error.to_string();
    told.split(" at line ").next().unwrap_or_default().to_owned()
}

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    score: f64,
    why: &'a str,
}

impl<'a> Shown<'a> {
    fn of(rows: &'a [Row], ranked: &'a Ranked) -> Self {
        Self { id: &rows[ranked.at].id, score: ranked.score, why: &ranked.why }
    }
}

/// What was found, and after it all others, newest first.
fn all<'a>(
    rows: &'a [Row],
    ranked: &'a [Ranked],
    by: Relevance,
) -> impl Iterator<Item = Shown<'a>> {
    let mut newest: Vec<(u32, Reverse<usize>)> =
        (0..rows.len()).map(|at| (age(rows, at), Reverse(at))).collect();
    newest.sort_unstable();
    let found: BTreeSet<usize> = ranked.iter().map(|one| one.at).collect();
    let others = newest.into_iter().enumerate().filter(move |(_, (_, at))| !found.contains(&at.0));
    let others = others.map(move |(place, (_, Reverse(at)))| Shown {
        id: &rows[at].id,
        score: 0.0,
        why: match by {
            Relevance::Off => "not compared: `relevance` is off",
            Relevance::Seed if place >= recall::LAST => "not among the last ten",
            Relevance::Seed | Relevance::Words => "no word of the text",
        },
    });
    ranked.iter().map(|one| Shown::of(rows, one)).chain(others)
}

fn render(shown: &[Shown<'_>], of: usize, by: Relevance) -> String {
    if shown.is_empty() {
        return match (of, by) {
            (0, _) => "There are no records.\n".to_owned(),
            (_, Relevance::Off) => "`relevance` is off: no record is chosen by its text. `--relevance words` compares them.\n".to_owned(),
            (1, _) => "The only record has too little to do with the text. `--top 1` shows it.\n".to_owned(),
            _ => format!("None of {of} records has enough to do with the text. `--top 10` shows the nearest.\n"),
        };
    }
    let row =
        |one: &Shown<'_>| [format!("{:.3}", one.score), one.id.to_owned(), one.why.to_owned()];
    let rows: Vec<[String; 3]> = shown.iter().map(row).collect();
    let mut out = table::render(["score", "record", "why"], &rows, terminal::width());
    if by == Relevance::Words && !shown.iter().any(|one| recall::is_enough(one.score, of)) {
        out.push_str("No task is given these by itself: that takes a score of 1.\n");
    }
    out
}
