//! Companions: documents beside the plan that say what is to be built, never who builds what.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::bm25::Corpus;
use crate::context::{Provenance, Refusal};
use crate::path::RepoPath;
use crate::plan::{Format, Task};

/// The largest companion that is read.
pub const BYTES: u64 = 1 << 20;

/// Whether a document that lies beside the plan, at this path relative to the plan's folder, belongs to it.
pub fn belongs(format: Format, path: &str) -> bool {
    let inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| !rest.is_empty());
    match format {
        Format::SpecKit => {
            matches!(path, "spec.md" | "plan.md" | "data-model.md") || inside("contracts/")
        }
        Format::Kiro => matches!(path, "requirements.md" | "design.md"),
        Format::OpenSpec => matches!(path, "proposal.md" | "design.md") || inside("specs/"),
        _ => false,
    }
}

/// All companions of a plan, ready to be asked which of their sections a task is about.
#[derive(Clone, Debug, Default)]
pub struct Companions {
    pub list: Vec<Companion>,
    /// Documents that belong to the plan and may not be read, with the reason.
    pub refused: Vec<(Refusal, String)>,
    corpus: Corpus,
}

/// One document, cut into sections; its lists of tasks are kept apart and never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    pub path: String,
    /// Where it lies in the repository, if it does.
    pub repo_path: Option<RepoPath>,
    /// All of it.
    pub text: String,
    pub sections: Vec<Section>,
    pub task_lists: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub path: String,
    pub heading: String,
    pub text: String,
}

impl Section {
    pub fn provenance(&self) -> Provenance {
        Provenance::Companion { path: self.path.clone(), section: self.heading.clone() }
    }

    /// The number in `Requirement 3: ...`, if the section is one.
    fn requirement(&self) -> Option<&str> {
        let rest = self.heading.trim_start_matches(['*', '_']).strip_prefix("Requirement")?;
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    }
}

impl Companions {
    pub fn new(list: Vec<Companion>, refused: Vec<(Refusal, String)>) -> Self {
        let texts = list.iter().flat_map(|one| &one.sections).map(|section| section.text.as_str());
        let corpus = Corpus::new(texts);
        Self { list, refused, corpus }
    }

    /// The sections for one task: requirements it names, then those that share its words, best first; and the others.
    pub fn choose(&self, task: &Task) -> (Vec<&Section>, Vec<&Section>) {
        let sections: Vec<&Section> = self.list.iter().flat_map(|one| &one.sections).collect();
        let named = |section: &Section| {
            section.requirement().is_some_and(|number| {
                let heads = task.requirements.iter().filter_map(|wanted| wanted.split('.').next());
                heads.into_iter().any(|head| head == number)
            })
        };
        let mut chosen: Vec<usize> =
            (0..sections.len()).filter(|&at| named(sections[at])).collect();
        let mut left: BTreeSet<usize> = (0..sections.len()).collect();
        left.retain(|at| !chosen.contains(at));
        for (at, _) in self.corpus.rank(&task.words()) {
            // Of a document of requirements only those that the task names may enter.
            if !sections[at].path.ends_with("requirements.md") && left.remove(&at) {
                chosen.push(at);
            }
        }
        let taken = chosen.into_iter().map(|at| sections[at]).collect();
        (taken, left.into_iter().map(|at| sections[at]).collect())
    }
}

impl Companion {
    pub fn parse(path: &str, repo_path: Option<RepoPath>, text: &str) -> Self {
        let mut companion = Self {
            path: path.to_owned(),
            repo_path,
            text: text.to_owned(),
            sections: Vec::new(),
            task_lists: Vec::new(),
        };
        let section = |heading: &str, text: &str| Section {
            path: path.to_owned(),
            heading: heading.to_owned(),
            text: text.to_owned(),
        };
        if !is_markdown(path) {
            companion.sections.push(section("", text));
            return companion;
        }
        let outline = Outline::read(text);
        let mut lists = outline.task_lists.into_iter().peekable();
        // While inside a section of tasks: the level of its heading.
        let mut tasks: Option<HeadingLevel> = None;
        for Place { heading, level, range } in outline.sections {
            if tasks.is_some_and(|above| level <= above) {
                tasks = None;
            }
            if tasks.is_none() && is_task_heading(&heading) {
                tasks = Some(level);
            }
            let mut kept = String::new();
            let mut from = range.start;
            while let Some(list) = lists.next_if(|list| list.start < range.end) {
                let (start, end) = (list.start.max(from), list.end.clamp(from, range.end));
                kept.push_str(&text[from..start]);
                companion.task_lists.push(section(&heading, &text[start..end]));
                from = end;
            }
            kept.push_str(&text[from..range.end]);
            if tasks.is_some() {
                companion.task_lists.push(section(&heading, &kept));
            } else if !kept.trim().is_empty() {
                companion.sections.push(section(&heading, &kept));
            }
        }
        companion
    }
}

