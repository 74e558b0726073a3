//! Every limit, with its default.

mod handover_sizes;
mod limit;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::SUMMARY_TOKENS;

pub use handover_sizes::HandoverSizes;
pub use limit::{Limit, Unit};

/// Of what one tool call brings, where nobody sets another limit.
pub const OUTPUT_BYTES: usize = 32 << 10;

/// Bytes of memory of all that runs in a jail.
pub const JAIL_MEMORY: u64 = 4 << 30;
/// Processes and threads in a jail.
pub const JAIL_PIDS: u32 = 1024;
/// Bytes that a jail writes.
pub const JAIL_DISK: u64 = 8 << 30;

/// Sizes are tokens of the one tokenizer, unless their name says bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    pub context: usize,
    pub architecture: usize,
    pub file: usize,
    /// All files that ranking brings, together.
    pub ranked: usize,
    /// One file that ranking brings.
    pub ranked_file: usize,
    /// How many files ranking brings; a number of files, not of tokens.
    pub ranked_files: usize,
    pub records: usize,
    pub notes: usize,
    pub companions: usize,
    /// The summary of a report.
    pub summary: usize,
    pub plan_bytes: u64,
    /// A file that is larger is not read for ranking.
    pub file_bytes: u64,
    /// A file that is larger is not shown with contents, though the plan names it.
    pub named_file_bytes: u64,
}

impl Limits {
    /// No setting raises the context above this.
    pub const CONTEXT_CEILING: usize = 100_000;

    /// These limits with what was set; settings that are no size of a context are for others to read.
    #[must_use]
    pub fn with(mut self, set: &BTreeMap<Limit, u64>) -> Self {
        for (limit, value) in set {
            let slot = match limit {
                Limit::Context => &mut self.context,
                Limit::Architecture => &mut self.architecture,
                Limit::File => &mut self.file,
                Limit::Records => &mut self.records,
                Limit::Notes => &mut self.notes,
                Limit::Summary => &mut self.summary,
                Limit::Plan => {
                    self.plan_bytes = *value;
                    continue;
                }
                _ => continue,
            };
            *slot = usize::try_from(*value).unwrap_or(usize::MAX);
        }
        self.context = self.context.min(Self::CONTEXT_CEILING);
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            context: 60_000,
            architecture: 6_000,
            file: 12_000,
            ranked: 20_000,
            ranked_file: 4_000,
            ranked_files: 8,
            records: 2_000,
            notes: 1_000,
            companions: 8_000,
            summary: SUMMARY_TOKENS,
            plan_bytes: 32 << 20,
            file_bytes: 1 << 20,
            named_file_bytes: 8 << 20,
        }
    }
}
