use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn temporary() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap();
    (folder, path)
}

fn names(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
}

#[test]
fn secrets_state_and_ways_out_are_found_and_links_are_not_followed() {
    let (_kept, root) = temporary();
    for path in [
        ".env",
        "deep/er/id_rsa",
        ".env.example",
        "src/a.rs",
        ".sequester/store.db",
        "sub/.sequester/x",
    ] {
        write(&root, path, "x");
    }
    write(&root, "node_modules/a/.env", "x");
    write(&root, "plain.txt", "x");
    symlink("plain.txt", root.join("server.key")).unwrap();
    symlink("/", root.join("root")).unwrap();
    let _listener = UnixListener::bind(root.join("daemon.sock")).unwrap();
    let folder = Folder::look(&root).unwrap();
    assert_eq!(
        names(&root, &folder.hidden),
        [".env", ".sequester", "daemon.sock", "deep/er/id_rsa", "plain.txt", "sub/.sequester"]
    );
    assert_eq!((folder.walked, folder.git), (Walked::Whole, Git::None));
}

#[test]
fn secrets_beside_what_git_keeps_are_found_and_branches_are_not_taken_for_them() {
    let (_kept, root) = temporary();
    write(&root, "main/.git/HEAD", "ref: refs/heads/main\n");
    for path in [
        ".git-credentials",
        "modules/a/.netrc",
        "modules/logs/.netrc",
        "objects/pack/x.pem",
        "refs/heads/a.key",
    ] {
        write(&root, &format!("main/.git/{path}"), "x");
    }
    let secrets = [
        "main/.git/.git-credentials",
        "main/.git/modules/a/.netrc",
        "main/.git/modules/logs/.netrc",
    ];
    let tree = root.join("tree");
    let own = root.join("main/.git/worktrees/tree");
    write(&root, "tree/.git", &format!("gitdir: {}\n", own.display()));
    write(&own, "gitdir", &format!("{}/.git\n", tree.display()));
    for place in [&root, &tree] {
        let folder = Folder::look(place).unwrap();
        assert_eq!(names(&root, &folder.hidden), secrets, "{}", place.display());
    }
}

#[test]
fn protected_names_are_found_wherever_they_lie_and_told_when_they_are_new() {
    let (_kept, root) = temporary();
    for path in ["n/.git/config", "a/b/.mcp.json", ".vscode/.claude/x", "a/.github/workflows/x"] {
        write(&root, path, "x");
    }
    symlink("elsewhere", root.join("a/.idea")).unwrap();
    let folder = Folder::look(&root).unwrap();
    let found: Vec<PathBuf> = folder.covered.iter().map(|one| one.path.clone()).collect();
    let before = [".vscode", ".vscode/.claude", "a/.idea", "a/b/.mcp.json", "n/.git"];
    assert_eq!(names(&root, &found), before);
    let linked = folder.covered.iter().find(|one| one.holds.is_none()).unwrap();
    assert_eq!(linked.path, root.join("a/.idea"));
    assert_eq!(folder.appeared(Grants::none()), Vec::<PathBuf>::new());
    write(&root, "c/.vscode/tasks.json", "x");
    fs::rename(root.join("n"), root.join("m")).unwrap();
    write(&root, "n/.git/config", "x");
    write(&root, ".github/actions/a", "x");
    let new = |grants: &Grants| names(&root, &folder.appeared(grants));
    assert_eq!(new(Grants::none()), [".github/actions", "c/.vscode", "m/.git", "n/.git"]);
    let mut grants = Grants::default();
    grants.grant(".vscode").unwrap();
    grants.grant(".github/actions").unwrap();
    assert_eq!(new(&grants), ["m/.git", "n/.git"]);
}

