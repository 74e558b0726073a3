//! Companions: documents beside the plan that say what is to be built, never who builds what.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::bm25::Corpus;
use crate::context::Provenance;
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
    corpus: Corpus,
}

/// One document, cut into sections; its lists of tasks are kept apart and never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    pub path: String,
    /// Where it lies in the repository, if it does.
    pub repo_path: Option<RepoPath>,
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
    pub fn new(list: Vec<Companion>) -> Self {
        let texts = list.iter().flat_map(|one| &one.sections).map(|section| section.text.as_str());
        let corpus = Corpus::new(texts);
        Self { list, corpus }
    }

    /// The sections for one task: requirements it names, then those that share its words, best first.
    pub fn choose(&self, task: &Task) -> Vec<&Section> {
        let sections: Vec<&Section> = self.list.iter().flat_map(|one| &one.sections).collect();
        let named = |section: &Section| {
            section.requirement().is_some_and(|number| {
                task.requirements
                    .iter()
                    .any(|wanted| wanted.split('.').next().is_some_and(|head| head == number))
            })
        };
        let mut chosen: Vec<&Section> =
            sections.iter().copied().filter(|section| named(section)).collect();
        let query = format!("{}\n{}", task.title, task.text);
        for (at, _) in self.corpus.rank(&query) {
            let Some(section) = sections.get(at) else {
                continue;
            };
            // Of a document of requirements only those that the task names may enter.
            if !chosen.contains(section) && !section.path.ends_with("requirements.md") {
                chosen.push(section);
            }
        }
        chosen
    }
}

impl Companion {
    pub fn parse(path: &str, repo_path: Option<RepoPath>, text: &str) -> Self {
        let mut companion =
            Self { path: path.to_owned(), repo_path, sections: Vec::new(), task_lists: Vec::new() };
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
        for (heading, range) in outline.sections {
            let mut kept = String::new();
            let mut from = range.start;
            for list in &outline.task_lists {
                if list.start < range.start || list.end > range.end || list.start < from {
                    continue;
                }
                kept.push_str(&text[from..list.start]);
                companion.task_lists.push(section(&heading, &text[list.clone()]));
                from = list.end;
            }
            kept.push_str(&text[from..range.end]);
            if is_task_heading(&heading) {
                companion.task_lists.push(section(&heading, &kept));
            } else if !kept.trim().is_empty() {
                companion.sections.push(section(&heading, &kept));
            }
        }
        companion
    }
}

/// Where a Markdown document's sections and its lists of checkboxes stand.
struct Outline {
    sections: Vec<(String, Range<usize>)>,
    task_lists: Vec<Range<usize>>,
}

impl Outline {
    fn read(text: &str) -> Self {
        let mut starts: Vec<(String, usize)> = vec![(String::new(), 0)];
        let mut task_lists = Vec::new();
        let mut heading: Option<(String, usize)> = None;
        let mut lists: Vec<(Range<usize>, bool)> = Vec::new();
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H3 => {
                    heading = Some((String::new(), range.start));
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some((title, _)) = &mut heading {
                        title.push_str(&words);
                    }
                }
                Event::End(TagEnd::Heading(_)) => starts.extend(heading.take()),
                Event::Start(Tag::List(_)) => lists.push((range, false)),
                Event::TaskListMarker(_) => {
                    // The outermost list goes as a whole: what stands around a box belongs to it.
                    if let Some(outermost) = lists.first_mut() {
                        outermost.1 = true;
                    }
                }
                Event::End(TagEnd::List(_)) => {
                    if let Some((range, true)) = lists.pop() {
                        task_lists.push(range);
                    }
                }
                _ => {}
            }
        }
        let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
        let ends: Vec<usize> = ends.collect();
        let sections =
            starts.into_iter().zip(ends).map(|((title, start), end)| (title, start..end)).collect();
        Self { sections, task_lists }
    }
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| {
        end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown")
    })
}

/// `Tasks`, `Task list`, `2. Implementation tasks`, ...
fn is_task_heading(heading: &str) -> bool {
    let words: Vec<String> = heading
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(
        words.as_slice(),
        ["tasks"]
            | ["task", "list" | "breakdown" | "order"]
            | ["implementation", "tasks" | "plan" | "steps"]
            | ["development", "tasks"]
    )
}

#[cfg(test)]
mod tests;
