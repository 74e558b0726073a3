//! Which format a text is in, by its marks.

use std::ops::Range;

use super::markdown::Document;
use super::work_section::{self, SectionKind};
use super::{Format, bmad, cursor, gsd, kiro, list, mark, native, openspec, table_rows, words};

/// The format that the marks of a Markdown document speak for; none where there are none.
///
/// Marks that nothing else looks like decide first: front matter, then the tasks of GSD where they outnumber others, then `T001`, track ids and `Task N` by their number,
/// unless boxes that are merely numbered outnumber them: one stray mark does not make the format. Numbered boxes are OpenSpec
/// under numbered headings and Kiro otherwise, if they are at least half of all boxes. Boxes without any id are OpenSpec's where
/// most numbered headings have some, and where the file is called `tasks.md`; elsewhere they are a plain list.
pub(super) fn detect(document: &Document<'_>, file_name: &str) -> Option<Format> {
    let front = document.front.as_ref().map(|front| document.text(front));
    if front.is_some_and(native::is_declared) {
        return Some(Format::Native);
    }
    if front.is_some_and(cursor::is_declared) {
        return Some(Format::Cursor);
    }
    if bmad::is_story(document) {
        return Some(Format::Bmad);
    }
    let gsd = gsd::marks(document.source);
    let marks = Marks::count(document, &gsd);
    if gsd.len() > marks.superpowers + marks.track + marks.spec_kit + marks.numbers {
        return Some(Format::Gsd);
    }
    let marks = if gsd.is_empty() { marks } else { Marks::count(document, &[]) };
    // `Task 3 notes` is a task only where nothing else is one.
    let named = [marks.spec_kit, marks.track, marks.superpowers, marks.numbers];
    let loose = if named == [0; 4] { marks.unseparated } else { 0 };
    let strong = [
        (marks.spec_kit, Format::SpecKit),
        (marks.track, Format::Track),
        (marks.superpowers + loose, Format::Superpowers),
    ];
    let best = strong.iter().rev().max_by_key(|(count, _)| *count);
    let best = best.filter(|(count, _)| *count > 0 && *count >= marks.numbers);
    if let Some((_, format)) = best {
        return Some(*format);
    }
    // Lines of requirements alone carry no id to go by.
    if marks.numbers > 0 && marks.kiro > marks.openspec && marks.numbers >= marks.loose {
        Some(Format::Kiro)
    } else if marks.openspec > 0 && marks.numbers >= marks.loose - marks.loose_in_sections {
        Some(Format::OpenSpec)
    } else if bmad::lacks_tasks(document) {
        Some(Format::Bmad)
    } else if marks.is_unnumbered_openspec(document, file_name) {
        Some(Format::OpenSpec)
    } else {
        list::is_list(document).then_some(Format::List)
    }
}

/// Whether a text is JSON rather than Markdown.
pub(super) fn is_json(source: &str, file_name: &str) -> bool {
    let start = source.trim_start();
    let json_name = file_name.to_ascii_lowercase().ends_with(".json");
    let list =
        start.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', ']']));
    json_name || start.starts_with('{') || list
}

#[derive(Default)]
struct Marks {
    superpowers: usize,
    /// `Task 3 notes`, with nothing between number and title.
    unseparated: usize,
    track: usize,
    spec_kit: usize,
    openspec: usize,
    kiro: usize,
    /// Numbered boxes that are not the steps of a task with a stronger mark.
    numbers: usize,
    boxes: usize,
    /// Outermost boxes without any id, but for those of criteria and remarks.
    loose: usize,
    /// Those of them under numbered headings.
    loose_in_sections: usize,
    /// Numbered headings, and those with boxes beneath.
    sections: usize,
    filled_sections: usize,
}

impl Marks {
    /// Whether boxes without ids are the tasks of OpenSpec. In a file of that name they are, unless its tasks stand in tables.
    fn is_unnumbered_openspec(&self, document: &Document<'_>, file_name: &str) -> bool {
        let is_named = file_name == "tasks.md" && table_rows::count(document) <= self.boxes / 2;
        let is_filled = self.filled_sections * 2 > self.sections;
        self.boxes > 0 && (is_named || is_filled) && openspec::has_tasks(document)
    }

