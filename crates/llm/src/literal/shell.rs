//! Commands for what no other tool does, safe for any path and any text.

use sequester_core::path::RepoPath;
use sequester_core::plan::step::{Exit, Expect};

/// One argument of a program may have 128 KiB on Linux; the rest is for the words around it.
pub(super) const APPENDED: usize = 96 * 1024;

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

/// A script as it is run: where all of it must succeed, its first failing line ends it, and a pipe hides no failure.
pub(super) fn script(command: &str, expect: &Expect) -> String {
    let mut flags = String::new();
    if command.trim().contains('\n') && expect.exit == Exit::Pass {
        flags.push_str("set -e\n");
    }
    if command.replace("||", "").contains('|') && expect.exit != Exit::Any {
        flags.push_str("set -o pipefail\n");
    }
    flags + command
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
    fn a_script_that_must_pass_hides_no_failure() {
        let pass = Expect::default();
        let fail = Expect { exit: Exit::Fail, ..Expect::default() };
        assert_eq!(script("a", &pass), "a");
        assert_eq!(script("a || b", &pass), "a || b");
        assert_eq!(script("a\nb", &pass), "set -e\na\nb");
        assert_eq!(script("a\nb", &fail), "a\nb");
        assert_eq!(script("a | tail -5", &fail), "set -o pipefail\na | tail -5");
    }
}
