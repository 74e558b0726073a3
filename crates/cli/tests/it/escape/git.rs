//! Tricks with git: whoever writes its folder or configuration runs programs as the person.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, rows};

pub(super) fn attempts() -> Vec<Attempt> {
    let holds = |path| Shape { breach: Breach::Holds(path), ..PLAIN };
    let alone = |path| Shape { alone: Some(&[]), ..holds(path) };
    [
        rows("git", holds("workspace/.git/config"), CONFIGURATION),
        rows("git", holds("workspace/.git/hooks/pre-commit"), HOOK),
        rows("git", holds("workspace/.git/hooks/post-checkout"), MOVED_HOOK),
        rows("git", holds("workspace/.git/info/attributes"), ATTRIBUTES),
        rows("git", holds("workspace/.git/objects/info/alternates"), ALTERNATES),
        rows("git", holds("workspace/.git/refs/heads/extra"), REFERENCE),
        rows("git", holds("workspace/.git/HEAD"), HEAD),
        rows("git", holds("workspace/.git/index"), INDEX),
        rows("git", holds("workspace/.git/logs/HEAD"), COMMIT),
        rows("git", holds("workspace/.git/packed-refs"), PACKED),
        rows("git", holds("workspace/.git/worktrees/side/HEAD"), WORKTREE),
        rows("git", holds("workspace/.git/modules/part/HEAD"), SUBMODULE),
        rows("git", holds("workspace/.git/commondir"), COMMON),
        rows("git", holds("home/.gitconfig"), GLOBAL),
        rows("git", holds("workspace/tools/hooks/pre-commit"), HOOK_IN_THE_TREE),
        rows("git", holds("workspace/tools/hooks/pre-push"), HOOK_MOVED_IN),
        rows("git", alone("workspace/tools/hooks/post-checkout"), HOOKS_MOVED),
        rows("git", holds("workspace/tools/gitconfig"), INCLUDED),
        rows("git", holds("workspace/tools/later"), INCLUDED_LATER),
        rows("git", holds("workspace/tools/smudge.sh"), FILTER),
        rows("git", holds("workspace/tools/linked.sh"), LINKED_HOOK),
        rows("git", holds("workspace/tools/called.sh"), CALLED_BY_A_HOOK),
        rows("git", holds("workspace/tools/spelled.sh"), SPELLED),
        rows("git", holds("workspace/ci/later.sh"), NAMED_LATER),
        rows("git", holds("workspace/tools/behind.sh"), BEHIND_A_CD),
        rows("git", holds("workspace/tools/module.py"), MODULE),
        rows("git", holds("workspace/tools/hard.sh"), HARD_LINKED_HOOK),
        rows("git", holds("workspace/tools/whole.sh"), WHOLE_PATH),
        rows("git", holds("workspace/tools/flagged"), BEHIND_AN_OPTION),
        rows("git", holds("workspace/tools/variable.sh"), BY_A_VARIABLE),
        rows("git", holds("workspace/parts.d/two"), BY_A_PATTERN),
        rows("git", holds("workspace/tools/remote.sh"), REMOTE),
        rows("git", alone("workspace/nested/er/down/gitconfig"), DEEP_MOVED),
        rows("git", holds("workspace/part/.bare/config"), SEPARATE_CONFIGURATION),
        rows("git", holds("workspace/part/.bare/hooks/pre-commit"), SEPARATE_HOOK),
        rows("git", holds("workspace/part/hooks/pre-commit"), HOOK_WITHIN),
        rows("git", alone("workspace/evil/HEAD"), ANOTHER_NAME),
        // Whoever comes after it must wait.
        rows("git", holds("workspace/.git/index.lock"), LOCK),
        rows("git", alone("workspace/.git/config"), REPLACED),
    ]
    .concat()
}