    /// Counts the marks outside of the ranges, which are sorted.
    fn count(document: &Document<'_>, without: &[Range<usize>]) -> Self {
        let mut marks = Self::default();
        let mut section: Option<&str> = None;
        let mut is_filled = false;
        // The level of the heading `Task N` that is open.
        let mut task: Option<u8> = None;
        let kinds = work_section::kinds(document);
        for (block, kind) in document.blocks.iter().zip(&kinds) {
            if gsd::range_at(without, block.range.start).is_some() {
                continue;
            }
            let text = document.text(&block.words);
            let heading = block.level().is_some();
            let named = mark::numbered(text);
            if let Some(level) = block.level() {
                section = openspec::section_number(text);
                marks.sections += usize::from(section.is_some());
                is_filled = false;
                task = task.filter(|task| *task < level).or(named.as_ref().map(|_| level));
            }
            let boxed = block.checkbox();
            if !heading && boxed.is_none() {
                marks.kiro += usize::from(block.item().is_some() && kiro::names_requirements(text));
                continue;
            }
            marks.boxes += usize::from(boxed.is_some());
            let fills = boxed.is_some() && section.is_some() && !is_filled;
            marks.filled_sections += usize::from(fills);
            is_filled |= fills;
            match named {
                Some(named) if named.separated => marks.superpowers += 1,
                Some(_) => marks.unseparated += 1,
                None => {}
            }
            let track = mark::leading_id(text, words::is_track).is_some();
            let spec_kit = mark::leading_id(text, words::is_spec_kit).is_some();
            marks.track += usize::from(track);
            marks.spec_kit += usize::from(spec_kit);
            let number = boxed.and_then(|_| mark::box_number(text));
            let step = task.is_some() || block.within.is_some_and(|item| is_strong(document, item));
            marks.numbers += usize::from(number.is_some() && !step);
            let has_id = number.is_some() || track || spec_kit || step;
            let is_work = matches!(kind, SectionKind::Work | SectionKind::Plain);
            let is_outer = boxed.is_some() && block.within.is_none();
            let is_loose = is_outer && is_work && !has_id;
            marks.loose += usize::from(is_loose);
            marks.loose_in_sections += usize::from(is_loose && section.is_some());
            match number.map(|(id, _)| id.split_once('.')) {
                Some(Some((head, _))) if section == Some(head) => marks.openspec += 1,
                Some(_) => marks.kiro += 1,
                None => {}
            }
            marks.kiro += usize::from(boxed.is_some_and(|mark| mark.starred));
        }
        marks
    }
}

/// Whether an item carries an id that nothing else looks like.
fn is_strong(document: &Document<'_>, item: usize) -> bool {
    let text = document.text(&document.blocks[item].words);
    let strong = |word: &str| words::is_track(word) || words::is_spec_kit(word);
    mark::leading_id(text, strong).is_some() || mark::numbered(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Option<Format> {
        detect(&Document::read(source), "")
    }

    #[test]
    fn look_alikes_are_told_apart() {
        for (source, format) in [
            ("### Task 1: a\n- [ ] 1.1 b\n- [ ] 1.2 c\n", Some(Format::Superpowers)),
            ("## 1. a\n- [ ] 1.1 b\n", Some(Format::OpenSpec)),
            ("# Plan\n- [ ] 1. a\n  - [ ] 1.1 b\n    - _Requirements: 1.1_\n", Some(Format::Kiro)),
            ("## Phase 1\n- [ ] 1.1 b\n  - _Requirements: 1_\n", Some(Format::Kiro)),
            ("## 1. a\n- [ ] b\n", Some(Format::OpenSpec)),
            ("## Phase 1\n- [ ] T001 [P] a\n### Task 1: b\n- [ ] T002 c\n", Some(Format::SpecKit)),
            ("### A.1.1 a\n- [ ] A.1.2 b\n- [ ] Step 1\n", Some(Format::Track)),
            ("### Aufgabe 1: a\n", Some(Format::Superpowers)),
            ("### Task 1 a\n- [ ] 1. b\n- [ ] 2. c\n", Some(Format::Superpowers)),
            ("### Task 1: a\n#### Steps\n- [ ] 1. b\n- [ ] 2. c\n", Some(Format::Superpowers)),
            ("- [ ] 1. a\n- [ ] 2. b\n## Task 2 notes\nx\n", Some(Format::Kiro)),
            ("- [ ] 1. a\n- [ ] 2. b\n## Task 2: notes\nx\n", Some(Format::Kiro)),
            ("- [ ] 1. a\n- [ ] 2. b\n- [ ] T001 c\n## A.1.1 d\n", Some(Format::Kiro)),
            ("- [ ] T001 a\n  - [ ] 1. b\n  - [ ] 2. c\n", Some(Format::SpecKit)),
            ("## Task 2 notes\n### A.1.1 a\n### A.1.2 b\n", Some(Format::Track)),
            ("---\nsequester: 1\n---\n### Task 1: a\n", Some(Format::Native)),
            ("---\ntitle: sequester\n---\n### Task 1: a\n", Some(Format::Superpowers)),
            ("- [ ] 1. a\n- [ ] b\n- [ ] c\n", Some(Format::List)),
            ("- [ ] 404 handling\n- [ ] 3 cards\n- [x] (2026-03-08) b\n", Some(Format::List)),
            ("## 1. a\n- [ ] b\n## 2. c\nx\n## 3. d\ny\n", Some(Format::List)),
            ("- [ ] T-001 [P] a\n- [ ] T-M1-001 b\n", Some(Format::SpecKit)),
            ("```\n### Task 1: a\n```\n", None),
            ("# A title\n\nSome words.\n", None),
        ] {
            assert_eq!(found(source), format, "{source}");
        }
    }

    #[test]
    fn json_is_told_by_its_first_sign_or_the_name() {
        assert!(is_json(" {\"tasks\": []}", "x"));
        assert!(is_json("[\n {}]", "x"));
        assert!(is_json("", "tasks.json"));
        assert!(!is_json("[link](a) and more", "plan.md"));
    }
}
