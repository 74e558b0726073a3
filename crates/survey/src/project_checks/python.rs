//! Python, by the settings of its tools.

use super::Sign;
use super::project::{Folder, line_of, place};
use crate::manifest::{at, toml};
use sequester_core::check::Kind;

/// The file that has pytest's settings.
pub(crate) fn pytest_settings<'t>(
    has: impl Fn(&str) -> bool,
    text: impl Fn(&str) -> Option<&'t str>,
) -> Option<&'static str> {
    let project = text("pyproject.toml").and_then(toml);
    if project.is_some_and(|project| at(&project, &["tool", "pytest"]).is_some()) {
        return Some("pyproject.toml");
    }
    let sections = [("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")];
    let named = || {
        let mut sections = sections.into_iter();
        let set = sections.find(|(file, section)| {
            text(file).is_some_and(|text| line_of(text, section).is_some())
        });
        set.map(|(file, _)| file)
    };
    ["pytest.ini", ".pytest.ini"].into_iter().find(|file| has(file)).or_else(named)
}

pub(super) fn signs(folder: &Folder<'_>) -> Vec<Sign> {
    let mut signs = Vec::new();
    let types = [("mypy", MYPY, "mypy"), ("pyright", PYRIGHT, "pyright")];
    let lints = [("ruff", RUFF, "ruff check"), ("flake8", FLAKE8, "flake8")];
    let run = runner(folder);
    for (kind, tools) in [(Kind::Types, types), (Kind::Lint, lints)] {
        let set = tools
            .iter()
            .find_map(|(tool, files, command)| Some((settings(folder, tool, files)?, *command)));
        if let Some((from, command)) = set {
            let all = if command == "mypy" && !says_files(folder) { " ." } else { "" };
            signs.push(Sign::new("python", kind, format!("{run}{command}{all}"), from));
        }
    }
    signs.extend(tests(folder, run));
    signs
}

const MYPY: &[&str] = &["mypy.ini", ".mypy.ini"];
const PYRIGHT: &[&str] = &["pyrightconfig.json"];
const RUFF: &[&str] = &["ruff.toml", ".ruff.toml"];
const FLAKE8: &[&str] = &[".flake8"];

/// Where a tool is set up: a file of its own, a table of `pyproject.toml`, a section of `setup.cfg` or `tox.ini`.
fn settings(folder: &Folder<'_>, tool: &str, files: &[&str]) -> Option<String> {
    if let Some(file) = folder.first(files) {
        return Some(folder.whole(file));
    }
    if let Some(text) = folder.text("pyproject.toml")
        && at(&toml(text)?, &["tool", tool]).is_some()
    {
        let line = line_of(text, &format!("[tool.{tool}"));
        return Some(format!("{} (tool.{tool})", place(&folder.whole("pyproject.toml"), line)));
    }
    ["setup.cfg", "tox.ini"].iter().find_map(|file| {
        let line = line_of(folder.text(file)?, &format!("[{tool}]"))?;
        Some(place(&folder.whole(file), Some(line)))
    })
}

/// Whether mypy's settings say what it looks at.
fn says_files(folder: &Folder<'_>) -> bool {
    let project = folder.text("pyproject.toml").and_then(toml);
    let keys = ["files", "packages", "modules"];
    let set = project.as_ref().and_then(|project| at(project, &["tool", "mypy"]));
    let in_project = set.is_some_and(|set| keys.iter().any(|key| set.get(key).is_some()));
    let says = |text: &str| keys.iter().any(|key| line_of(text, key).is_some());
    in_project || ["mypy.ini", "setup.cfg"].iter().filter_map(|file| folder.text(file)).any(says)
}

/// What runs a tool in the environment that the project locks.
fn runner(folder: &Folder<'_>) -> &'static str {
    let locks = [
        ("uv.lock", "uv run "),
        ("poetry.lock", "poetry run "),
        ("pdm.lock", "pdm run "),
        ("Pipfile.lock", "pipenv run "),
    ];
    locks.into_iter().find(|(lock, _)| folder.has_above(lock)).map_or("", |(_, run)| run)
}

fn tests(folder: &Folder<'_>, run: &str) -> Option<Sign> {
    let pytest =
        if run.is_empty() { "python3 -m pytest".to_owned() } else { format!("{run}pytest") };
    if let Some(from) = wants_pytest(folder) {
        return Some(Sign::new("python", Kind::Tests, pytest, from));
    }
    let is_test = |name: &&str| {
        let python = name.strip_suffix(".py");
        python.is_some_and(|stem| stem.starts_with("test_") || stem == "tests")
    };
    let python = if run.is_empty() { "python3".to_owned() } else { format!("{run}python") };
    for place in ["", "tests", "test"] {
        let names = folder.names_in(place);
        let Some(test) = names.iter().copied().find(is_test) else { continue };
        // Without that file the folder is no package, and must be named.
        let named = !place.is_empty() && !names.contains(&"__init__.py");
        let start = if named { format!(" discover -s {place}") } else { String::new() };
        let from = if place.is_empty() { test.to_owned() } else { format!("{place}/{test}") };
        let command = format!("{python} -m unittest{start}");
        return Some(Sign::new("python", Kind::Tests, command, folder.whole(&from)));
    }
    None
}

/// Its settings, its own files, or that the project needs it.
fn wants_pytest(folder: &Folder<'_>) -> Option<String> {
    if let Some(file) = pytest_settings(|file| folder.has(file), |file| folder.text(file)) {
        let line = folder.text(file).and_then(|text| {
            ["[tool.pytest", "[tool:pytest]", "[pytest]"]
                .iter()
                .find_map(|section| line_of(text, section))
        });
        return Some(place(&folder.whole(file), line));
    }
    if let Some(file) = folder.first(&["conftest.py", "tests/conftest.py", "test/conftest.py"]) {
        return Some(folder.whole(file));
    }
    ["pyproject.toml", "requirements-dev.txt", "requirements.txt", "setup.cfg"].iter().find_map(
        |file| {
            let text = folder.text(file)?;
            let needs = |line: &str| {
                line.trim_start_matches([' ', '\t', '"', '\'', '-']).starts_with("pytest")
            };
            let line = text.lines().position(needs)?;
            Some(place(&folder.whole(file), Some(line + 1)))
        },
    )
}
