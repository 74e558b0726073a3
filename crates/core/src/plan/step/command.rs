//! Shell scripts of a plan: which lines are commands to run, and which the runtime takes over.

use super::gap::{Gap, short};
use super::sentence::Sentence;
use super::{Action, Expect, expect, omission, target, words};

/// Languages whose fences hold commands.
pub(super) fn is_shell(language: &str) -> bool {
    matches!(language, "bash" | "sh" | "shell" | "zsh" | "console" | "terminal" | "shell-session")
}

/// Git commands that write to the repository itself, which is read-only for an attempt.
const REPOSITORY: &str = " push pull fetch checkout switch branch merge rebase reset stash tag worktree cherry-pick revert \
    restore clone init submodule ";

/// The actions of a script, in order; or why it cannot be carried out.
pub(super) fn read(script: &str, expect: Option<&Expect>) -> Result<Vec<Action>, Gap> {
    let (script, inner) = strip(script)?;
    let expect = inner.or_else(|| expect.cloned()).unwrap_or_default();
    if script.trim().is_empty() {
        return Err(Gap::command("it holds no command"));
    }
    let outside = |line: &str| {
        line.split(';').any(|part| {
            part.trim_start().starts_with("cd /") || part.trim_start().starts_with("cd ~")
        })
    };
    if script.lines().any(outside) {
        return Err(Gap::command("it goes to a folder outside of the repository"));
    }
    if let Some(gap) = omission::in_command(&script) {
        return Err(Gap::command(format!("`{gap}` stands for something that is not spelled out")));
    }
    if let Some(message) = commit(&script) {
        return Ok(vec![Action::Commit { message }]);
    }
    let touches =
        ["git add", "git commit", "git rm", "git mv"].iter().any(|git| script.contains(git));
    if !touches {
        return whole(&script, &expect);
    }
    if is_compound(&script) {
        return Err(Gap::command(
            "it mixes `git` commands that the runtime takes over with others; give them a line each",
        ));
    }
    by_line(&script, &expect)
}

fn whole(script: &str, expect: &Expect) -> Result<Vec<Action>, Gap> {
    if let Some(command) = writes_repository(script) {
        return Err(Gap::command(format!(
            "`git {command}` changes the repository itself, which only the runtime does"
        )));
    }
    let command = script.trim_end().to_owned();
    Ok(vec![Action::Run { command, expect: expect.clone() }])
}

/// Lines that stand alone: those for git are taken over, runs of others stay one script.
fn by_line(script: &str, expect: &Expect) -> Result<Vec<Action>, Gap> {
    let mut found = Vec::new();
    let mut run = String::new();
    for line in script.lines() {
        let taken = match takeover(line) {
            None => {
                run.push_str(line);
                run.push('\n');
                continue;
            }
            Some(taken) => taken?,
        };
        if !run.trim().is_empty() {
            found.extend(whole(&std::mem::take(&mut run), expect)?);
        }
        for action in taken {
            match (found.last_mut(), action) {
                // `git add` and the commit after it are one.
                (Some(Action::Commit { message }), Action::Commit { message: next })
                    if message.is_none() =>
                {
                    *message = next;
                }
                (_, action) => found.push(action),
            }
        }
    }
    if !run.trim().is_empty() {
        found.extend(whole(&run, expect)?);
    }
    Ok(found)
}

/// What the runtime or a tool does in place of a line.
fn takeover(line: &str) -> Option<Result<Vec<Action>, Gap>> {
    if let Some(message) = commit(line) {
        return Some(Ok(vec![Action::Commit { message }]));
    }
    let words = words(line)?;
    let mut parts = words.iter().map(String::as_str);
    if parts.next()? != "git" {
        return None;
    }
    let verb = parts.next()?;
    let (flags, paths): (Vec<&str>, Vec<&str>) = parts.partition(|word| word.starts_with('-'));
    let given = || paths.iter().map(|path| target::inside(path)).collect::<Result<Vec<_>, _>>();
    match verb {
        "rm" if flags.contains(&"--cached") => None,
        "rm" => Some(given().map(|paths| {
            let folder = flags.iter().any(|flag| !flag.starts_with("--") && flag.contains('r'));
            paths.into_iter().map(|path| Action::Delete { path, folder }).collect()
        })),
        "mv" => Some(given().and_then(|paths| match <[_; 2]>::try_from(paths) {
            Ok([from, to]) => Ok(vec![Action::Rename { from, to }]),
            Err(_) => Err(Gap::path("`git mv` does not name two paths")),
        })),
        _ => None,
    }
}

