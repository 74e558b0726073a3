//! The command line, as the program itself tells it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::Page;
use crate::shell;

pub(super) fn page(_reference: &Path) -> Result<Page> {
    let mut text = String::from(
        "# Command line\n\nMade by `cargo xtask reference` from what `sequester --help` prints.\n",
    );
    // As the tests build it: chosen alone, the program would have its dependencies built once more.
    shell::run(shell::cargo(), &["test", "--quiet", "--workspace", "--no-run", "--locked"])?;
    let program = shell::root().join("target/debug/sequester").display().to_string();
    let help = |command: &[&str]| shell::capture(&program, &[command, &["--help"]].concat());
    let top = help(&[])?;
    section(&mut text, "sequester", &top);
    for name in commands(&top) {
        section(&mut text, &format!("sequester {name}"), &help(&[name])?);
    }
    Ok(Page("cli.md", text))
}

fn section(text: &mut String, name: &str, help: &str) {
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let help = help.join("\n");
    let _ = write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end());
}

/// The names under `Commands:`.
fn commands(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| line.starts_with("  "));
    // A description that goes on in the next line stands further in.
    let names = names.filter_map(|line| line.get(2..).filter(|rest| !rest.starts_with(' ')));
    names.filter_map(|rest| rest.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_but_help_has_a_section() {
        let help = "About.\n\nUsage: x\n\nCommands:\n  plan  Show\n        more.\n  help  Help.\n\nOptions:\n  -h\n";
        assert_eq!(commands(help), ["plan"]);
    }
}
