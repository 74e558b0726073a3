//! Shell scripts of a plan: which lines are commands to run, and which the runtime takes over.

use super::gap::{Gap, short};
use super::script::{self, Command, Joint, Word};
use super::sentence::Sentence;
use super::words::List;
use super::{Action, Expect, expect, folder, omission, target, words};

/// Languages whose fences hold commands.
pub(super) fn is_shell(language: &str) -> bool {
    matches!(language, "bash" | "sh" | "shell" | "zsh" | "console" | "terminal" | "shell-session")
}

/// Git commands that write to the repository itself, which is read-only for an attempt.
const REPOSITORY: List = List(
    " push pull fetch checkout switch branch merge rebase reset stash tag worktree cherry-pick revert \
    restore clone init submodule ",
);
/// Git commands that the runtime or a tool does in their place.
const TAKEN: List = List(" add commit rm mv ");

/// The actions of a script, in order; or why it cannot be carried out.
pub(super) fn read(script: &str, expect: Option<&Expect>) -> Result<Vec<Action>, Gap> {
    let (script, inner) = strip(script)?;
    let expect = inner.or_else(|| expect.cloned()).unwrap_or_default();
    if script.trim().is_empty() {
        return Err(Gap::command("it holds no command"));
    }
    folder::check(&script)?;
    if let Some(gap) = omission::in_command(&script) {
        return Err(Gap::command(format!("`{gap}` stands for something that is not spelled out")));
    }
    if let Some(message) = commit(&script) {
        return Ok(vec![Action::Commit { message }]);
    }
    let taken = |one: &Command| one.git().is_some_and(|git| TAKEN.has(git.verb));
    if script::commands(&script).iter().any(taken) {
        by_line(&script, &expect)
    } else {
        whole(&script, &expect)
    }
}

fn whole(script: &str, expect: &Expect) -> Result<Vec<Action>, Gap> {
    if let Some(command) = writes_repository(script) {
        return Err(match command.as_str() {
            "push" | "pull" | "fetch" | "clone" => Gap::outside(format!(
                "nothing leaves or enters the workspace, so `git {command}` is not run"
            )),
            _ => Gap::outside(format!(
                "`git {command}` changes the repository itself, which only the runtime does"
            )),
        });
    }
    let command = script.trim_end().to_owned();
    Ok(vec![Action::Run { command, expect: expect.clone() }])
}

