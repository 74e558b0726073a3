//! One line of a section of dependencies.

use std::collections::BTreeSet;

use super::super::words;
use super::is_id;

/// A phase of the plan, as its heading names it.
#[derive(Debug)]
pub(super) struct Phase {
    title: String,
    number: Option<(u32, u32)>,
    story: Option<u32>,
    pub(super) tasks: Vec<usize>,
}

impl Phase {
    /// A phase of a title; where that names no user story, the label of its first task may.
    pub(super) fn new(title: &str, first: &str) -> Self {
        let found = References::read(title);
        let label = first.split_once("[US").and_then(|(_, rest)| rest.split(']').next());
        let label = label.and_then(|number| number.parse().ok());
        Self {
            title: title.to_lowercase(),
            number: found.phases.first().map(|(first, _)| *first),
            story: found.stories.first().copied().or(label),
            tasks: Vec::new(),
        }
    }
}

/// The phases that a line says to be needed.
#[derive(Debug)]
pub(super) enum Needed {
    These(Vec<usize>),
    /// All that stand before the phase itself.
    Earlier,
}

impl Needed {
    pub(super) fn of(&self, phase: usize, phases: &[Phase]) -> Vec<usize> {
        match self {
            Self::These(phases) => phases.clone(),
            Self::Earlier => (0..phase.min(phases.len())).collect(),
        }
    }
}

#[derive(Debug)]
pub(super) enum Statement {
    /// These phases need those.
    Phases(Vec<usize>, Needed),
    Tasks {
        before: Vec<String>,
        after: Vec<String>,
    },
    /// It states no order.
    Remark,
}

/// Words of order between two lists of tasks, and whether the first list comes first.
const BETWEEN: [(&str, bool); 6] = [
    (" before ", true),
    (" blocks ", true),
    (" block ", true),
    (" depends on ", false),
    (" depend on ", false),
    (" after ", false),
];

/// Words between a phase and those that it needs.
const NEEDS: [&str; 5] =
    ["depends on ", "depend on ", "can start after ", "can begin after ", "starts after "];

/// Whether a subsection advises how to work, and states no order between phases.
pub(super) fn is_advice(title: &str) -> bool {
    let title = title.to_lowercase();
    ["within each", "parallel", "strategy", "example", "notes", "critical path", "mvp"]
        .iter()
        .any(|word| title.contains(word))
}

/// Whether a paragraph states an order, which only items do in the template.
pub(super) fn says_order(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).any(is_id)
        || ["depend", "→", "->", "before", "after"].iter().any(|word| lower.contains(word))
}

impl Statement {
    /// Reads an item; none if it is not wholly understood.
    pub(super) fn read(text: &str, phases: &[Phase]) -> Option<Self> {
        let text: String = text.chars().filter(|c| !matches!(c, '*' | '`')).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.split(|c: char| !c.is_alphanumeric()).any(is_id) {
            return Self::of_tasks(&text);
        }
        let lower = text.to_lowercase();
        let none = lower.find("no dependenc");
        let needs = NEEDS.iter().filter_map(|verb| Some((lower.find(verb)?, verb.len()))).min();
        let starts = |at: usize| needs.is_none_or(|(needs, _)| at < needs);
        if let Some(at) = none.filter(|at| starts(*at)) {
            let rest = &lower[at..];
            let other = rest.trim_start_matches(|c: char| !c.is_whitespace());
            let other = other.trim_start().trim_start_matches(char::is_alphabetic).trim_start();
            if needs.is_some() || says_more(&rest["no dependenc".len()..]) {
                return None;
            }
            // What it does not need is said, and not what it needs.
            if other.starts_with("on ") {
                return Some(Self::Remark);
            }
            let subject = subject(&lower[..at], phases)?;
            return Some(Self::Phases(subject, Needed::These(Vec::new())));
        }
        let (at, length) = needs?;
        let subject = subject(&lower[..at], phases)?;
        let (clause, remark) = split_clause(&lower[at + length..]);
        if says_more(remark) {
            return None;
        }
        Some(Self::Phases(subject, needed(clause, phases)?))
    }

