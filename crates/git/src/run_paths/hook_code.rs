//! What a hook in another language than a shell's names: the texts in its quotes, and the modules that it imports.

use super::command_words::module_places;

/// What is found in a program's text.
#[derive(Debug, Default)]
pub(super) struct CodeNames {
    /// Texts in quotes that may be commands of a shell.
    pub(super) scripts: Vec<String>,
    /// Paths that count if what is there looks like a program.
    pub(super) files: Vec<String>,
    /// Paths that count if something is there.
    pub(super) modules: Vec<String>,
    /// The same, beside the program alone.
    pub(super) own_modules: Vec<String>,
}

/// Texts in quotes on one line that may be parts of one path.
const MOST_PARTS: usize = 8;

/// Paths that are looked for.
const MOST_PATHS: usize = 2_000;

/// Endings that `require` and `import` leave out.
const ENDS: [&str; 9] = ["", ".js", ".cjs", ".mjs", ".ts", ".rb", ".pm", "/index.js", "/index.cjs"];

pub(super) fn read_code(text: &str) -> CodeNames {
    let mut names = CodeNames::default();
    let (mut folders, mut imported) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let quoted = quoted(line);
        let is_search_path = ["sys.path", "PYTHONPATH", "$LOAD_PATH"];
        if is_search_path.iter().any(|name| line.contains(name)) {
            folders.extend(joined(&quoted).into_iter().chain([".".to_owned()]));
        }
        let is_import = ["require", "import", "load"].iter().any(|word| line.contains(word));
        for path in joined(&quoted) {
            if is_import {
                names.modules.extend(ENDS.iter().map(|end| format!("{path}{end}")));
            }
            names.files.extend(Some(path).filter(|path| path.contains('/')));
        }
        let is_command = |text: &&&str| text.contains(char::is_whitespace);
        names.scripts.extend(quoted.iter().filter(is_command).map(|text| (*text).to_owned()));
        imported.extend(imports(line));
    }
    for folder in &folders {
        let places = imported.iter().flat_map(|module| module_places(module));
        names.modules.extend(places.map(|place| format!("{folder}/{place}")));
    }
    names.own_modules = imported.iter().flat_map(|module| module_places(module)).collect();
    names.modules.truncate(MOST_PATHS);
    names.files.truncate(MOST_PATHS);
    names
}

/// The texts between quotes.
fn quoted(line: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (quote, after) = (&rest[at..=at], &rest[at + 1..]);
        let Some(end) = after.find(quote) else { break };
        if end > 0 {
            found.push(&after[..end]);
        }
        rest = &after[end + 1..];
    }
    found.truncate(MOST_PARTS);
    found
}

/// Each text, and those that follow each other as one path: `join("a", "b.js")`, `root / "a" / "b.py"`.
fn joined(parts: &[&str]) -> Vec<String> {
    let is_path = |part: &&&str| !part.contains(char::is_whitespace);
    let parts: Vec<&str> = parts.iter().filter(is_path).copied().collect();
    let mut paths = Vec::new();
    for from in 0..parts.len() {
        for to in from..parts.len() {
            paths.push(parts[from..=to].join("/").trim_start_matches('/').to_owned());
        }
    }
    paths
}

/// The modules of a line of Python's.
fn imports(line: &str) -> Vec<String> {
    let is_module = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c))
    };
    let names = |text: &str| -> Vec<String> {
        let names = text.split([',', '(', ')']).filter_map(|name| name.split_whitespace().next());
        names.filter(|name| is_module(name)).map(str::to_owned).collect()
    };
    let statements = line.split(';').map(str::trim);
    let found = statements.flat_map(|statement| {
        if let Some(rest) = statement.strip_prefix("import ") {
            return names(rest);
        }
        let Some((package, rest)) =
            statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        else {
            return Vec::new();
        };
        let package = package.trim();
        let within = names(rest).into_iter().map(|name| format!("{package}.{name}"));
        within.chain([package.to_owned()]).filter(|name| is_module(name)).collect()
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_looked_for_where_the_program_looks() {
        let names = read_code("sys.path.insert(0, \"tools\"); import chk\n");
        assert!(names.modules.contains(&"tools/chk.py".to_owned()), "{names:?}");
        let names = read_code("from tools import chk as c\n");
        assert!(names.own_modules.contains(&"tools/chk.py".to_owned()), "{names:?}");
        let names = read_code("const c = require('../../tools/c')\n");
        assert!(names.modules.contains(&"../../tools/c.js".to_owned()), "{names:?}");
        let names = read_code("run([\"bash\", os.path.join(root, \"a\", \"b.sh\")])\n");
        assert!(names.files.contains(&"a/b.sh".to_owned()), "{names:?}");
    }
}