#[test]
fn new_protected_names_at_the_top_are_set_aside_and_others_stay() {
    let (_kept, root) = temporary();
    write(&root, ".amp/old", "x");
    let folder = Folder::look(&root).unwrap();
    for path in
        [".amp/new", ".trae/mcp.json", "prek.toml", "a/prek.toml", ".config/mise/x", ".config/y"]
    {
        write(&root, path, "x");
    }
    write(&root, "prek.toml.set-aside", "theirs");
    write(&root, "bitrise.yml", "granted");
    write(&root, ".envrc", "");
    symlink("elsewhere", root.join(".goose")).unwrap();
    let mut grants = Grants::default();
    grants.grant("bitrise.yml").unwrap();
    let moved = folder.set_aside(&grants);
    let moved: Vec<_> = moved
        .iter()
        .map(|one| {
            (
                names(&root, std::slice::from_ref(&one.path)).remove(0),
                one.name.to_str().unwrap().to_owned(),
            )
        })
        .collect();
    let wanted = [
        (".config/mise", "mise.set-aside"),
        (".goose", ".goose.set-aside"),
        (".trae", ".trae.set-aside"),
        ("prek.toml", "prek.toml.set-aside-2"),
    ];
    assert_eq!(moved, wanted.map(|(path, name)| (path.to_owned(), name.to_owned())));
    for path in [
        ".amp/new",
        "a/prek.toml",
        ".config/y",
        "bitrise.yml",
        ".envrc",
        ".config/mise.set-aside/x",
    ] {
        assert!(root.join(path).exists(), "{path}");
    }
    assert!(!root.join(".trae").exists());
}

#[test]
fn new_folders_that_git_takes_for_repositories_lose_their_head() {
    let (_kept, root) = temporary();
    let bare = |at: &str| {
        for path in ["HEAD", "objects/x", "refs/x", "config"] {
            write(&root, &format!("{at}/{path}"), "ref: refs/heads/main\n");
        }
    };
    bare("kept.git");
    write(&root, "docs/HEAD", "Where the work stands.\n");
    let folder = Folder::look(&root).unwrap().look_closer();
    assert!(folder.run_paths.contains(&(root.join("kept.git"), Kind::Folder)));
    bare("made");
    bare("vendor/cache");
    write(&root, "led/HEAD", "ref: refs/heads/main\n");
    write(&root, "led/commondir", "../made\n");
    for path in ["HEAD", "objects/x", "refs/x"] {
        write(&root, path, "ref: refs/heads/main\n");
    }
    let NewRepositories { set_aside, left } = folder.set_repositories_aside();
    let moved: Vec<PathBuf> = set_aside.iter().map(|one| one.path.clone()).collect();
    assert_eq!(names(&root, &moved), ["HEAD", "led/HEAD", "made/HEAD"]);
    assert_eq!(names(&root, &left), ["vendor/cache"]);
    for path in ["HEAD.set-aside", "made/HEAD.set-aside", "kept.git/HEAD", "docs/HEAD"] {
        assert!(root.join(path).exists(), "{path}");
    }
    assert!(!root.join("made/HEAD").exists());
}

#[test]
fn credentials_of_repositories_within_the_folder_are_covered_and_hidden() {
    let (_kept, root) = temporary();
    let remote = "[remote \"o\"]\n\turl = https://me:t0ken@example.com/x.git\n";
    for at in ["sub/deep/.git", "vendor.git", ".git"] {
        for path in ["HEAD", "objects/x", "refs/x"] {
            write(&root, &format!("{at}/{path}"), "ref: refs/heads/main\n");
        }
        write(&root, &format!("{at}/config"), remote);
        write(&root, &format!("{at}/FETCH_HEAD"), "0 branch of https://me:t0ken@example.com/x\n");
        write(&root, &format!("{at}/annex/creds/1"), "x");
        write(&root, &format!("{at}/lfs-credentials"), "x");
        write(&root, &format!("{at}/hooks/check-credentials"), "x");
    }
    let folder = Folder::look(&root).unwrap();
    let covers: Vec<PathBuf> = folder.covers.iter().map(|(path, _)| path.clone()).collect();
    let covered = [
        ".git/FETCH_HEAD",
        ".git/config",
        "sub/deep/.git/FETCH_HEAD",
        "sub/deep/.git/config",
        "vendor.git/FETCH_HEAD",
        "vendor.git/config",
    ];
    assert_eq!(names(&root, &covers), covered);
    assert!(folder.covers.iter().all(|(_, text)| !text.contains("t0ken")));
    let hidden = [
        ".git/annex/creds/1",
        ".git/lfs-credentials",
        "sub/deep/.git/annex/creds/1",
        "sub/deep/.git/lfs-credentials",
        "vendor.git/annex/creds/1",
        "vendor.git/lfs-credentials",
    ];
    assert_eq!(names(&root, &folder.hidden), hidden);
}

