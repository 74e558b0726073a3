//! Programs that a check needs and that are not there. A check that cannot run has neither passed nor failed.

/// The program that the shell did not find, where that is how the command ended. A path is not one: a task may make that.
pub fn missing_program(code: i32, output: &str) -> Option<String> {
    if code != 127 {
        return None;
    }
    output.lines().rev().take(LAST_LINES).find_map(|line| {
        let line = line.trim();
        let named = line
            .strip_suffix(": command not found")
            .or_else(|| line.strip_suffix(": not found"))
            .and_then(|before| before.rsplit(": ").next())
            .or_else(|| line.rsplit_once("command not found: ").map(|(_, name)| name))?;
        is_program(named).then(|| named.to_owned())
    })
}

/// Lines of the output that are looked at.
const LAST_LINES: usize = 20;

/// The programs that a command line starts by name, as far as that can be seen without a shell. Words in quotes start none.
pub fn programs(command: &str) -> Vec<&str> {
    let mut programs = Vec::new();
    for part in simple_commands(command) {
        let mut words = part.split_whitespace().skip_while(|word| is_assignment(word));
        if let Some(word) = words.next().filter(|word| is_program(word))
            && !programs.contains(&word)
        {
            programs.push(word);
        }
    }
    programs
}

/// Split where one command ends and another begins. A here-document ends the search: its lines are no commands.
fn simple_commands(command: &str) -> Vec<&str> {
    let command = command.split("<<").next().unwrap_or_default();
    let (mut parts, mut from, mut quote, mut is_escaped) = (Vec::new(), 0, None, false);
    for (at, c) in command.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '&' | '|' | ';' | '\n' | '(' | ')') => {
                parts.push(&command[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&command[from..]);
    parts
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_program(word: &str) -> bool {
    (1..=64).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_names_the_program_that_it_did_not_find() {
        for (output, wanted) in [
            ("sh: 1: ruff: not found\n", Some("ruff")),
            ("bash: line 1: ruff: command not found\n", Some("ruff")),
            ("zsh:1: command not found: ruff\n", Some("ruff")),
            (
                "\n> test\n> vitest run\n\nsh: 1: vitest: not found\nnpm error code 127\n",
                Some("vitest"),
            ),
            ("sh: 1: ./check.sh: not found\n", None),
            ("no file was found\n", None),
        ] {
            assert_eq!(missing_program(127, output).as_deref(), wanted, "{output}");
        }
        assert_eq!(missing_program(1, "sh: 1: ruff: not found\n"), None);
    }

    #[test]
    fn programs_stand_where_commands_begin() {
        let command =
            "cd app && CI=1 npm test; (ruff check | tee log) && ./own.sh && echo 'a; mypy b' \\; x";
        assert_eq!(programs(command), ["cd", "npm", "ruff", "tee", "echo"]);
        assert_eq!(programs("cat <<END\nfoo\nEND"), ["cat"]);
        assert_eq!(programs(""), [""; 0]);
    }
}
