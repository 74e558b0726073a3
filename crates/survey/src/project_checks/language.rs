//! Tools that are certain of their folder: a file of theirs is enough.

use super::Sign;
use super::project::{Folder, line_of, place};
use sequester_core::check::Kind;

use super::toolchain::{Toolchain, toolchains};
use crate::manifest::{at, toml};

/// Files that switch a tool on that is no part of its language's own.
const SETTINGS: [(&[&str], Kind, &str); 6] = [
    (&[".golangci.yml", ".golangci.yaml", ".golangci.toml"], Kind::Lint, "golangci-lint run"),
    (&[".credo.exs"], Kind::Lint, "mix credo"),
    (&[".rubocop.yml"], Kind::Lint, "bundle exec rubocop"),
    (&[".rspec"], Kind::Tests, "bundle exec rspec"),
    (&["phpunit.xml", "phpunit.xml.dist"], Kind::Tests, "vendor/bin/phpunit"),
    (&["phpstan.neon", "phpstan.neon.dist"], Kind::Types, "vendor/bin/phpstan analyse"),
];

pub(super) fn signs(folder: &Folder<'_>) -> Vec<Sign> {
    let set = SETTINGS.iter().filter_map(|(files, kind, command)| {
        let file = folder.first(files)?;
        let wanted = match *command {
            // Composer's script goes before.
            "vendor/bin/phpunit" => {
                folder.text("composer.json").is_none_or(|text| line_of(text, "\"test\"").is_none())
            }
            _ => true,
        };
        wanted.then(|| Sign::new(command, *kind, *command, folder.whole(file)))
    });
    let set: Vec<Sign> = set.collect();
    let mut signs = Vec::new();
    for tool in toolchains(&folder.names_in("")) {
        match tool.manifest.as_str() {
            "Cargo.toml" => signs.extend(cargo(folder, &tool)),
            "CMakeLists.txt" => signs.extend(cmake(folder, &tool)),
            _ => signs.extend(certain(folder, &tool)),
        }
    }
    let linted = set.iter().any(|sign| sign.kind == Kind::Lint);
    signs.retain(|sign| sign.kind != Kind::Lint || !linted);
    signs.extend(set);
    signs
}

fn certain(folder: &Folder<'_>, tool: &Toolchain) -> Vec<Sign> {
    // They test what was built.
    let first = match tool.manifest.as_str() {
        "configure.ac" | "meson.build" => format!("{} && ", tool.build.join(" && ")),
        _ => String::new(),
    };
    let commands =
        [(Kind::Types, &tool.types), (Kind::Lint, &tool.lint), (Kind::Tests, &tool.tests)];
    let known = commands.into_iter().filter_map(|(kind, command)| Some((kind, command.as_ref()?)));
    let from = folder.whole(&tool.manifest);
    known
        .map(|(kind, command)| Sign::new(&tool.manifest, kind, format!("{first}{command}"), &*from))
        .collect()
}

fn cmake(folder: &Folder<'_>, tool: &Toolchain) -> Option<Sign> {
    let text = folder.text(&tool.manifest)?;
    let line = ["enable_testing(", "include(CTest)"].iter().find_map(|call| line_of(text, call))?;
    let command = format!("{} && ctest --test-dir build", tool.build.join(" && "));
    Some(Sign::new(
        &tool.manifest,
        Kind::Tests,
        command,
        place(&folder.whole(&tool.manifest), Some(line)),
    ))
}

fn cargo(folder: &Folder<'_>, tool: &Toolchain) -> Vec<Sign> {
    if !folder.is_root() && folder.project.root().has("Cargo.toml") {
        // A member of the root's workspace.
        return Vec::new();
    }
    let text = folder.text(&tool.manifest).unwrap_or_default();
    let manifest = toml(text).unwrap_or_default();
    // A workspace whose root is a package itself means only that one unless told.
    let both = manifest.get("workspace").is_some() && manifest.get("package").is_some();
    let all = if both { " --workspace" } else { "" };
    let mut signs = certain(folder, tool);
    for sign in &mut signs {
        sign.command.push_str(all);
    }
    let lints = [&["lints", "clippy"][..], &["workspace", "lints", "clippy"]];
    let table = lints.into_iter().find(|keys| at(&manifest, keys).is_some());
    let own = folder.first(&["clippy.toml", ".clippy.toml"]).map(|file| folder.whole(file));
    let set = table.map(|keys| {
        let key = keys.join(".");
        let line = line_of(text, &format!("[{key}]"));
        format!("{} ({key})", place(&folder.whole(&tool.manifest), line))
    });
    if let Some((command, path)) =
        folder.project.ci_runs("cargo clippy").filter(|_| folder.is_root())
    {
        signs.push(Sign::new(&tool.manifest, Kind::Lint, command, path));
    } else if let Some(from) = own.or(set) {
        signs.push(Sign::new(
            &tool.manifest,
            Kind::Lint,
            format!("cargo clippy --all-targets{all}"),
            from,
        ));
    }
    signs
}