/// Where a Markdown document's sections and its lists of tasks stand.
struct Outline {
    sections: Vec<Place>,
    /// In order, without overlap.
    task_lists: Vec<Range<usize>>,
}

struct Place {
    heading: String,
    level: HeadingLevel,
    range: Range<usize>,
}

impl Outline {
    fn read(text: &str) -> Self {
        let options = Options::ENABLE_TASKLISTS | Options::ENABLE_TABLES;
        let whole = Place { heading: String::new(), level: HeadingLevel::H1, range: 0..text.len() };
        let mut outline = Self { sections: vec![whole], task_lists: Vec::new() };
        let mut heading: Option<Place> = None;
        // The outermost list or table at hand, and whether something in it is a task.
        let mut block: Option<(Range<usize>, bool)> = None;
        let mut depth = 0;
        let mut opening = false;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H3 => {
                    heading = Some(Place { heading: String::new(), level, range });
                }
                Event::End(TagEnd::Heading(_)) => {
                    if let (Some(next), Some(last)) = (heading.take(), outline.sections.last_mut())
                    {
                        last.range.end = next.range.start;
                        let range = next.range.start..text.len();
                        outline.sections.push(Place { range, ..next });
                    }
                }
                Event::Start(Tag::List(_) | Tag::Table(_)) => {
                    depth += 1;
                    block.get_or_insert((range, false));
                }
                Event::End(TagEnd::List(_) | TagEnd::Table) => {
                    depth -= 1;
                    if depth == 0
                        && let Some((range, true)) = block.take()
                    {
                        outline.task_lists.push(range);
                    }
                    block = block.filter(|_| depth > 0);
                }
                Event::Start(Tag::Item | Tag::TableRow | Tag::TableHead) => opening = true,
                Event::TaskListMarker(_) => block = block.map(|(range, _)| (range, true)),
                Event::Text(words) | Event::Code(words) => {
                    if let Some(place) = &mut heading {
                        place.heading.push_str(&words);
                    }
                    if std::mem::take(&mut opening) && begins_with_id(&words) {
                        block = block.map(|(range, _)| (range, true));
                    }
                }
                _ => {}
            }
        }
        outline
    }
}

/// `T001 ...`, `1.2 ...`, `A.1.2 ...`: ids as the plan formats write them.
fn begins_with_id(text: &str) -> bool {
    let word = text.split([' ', ':', ')']).next().unwrap_or_default();
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(digits) = word.strip_prefix('T') {
        return digits.len() > 2 && number(digits);
    }
    let parts: Vec<&str> = word.split('.').collect();
    let letter = parts[0].len() == 1 && parts[0].bytes().all(|byte| byte.is_ascii_uppercase());
    parts.len() > 1 && (letter || number(parts[0])) && parts[1..].iter().all(|part| number(part))
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| {
        end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown")
    })
}

/// `Tasks`, `Task list`, `Task 3: ...`, `2. Implementation tasks (phase 1)`, ...
fn is_task_heading(heading: &str) -> bool {
    let words: Vec<String> = heading
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        .take(2)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tasks", ..]
        | ["implementation", "tasks" | "plan" | "steps"]
        | ["development" | "work", "tasks" | "items" | "breakdown"] => true,
        ["task", next] => {
            matches!(*next, "list" | "breakdown" | "order")
                || next.starts_with(|c: char| c.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
