//! How long things may get. Product lines are all lines of a source file outside of its tests.

use std::path::Path;

use anyhow::Result;

use crate::shell;

const FILE: usize = 500;
const INLINE_TESTS: usize = 80;
const TEST_FILE: usize = 600;
const CRATE: usize = 20_000;
/// Core is still one crate for plans, contexts and runs. It shrinks to [`CRATE`] once plans and texts are crates of their own.
const CORE: usize = 38_000;

/// Data, not code: files that may be longer than [`FILE`].
const TABLES: &[&str] = &[];

pub(crate) fn run() -> Result<()> {
    let root = shell::root();
    let mut faults = Vec::new();
    let (mut files, mut total) = (0, 0);
    for package in shell::packages(&root)? {
        let mut lines = 0;
        for file in shell::files(&package, ".rs")? {
            let path = file.strip_prefix(&root)?;
            let text = std::fs::read_to_string(&file)?;
            let count = Count::of(path, &text);
            faults.extend(count.faults(path));
            lines += count.product;
            files += 1;
        }
        let limit = if package.ends_with("crates/core") { CORE } else { CRATE };
        if lines > limit {
            let name = package.strip_prefix(&root)?.display();
            faults.push(format!("{name}: {lines} product lines, at most {limit}"));
        }
        total += lines;
    }
    shell::none_of("Too long (the limits are in `xtask/src/size.rs`)", &faults)?;
    println!("size: {total} product lines in {files} files, none too long.");
    Ok(())
}

/// The lines of one file.
#[derive(Debug, PartialEq)]
struct Count {
    product: usize,
    inline_tests: usize,
    test_file: usize,
}

impl Count {
    fn of(path: &Path, text: &str) -> Self {
        let all = text.lines().count();
        if is_test(path) {
            return Self { product: 0, inline_tests: 0, test_file: all };
        }
        let product = product_lines(text);
        Self { product, inline_tests: all - product, test_file: 0 }
    }

    fn faults(&self, path: &Path) -> Vec<String> {
        let table = TABLES.iter().any(|table| Path::new(table) == path);
        let limits = [
            (self.product, if table { usize::MAX } else { FILE }, "product lines"),
            (self.inline_tests, INLINE_TESTS, "lines of inline tests"),
            (self.test_file, TEST_FILE, "lines of tests"),
        ];
        let over = limits.into_iter().filter(|(lines, limit, _)| lines > limit);
        over.map(|(lines, limit, what)| {
            format!("{}: {lines} {what}, at most {limit}", path.display())
        })
        .collect()
    }
}

/// `tests.rs`, and whatever lies in a folder of tests or benches.
fn is_test(path: &Path) -> bool {
    path.ends_with("tests.rs") || path.iter().any(|part| part == "tests" || part == "benches")
}

/// Lines before the inline test module, which ends the file: clippy sees to that. A mere declaration is no module.
fn product_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().enumerate().position(|(at, line)| {
        let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        *line == "#[cfg(test)]"
            && item.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    });
    start.unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_tests_are_not_product() {
        let text =
            "//! a\n\nfn a() {}\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn b() {}\n}\n";
        let count = Count { product: 4, inline_tests: 5, test_file: 0 };
        assert_eq!(Count::of(Path::new("crates/a/src/lib.rs"), text), count);
    }

    #[test]
    fn a_declared_test_module_and_test_only_items_are_product() {
        let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nfn only() {}\n";
        assert_eq!(product_lines(text), 4);
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        for path in
            ["a/src/b/tests.rs", "a/tests/it/main.rs", "a/benches/b.rs", "a/src/b/tests/c.rs"]
        {
            let count = Count { product: 0, inline_tests: 0, test_file: 2 };
            assert_eq!(Count::of(Path::new(path), "x\ny\n"), count, "{path}");
        }
    }

    #[test]
    fn each_limit_speaks_for_itself() {
        let count =
            Count { product: FILE + 1, inline_tests: INLINE_TESTS, test_file: TEST_FILE + 1 };
        let faults = count.faults(Path::new("a.rs"));
        assert_eq!(
            faults,
            ["a.rs: 501 product lines, at most 500", "a.rs: 601 lines of tests, at most 600"]
        );
    }
}
