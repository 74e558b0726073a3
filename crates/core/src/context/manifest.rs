//! The manifest: what was admitted to a context, what was withheld, by which rule, with sizes and hashes.

use std::borrow::Cow;
use std::collections::BTreeMap;

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

    /// The files that it shows or names, in order.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for row in self.fragments.iter().filter(|row| row.kind == Kind::File) {
            if !files.contains(&row.source) {
                files.push(row.source.clone());
            }
        }
        files
    }

    /// The document that the first section of the specification comes from.
    pub fn spec_path(&self) -> Option<String> {
        let row = self.fragments.iter().find(|row| row.kind == Kind::Spec)?;
        let path = row.source.split_once(": ").map_or(row.source.as_str(), |(path, _)| path);
        Some(path.to_owned())
    }

    /// Files that stand in it whole and unredacted, with the digests of their contents: whoever reads the
    /// context has read them.
    pub fn whole_files(&self) -> BTreeMap<String, String> {
        let is_whole = |row: &&Row| {
            row.kind == Kind::File && row.form == FormKind::Whole && row.redacted.is_empty()
        };
        let rows = self.fragments.iter().filter(is_whole);
        rows.map(|row| (row.source.clone(), row.source_hash.clone())).collect()
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
