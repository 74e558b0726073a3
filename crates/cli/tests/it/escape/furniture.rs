//! What lies on a ground: a person's home and project, with secrets in both.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::Path;
use std::process::Command;

use super::leg::Leg;

const SECRETS: [&str; 14] = [
    "outside/secret",
    "outside/vault/key",
    "sibling/notes.md",
    "home/.ssh/id_ed25519",
    "home/.aws/credentials",
    "home/.netrc",
    "home/.config/gh/hosts.yml",
    "home/.docker/config.json",
    "home/.npmrc",
    "home/.bash_history",
    "home/.gnupg/private-keys-v1.d/key",
    "home/.kube/config",
    "home/.password-store/mail.gpg",
    "home/.cache/sequester/runs.db",
];

/// Where secrets lie that the workspace itself holds. Without namespaces such a workspace is refused.
const INSIDE: [&str; 9] = [
    "workspace/.env",
    "workspace/id_rsa",
    "workspace/deploy/.env",
    "workspace/.git/.git-credentials",
    "workspace/.git/credentials",
    "workspace/#.env#",
    "workspace/google-credentials.json",
    "workspace/.password-store/mail.gpg",
    "workspace/.sequester/plan.md",
];

const ORDINARY: [(&str, &str); 17] = [
    ("home/.cargo/bin/tool", "#!/bin/sh\necho tool\n"),
    ("home/.cargo/registry/index", "before\n"),
    ("home/.npm/_cacache/index", "before\n"),
    ("outside/held", "before\n"),
    ("home/.bashrc", "# mine\n"),
    ("home/.gitconfig", "[user]\n\tname = Tester\n\temail = tester@example.com\n"),
    ("workspace/README.md", "# Shop\n"),
    ("workspace/src/main.c", "int main(void) { return 0; }\n"),
    ("workspace/deploy/run.sh", "#!/bin/sh\n"),
    ("workspace/tool", "#!/bin/sh\necho tool\n"),
    ("workspace/.claude/settings.json", "{}\n"),
    ("workspace/.mcp.json", "{}\n"),
    ("workspace/.github/workflows/ci.yml", "on: push\n"),
    ("workspace/.travis.yml", "before\n"),
    ("workspace/.drone.yml", "before\n"),
    ("workspace/.cirrus.yml", "before\n"),
    ("workspace/appveyor.yml", "before\n"),
];