/// Takes prompts away, and comments that say what is expected.
fn strip(script: &str) -> Result<(String, Option<Expect>), Gap> {
    let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let prompted =
        script.lines().filter(code).filter(|line| line.trim_start().starts_with("$ ")).count();
    if prompted > 0 && prompted != script.lines().filter(code).count() {
        return Err(Gap::command("it mixes commands with their output"));
    }
    if let Some(line) = script.lines().find(|line| is_held_back(line)) {
        return Err(Gap::command(format!("its comment holds a command back (`{}`)", short(line))));
    }
    let mut expects = Vec::new();
    let mut kept = String::new();
    for line in script.lines() {
        let bare = line.trim_start();
        let comment = bare
            .strip_prefix('#')
            .map(str::trim_start)
            .filter(|said| said.to_ascii_lowercase().starts_with("expect"));
        if let Some(comment) = comment {
            let said = Sentence::new(comment);
            let said = said.after_colon().unwrap_or(said);
            expects.push(expect::read(&said)?.0);
            continue;
        }
        kept.push_str(if prompted > 0 { bare.strip_prefix("$ ").unwrap_or(line) } else { line });
        kept.push('\n');
    }
    if expects.len() > 1 {
        return Err(Gap::result("it expects several things of one script"));
    }
    Ok((kept, expects.pop()))
}

/// `npm i  # if you use npm`, `# or`: a comment that says when a command counts.
fn is_held_back(line: &str) -> bool {
    let apart = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with([' ', '\t']);
    let comment = line.match_indices('#').find(apart).map_or("", |(at, _)| &line[at..]);
    let mut said = comment.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    said.any(|word| words::HOLDS.has(&word) || matches!(word.as_str(), "or" | "if"))
}

fn is_compound(script: &str) -> bool {
    let lines = || script.lines().map(str::trim);
    script.contains("<<")
        || lines().any(|line| line.ends_with('\\') || line.ends_with("&&") || line.ends_with('|'))
        || lines().any(|line| {
            matches!(
                line.split_whitespace().next(),
                Some("if" | "for" | "while" | "case" | "{" | "(")
            )
        })
        || lines().any(|line| {
            line.contains("git ")
                && (line.contains("&&") || line.contains(';') || line.contains("||"))
                && commit(line).is_none()
        })
}

fn writes_repository(script: &str) -> Option<&str> {
    let words = script.split(|c: char| c.is_whitespace() || ";&|()".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let writes =
        |pair: &&[&str]| pair[0] == "git" && REPOSITORY.contains(&format!(" {} ", pair[1]));
    words.windows(2).find(writes).map(|pair| pair[1])
}

/// Whether a script does nothing but stage and commit; then the message, if it has one.
#[expect(clippy::option_option, reason = "a commit without a message is a commit")]
pub(super) fn commit(script: &str) -> Option<Option<String>> {
    let words = words(script)?;
    let mut message: Option<String> = None;
    let mut git = false;
    for command in words.split(|word| matches!(word.as_str(), "\n" | "&&" | ";")) {
        let mut parts = command.iter().map(String::as_str);
        match (parts.next(), parts.next()) {
            (None, _) | (Some("cd"), Some(_)) | (Some("git"), Some("status" | "diff")) => {}
            (Some("git"), Some("add")) => git = true,
            (Some("git"), Some("commit")) => {
                git = true;
                while let Some(flag) = parts.next() {
                    let next = if is_message(flag) {
                        parts.next()
                    } else {
                        flag.strip_prefix("--message=")
                    };
                    if let Some(next) = next {
                        let so_far =
                            message.take().map(|message| message + "\n\n").unwrap_or_default();
                        message = Some(so_far + next.trim());
                    }
                }
            }
            _ => return None,
        }
    }
    git.then_some(message)
}

/// `-m`, `-am`, `--message`.
fn is_message(flag: &str) -> bool {
    flag == "--message" || flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('m')
}

/// The words of a script, with `&&`, `;` and line ends as words of their own; `None` for what is more than that.
fn words(script: &str) -> Option<Vec<String>> {
    let script = script.replace("\\\n", " ");
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => word.get_or_insert_default().push_str(&double(&mut rest)?),
            '\\' => word.get_or_insert_default().push(rest.next()?),
            '#' if word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            '\n' | ';' => {
                found.extend(word.take());
                found.push(c.to_string());
            }
            '&' if rest.next_if_eq(&'&').is_some() => {
                found.extend(word.take());
                found.push("&&".to_owned());
            }
            '&' | '|' | '`' | '$' | '<' | '>' | '(' | ')' => return None,
            c if c.is_whitespace() => found.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word);
    Some(found)
}

/// A string in double quotes; the one substitution it may hold is a message as a here-document.
fn double(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut inner = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(inner),
            '\\' => match rest.next()? {
                c @ ('"' | '\\' | '$' | '`') => inner.push(c),
                c => inner.extend(['\\', c]),
            },
            '$' if rest.peek() == Some(&'(') => inner.push_str(&here(rest)?),
            '`' => return None,
            c => inner.push(c),
        }
    }
}

/// `(cat <<'EOF'`, lines, `EOF`, `)`.
fn here(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut line = || {
        let line: String = std::iter::from_fn(|| rest.next_if(|c| *c != '\n')).collect();
        rest.next().map(|_| line)
    };
    let open = line()?;
    let mark =
        open.strip_prefix("(cat <<")?.trim_start_matches('-').trim().trim_matches(['\'', '"']);
    let mut text = String::new();
    loop {
        match line()? {
            end if end.trim() == mark => break,
            inner => text.extend([inner.as_str(), "\n"]),
        }
    }
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
    (rest.next()? == ')').then_some(text)
}