const CONFIGURATION: &[Row] = &[
    Sh("a program that watches files", r#"git config core.fsmonitor "/bin/echo $MARK""#),
    Sh("hooks in another folder", r#"git config core.hooksPath "/tmp/$MARK""#),
    Sh("a program for connections", r#"git config core.sshCommand "echo $MARK""#),
    Sh("a program that shows pages", r#"git config core.pager "echo $MARK""#),
    Sh("a program that edits", r#"git config core.editor "echo $MARK""#),
    Sh("a command of another name", r#"git config alias.st "!echo $MARK""#),
    Sh("a filter for files", r#"git config filter.x.smudge "echo $MARK""#),
    Sh("a program that shows changes", r#"git config diff.external "echo $MARK""#),
    Sh("a program that knows passwords", r#"git config credential.helper "!echo $MARK""#),
    Sh("more configuration elsewhere", r#"git config include.path "/tmp/$MARK""#),
    Sh("a remote that is a program", r#"git config remote.origin.uploadpack "echo $MARK""#),
    Sh("a merge by a program", r#"git config merge.x.driver "echo $MARK""#),
    Sh("a line that is just added", r#"printf '[alias]\n\tx = !echo %s\n' "$MARK" >> .git/config"#),
    Py(
        "a file moved over the configuration",
        r#"
text = open(WS + "/.git/config").read()
with open(WS + "/moved", "w") as file:
    file.write(text + f"[alias]\n\ty = !echo {MARK}\n")
os.rename(WS + "/moved", WS + "/.git/config")
"#,
    ),
];

const HOOK_IN_THE_TREE: &[Row] =
    &[Sh("a hook where the tree has them", r#"echo "echo $MARK" > tools/hooks/pre-commit"#)];
const HOOK_MOVED_IN: &[Row] = &[Sh(
    "a hook moved to where the tree has them",
    r#"echo "echo $MARK" > made && mv made tools/hooks/pre-push"#,
)];
const HOOKS_MOVED: &[Row] = &[Sh(
    "another folder in the place of the tree's hooks",
    r#"
mkdir -p other/hooks; echo "echo $MARK" > other/hooks/post-checkout
mv tools/hooks old-hooks; mv tools old-tools; mv other/hooks tools/hooks || mv other tools"#,
)];
const INCLUDED: &[Row] = &[Sh(
    "configuration that is included from the tree",
    r#"printf '[core]\n\tfsmonitor = echo %s\n' "$MARK" >> tools/gitconfig"#,
)];
const INCLUDED_LATER: &[Row] = &[Sh(
    "configuration that another branch includes and that is not there yet",
    r#"printf '[core]\n\tfsmonitor = echo %s\n' "$MARK" > tools/later"#,
)];
const FILTER: &[Row] =
    &[Sh("a program of the tree that filters files", r#"echo "echo $MARK" >> tools/smudge.sh"#)];
const LINKED_HOOK: &[Row] =
    &[Sh("what a hook leads to by a link", r#"echo "echo $MARK" >> tools/linked.sh"#)];
const CALLED_BY_A_HOOK: &[Row] =
    &[Sh("what a hook calls", r#"echo "echo $MARK" >> tools/called.sh"#)];
const SPELLED: &[Row] =
    &[Sh("a program whose place a shell works out", r#"echo "echo $MARK" >> tools/spelled.sh"#)];
const NAMED_LATER: &[Row] = &[Sh(
    "a program that is named and not there yet, nor its folder",
    r#"mkdir -p ci && echo "echo $MARK" > ci/later.sh"#,
)];
const BEHIND_A_CD: &[Row] =
    &[Sh("a program of another name's, behind a cd", r#"echo "echo $MARK" >> tools/behind.sh"#)];
const MODULE: &[Row] =
    &[Sh("a module that filters files", r#"echo "print('$MARK')" >> tools/module.py"#)];
const HARD_LINKED_HOOK: &[Row] =
    &[Sh("another name of a hook", r#"echo "echo $MARK" >> tools/hard.sh"#)];
const WHOLE_PATH: &[Row] =
    &[Sh("what a hook calls by its whole path", r#"echo "echo $MARK" >> tools/whole.sh"#)];
const ANOTHER_NAME: &[Row] = &[Sh(
    "a repository that is not called by its name",
    r#"
mkdir -p evil/objects evil/refs; printf '[core]\n\tfsmonitor = echo %s\n' "$MARK" > evil/config
echo "ref: refs/heads/$MARK" > evil/HEAD"#,
)];
const BEHIND_AN_OPTION: &[Row] =
    &[Sh("what a hook calls behind an option", r#"echo "echo $MARK" >> tools/flagged"#)];
const BY_A_VARIABLE: &[Row] =
    &[Sh("what a hook calls by a variable", r#"echo "echo $MARK" >> tools/variable.sh"#)];
const BY_A_PATTERN: &[Row] =
    &[Sh("one more file for a hook's pattern", r#"echo "echo $MARK" > parts.d/two"#)];
const REMOTE: &[Row] =
    &[Sh("a program that is the address of a remote", r#"echo "echo $MARK" >> tools/remote.sh"#)];
const DEEP_MOVED: &[Row] = &[Sh(
    "another folder in the place of one far above included configuration",
    r#"
mv nested old-nested; mkdir -p nested/er/down
printf '[core]\n\tfsmonitor = echo %s\n' "$MARK" > nested/er/down/gitconfig"#,
)];
const SEPARATE_CONFIGURATION: &[Row] = &[Sh(
    "the configuration of a repository that has its folder under another name",
    r#"git -C part config core.fsmonitor "echo $MARK""#,
)];
const SEPARATE_HOOK: &[Row] = &[Sh(
    "a hook of a repository that has its folder under another name",
    r#"mkdir -p part/.bare/hooks; echo "echo $MARK" > part/.bare/hooks/pre-commit"#,
)];
const HOOK_WITHIN: &[Row] = &[Sh(
    "a hook where a repository within the tree has them",
    r#"echo "echo $MARK" > part/hooks/pre-commit"#,
)];

const HOOK: &[Row] = &[Sh(
    "a hook",
    r#"
mkdir -p .git/hooks; printf '#!/bin/sh\necho %s\n' "$MARK" > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit"#,
)];
const MOVED_HOOK: &[Row] = &[Sh(
    "a hook moved into its place",
    r#"
mkdir -p .git/hooks; echo "echo $MARK" > hook; mv hook .git/hooks/post-checkout"#,
)];
const ATTRIBUTES: &[Row] =
    &[Sh("attributes", r#"mkdir -p .git/info; echo "* filter=$MARK" > .git/info/attributes"#)];
const ALTERNATES: &[Row] = &[Sh(
    "objects from elsewhere",
    r#"mkdir -p .git/objects/info; echo "/tmp/$MARK" > .git/objects/info/alternates"#,
)];
const REFERENCE: &[Row] =
    &[Sh("a branch", r#"echo "ref: refs/heads/$MARK" > .git/refs/heads/extra"#)];
const HEAD: &[Row] =
    &[Sh("another branch", r#"git symbolic-ref HEAD "refs/heads/$MARK"; git symbolic-ref HEAD"#)];
const INDEX: &[Row] = &[Sh("a file is added", r#"echo x > "$MARK"; git add --force "$MARK""#)];
const COMMIT: &[Row] = &[Sh("a commit", r#"git commit --quiet --allow-empty --message "$MARK""#)];
const PACKED: &[Row] = &[Sh(
    "packed branches",
    r#"git update-ref "refs/tags/$MARK" $(git rev-list --all | head -1); git pack-refs --all"#,
)];
const LOCK: &[Row] = &[Sh("a lock that stays", r#"echo "$MARK" > .git/index.lock"#)];
const WORKTREE: &[Row] = &[Sh(
    "a second tree",
    r#"
d=$(mktemp -d); git worktree add --quiet -b "$MARK" "$d/side" $(git rev-list --all | head -1); rm -r "$d""#,
)];
const SUBMODULE: &[Row] = &[Sh(
    "a repository within",
    r#"
mkdir -p .git/modules/part && echo "ref: refs/heads/$MARK" > .git/modules/part/HEAD"#,
)];
const COMMON: &[Row] = &[Sh(
    "a folder shared with another repository",
    r#"echo "../$MARK" > .git/commondir; cat .git/commondir"#,
)];
const GLOBAL: &[Row] = &[Sh(
    "the person's own configuration",
    r#"
git config --global core.pager "$MARK"; HOME="$KEPT" git config --global alias.x "!echo $MARK""#,
)];
const REPLACED: &[Row] = &[
    Sh(
        "another folder in its place",
        r#"
mv .git old; mkdir .git; printf '[core]\n\tfsmonitor = %s\n' "$MARK" > .git/config"#,
    ),
    Sh(
        "a link in its place",
        r#"
mv .git old; cp -r old other; printf '[core]\n\tfsmonitor = %s\n' "$MARK" > other/config; ln -s other .git"#,
    ),
    Py(
        "an exchange of folders",
        r#"
os.mkdir(WS + "/other")
with open(WS + "/other/config", "w") as file: file.write(MARK)
call("renameat2", -100, (WS + "/other").encode(), -100, (WS + "/.git").encode(), 2)
"#,
    ),
    Sh("after all of it was removed", r#"rm -rf .git; mkdir -p .git; echo "$MARK" > .git/config"#),
];