pub(super) fn furnish(base: &Path, canary: &str, leg: Leg) {
    let put = |path: &str, text: &str| {
        let path = base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    };
    for path in SECRETS {
        put(path, &format!("token={canary}\n"));
    }
    for (path, text) in ORDINARY {
        put(path, text);
    }
    set_mode(&base.join("home/.ssh/id_ed25519"), 0o600);
    fs::create_dir(base.join("tmp")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    let noted = base.join("outside/secret");
    rustix::fs::setxattr(&noted, "user.note", canary.as_bytes(), flags).unwrap();
    symlink("../outside/secret", base.join("workspace/leak")).unwrap();
    git(base, &["init", "--quiet", "--initial-branch=main"]);
    git(base, &["add", "README.md", "src", "deploy/run.sh"]);
    git(base, &["commit", "--quiet", "--message", "first"]);
    run_from_the_tree(base);
    if leg != Leg::Fallback {
        for path in INSIDE {
            put(path, &format!("TOKEN={canary}\n"));
        }
        fs::create_dir_all(base.join("workspace/node_modules/.cache")).unwrap();
        fs::hard_link(base.join("workspace/.env"), base.join("workspace/twin.txt")).unwrap();
        let remote = format!("https://me:{canary}@example.com/shop.git");
        git(base, &["remote", "add", "origin", &remote]);
        let told = format!(
            "{} {} x <x@x> 1 +0000\tclone: from {remote}\n",
            "0".repeat(40),
            "1".repeat(40)
        );
        put("workspace/.git/logs/HEAD", &told);
        put(
            "workspace/.git/FETCH_HEAD",
            &format!("{}\t\tbranch 'main' of {remote}\n", "1".repeat(40)),
        );
        let included = format!(
            "[http \"https://example.com/\"]\n\textraHeader = \"Authorization: {canary}\"\n"
        );
        put("workspace/tools/gitconfig", &included);
    }
}

/// Settings of git's that lead into the tree, in the repository and in one within it.
fn run_from_the_tree(base: &Path) {
    let workspace = base.join("workspace");
    for path in [
        "tools/hooks/README",
        "tools/gitconfig",
        "tools/smudge.sh",
        "tools/linked.sh",
        "tools/called.sh",
        "tools/spelled.sh",
        "tools/behind.sh",
        "tools/module.py",
        "tools/hard.sh",
        "tools/whole.sh",
        "tools/flagged",
        "tools/variable.sh",
        "tools/remote.sh",
        "parts.d/one",
        "nested/er/down/gitconfig",
        "part/hooks/README",
    ] {
        fs::create_dir_all(workspace.join(path).parent().unwrap()).unwrap();
        fs::write(workspace.join(path), "# Nothing yet.\n").unwrap();
    }
    for (key, value) in [
        ("core.hooksPath", "tools/hooks"),
        ("include.path", "../tools/gitconfig"),
        ("includeIf.onbranch:later.path", "../tools/later"),
        ("filter.own.smudge", "sh tools/smudge.sh %f"),
        ("alias.later", "!./ci/later.sh"),
        ("core.editor", "\"$(git rev-parse --show-toplevel)\"/tools/spelled.sh"),
        ("alias.behind", "!cd tools && ./behind.sh"),
        ("filter.module.clean", "python3 -m tools.module"),
        ("remote.own.url", "ext::tools/remote.sh %S shop"),
        ("includeIf.onbranch:nested.path", "../nested/er/down/gitconfig"),
    ] {
        git(base, &["config", "--add", key, value]);
    }
    let hooks = workspace.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    symlink("../../tools/linked.sh", hooks.join("post-merge")).unwrap();
    fs::write(hooks.join("post-rewrite"), "#!/bin/sh\nexec sh ./tools/called.sh\n").unwrap();
    let spelled = "#!/bin/sh\nbash -e tools/flagged\nD=tools; \"$D/variable.sh\"\nfor one in parts.d/*; do \"$one\"; done\n";
    fs::write(hooks.join("pre-applypatch"), spelled).unwrap();
    let whole = workspace.join("tools/whole.sh");
    fs::write(hooks.join("post-commit"), format!("#!/bin/sh\nexec {}\n", whole.display())).unwrap();
    set_mode(&whole, 0o755);
    fs::hard_link(workspace.join("tools/hard.sh"), hooks.join("pre-rebase")).unwrap();
    git(base, &["init", "--quiet", "--separate-git-dir=part/.bare", "part"]);
    git(base, &["-C", "part", "config", "core.hooksPath", "hooks"]);
}

fn git(base: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", base.join("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(arguments)
        .current_dir(base.join("workspace"))
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

pub(super) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes everything below somebody's own.
pub(super) fn give(folder: &Path, user: u32) {
    lchown(folder, Some(user), Some(user)).unwrap();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            give(&entry.path(), user);
        } else {
            lchown(entry.path(), Some(user), Some(user)).unwrap();
        }
    }
}

/// Programs of root's that give rights to whoever runs them: one by its mode, one by its capabilities.
pub(super) fn raise(base: &Path) {
    let (id, cat) = (base.join("workspace/raise"), base.join("workspace/lift"));
    fs::copy("/usr/bin/id", &id).unwrap();
    set_mode(&id, 0o4755);
    fs::copy("/bin/cat", &cat).unwrap();
    set_mode(&cat, 0o755);
    // Version 2, effective; to read what others may not.
    let rights: [u32; 5] = [0x0200_0001, 0b110, 0, 0, 0];
    let rights: Vec<u8> = rights.iter().flat_map(|word| word.to_le_bytes()).collect();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&cat, "security.capability", &rights, flags).unwrap();
}
