//! Commands for what no other tool does, safe for any path and any text.

use sequester_core::path::RepoPath;
use sequester_core::plan::step::{Exit, Expect};

/// One argument of a program may have 128 KiB on Linux; the rest is for the words around it.
pub(super) const APPENDED: usize = 96 * 1024;
/// Programs that only show what they are given: how they end says nothing of what went before.
const VIEWERS: [&str; 4] = ["head", "tail", "tee", "cat"];

pub(super) fn append(path: &RepoPath, content: &str) -> String {
    let path = quote_path(path);
    let content = quote(content);
    // A last line without its end gets one first.
    format!(
        "test -f {path} && {{ test -z \"$(tail -c 1 {path})\" || echo >> {path}; }} && printf %s {content} >> {path}"
    )
}

pub(super) fn delete(path: &RepoPath, folder: bool) -> String {
    let flag = if folder { "-r " } else { "" };
    format!("rm {flag}{}", quote_path(path))
}

pub(super) fn rename(from: &RepoPath, to: &RepoPath) -> String {
    let folder = quote(&format!("./{}", to.folder()));
    let (from, to) = (quote_path(from), quote_path(to));
    format!("test ! -e {to} && mkdir -p {folder} && mv {from} {to}")
}

/// A script as it is run: as written. Of several lines that must all succeed the first failing one ends it; where the last
/// one is only shown by a viewer, the program that it shows says how it ended, unless the viewer had seen enough of it.
pub(super) fn script(command: &str, expect: &Expect) -> String {
    let command = command.trim_end();
    let stops = command.contains('\n') && expect.exit == Exit::Pass;
    let stops = if stops { "set -e\n" } else { "" };
    let last = command.rsplit('\n').next().unwrap_or(command);
    let shown = last.rsplit_once('|').is_some_and(|(before, viewer)| {
        let plain = !viewer.contains(['&', ';', '>', '<', '`', '$', '\'', '"', '\\']);
        let viewer = viewer.split_whitespace().next().unwrap_or_default();
        plain && !before.ends_with('|') && VIEWERS.contains(&viewer)
    });
    let shown =
        if shown { "\ncode=${PIPESTATUS[0]}; test \"$code\" = 141 || exit \"$code\"" } else { "" };
    format!("{stops}{command}{shown}")
}

/// `./` keeps a path that begins with a dash from being a flag.
fn quote_path(path: &RepoPath) -> String {
    quote(&format!("./{path}"))
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_path_or_text_is_a_command() {
        let path = RepoPath::parse("-a/it's $x.md").unwrap();
        assert_eq!(delete(&path, false), r"rm './-a/it'\''s $x.md'");
        assert!(
            append(&path, "a'; rm -rf /")
                .ends_with(r"printf %s 'a'\''; rm -rf /' >> './-a/it'\''s $x.md'")
        );
    }

    #[test]
    fn a_script_runs_as_written_and_hides_no_failure() {
        let pass = Expect::default();
        let fail = Expect { exit: Exit::Fail, ..Expect::default() };
        for as_written in ["a", "a || b", "a | grep x", "a | sort | head -1 > b", "a || tail b"] {
            assert_eq!(script(as_written, &pass), as_written);
        }
        assert_eq!(script("a\nb", &pass), "set -e\na\nb");
        assert_eq!(script("a\nb", &fail), "a\nb");
        assert!(script("a | tail -5", &fail).starts_with("a | tail -5\ncode=${PIPESTATUS[0]}"));
    }
}
