//! Commands for what no other tool does, safe for any path and any text.

use sequester_core::path::RepoPath;
use sequester_core::plan::step::{self, Exit, Expect};

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

pub(super) fn delete(path: &RepoPath) -> String {
    let path = quote_path(path);
    format!("{{ test -e {path} || test -L {path}; }} && rm {path}")
}

pub(super) fn delete_folder(path: &RepoPath) -> String {
    let path = quote_path(path);
    format!("test -e {path} && rm -r {path}")
}

pub(super) fn rename(from: &RepoPath, to: &RepoPath) -> String {
    let folder = quote(&format!("./{}", to.folder()));
    let (from, to) = (quote_path(from), quote_path(to));
    format!("test ! -e {to} && mkdir -p {folder} && mv {from} {to}")
}

/// A script as it is run: as written. Of several lines that must all succeed the first failing one ends it; where the last
/// one is only shown by a viewer, the program before it says how it ended, unless the viewer had seen enough of it.
pub(super) fn script(command: &str, expect: &Expect) -> String {
    let command = command.trim_end();
    let stops = command.contains('\n') && expect.exit == Exit::Pass;
    let stops = if stops { "set -e\n" } else { "" };
    let last = step::last_pipeline(command);
    let shown = match last.as_slice() {
        [before @ .., _, viewer]
            if viewer.is_plain && VIEWERS.contains(&viewer.program.as_str()) =>
        {
            let at = before.len();
            format!("\ncode=${{PIPESTATUS[{at}]}}; test \"$code\" = 141 || exit \"$code\"")
        }
        _ => String::new(),
    };
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
        assert!(delete(&path).ends_with(r"; } && rm './-a/it'\''s $x.md'"));
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
        assert!(script("z; a 'x|y' | b | head", &pass).ends_with("exit \"$code\""));
        assert!(script("z; a 'x|y' | b | head", &pass).contains("PIPESTATUS[1]"));
    }
}
