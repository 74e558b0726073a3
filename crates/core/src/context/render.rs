//! Rendering: fragments become bytes, and every byte remembers its fragment.

use std::borrow::Cow;

use super::admit::{Refusal, Rule, View, admit};
use super::file::FormKind;
use super::fragment::{Kind, Part, Provenance};
use super::manifest::{Row, Withheld};
use crate::secret::{self, Hider, SecretSet};
use crate::tokens;

/// One half of a context while it is written.
pub(super) struct Page<'a> {
    pub(super) part: Part,
    pub(super) view: &'a View,
    pub(super) text: String,
    pub(super) rows: Vec<Row>,
    pub(super) withheld: Vec<Withheld>,
    pub(super) tokens: usize,
    /// Of the sources of all that was written.
    pub(super) secrets: SecretSet,
}

/// A text that is ready to be written: redacted, counted, hashed.
#[derive(Clone, Debug)]
pub(super) struct Ready<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) tokens: usize,
    pub(super) form: FormKind,
    pub(super) source_hash: String,
    pub(super) redacted: Vec<&'static str>,
    pub(super) why: String,
    /// Found in the source.
    pub(super) secrets: SecretSet,
}

impl<'a> Ready<'a> {
    /// Redacts and counts a whole text.
    pub(super) fn whole(text: &'a str) -> Self {
        let redacted = secret::redact(text);
        let found = kinds(&redacted.found);
        let mut secrets = SecretSet::default();
        secrets.learn(text, &redacted.found);
        Self {
            tokens: tokens::count(&redacted.text),
            form: FormKind::Whole,
            source_hash: hash(text.as_bytes()),
            redacted: found,
            text: redacted.text,
            why: String::new(),
            secrets,
        }
    }
}

/// The distinct rules of what was found, in order.
pub(super) fn kinds(found: &[secret::Found]) -> Vec<&'static str> {
    let mut kinds: Vec<_> = found.iter().map(|found| found.rule).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// A heading or a path can hold a secret too.
fn source(provenance: &Provenance) -> String {
    secret::redact(&provenance.source()).text.into_owned()
}

pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl<'a> Page<'a> {
    pub(super) fn new(part: Part, view: &'a View) -> Self {
        Self {
            part,
            view,
            text: String::new(),
            rows: Vec::new(),
            withheld: Vec::new(),
            tokens: 0,
            secrets: SecretSet::default(),
        }
    }

    /// Writes a sentence of the product's own.
    pub(super) fn frame(&mut self, text: &'static str) {
        self.write(&Provenance::Frame, &Ready::whole(text));
    }

    /// Writes a text of somebody else's, if the rule admits it.
    pub(super) fn quote(&mut self, provenance: &Provenance, text: &str) {
        self.write(provenance, &Ready::whole(text));
    }

    /// The one door: asks the rule, then appends.
    pub(super) fn write(&mut self, provenance: &Provenance, ready: &Ready<'_>) {
        match admit(provenance, self.view) {
            Ok(rule) => self.append(provenance, rule, ready),
            Err(refusal) => self.withhold(provenance, refusal),
        }
    }

    pub(super) fn withhold(&mut self, provenance: &Provenance, rule: Refusal) {
        self.withheld.push(Withheld { kind: provenance.kind(), source: source(provenance), rule });
    }

    /// Writes if it fits in what is left, else says that it did not; answers with what is left then.
    pub(super) fn put(&mut self, provenance: &Provenance, ready: &Ready<'_>, left: usize) -> usize {
        if ready.tokens > left {
            self.withhold(provenance, Refusal::OverBudget);
            return left;
        }
        self.write(provenance, ready);
        left - ready.tokens
    }

    /// Puts another page's fragments after this one's.
    pub(super) fn join(&mut self, other: Self) {
        let offset = self.text.len();
        self.text.push_str(&other.text);
        self.tokens += other.tokens;
        self.withheld.extend(other.withheld);
        self.secrets.extend(&other.secrets);
        self.rows.extend(other.rows.into_iter().map(|row| Row {
            start: row.start + offset,
            end: row.end + offset,
            ..row
        }));
    }

    fn append(&mut self, provenance: &Provenance, rule: Rule, ready: &Ready<'_>) {
        if ready.text.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(&ready.text);
        self.tokens += ready.tokens;
        self.secrets.extend(&ready.secrets);
        self.rows.push(Row {
            part: self.part,
            start,
            end: self.text.len(),
            kind: provenance.kind(),
            source: source(provenance),
            rule,
            tokens: ready.tokens,
            form: ready.form,
            source_hash: ready.source_hash.clone(),
            redacted: ready.redacted.iter().copied().map(Cow::Borrowed).collect(),
            why: ready.why.clone(),
        });
    }
}

/// One half of a context with its rows, after secrets of other fragments were hidden in it.
pub(super) struct HiddenPart {
    pub(super) text: String,
    pub(super) rows: Vec<Row>,
    pub(super) tokens: usize,
}

impl HiddenPart {
    /// Hides the values in all fragments but the product's own; nothing where none of them holds one.
    pub(super) fn of(text: &str, rows: &[Row], hider: &Hider) -> Option<Self> {
        let mut hidden = Self {
            text: String::with_capacity(text.len()),
            rows: Vec::with_capacity(rows.len()),
            tokens: 0,
        };
        let mut is_changed = false;
        for row in rows {
            let bytes = &text[row.start..row.end];
            let mut row = Row { start: hidden.text.len(), ..row.clone() };
            match hider.hide(bytes).filter(|_| row.kind != Kind::Frame) {
                Some(redacted) => {
                    row.redacted.extend(kinds(&redacted.found).into_iter().map(Cow::Borrowed));
                    row.redacted.sort_unstable();
                    row.redacted.dedup();
                    row.tokens = tokens::count(&redacted.text);
                    hidden.text.push_str(&redacted.text);
                    is_changed = true;
                }
                None => hidden.text.push_str(bytes),
            }
            row.end = hidden.text.len();
            hidden.tokens += row.tokens;
            hidden.rows.push(row);
        }
        is_changed.then_some(hidden)
    }
}
