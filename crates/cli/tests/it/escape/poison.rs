//! Files that make a program of the person's do something later.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, marks, rows};

pub(super) fn attempts() -> Vec<Attempt> {
    let holds = |path| Shape { breach: Breach::Holds(path), ..PLAIN };
    let alone = |path| Shape { alone: Some(&[]), ..holds(path) };
    [
        marks("poison", PLAIN, IN_THE_WORKSPACE),
        marks("poison", PLAIN, IN_THE_HOME),
        marks("poison", PLAIN, BESIDE),
        rows("poison", alone("workspace/.github/workflows/other.yml"), FOLDER_ABOVE),
        rows("poison", alone("workspace/.claude/settings.json"), PRESENT_FOLDER),
        rows("poison", holds("workspace/.claude/commands/x.md"), UNPACKED),
        rows("poison", holds("workspace/.mcp.json"), PRESENT_MOVED),
        rows("poison", holds("workspace/.travis.yml"), PRESENT_LINKED),
        rows("poison", holds("workspace/.drone.yml"), PRESENT_HARD_LINKED),
        rows("poison", holds("workspace/.cirrus.yml"), PRESENT_OPENED),
        rows("poison", holds("workspace/appveyor.yml"), PRESENT_PATCHED),
        rows("poison", holds("workspace/.vscode/tasks.json"), ABSENT_FOLDER_MOVED),
        rows("poison", holds("workspace/.buildkite/pipeline.yml"), ABSENT_FOLDER_LINKED),
        rows("poison", holds("workspace/.envrc"), ABSENT_MOVED),
        rows("poison", holds("workspace/Jenkinsfile"), ABSENT_LINKED),
    ]
    .concat()
}

const IN_THE_WORKSPACE: &[&str] = &[
    "workspace/.claude/agents/helper.md",
    "workspace/.claude/settings.local.json",
    "workspace/.cursor/rules/all.mdc",
    "workspace/.codex/config.toml",
    "workspace/.gemini/settings.json",
    "workspace/.opencode/agent.md",
    "workspace/.sequester/agents/extra.md",
    "workspace/.idea/workspace.xml",
    "workspace/.devcontainer/devcontainer.json",
    "workspace/.husky/pre-commit",
    "workspace/.github/workflows/ci.yml",
    "workspace/.github/workflows/new.yml",
    "workspace/.github/actions/step/action.yml",
    "workspace/.gitlab-ci.yml",
    "workspace/.circleci/config.yml",
    "workspace/azure-pipelines.yml",
    "workspace/bitbucket-pipelines.yml",
    "workspace/sequester.toml",
    "workspace/opencode.json",
    "workspace/.crush.json",
    "workspace/.qwen/settings.json",
    "workspace/.factory/mcp.json",
    "workspace/.kilocode/mcp.json",
    "workspace/.trae/mcp.json",
    "workspace/.amp/settings.json",
    "workspace/.devcontainer.json",
    "workspace/.nvimrc",
    "workspace/.dir-locals-2.el",
    "workspace/.helix/languages.toml",
    "workspace/mise.local.toml",
    "workspace/.mise/config.toml",
    "workspace/.config/mise/config.toml",
    "workspace/lefthook-local.yml",
    "workspace/lefthook.toml",
    "workspace/.lefthook-local.json",
    "workspace/.githooks/pre-commit",
    "workspace/prek.toml",
    "workspace/.hg/hgrc",
    "workspace/.jj/repo/config.toml",
    "workspace/_darcs/prefs/defaults",
    "workspace/.semaphore/semaphore.yml",
    "workspace/cloudbuild.yaml",
    "workspace/buildspec.yml",
    "workspace/.teamcity/settings.kts",
    "workspace/.builds/a.yml",
    "workspace/.cirrus.star",
    "workspace/.drone.star",
    "workspace/.drone.jsonnet",
    "workspace/codemagic.yaml",
];