/// A repository in `main`, and a worktree of it.
fn worktree(root: &Path) -> PathBuf {
    write(root, "main/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir(root.join("main/.git/objects")).unwrap();
    let tree = root.join("tree");
    write(root, "tree/.git", &format!("gitdir: {}/main/.git/worktrees/tree\n", root.display()));
    write(root, "main/.git/worktrees/tree/gitdir", &format!("{}/.git\n", tree.display()));
    tree
}

#[test]
fn a_closer_look_finds_ways_out_and_names_outside_wherever_they_lie() {
    let (_kept, root) = temporary();
    let tree = worktree(&root);
    write(&tree, "node_modules/.cache/a", "x");
    write(&tree, "one", "x");
    fs::hard_link(tree.join("one"), tree.join("two")).unwrap();
    fs::hard_link(tree.join("node_modules/.cache/a"), root.join("out")).unwrap();
    let sockets = ["main/.git/fsmonitor--daemon.ipc", "tree/node_modules/.cache/d.sock"];
    let _bound = sockets.map(|path| UnixListener::bind(root.join(path)).unwrap());
    let folder = Folder::look(&tree).unwrap();
    assert_eq!((folder.hidden.len(), &folder.closer), (0, &None));
    let closer = folder.look_closer();
    assert_eq!(names(&root, &closer.hidden), sockets);
    assert_eq!(closer.closer.unwrap().shared, [tree.join("node_modules/.cache/a")]);
}

#[test]
fn other_names_of_a_secret_are_hidden_too() {
    let (_kept, root) = temporary();
    write(&root, ".env", "x");
    write(&root, "target/a", "y");
    fs::hard_link(root.join(".env"), root.join("target/b")).unwrap();
    fs::hard_link(root.join(".env"), root.join("plain")).unwrap();
    let folder = Folder::look(&root).unwrap();
    assert_eq!(names(&root, &folder.hidden), [".env", "plain", "target/b"]);
}

#[test]
fn what_is_not_where_it_was_is_told_when_all_is_looked_at_again() {
    let (_kept, root) = temporary();
    write(&root, "a/b", "x");
    assert!(check(&root, Isolation::Fallback).is_ok());
    write(&root, "a/.env", "x");
    let trouble = check(&root, Isolation::Fallback).unwrap_err();
    assert!(trouble.is_moved() && trouble.why.contains("a/.env"), "{trouble}");
    assert!(check(&root.join("gone"), Isolation::Fallback).unwrap_err().is_moved());
}

#[test]
fn a_walk_that_was_cut_says_so() {
    let (_kept, root) = temporary();
    for number in 0..10 {
        write(&root, &format!("{number}.txt"), "");
    }
    assert_eq!(walk::look(&root, 9).walked, Walked::Part);
    assert_eq!(walk::look(&root, 10).walked, Walked::Whole);
}

#[test]
fn credentials_in_a_git_configuration_are_covered() {
    let (_kept, root) = temporary();
    write(&root, ".git/config", "[remote \"origin\"]\n\turl = https://t@h.example.org/a\n");
    write(&root, ".git/modules/a/b/HEAD", "");
    write(
        &root,
        ".git/modules/a/b/config",
        "[remote \"o\"]\n\turl = https://u:p@h.example.org/b\n",
    );
    write(&root, ".git/modules/c/config", "[core]\n");
    let folder = Folder::look(&root).unwrap();
    assert_eq!(folder.git, Git::Here);
    let covered: Vec<PathBuf> = folder.covers.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(names(&root, &covered), [".git/config", ".git/modules/a/b/config"]);
    assert!(folder.covers.iter().all(|(_, text)| text.contains("https://h.example.org/")));
}

#[test]
fn a_worktree_leads_to_the_repository_it_belongs_to() {
    let (_kept, root) = temporary();
    let tree = worktree(&root);
    let folder = Folder::look(&tree).unwrap();
    assert_eq!(folder.git, Git::Elsewhere(root.join("main/.git")));
}

#[test]
fn a_submodule_leads_to_its_git_folder() {
    let (_kept, root) = temporary();
    write(&root, "sub/.git", "gitdir: ../.git/modules/sub\n");
    write(&root, ".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
    write(&root, ".git/modules/sub/HEAD", "");
    fs::create_dir(root.join(".git/modules/sub/objects")).unwrap();
    let folder = Folder::look(&root.join("sub")).unwrap();
    assert_eq!(folder.git, Git::Elsewhere(root.join(".git/modules/sub")));
}

#[test]
fn a_git_file_that_names_what_is_not_its_own_leads_nowhere() {
    let (_kept, root) = temporary();
    write(&root, "keys/id_ed25519", "x");
    write(&root, "other/.git/HEAD", "");
    write(&root, "other/.git/config", "[core]\n\tbare = false\n");
    fs::create_dir(root.join("other/.git/objects")).unwrap();
    write(&root, "other/.git/worktrees/x/gitdir", "/elsewhere/.git\n");
    for target in ["../keys", "../other/.git", "../other/.git/worktrees/x", "/", "/etc", ".", ""] {
        write(&root, "work/.git", &format!("gitdir: {target}\n"));
        assert_eq!(Folder::look(&root.join("work")).unwrap().git, Git::None, "{target}");
    }
    // A forged chain inside the workspace brings nothing that is not in it.
    write(&root, "work/.git", "gitdir: worktrees/x\n");
    write(&root, "work/worktrees/x/gitdir", &format!("{}/work/.git", root.display()));
    write(&root, "work/worktrees/x/commondir", "../../../keys");
    assert_eq!(Folder::look(&root.join("work")).unwrap().git, Git::None);
}

#[test]
fn a_git_folder_of_another_name_in_the_folder_itself_is_the_repository() {
    let (_kept, root) = temporary();
    write(&root, ".git", "gitdir: .bare\n");
    write(&root, ".bare/HEAD", "ref: refs/heads/main\n");
    write(&root, ".bare/config", "[remote \"origin\"]\n\turl = https://me:abc@example.com/a.git\n");
    fs::create_dir(root.join(".bare/objects")).unwrap();
    let folder = Folder::look(&root).unwrap();
    assert_eq!(folder.git, Git::Within(root.join(".bare")));
    assert_eq!(folder.run_paths, [(root.join(".bare"), Kind::Folder)]);
    assert_eq!(folder.covers[0].0, root.join(".bare/config"));
    let told = folder.with_run_paths(["hooks", ".bare/hooks", ".git"]);
    let wanted = [".bare", ".git", "hooks"].map(|name| root.join(name));
    assert_eq!(told.run_paths.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>(), wanted);
}

#[test]
fn protected_names_that_are_links_and_their_parents_are_told() {
    let (_kept, root) = temporary();
    write(&root, ".github/workflows/a.yml", "");
    symlink("elsewhere", root.join(".claude")).unwrap();
    let folder = Folder::look(&root).unwrap();
    assert_eq!(names(&root, &folder.links), [".claude"]);
    assert_eq!(names(&root, &folder.parents), [".github"]);
}

#[test]
fn what_is_no_folder_is_refused_with_the_reason() {
    let (_kept, root) = temporary();
    write(&root, "file", "");
    write(&root, ".sequester/workspaces/1/a", "");
    let told = |path: &str| Folder::look(&root.join(path)).unwrap_err().to_string();
    assert!(told("absent").ends_with("cannot be read: No such file or directory (os error 2)."));
    assert!(told("file").ends_with("is no folder."));
    assert!(told(".sequester/workspaces/1").ends_with("lies in the product's own state."));
}