/// Lines that stand alone: those for git are taken over, runs of others stay one script.
fn by_line(script: &str, expect: &Expect) -> Result<Vec<Action>, Gap> {
    if is_compound(script) {
        return Err(Gap::command(
            "it mixes `git` commands that the runtime takes over with others; give them a line each",
        ));
    }
    let mut found = Vec::new();
    let mut run = String::new();
    // A line that the shell keeps something of, which a script of its own does not have.
    let mut kept: Option<&str> = None;
    let mut lost = false;
    for line in script.lines() {
        let commands = script::commands(line);
        let Some(taken) = takeover(line, &commands)? else {
            let empty = commands.iter().all(|command| command.words.is_empty());
            if let Some(kept) = kept.filter(|_| lost && !empty) {
                return Err(Gap::command(format!(
                    "`{}` does not reach past the `git` commands that the runtime takes over",
                    short(kept)
                )));
            }
            kept = kept.or_else(|| commands.iter().any(Command::sets).then_some(line));
            run.extend([line, "\n"]);
            continue;
        };
        lost |= kept.is_some();
        found.extend(piece(&std::mem::take(&mut run), expect)?);
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
    found.extend(piece(&run, expect)?);
    Ok(found)
}

/// Lines of a script between those that are taken over; comments alone are none.
fn piece(script: &str, expect: &Expect) -> Result<Vec<Action>, Gap> {
    let empty = script::commands(script).iter().all(|command| command.words.is_empty());
    if empty { Ok(Vec::new()) } else { whole(script.trim_start_matches('\n'), expect) }
}

/// What the runtime or a tool does in place of a line; nothing for a line that is run.
fn takeover(line: &str, commands: &[Command]) -> Result<Option<Vec<Action>>, Gap> {
    if let Some(message) = commit(line) {
        return Ok(Some(vec![Action::Commit { message }]));
    }
    let Some(git) = commands.iter().find_map(Command::git).filter(|git| TAKEN.has(git.verb)) else {
        return Ok(None);
    };
    let verb = git.verb;
    let (flags, paths): (Vec<&Word>, Vec<&Word>) =
        git.given.iter().partition(|word| word.text.starts_with('-'));
    let known = |word: &&Word| match verb {
        "rm" => {
            matches!(word.text.as_str(), "-r" | "-f" | "-q" | "-rf" | "-fr" | "-rq" | "-qr" | "--")
        }
        "mv" => matches!(word.text.as_str(), "-f" | "-q" | "--"),
        _ => false,
    };
    let odd =
        flags.iter().find(|word| !known(word)).or_else(|| paths.iter().find(|word| word.open));
    if let Some(odd) = odd.filter(|_| matches!(verb, "rm" | "mv")) {
        return Err(Gap::command(format!(
            "`git {verb}` is not taken over with `{}`",
            short(&odd.text)
        )));
    }
    if !git.is_plain || !matches!(verb, "rm" | "mv") {
        return Err(Gap::command(format!("`{}` is not taken over by the runtime", short(line))));
    }
    let inside =
        paths.iter().map(|word| target::inside(&word.text)).collect::<Result<Vec<_>, _>>()?;
    let folder = flags.iter().any(|flag| flag.text.contains('r'));
    if verb == "rm" {
        let delete = |path| Action::Delete { path, folder };
        return Ok(Some(inside.into_iter().map(delete).collect()));
    }
    let into = paths.last().is_some_and(|word| word.text.ends_with('/'));
    match <[_; 2]>::try_from(inside) {
        Ok([from, to]) if !into => Ok(Some(vec![Action::Rename { from, to }])),
        _ => Err(Gap::path("`git mv` does not name two files")),
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
        let comment =
            bare.strip_prefix('#').map(str::trim_start).filter(|said| is_expectation(said));
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

/// `npm i  # if you use npm`, `# or`, `# never on main`: a comment that says when a command counts, or that it does not.
fn is_held_back(line: &str) -> bool {
    let apart = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with([' ', '\t']);
    let comment = line.match_indices('#').find(apart).map(|(at, _)| &line[at + 1..]);
    // `:` does nothing, whatever it is given.
    let comment = comment.or_else(|| line.trim_start().strip_prefix(": ")).unwrap_or_default();
    let said = comment.trim_start_matches('#').trim().to_lowercase();
    let leads = said.ends_with(':') && !words::split(&said).next().is_some_and(words::is_order);
    let held = |word: &str| {
        let more = " ask wait warning caution careful variant option ";
        words::is_condition(word) || words::ASKS.has(word) || List(more).has(word)
    };
    !is_expectation(&said)
        && (leads
            || words::split(&said).any(held)
            || words::cancels(&said)
            || words::is_foreign_hold(&said))
}

/// Whether a comment says what is expected.
fn is_expectation(comment: &str) -> bool {
    comment.trim_start().to_ascii_lowercase().starts_with("expect")
}

/// Whether lines of a script are not commands by themselves.
fn is_compound(script: &str) -> bool {
    let blocks = " if for while until case { } function ";
    let goes_on = |line: &str| line.ends_with('\\') || line.ends_with("&&") || line.ends_with('|');
    let moves = |one: &Command| matches!(one.program(), "cd" | "pushd" | "popd");
    let opens = |one: &Command| {
        let first = one.words.first().map_or("", |word| word.text.as_str());
        List(blocks).has(first) || matches!(one.end, Joint::Open | Joint::Close)
    };
    let mixes = |line: &str| {
        let all = script::commands(line);
        let several = all.iter().filter(|one| !one.words.is_empty()).count() > 1;
        let taken = |one: &Command| one.git().is_some_and(|git| TAKEN.has(git.verb));
        several && all.iter().any(taken) && commit(line).is_none()
    };
    script.contains("<<")
        || script.lines().map(str::trim).any(|line| goes_on(line) || mixes(line))
        || script::commands(script).iter().any(|one| moves(one) || opens(one))
}

fn writes_repository(script: &str) -> Option<String> {
    let all = script::commands(script);
    let mut verbs = all.iter().filter_map(|command| command.git().map(|git| git.verb));
    verbs.find(|verb| REPOSITORY.has(verb)).map(str::to_owned)
}

/// Whether a script does nothing but stage and commit; then the message, if it has one.
#[expect(clippy::option_option, reason = "a commit without a message is a commit")]
pub(super) fn commit(script: &str) -> Option<Option<String>> {
    let mut message: Option<String> = None;
    let mut git = false;
    // Lines of a here-document are text.
    let plain = !script.contains("<<");
    let staged = script.lines().map(|line| if plain && stages(line) { "git add ." } else { line });
    for command in script::commands(&staged.collect::<Vec<_>>().join("\n")) {
        let plain = matches!(command.end, Joint::Line | Joint::Semicolon | Joint::And);
        if !plain || command.words.iter().any(|word| word.open) {
            return None;
        }
        let mut parts = command.words.iter().map(|word| word.text.as_str());
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

/// Whether a line only stages files: the runtime takes all that changed, so that it does not matter which. Folders such as `(app)`
/// are often not quoted.
fn stages(line: &str) -> bool {
    line.trim_start().starts_with("git add ")
        && !line.contains(['&', ';', '|', '$', '`', '<', '>', '\\', '\'', '"', '#'])
}

/// `-m`, `-am`, `--message`.
fn is_message(flag: &str) -> bool {
    flag == "--message" || flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('m')
}
