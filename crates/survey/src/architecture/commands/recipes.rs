//! Targets of makefiles and recipes of justfiles.

use crate::project_checks::recipe::{JUSTFILES, MAKEFILES, Recipe, recipes, targets};
use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::scan::{Scan, folder};

const MOST: usize = 24;
/// Those come first.
const USUAL: [&str; 16] = [
    "all", "build", "test", "tests", "check", "lint", "fmt", "format", "install", "run", "dev",
    "ci", "docs", "bench", "generate", "coverage",
];

pub(super) fn state(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    for (path, text) in scan.named(&MAKEFILES) {
        add("make", path, targets(text), found);
    }
    for (path, text) in scan.named(&JUSTFILES) {
        add("just", path, recipes(text), found);
    }
}

fn add(tool: &str, path: &str, mut names: Vec<Recipe<'_>>, found: &mut Vec<Stated>) {
    let mut seen = std::collections::BTreeSet::new();
    let inside = !folder(path).is_empty();
    names.retain(|one| (!inside || USUAL.contains(&one.name)) && seen.insert(one.name));
    let usual = |name: &str| USUAL.iter().position(|usual| name == *usual).unwrap_or(USUAL.len());
    names.sort_by_key(|one| (usual(one.name), one.about.is_empty()));
    let place = match (folder(path), tool) {
        ("", _) => String::new(),
        (folder, "make") => format!(" -C {}", clean(folder, 80)),
        (folder, _) => format!(" -d {} -f {}", clean(folder, 80), clean(path, 100)),
    };
    let (told, bare): (Vec<_>, Vec<_>) =
        names.into_iter().take(MOST).partition(|one| !one.about.is_empty());
    for Recipe { name, about, .. } in told {
        found.push(Stated::new(
            format!("`{tool}{place} {}`: {}", clean(name, 60), clean(about, 100)),
            path,
        ));
    }
    for some in bare.chunks(8) {
        let names: Vec<String> =
            some.iter().map(|one| format!("`{tool}{place} {}`", clean(one.name, 60))).collect();
        found.push(Stated::new(names.join(", "), path));
    }
}
