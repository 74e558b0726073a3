//! A file that no module declares is never compiled, and a test in it never fails.

use std::path::Path;

use anyhow::Result;

use crate::shell;

pub(crate) fn run() -> Result<()> {
    let mut faults = Vec::new();
    for package in shell::packages(&shell::root())? {
        faults.extend(find(&package)?);
    }
    shell::none_of("Files that nothing compiles", &faults)?;
    println!("strays: every source file is declared by its module.");
    Ok(())
}

fn find(package: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for tree in [package.join("src"), package.join("tests").join("it")] {
        for file in shell::files(&tree, ".rs")? {
            let folder = file.parent().unwrap_or(&tree);
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let is_root = ["lib", "main"].contains(&&*name) && folder == tree;
            if !is_root && !is_declared(&tree, folder, &name)? {
                faults.push(format!("{}: no `mod {name};` above it", file.display()));
            }
        }
    }
    for file in shell::files(&package.join("tests"), ".rs")? {
        if file.parent() == Some(&package.join("tests")) {
            faults
                .push(format!("{}: a second test binary; move it to `tests/it/`", file.display()));
        }
    }
    Ok(faults)
}

/// Whether the module that the folder belongs to names the file.
fn is_declared(tree: &Path, folder: &Path, name: &str) -> Result<bool> {
    let parents = if folder == tree {
        vec![tree.join("lib.rs"), tree.join("main.rs")]
    } else {
        vec![folder.with_extension("rs")]
    };
    for parent in parents.iter().filter(|parent| parent.is_file()) {
        let text = std::fs::read_to_string(parent)?;
        let item = format!("mod {name};");
        let declares = |line: &str| line.ends_with(&item) && !line.trim_start().starts_with("//");
        if text.lines().any(declares) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_files_and_second_binaries_are_found() {
        let package = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("src/lib.rs", "mod a;\npub mod b;\n// mod stray;\n"),
            ("src/a.rs", "#[cfg(test)]\nmod tests;\n"),
            ("src/a/tests.rs", ""),
            ("src/a/stray.rs", ""),
            ("src/b.rs", ""),
            ("src/stray.rs", ""),
            ("tests/it/main.rs", "mod c;"),
            ("tests/it/c.rs", ""),
            ("tests/it/d.rs", ""),
            ("tests/second.rs", ""),
        ] {
            let path = package.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = find(package.path()).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|fault| {
                fault
                    .split(": ")
                    .next()
                    .unwrap()
                    .strip_prefix(package.path().to_str().unwrap())
                    .unwrap()
            })
            .collect();
        assert_eq!(
            names,
            ["/src/a/stray.rs", "/src/stray.rs", "/tests/it/d.rs", "/tests/second.rs"]
        );
    }
}
