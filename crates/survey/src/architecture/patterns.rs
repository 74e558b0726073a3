//! Key patterns: regularities that can be counted and choices that are declared.

mod layout;
mod stack;

use sequester_core::architecture::Stated;

use super::dependencies::Manifest;
use super::scan::Scan;

pub(super) fn state(scan: &Scan<'_>, manifests: &[Manifest]) -> Vec<Stated> {
    let mut found = layout::workspaces(scan);
    found.extend(stack::state(manifests));
    found.extend(layout::tests(scan));
    found.extend(layout::names(scan));
    found.extend(layout::places(scan));
    found
}
