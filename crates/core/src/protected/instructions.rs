//! Files that coding agents take orders from. Tasks edit them rightly; what they say reaches the person's next agent.

use std::sync::LazyLock;

use super::covers;

const LIST: &str = include_str!("instructions.txt");

/// Names and programs, in the order of the list.
pub static INSTRUCTIONS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| LIST.lines().filter_map(read).collect());

fn read(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (name, program) = line.split_once(' ').filter(|_| !line.starts_with('#'))?;
    Some((name.trim_end_matches('/'), program.trim_start()))
}

/// Which programs take orders from the file at a path.
pub fn instructed_program(path: &str) -> Option<&'static str> {
    INSTRUCTIONS.iter().find(|(name, _)| covers(name, path)).map(|(_, program)| *program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_files_are_known_wherever_they_count() {
        for (path, program) in [
            ("AGENTS.md", "most coding agents"),
            ("web/claude.md", "Claude Code"),
            (".junie/guidelines.md", "Junie"),
            (".github/instructions/a.instructions.md", "GitHub Copilot"),
        ] {
            assert_eq!(instructed_program(path), Some(program), "{path}");
        }
        for path in
            ["README.md", "docs/agents.md.txt", "web/.github/prompts/a", ".github/CODEOWNERS"]
        {
            assert_eq!(instructed_program(path), None, "{path}");
        }
    }

    #[test]
    fn every_line_of_the_list_is_read() {
        let lines = LIST.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.count(), INSTRUCTIONS.len());
    }
}
