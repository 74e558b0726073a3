//! From bytes to a plan.

use std::collections::HashSet;

use super::lines::Lines;
use super::markdown::Document;
use super::unit::Drafts;
use super::work_section::{self, SectionKind};
use super::{
    Format, Options, Parsed, Plan, bmad, cursor, detect, gsd, kiro, list, native, openspec, order,
    single, speckit, superpowers, taskmaster, track,
};
use crate::fault::{Code, Fault, Place};

const SHAPES: &str = "Expected one of: `### Task 1: ...` headings (superpowers), ids such as `A.1.2` in headings or boxes \
    (track), `- [ ] T001 ...` (spec-kit), `## 1. ...` with `- [ ] 1.1 ...` (OpenSpec), `- [ ] 1. ...` (Kiro), a `tasks.json` \
    (Task Master), `<task>` elements (GSD), front matter with `todos` (Cursor), a story with `Tasks / Subtasks` (BMAD), front \
    matter `sequester: 1` with `## [id] Title` headings (native), or a plain list: numbered headings such as `### Step 1: ...`, \
    `### Fix 1: ...` or `## 1. ...`, checkboxes, or the text's only numbered list.";

const WAYS_OUT: &str = "`--format single` makes the whole text one task; `sequester draft - < PLAN` turns it into a native plan to edit.";

const START: Place = Place { line: 1, column: 1 };

/// Reads a plan: all faults at once, in the order of their places. Never fails: what cannot be read is a fault.
pub fn parse(source: &[u8], options: &Options) -> Parsed {
    let empty = || Plan::new(options.format.unwrap_or(Format::Native));
    let text = match decode(source, options) {
        Ok(text) => text,
        Err(fault) => {
            return Parsed { plan: empty(), faults: vec![fault], warnings: Vec::new() };
        }
    };
    let Parsed { mut plan, mut faults, mut warnings } = match read(text, options) {
        Some(drafts) => order::arrange(drafts, options.parallel),
        None => Parsed { plan: empty(), faults: Vec::new(), warnings: Vec::new() },
    };
    if plan.tasks.is_empty() && faults.is_empty() {
        let message = match options.format {
            Some(format) => format!("No task of the format `{}` was found.", format.as_str()),
            None => format!("No task was found. {}", Look::at(text).sentence()),
        };
        faults.push(Fault::new(Code::NoTasks, START, message, format!("{WAYS_OUT} {SHAPES}")));
    }
    for list in [&mut faults, &mut warnings] {
        list.sort_by(|one, two| {
            (one.place, one.code, &one.message).cmp(&(two.place, two.code, &two.message))
        });
    }
    if plan.format == Format::Gsd {
        gsd::name_files(text, faults.iter_mut().chain(&mut warnings));
    }
    plan.aside.sort_by_key(|aside| aside.place);
    Parsed { plan, faults, warnings }
}

fn read(text: &str, options: &Options) -> Option<Drafts> {
    let json = options.format.is_none() && detect::is_json(text, &options.file_name);
    if json || options.format == Some(Format::TaskMaster) {
        return Some(taskmaster::read(text, options.tag.as_deref()));
    }
    if options.format.is_none() && !gsd::joined_parts(text).is_empty() {
        return Some(gsd::read(text));
    }
    let document = Document::read(text);
    let found = || detect::detect(&document, &options.file_name);
    let drafts = match options.format.or_else(found)? {
        Format::Superpowers => superpowers::read(&document),
        Format::Track => track::read(&document),
        Format::SpecKit => speckit::read(&document),
        Format::OpenSpec => {
            let mut drafts = openspec::read(&document);
            let is_named = options.format.is_some() || options.file_name == "tasks.md";
            let doubt = openspec::doubt(&document, &drafts).filter(|_| !is_named);
            drafts.warnings.extend(doubt);
            drafts
        }
        Format::Kiro => kiro::read(&document),
        Format::TaskMaster => taskmaster::read(text, options.tag.as_deref()),
        Format::Native => native::read(&document),
        Format::Gsd => gsd::read(text),
        Format::Cursor => cursor::read(&document),
        Format::Bmad => bmad::read(&document),
        Format::List => {
            let mut drafts = list::read(&document);
            let doubt = list::doubt(&document, &drafts).filter(|_| options.format.is_none());
            drafts.warnings.extend(doubt);
            drafts
        }
        Format::Single => single::read(&document),
    };
    Some(drafts)
}

/// What a text without tasks looks like.
struct Look {
    headings: usize,
    numbered_lists: usize,
    bullets: usize,
    /// Checkboxes under criteria for acceptance.
    criteria: usize,
}

impl Look {
    fn at(text: &str) -> Self {
        let document = Document::read(text);
        let mut look = Self { headings: 0, numbered_lists: 0, bullets: 0, criteria: 0 };
        let mut lists: HashSet<usize> = HashSet::new();
        let kinds = work_section::kinds(&document);
        for (block, kind) in document.blocks.iter().zip(&kinds) {
            look.headings += usize::from(block.level().is_some());
            let Some(item) = block.item().filter(|_| block.within.is_none()) else { continue };
            if item.mark.is_some() && *kind == SectionKind::Criteria {
                look.criteria += 1;
            } else if document.text(&block.range).starts_with(|c: char| c.is_ascii_digit()) {
                lists.insert(item.list);
            } else {
                look.bullets += 1;
            }
        }
        look.numbered_lists = lists.len();
        look
    }

    fn sentence(&self) -> String {
        let count = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let criteria = match self.criteria {
            0 => String::new(),
            boxes => format!(" Checkboxes under acceptance criteria are not tasks: {boxes}."),
        };
        format!(
            "The text has {}, {} and {}, and none of them is marked as a task.{criteria}",
            count(self.headings, "heading"),
            count(self.numbered_lists, "numbered list"),
            count(self.bullets, "bullet")
        )
    }
}

/// The text of a plan, without its byte order mark.
fn decode<'a>(source: &'a [u8], options: &Options) -> Result<&'a str, Fault> {
    let name = if options.file_name.is_empty() { "The plan" } else { options.file_name.as_str() };
    if source.len() as u64 > options.limit {
        // How many more there are is not known here: what is past the limit need not be handed in.
        let limit = options.limit;
        return Err(Fault::new(
            Code::PlanTooLarge,
            START,
            format!("{name} has more than {limit} bytes, which is the limit."),
            "Split the plan, or raise `limits.plan` where it is set: in `sequester.toml` or in your own configuration.",
        ));
    }
    let body = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    if body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff") {
        return Err(not_text(name, START, "is UTF-16"));
    }
    let text = std::str::from_utf8(body).map_err(|error| {
        let valid = std::str::from_utf8(&body[..error.valid_up_to()]).unwrap_or_default();
        not_text(name, Lines::new(valid).place(valid.len()), "is not UTF-8 here")
    })?;
    if let Some(at) = text.find('\0') {
        return Err(not_text(name, Lines::new(text).place(at), "is binary: it holds a NUL byte"));
    }
    if text.trim().is_empty() {
        return Err(Fault::new(Code::EmptyPlan, START, format!("{name} is empty."), SHAPES));
    }
    Ok(text)
}

fn not_text(name: &str, place: Place, what: &str) -> Fault {
    Fault::new(Code::NotText, place, format!("{name} {what}."), "Save the plan as UTF-8 text.")
}
