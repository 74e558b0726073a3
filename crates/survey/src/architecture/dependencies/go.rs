//! go.mod: the demanded versions are the ones that are built. Indirect ones are left out.

use super::{Dependency, Manifest, Role};
use crate::architecture::scan::Scan;

pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let read = |(path, text): (&str, &str)| {
        let mut inside = false;
        let mut dependencies = Vec::new();
        for line in text.lines().map(str::trim) {
            let demand = match line {
                "require (" => {
                    inside = true;
                    continue;
                }
                ")" => {
                    inside = false;
                    continue;
                }
                line if inside => line,
                line => line.strip_prefix("require ").unwrap_or(""),
            };
            let mut words = demand.split_whitespace();
            if let (Some(name), Some(version)) = (words.next(), words.next())
                && !demand.contains("// indirect")
                && !name.starts_with("//")
            {
                dependencies.push(Dependency::new(name, version, Role::Normal));
            }
        }
        Manifest::new(path, None, dependencies)
    };
    scan.named(&["go.mod"]).into_iter().map(read).collect()
}
