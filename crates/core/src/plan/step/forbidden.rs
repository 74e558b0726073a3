//! What a task or its constraints forbid by name. A step that does it all the same is not carried out.

use crate::plan::markdown::{Document, Kind};
use crate::protected::{self, Grants};

use super::gap::{Gap, short};
use super::sentence::{self, CODE, Sentence};
use super::words::List;
use super::{Action, Step, Told, quote, target};

/// More than any person forbids by name; beyond it nothing is carried out.
const NAMES: usize = 200;
/// What forbids wherever it stands in a sentence: what it is said of stands before it or behind it.
const ANYWHERE: &str = "must not |mustn't |should not |shouldn't |shall not |may not be |must never |should never |not allowed|\
    unchanged|untouched|off limits|off-limits";
/// What forbids at the start of a clause: what it is said of stands behind it.
const LEADING: &str = "do not |don't |dont |never |avoid |no changes to |no edits to |leave ";
/// Where a prohibition ends, and something else begins.
const ENDS: &str = "; | but | instead| except| other than | outside| besides | rather ";
/// What a clause that forbids may follow.
const LINKS: List = List(" and but please so you then also or we ");
/// Programs that change the files they are given.
const WRITERS: List = List(" rm mv cp sed tee touch truncate dd ln chmod patch perl unlink rmdir ");
const RUNNERS: List = List(" bash sh zsh source . python python3 node ");

/// A sentence and the files and commands that it forbids.
struct Prohibition {
    said: String,
    names: Vec<String>,
}

impl Told {
    /// Holds the steps to constraints from outside of the task's text. Those that nothing compares are kept by name.
    #[must_use]
    pub fn under(mut self, constraints: &str) -> Self {
        let mut found = Vec::new();
        let others: Vec<&str> =
            constraints.lines().filter(|line| !self.is_answered(line)).collect();
        for said in sentences(&Document::read(&others.join("\n"))) {
            match read(&said) {
                Some(prohibition) => found.push(prohibition),
                None => self.unchecked.push(said.raw),
            }
        }
        judge(&found, &mut self);
        self
    }

    /// Holds the steps to what a change may hold: the work would be thrown away at its end.
    #[must_use]
    pub fn within(mut self, grants: &Grants) -> Self {
        let refused = |step: &Step| {
            step.action.touched().into_iter().find_map(|path| {
                let why = protected::refuse(path, grants)?;
                let gap = Gap::protected(format!("no change may hold `{path}`: {why}"));
                Some(Step { action: gap.into(), ..step.clone() })
            })
        };
        let blamed: Vec<Step> = self.steps.iter().filter_map(refused).collect();
        self.steps.extend(blamed);
        self
    }

    /// Takes `QUESTION: ANSWER`, with a question as the task asks it.
    fn is_answered(&mut self, line: &str) -> bool {
        let line = line.trim_start_matches(['-', '*', ' ']);
        let mut asked = self.steps.iter_mut().filter_map(|step| match &mut step.action {
            Action::Ask { question, answer, .. } => Some((question, answer)),
            _ => None,
        });
        asked.any(|(question, answer)| {
            let said = line.strip_prefix(question.as_str());
            let said = said
                .filter(|said| said.starts_with([':', ' ']))
                .map(|said| said.trim_start_matches([':', ' ']));
            let found = said.filter(|said| !said.is_empty());
            *answer = found.map(|said| said.trim().to_owned()).or(answer.take());
            found.is_some()
        })
    }
}

/// Holds the steps to what their own text forbids, wherever it stands in it.
pub(super) fn hold(document: &Document<'_>, told: &mut Told) {
    let found: Vec<Prohibition> = sentences(document).iter().filter_map(read).collect();
    judge(&found, told);
}

fn sentences(document: &Document<'_>) -> Vec<Sentence> {
    let told = document.blocks.iter().filter(|block| !matches!(block.kind, Kind::Fence(_)));
    let words = told.map(|block| sentence::split(document.text(&block.words)));
    let quoted = quote::blocks(document.source).into_iter().map(|(_, text)| sentence::split(&text));
    words.chain(quoted).flatten().collect()
}