    /// `T004-T007 before T008`: one word of order, and ids on both sides.
    fn of_tasks(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let mut found = BETWEEN.iter().flat_map(|(verb, is_first)| {
            lower.match_indices(verb).map(|(at, verb)| (at, verb.len(), *is_first))
        });
        let (at, length, is_first) = found.next()?;
        if found.next().is_some() || lower.contains(" not ") || lower.contains('→') {
            return None;
        }
        let (one, two) = (ids(&text[..at])?, ids(&text[at + length..])?);
        let (before, after) = if is_first { (one, two) } else { (two, one) };
        Some(Self::Tasks { before, after })
    }
}

/// The ids of a text with those between, such as `T004-T007`; none if there are none.
fn ids(text: &str) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut end = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_id(word)) {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let joined = matches!(text[end..at].trim(), "-" | "–" | "—" | "to" | "through");
        if let Some(last) = found.last().filter(|_| joined).cloned() {
            found.extend(words::between(&last, word));
        }
        found.push(word.to_owned());
        end = at + word.len();
        if found.len() > super::NEEDS {
            return None;
        }
    }
    (!found.is_empty()).then_some(found)
}

/// What is needed, and the remark behind it. `(Phase 2)` is part of the first.
fn split_clause(text: &str) -> (&str, &str) {
    let ends = [" - ", " — ", " – ", ". ", "; ", " but "].iter().filter_map(|end| text.find(end));
    let brackets = text.match_indices('(').map(|(at, _)| at);
    let remark = brackets.filter(|at| !text[*at + 1..].starts_with("phase")).min();
    let end = ends.chain(remark).min().unwrap_or(text.len());
    text.split_at(end)
}

/// Whether a remark states a further need.
fn says_more(remark: &str) -> bool {
    let rest = remark.replace("no dependenc", "").replace("independen", "");
    rest.contains("depend") || rest.contains("start after") || rest.contains("blocked by")
}

fn subject(text: &str, phases: &[Phase]) -> Option<Vec<usize>> {
    let found = References::read(text);
    let named = if found.phases.is_empty() && found.stories.is_empty() {
        found.by_name(phases)
    } else {
        found.by_number(phases)
    };
    named.filter(|named| !named.is_empty())
}

/// The phases that a clause names with nothing but known words.
fn needed(clause: &str, phases: &[Phase]) -> Option<Needed> {
    let found = References::read(clause);
    if !found.unknown.is_empty() {
        return None;
    }
    if found.is_all {
        return Some(Needed::Earlier);
    }
    let mut named = found.by_number(phases)?;
    named.extend(found.by_name(phases)?);
    named.sort_unstable();
    named.dedup();
    (!named.is_empty()).then_some(Needed::These(named))
}

/// What words refer to.
#[derive(Default)]
struct References {
    /// Ranges of numbers of phases.
    phases: Vec<((u32, u32), (u32, u32))>,
    stories: Vec<u32>,
    all_stories: bool,
    is_last: bool,
    /// All phases before, or all others.
    is_all: bool,
    /// Words such as `setup`, which a title has.
    names: BTreeSet<String>,
    unknown: Vec<String>,
}

const NAMES: [&str; 5] = ["setup", "foundational", "foundation", "polish", "infrastructure"];

const FILLERS: [&str; 26] = [
    "completion",
    "complete",
    "completed",
    "completes",
    "being",
    "only",
    "the",
    "of",
    "and",
    "is",
    "are",
    "all",
    "desired",
    "any",
    "finished",
    "done",
    "both",
    "be",
    "must",
    "to",
    "have",
    "been",
    "phase",
    "phases",
    "selected",
    "implemented",
];

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Phases,
    Stories,
}