const IN_THE_HOME: &[&str] = &[
    "home/.bashrc",
    "home/.profile",
    "home/.zshenv",
    "home/.ssh/authorized_keys",
    "home/.ssh/config",
    "home/.config/systemd/user/later.service",
    "home/.config/autostart/later.desktop",
    "home/.config/git/config",
    "home/.config/pip/pip.conf",
    "home/.config/sequester/config.toml",
    "home/.npmrc",
    "home/.cargo/config.toml",
    "home/.local/bin/git",
    "home/.local/lib/python3.11/site-packages/usercustomize.py",
    "home/.vimrc",
    "home/.gdbinit",
    "home/.claude/settings.json",
];

const BESIDE: &[&str] = &[".envrc", ".git/config", ".claude/settings.json", "package.json"];

const FOLDER_ABOVE: &[Row] = &[
    Sh(
        "a service's folder after the one above was moved",
        r#"
mv .github moved && mkdir -p .github/workflows; echo "$MARK" > .github/workflows/other.yml"#,
    ),
    Py(
        "a service's folder by an exchange",
        r#"
os.makedirs(WS + "/fresh/workflows")
with open(WS + "/fresh/workflows/other.yml", "w") as file: file.write(MARK)
call("renameat2", -100, (WS + "/fresh").encode(), -100, (WS + "/.github").encode(), 2)
"#,
    ),
];

const PRESENT_FOLDER: &[Row] = &[
    Sh(
        "an agent's folder after it was moved",
        r#"
mv .claude moved; mkdir -p .claude; echo "$MARK" > .claude/settings.json"#,
    ),
    Sh(
        "an agent's folder as a link",
        r#"
mkdir -p agent; echo "$MARK" > agent/settings.json; rm -rf .claude; ln -s agent .claude"#,
    ),
];

const UNPACKED: &[Row] = &[Sh(
    "an agent's folder by an archive",
    r#"
mkdir -p pack/.claude/commands; echo "$MARK" > pack/.claude/commands/x.md; tar -cf - -C pack .claude | tar -xf -"#,
)];

const PRESENT_MOVED: &[Row] =
    &[Sh("a file that is there, by a move", r#"echo "$MARK" > servers; mv -f servers "$P""#)];

const PRESENT_LINKED: &[Row] =
    &[Sh("a file that is there, by a link", r#"echo "$MARK" > linked; ln -sf linked "$P""#)];

const PRESENT_HARD_LINKED: &[Row] = &[Py(
    "a file that is there, by a hard link",
    r#"
with open(WS + "/listed", "w") as file: file.write(MARK)
try: os.remove(P)
except OSError: pass
os.link(WS + "/listed", P)
"#,
)];

const PRESENT_OPENED: &[Row] = &[Py(
    "a file that is there, opened for reading first",
    r#"
file = os.open(P, os.O_RDONLY)
os.write(os.open(f"/proc/self/fd/{file}", os.O_WRONLY | os.O_TRUNC), MARK.encode())
"#,
)];

const PRESENT_PATCHED: &[Row] = &[Sh(
    "a file that is there, by a patch",
    r#"
printf -- '--- a/appveyor.yml\n+++ b/appveyor.yml\n@@ -1 +1 @@\n-before\n+%s\n' "$MARK" | git apply"#,
)];

const ABSENT_FOLDER_MOVED: &[Row] = &[Sh(
    "a folder that is not there, moved into its place",
    r#"
mkdir -p editor; echo "$MARK" > editor/tasks.json; mv -T editor .vscode || mv editor .vscode"#,
)];

const ABSENT_FOLDER_LINKED: &[Row] = &[Sh(
    "a folder that is not there, as a link",
    r#"
mkdir -p tasks; echo "$MARK" > tasks/pipeline.yml; rm -rf .buildkite; ln -sfn tasks .buildkite"#,
)];

const ABSENT_MOVED: &[Row] = &[Sh(
    "a file that is not there, moved into its place",
    r#"echo "$MARK" > shell; mv -f shell "$P""#,
)];

const ABSENT_LINKED: &[Row] = &[Sh(
    "a file that is not there, as a link",
    r#"echo "$MARK" > steps; rm -f "$P"; ln -sf steps "$P""#,
)];
