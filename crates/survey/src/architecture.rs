//! The architectural context: what the repository itself states, each line with its source.

mod commands;
mod conventions;
mod decisions;
mod dependencies;
mod entries;
mod languages;
mod line;
mod manifest;
mod patterns;
mod scan;
mod tree;

use sequester_core::architecture::ArchitecturalContext;
use sequester_core::limits::Limits;
use sequester_core::repository::Snapshot;

use scan::Scan;

/// Reads the few files that tell about the whole. The same snapshot gives the same answer; what cannot be read or
/// parsed is passed over.
pub fn architecture(snapshot: &dyn Snapshot, limits: &Limits) -> ArchitecturalContext {
    let scan = Scan::of(snapshot, limits);
    let manifests = dependencies::read(&scan);
    ArchitecturalContext {
        project_structure: tree::state(&scan),
        languages: languages::state(&scan),
        entry_points: entries::state(&scan),
        key_patterns: patterns::state(&scan, &manifests),
        relevant_adrs: decisions::state(&scan),
        dependencies: dependencies::state(&manifests),
        conventions: conventions::state(&scan),
        commands: commands::state(&scan),
    }
}