impl References {
    fn read(text: &str) -> Self {
        let mut found = Self::default();
        let mut counted: Option<Counted> = None;
        let is_end =
            |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '(' | ')' | ':' | '&');
        let lower = text.to_lowercase();
        let mut before = "";
        for word in lower.split(is_end).map(|word| word.trim_end_matches('.')) {
            let numbered = word.parse().ok().filter(|_| counted == Some(Counted::Stories));
            if counted == Some(Counted::Phases) && found.add_phases(word) {
                before = word;
            } else if let Some(number) = numbered.or_else(|| story(word)) {
                found.stories.push(number);
                found.all_stories = false;
            } else {
                counted = match word {
                    "phase" | "phases" => Some(Counted::Phases),
                    "story" | "stories" => Some(Counted::Stories),
                    "" | "+" | "and" | "–" | "-" => counted,
                    _ => None,
                };
                found.add_word(word, before);
            }
            before = if word.is_empty() { before } else { word };
        }
        found
    }

    fn add_word(&mut self, word: &str, before: &str) {
        let is_before = |words: &[&str]| words.contains(&before);
        match word {
            "stories" => self.all_stories = true,
            "phase" if is_before(&["final", "last"]) => self.is_last = true,
            "phases" if is_before(&["all", "prior", "previous", "earlier", "other"]) => {
                self.is_all = true;
            }
            "user" | "story" | "final" | "last" | "prior" | "previous" | "earlier" | "other"
            | "" | "+" | "–" | "-" | "—" => {}
            _ if NAMES.contains(&word) => {
                self.names.insert(word.to_owned());
            }
            _ if FILLERS.contains(&word) => {}
            // A priority, such as `p1`.
            _ if word.strip_prefix('p').is_some_and(|rest| rest.parse::<u8>().is_ok()) => {}
            _ => self.unknown.push(word.to_owned()),
        }
    }

    /// `3`, `3+`, `3-7` or `3.1`.
    fn add_phases(&mut self, word: &str) -> bool {
        let number = |text: &str| {
            let (first, second) = text.split_once('.').unwrap_or((text, "0"));
            Some((first.parse::<u32>().ok()?, second.parse::<u32>().ok()?))
        };
        let open = word.strip_suffix('+').and_then(number).map(|first| (first, (u32::MAX, 0)));
        let pair = || {
            let (first, last) = word.split_once(['-', '–', '—'])?;
            Some((number(first)?, number(last)?))
        };
        let one = || number(word).map(|one| (one, one));
        let range = open.or_else(pair).or_else(one);
        self.phases.extend(range);
        range.is_some()
    }

    /// By numbers of phases and stories, each once; none if one is not there, or if there are too many.
    fn by_number(&self, phases: &[Phase]) -> Option<Vec<usize>> {
        if self.phases.len() + self.stories.len() > super::PHASES {
            return None;
        }
        let mut found = BTreeSet::new();
        let mut take = |wanted: &dyn Fn(&Phase) -> bool| {
            let of = phases.iter().enumerate().filter(|(_, phase)| wanted(phase));
            let of: Vec<usize> = of.map(|(at, _)| at).collect();
            found.extend(&of);
            (!of.is_empty()).then_some(())
        };
        for (first, last) in &self.phases {
            let is_open = last.0 == u32::MAX;
            take(&|phase| {
                let is_in = phase.number.is_some_and(|own| (*first..=*last).contains(&own));
                // `Phase 3+` speaks of the user stories, where there are such.
                is_in && (!is_open || phase.story.is_some() || !self.all_stories)
            })?;
        }
        for story in &self.stories {
            take(&|phase| phase.story == Some(*story))?;
        }
        Some(found.into_iter().collect())
    }

    /// By what titles say; none if no title does.
    fn by_name(&self, phases: &[Phase]) -> Option<Vec<usize>> {
        let mut found: Vec<usize> = Vec::new();
        if self.is_last {
            found.extend(phases.len().checked_sub(1));
        }
        if self.all_stories && self.phases.is_empty() && self.stories.is_empty() {
            let stories = phases.iter().enumerate().filter(|(_, phase)| phase.story.is_some());
            found.extend(stories.map(|(at, _)| at));
        }
        // A number says it better than a name.
        let is_numbered = !self.phases.is_empty() || self.is_last;
        for name in self.names.iter().filter(|_| !is_numbered) {
            let titled = phases.iter().position(|phase| phase.title.contains(name.as_str()));
            found.push(titled?);
        }
        Some(found)
    }
}

/// `us1` or `us-1`.
fn story(word: &str) -> Option<u32> {
    word.strip_prefix("us")?.trim_start_matches('-').parse().ok()
}
