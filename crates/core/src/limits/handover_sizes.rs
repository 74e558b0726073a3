//! How much an attempt hands on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Limit;
use crate::record::BACKPACK_TOKENS;
use crate::report::{REPORT_BYTES, SUMMARY_TOKENS};

/// The largest report, summary and backpack of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverSizes {
    pub summary_tokens: usize,
    pub report_bytes: usize,
    pub backpack_tokens: usize,
}

impl HandoverSizes {
    /// For what was taken once: it stays as it is.
    pub(crate) const UNLIMITED: Self =
        Self { summary_tokens: usize::MAX, report_bytes: usize::MAX, backpack_tokens: usize::MAX };

    /// The defaults, with what was set in their place.
    pub fn with(set: &BTreeMap<Limit, u64>) -> Self {
        let size = |limit, default| {
            set.get(&limit).map_or(default, |value| usize::try_from(*value).unwrap_or(usize::MAX))
        };
        Self {
            summary_tokens: size(Limit::Summary, SUMMARY_TOKENS),
            report_bytes: size(Limit::Report, REPORT_BYTES),
            backpack_tokens: size(Limit::Backpack, BACKPACK_TOKENS),
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for HandoverSizes {
    fn default() -> Self {
        Self::with(&BTreeMap::new())
    }
}