/// What a sentence forbids, if it names anything.
fn read(sentence: &Sentence) -> Option<Prohibition> {
    let (plain, cased) = (sentence.plain.replace('’', "'"), sentence.cased.replace('’', "'"));
    let (from, at) = ANYWHERE
        .split('|')
        .find_map(|phrase| plain.find(phrase).map(|at| (0, at)))
        .or_else(|| leading(&plain).map(|at| (at, at)))?;
    let end = ENDS.split('|').filter_map(|end| plain[at..].find(end).map(|found| at + found)).min();
    let clause = cased.get(from..end.unwrap_or(plain.len()))?;
    let skipped = plain[..from].matches(CODE).count();
    let codes = sentence.codes.iter().skip(skipped).take(clause.matches(CODE).count()).cloned();
    let words = clause
        .split_whitespace()
        .map(|word| word.trim_matches([',', ':', '(', ')', '"', '\'', '!']).trim_end_matches('.'));
    let paths = words.filter(|word| target::is_plain_path(word)).map(str::to_owned);
    let mut names: Vec<String> = codes.chain(paths).map(|name| bare(&name)).collect();
    names.retain(|name| !name.is_empty());
    (!names.is_empty()).then(|| Prohibition { said: sentence.raw.clone(), names })
}

/// Where a clause begins that forbids; `do not forget` asks.
fn leading(plain: &str) -> Option<usize> {
    let starts = |at: usize| {
        let before = plain[..at].trim_end();
        let last = before.rsplit(' ').next().unwrap_or_default();
        before.is_empty() || before.ends_with(|c| ",;:—–-(.".contains(c)) || LINKS.has(last)
    };
    let forbids = |(at, phrase): &(usize, &str)| {
        let rest = &plain[at + phrase.len()..];
        let leaves = [" alone", " as is", " as it is"].iter().any(|end| rest.contains(end));
        starts(*at) && !rest.starts_with("forget") && (*phrase != "leave " || leaves)
    };
    LEADING
        .split('|')
        .flat_map(|phrase| plain.match_indices(phrase))
        .find(forbids)
        .map(|(at, _)| at)
}

fn bare(name: &str) -> String {
    name.trim().trim_start_matches("./").trim_end_matches('/').to_owned()
}

fn judge(found: &[Prohibition], told: &mut Told) {
    if found.iter().map(|one| one.names.len()).sum::<usize>() > NAMES {
        let gap = Gap::new("too much is forbidden by name to be held word for word");
        return told.steps.push(Step { title: String::new(), line: 1, action: gap.into() });
    }
    let mut blamed = Vec::new();
    for step in &told.steps {
        let broken = found.iter().find_map(|one| {
            one.names.iter().find(|name| does(&step.action, name)).map(|name| (&one.said, name))
        });
        if let Some((said, name)) = broken {
            let gap = Gap::forbidden(format!("`{}` forbids it (`{}`)", short(said), short(name)));
            blamed.push(Step { action: gap.into(), ..step.clone() });
        }
    }
    told.steps.extend(blamed);
}

/// Whether an action changes the file, or runs the command or file, of this name.
fn does(action: &Action, name: &str) -> bool {
    let Action::Run { command, .. } = action else {
        return action.touched().into_iter().any(|path| covers(name, path.as_str()));
    };
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
    let holds = || {
        command.match_indices(name).any(|(at, _)| {
            let behind = command[at + name.len()..].chars().next();
            !joins(command[..at].chars().next_back()) && !joins(behind)
        })
    };
    !target::is_path(name) && holds()
        || command.split(['\n', ';', '|', '&', '(', ')']).any(|part| runs(part, name))
}

/// Whether a command is the file of this name, or is given it to run or to write.
fn runs(command: &str, name: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else { return false };
    let is_name = |word: &str| covers(name, &bare(word.trim_matches(['"', '\'', '>'])));
    let given = WRITERS.has(program) || RUNNERS.has(program) || command.contains('>');
    is_name(program) || given && words.any(is_name)
}

/// Whether a name is that of a path: itself, a folder above it or a file in it, its last part, or a pattern with one star.
fn covers(name: &str, path: &str) -> bool {
    let below =
        |one: &str, two: &str| one.strip_prefix(two).is_some_and(|rest| rest.starts_with('/'));
    if let Some((head, tail)) = name.split_once('*') {
        let fits = |path: &str| path.strip_prefix(head).is_some_and(|rest| rest.ends_with(tail));
        return fits(path) || path.rsplit('/').next().is_some_and(fits);
    }
    path == name || below(path, name) || below(name, path) || path.ends_with(&format!("/{name}"))
}
