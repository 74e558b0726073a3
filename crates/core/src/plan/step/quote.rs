//! Quotes, tables, HTML and indented code: no step is read from them, but they may ask for something.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::plan::markdown::Document;

use super::gap::{Gap, short};
use super::prose::{self, Bearing};
use super::sentence::{self, Sentence};
use super::{STEPS, Step, Told};

/// Names each such block: passed over if all of it explains, else unclear.
pub(super) fn judge(document: &Document<'_>, told: &mut Told) {
    for (start, words) in blocks(document.source) {
        let line = document.lines.place(start).line;
        if told.steps.len() > STEPS || told.passed.len() > STEPS {
            break;
        }
        let sentences = sentence::split(&words);
        let above = told.steps.iter().any(|step| step.line > line);
        let harmless = |said: &Sentence| match prose::bearing(said) {
            Bearing::None => true,
            Bearing::Points => !above,
            Bearing::Unclear => false,
        };
        match sentences.iter().find(|said| !harmless(said)) {
            Some(said) => {
                let said = short(&said.raw);
                let gap = Gap::new(format!(
                    "`{said}` stands in a quote, a table or an indented block, which is not carried out"
                ));
                told.steps.push(Step { title: String::new(), line, action: gap.into() });
            }
            None => told.passed.extend(sentences.into_iter().map(|said| said.raw)),
        }
    }
}

/// The outermost blocks with where they start, without the marks of quotes and tables. Comments are for nobody.
pub(super) fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut end = 0;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let Event::Start(tag) = event else { continue };
        let unread = match tag {
            Tag::BlockQuote(_) | Tag::Table(_) | Tag::CodeBlock(CodeBlockKind::Indented) => true,
            Tag::HtmlBlock => !is_comment(&text[range.clone()]),
            _ => false,
        };
        if unread && range.start >= end {
            end = range.end;
            let lines =
                text[range.clone()].lines().map(|line| line.trim_start_matches(['>', '|', ' ']));
            found.push((range.start, lines.collect::<Vec<_>>().join("\n")));
        }
    }
    found
}

/// Whether nothing stands outside of comments that end.
fn is_comment(html: &str) -> bool {
    let mut rest = html.trim();
    while let Some(inner) = rest.strip_prefix("<!--") {
        let Some((_, behind)) = inner.split_once("-->").filter(|_| !inner.starts_with('>')) else {
            return false;
        };
        rest = behind.trim_start();
    }
    rest.is_empty()
}
