//! The manifest: what was admitted to a context, what was withheld, by which rule, with sizes and hashes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::admit::{Refusal, Rule};
use super::file::FormKind;
use super::fragment::{Kind, Part};
use crate::record;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// In order; their ranges cover every byte of both parts, without gap or overlap.
    pub fragments: Vec<Row>,
    pub withheld: Vec<Withheld>,
}

impl Manifest {
    /// Ids of the records in it.
    pub fn records(&self) -> impl Iterator<Item = &str> {
        let rows = self.fragments.iter().filter(|row| row.kind == Kind::Record);
        rows.filter_map(|row| Some(record::named(&row.source)?.0))
    }
}

/// One admitted fragment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub part: Part,
    /// Byte offsets into the part.
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    pub source: String,
    pub rule: Rule,
    pub tokens: usize,
    pub form: FormKind,
    /// BLAKE3 of the source as it was before anything was cut, outlined or redacted.
    pub source_hash: String,
    /// The kinds of secrets that were replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<Cow<'static, str>>,
    /// What led here, for ranked files and records. Never shown to the subagent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Something that was considered and left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    pub kind: Kind,
    pub source: String,
    pub rule: Refusal,
}
