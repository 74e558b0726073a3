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

/// A script as it is run: where all of it must succeed, its first failing line ends it.
pub(super) fn script(command: &str, expect: &Expect) -> String {
    let several = command.trim().contains('\n');
    if several && expect.exit == Exit::Pass {
        format!("set -e\n{command}")
    } else {
        command.to_owned()
    }
}

/// `./` keeps a path that begins with a dash from being a flag.
fn quote_path(path: &RepoPath) -> String {
    quote(&format!("./{path}"))
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
