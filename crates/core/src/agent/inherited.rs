//! What an attempt begins with of what others left. It is recorded at its start, so that whoever takes it up has the same.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::record::Packed;
use crate::report::Label;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inherited {
    /// What is in its backpack already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backpack: Vec<Packed>,
    /// Ids of the records that it is shown, at first or by `recall`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub records: BTreeSet<String>,
    /// Ids of the artifacts that earlier phases of its task left.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub artifacts: BTreeSet<String>,
    /// Of their words: what they say is not read out of another report.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub words: BTreeSet<Digest>,
    /// Its step, where others of its task run beside it: ids of its artifacts name the step, so that no two are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Kinds of artifacts that its agent has to leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owes: Vec<Label>,
}
