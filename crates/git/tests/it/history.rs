use sequester_core::repository::{Commit, History};

use crate::sandbox::{Sandbox, discover, git};

fn commit(message: &str, paths: &[&str]) -> Commit {
    let paths = paths.iter().map(ToString::to_string).collect();
    Commit { message: message.to_owned(), paths }
}

#[test]
fn commits_come_newest_first_with_message_and_paths_without_merges_and_the_first() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "1");
    sandbox.write("b c", "1");
    sandbox.commit("the first one brings everything");
    sandbox.git(&["checkout", "--quiet", "-b", "side"]);
    sandbox.write("tést", "1");
    sandbox.commit("side\n\nwith a body\nof two lines");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["mv", "a", "new\nline"]);
    sandbox.commit("moved");
    sandbox.git(&["merge", "--quiet", "--no-edit", "side"]);
    sandbox.commit("nothing");
    sandbox.git(&["commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", ""]);

    let history = sandbox.repo().history().unwrap();
    let mut found = history.commits(10).unwrap();
    // The two in the middle are of the same second.
    found[2..4].sort_by(|one, other| one.message.cmp(&other.message));
    assert_eq!(
        found,
        [
            commit("", &[]),
            commit("nothing", &[]),
            commit("moved", &["a", "new\nline"]),
            commit("side\n\nwith a body\nof two lines", &["tést"]),
        ]
    );
    assert_eq!(history.commits(2).unwrap(), found[..2]);
    assert_eq!(history.commits(0).unwrap(), []);
    assert_eq!(history.id(), sandbox.git(&["rev-parse", "HEAD"]));
}

#[test]
fn a_long_history_is_read_without_waiting_for_itself() {
    let sandbox = Sandbox::new();
    let commits = (1..=3000).map(|at| {
        let text = format!("commit {at}");
        let (size, file) = (text.len(), at % 50);
        format!(
            "commit refs/heads/main\ncommitter A <a@example.org> {at} +0000\ndata {size}\n{text}\n\
             M 644 inline f{file}\ndata {size}\n{text}\n\n"
        )
    });
    let stream = commits.collect::<Vec<_>>().concat();
    sandbox.write("../stream", stream);
    let import = format!("git fast-import --quiet < {}", sandbox.outside("stream").display());
    let mut done = std::process::Command::new("sh");
    done.args(["-c", &import]).current_dir(sandbox.root());
    assert!(done.status().unwrap().success());
    let commits = sandbox.repo().history().unwrap().commits(5000).unwrap();
    assert_eq!(commits.len(), 2999);
    assert_eq!(commits[0], commit("commit 3000", &["f0"]));
    assert_eq!(commits[2998], commit("commit 2", &["f2"]));
}

#[test]
fn a_shallow_clone_has_an_id_of_its_own() {
    let sandbox = Sandbox::new();
    for message in ["one", "two", "three"] {
        sandbox.write("a", message);
        sandbox.commit(message);
    }
    let url = format!("file://{}", sandbox.root().display());
    let clone = |depth: &str, to: &str| {
        let to = sandbox.outside(to);
        let done = git(&sandbox.root(), &["clone", "--quiet", depth, &url, to.to_str().unwrap()]);
        assert!(done.status.success(), "{done:?}");
        discover(&to).unwrap().unwrap().history().unwrap()
    };
    let (one, two) = (clone("--depth=1", "one"), clone("--depth=2", "two"));
    // The oldest commit of a shallow clone looks like one that brings everything.
    assert_eq!((one.commits(9).unwrap().len(), two.commits(9).unwrap().len()), (0, 1));
    let ids = [one.id(), two.id(), &sandbox.git(&["rev-parse", "HEAD"])].map(str::to_owned);
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

#[test]
fn no_commit_has_no_history() {
    let history = Sandbox::new().repo().history().unwrap();
    assert_eq!((history.id(), history.commits(5).unwrap()), ("", Vec::new()));
}
