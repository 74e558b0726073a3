//! What a file is for, told by its path alone.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Source,
    Test,
    Document,
    /// Configuration, data and what has no known ending.
    Other,
    /// Written by programs or brought in from elsewhere: lock files, vendored code, change logs, translations.
    Foreign,
}

const TEST_FOLDERS: [&str; 15] = [
    "__tests__",
    "benches",
    "benchmarks",
    "e2e",
    "fixtures",
    "playground",
    "spec",
    "specs",
    "test",
    "testdata",
    "testing",
    "tests",
    "unittest",
    "unittests",
    "__mocks__",
];
const FOREIGN_FOLDERS: [&str; 7] =
    ["deps", "dist", "locale", "locales", "node_modules", "third_party", "vendor"];
const FOREIGN_ENDINGS: [&str; 7] = ["lock", "map", "mo", "po", "snap", "sum", "svg"];
const FOREIGN_NAMES: [&str; 3] = ["history.md", "package-lock.json", "pnpm-lock.yaml"];
const DOCUMENT_FOLDERS: [&str; 6] =
    ["changelog", "doc", "docs", "documentation", "examples", "website"];
const DOCUMENT_ENDINGS: [&str; 8] = ["1", "3", "adoc", "d", "html", "md", "rst", "txt"];
const SOURCE_ENDINGS: [&str; 47] = [
    "c", "cc", "cjs", "clj", "cpp", "cs", "cts", "cxx", "dart", "erl", "ex", "exs", "go", "h",
    "hpp", "hs", "java", "js", "jsx", "kt", "l", "lua", "m", "m4", "mjs", "ml", "mm", "mts", "php",
    "pl", "pm", "proto", "py", "pyx", "rb", "rs", "scala", "sh", "sql", "svelte", "swift", "tcl",
    "ts", "tsx", "vue", "y", "zig",
];

impl Kind {
    pub(crate) fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let under = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if under(&TEST_FOLDERS) || is_test_name(name) {
            Self::Test
        } else if under(&FOREIGN_FOLDERS)
            || FOREIGN_ENDINGS.contains(&ending)
            || FOREIGN_NAMES.contains(&name)
            || name.contains(".min.")
            || name.ends_with(".pb.go")
            || ["changelog", "changes", "release"].iter().any(|start| name.starts_with(start))
        {
            Self::Foreign
        } else if under(&DOCUMENT_FOLDERS) || DOCUMENT_ENDINGS.contains(&ending) {
            Self::Document
        } else if SOURCE_ENDINGS.contains(&ending) {
            Self::Source
        } else {
            Self::Other
        }
    }

    /// What a match in such a file counts.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Source => 1.0,
            Self::Test | Self::Other => 0.5,
            Self::Document | Self::Foreign => 0.3,
        }
    }
}

fn is_test_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    ["_test.", ".test.", ".spec.", "_spec."].iter().any(|mark| name.contains(mark))
        || stem.starts_with("test_")
        || stem.ends_with("_tests")
        || ["conftest", "test", "tests"].contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_what_a_file_is_for() {
        for (path, kind) in [
            ("lib/url.c", Kind::Source),
            ("src/tests/a.rs", Kind::Test),
            ("pkg/head_test.go", Kind::Test),
            ("src/a.spec.ts", Kind::Test),
            ("docs/api.rst", Kind::Document),
            ("README.md", Kind::Document),
            ("Cargo.lock", Kind::Foreign),
            ("CHANGELOG.md", Kind::Foreign),
            ("vendor/x/y.go", Kind::Foreign),
            ("Makefile", Kind::Other),
            ("src/latest.rs", Kind::Source),
            ("src/contest.rs", Kind::Source),
        ] {
            assert_eq!(Kind::of(path), kind, "{path}");
        }
    }
}
