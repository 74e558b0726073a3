//! What happens when the file has grown too large. Never touched: what a person wrote or pinned.

use super::mark::Mark;
use super::merge::tail;
use super::{Author, Notes, Part, Section, TEMPLATE};

/// Of a part that is shortened, what stays: about its first lines.
const HEAD: usize = 400;
/// How the line begins that says what is missing.
const SHORTENED: &str = "[Shortened:";
/// Sentences of what was done; more are counted.
const SAID: usize = 20;

impl Notes {
    /// Brings the file within `limit` bytes, the oldest parts first: each is shortened to its beginning, and if that does not help
    /// removed. Says what went.
    pub fn compact(&mut self, limit: usize) -> Vec<String> {
        let mut size = self.render().len();
        let mut said = Vec::new();
        for goes in [false, true] {
            for (section, part) in self.oldest() {
                if size <= limit {
                    return told(said);
                }
                let Section { name, parts, .. } = &mut self.sections[section];
                let part = &mut parts[part];
                let before = part.raw.len();
                let done = if goes { Some(part.remove()) } else { part.shorten() };
                if let Some(done) = done {
                    size -= before - part.raw.len();
                    said.push(format!("`{name}` {done}"));
                }
            }
        }
        size -= self.drop_emptied();
        let mut said = told(said);
        if size > limit {
            let why = format!(
                "The notes have {size} bytes without anything of subagents; they hold {limit}. Shorten them by hand."
            );
            said.insert(0, why);
        }
        said
    }

    /// What may go, by section and part, the oldest first.
    fn oldest(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let sections = self.sections.iter().enumerate();
        for (at, section) in sections.filter(|(_, section)| !section.is_pinned()) {
            for (number, part) in section.parts.iter().enumerate() {
                if let (Some(mark), Author::Task { .. }) = (&part.mark, part.author()) {
                    found.push((mark.number, at, number));
                }
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, section, part)| (section, part)).collect()
    }

    /// Headings that nothing stands under any more, but for those of the template; says how many bytes they had.
    pub(super) fn drop_emptied(&mut self) -> usize {
        let before = self.render().len();
        let is_kept = |name: &str| TEMPLATE.iter().any(|one| one.eq_ignore_ascii_case(name));
        self.sections.retain(|section| {
            let emptied = section.parts.len() > 1
                && section.parts.iter().all(|part| part.raw.trim().is_empty());
            !emptied || section.name.is_empty() || is_kept(&section.name)
        });
        before - self.render().len()
    }
}

impl Part {
    fn shorten(&mut self) -> Option<String> {
        let (mark, body) = (self.mark.as_ref()?, self.words(false));
        let end = body.floor_char_boundary(HEAD.min(body.len()));
        let end = body[..end].rfind('\n').filter(|line| *line > 0).unwrap_or(end);
        let missing = body.len() - end;
        let short = format!(
            "{}\n{SHORTENED} {missing} bytes are left out; `sequester records --kind note` has them.]",
            &body[..end]
        );
        if short.len() >= body.len() || body.contains(SHORTENED) {
            return None;
        }
        let tail = tail(&self.raw).to_owned();
        let mark = Mark::of(mark.number, &mark.run, &mark.task, &short);
        let done = format!("by {} was shortened by {missing} bytes.", mark.author());
        let short = Self::written(mark, &short, &tail);
        if short.raw.len() >= self.raw.len() {
            return None;
        }
        *self = short;
        Some(done)
    }

    pub(super) fn remove(&mut self) -> String {
        let author = self.author();
        self.mark = None;
        self.raw.clear();
        format!("by {author} was removed.")
    }
}

fn told(mut said: Vec<String>) -> Vec<String> {
    let more = said.len().saturating_sub(SAID);
    if more > 0 {
        said.truncate(SAID);
        said.push(format!("The same happened to {more} more."));
    }
    said
}
