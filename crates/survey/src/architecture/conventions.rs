//! Naming and style: rules that people wrote down, and what linters and formatters are told.

mod prose;
mod settings;

use sequester_core::architecture::Stated;

use super::scan::Scan;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut found = prose::state(scan);
    found.extend(settings::state(scan));
    found
}
