//! A person edits a task's change, ticks a box, or lets a run go on with other models.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use sequester_testkit::model::{Request, Script, Setup};
use serde_json::{Value, json};

use super::by_person::{tasks, waiting, wrong};
use super::{Row, deliver, own, plan};
use crate::command::{Answer, Bench};

impl Row {
    fn open(&self, run: &str, task: &str) -> PathBuf {
        PathBuf::from(self.json(&["open", run, task])["directory"].as_str().unwrap())
    }

    /// `hand-back` as it is typed in a folder.
    fn hand_back_in(&self, folder: &Path, named: &[&str]) -> Answer {
        let mut command = self.command(&[&["hand-back"], named].concat());
        Answer::of(&command.current_dir(folder).output().unwrap())
    }

    fn worktrees(&self) -> usize {
        self.git(&["worktree", "list"]).lines().count()
    }
}

#[test]
fn an_edit_is_opened_handed_back_verified_and_committed_with_the_persons_name() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let (question, words) = (row.question()["id"].as_str().unwrap().to_owned(), "Edit it myself");
    let told = row.text(&["answer", &question, words]);
    assert!(told.contains(&format!("`sequester open {run} a` makes the worktree")), "{told}");
    row.resume(&run).ended(3, "waiting");
    let text = row.question()["question"].as_str().unwrap().to_owned();
    assert!(text.contains("`sequester hand-back RUN a` takes the edit."), "{text}");
    // Nothing of the repository runs for a worktree.
    let hooks = row.bench.path(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let mark = row.bench.path("hooked");
    fs::write(hooks.join("post-checkout"), format!("#!/bin/sh\ntouch {}\n", mark.display()))
        .unwrap();
    fs::set_permissions(hooks.join("post-checkout"), Permissions::from_mode(0o755)).unwrap();
    row.git(&["config", "filter.evil.smudge", &format!("touch {}", mark.display())]);
    fs::create_dir_all(row.bench.path(".git/info")).unwrap();
    fs::write(row.bench.path(".git/info/attributes"), "* filter=evil\n").unwrap();
    let at = row.open(&run, "a");
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "wrong");
    assert_eq!((row.worktrees(), mark.exists()), (2, false));
    assert!(!row.git(&["status", "--porcelain"]).contains("open"));
    let second = row.tell(&["open", &run, "a", "--json"]);
    second.failed(2, "SQ0006", "open already");

    fs::write(at.join("a.txt"), "still wrong\n").unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    assert_eq!((&back["removed"], &back["files"]), (&json!(true), &json!(1)), "{back}");
    assert_eq!((row.worktrees(), at.exists()), (1, false));
    row.resume(&run).ended(3, "waiting");
    let question = row.question();
    assert!(question["question"].as_str().unwrap().contains("handed back"), "{question}");
    assert!(question["options"].to_string().contains("Accept as it is"), "{question}");
    let attempts = row.tried(&run, "a");

    let at = row.open(&run, "a");
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "still wrong\n");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    row.json(&["hand-back", &run, "a"]);
    row.resume(&run).ended(0, "done");
    assert_eq!((row.file(&run, "a.txt"), row.file(&run, "b.txt")), ("right\n".into(), "b".into()));
    assert_eq!(row.tried(&run, "a"), attempts, "no subagent worked on it again");
    let message = row.git(&["log", "--format=%B", &format!("sequester/{run}")]);
    assert!(message.contains("Sequester-Handed-Back-By: "), "{message}");
    let audit = row.json(&["audit", &run]);
    assert_eq!(audit["persons"][0]["verified"], json!(true), "{audit}");
    assert_eq!(row.person(&run, "a")["choice"], "handed_back");
    row.is_proved(&run);
    row.tell(&["open", &run, "a", "--json"]).failed(2, "SQ0006", "is done");
}

#[test]
fn what_no_commit_may_hold_stays_out_of_what_is_handed_back() {
    let (row, run) = waiting(&tasks("true"), |request: &Request| match own(request) {
        // It writes nothing: the evidence is against it.
        "a" => deliver(request, "/tmp/a.txt", "nothing"),
        own => deliver(request, &format!("{own}.txt"), own),
    });
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    fs::create_dir_all(at.join(".vscode")).unwrap();
    fs::write(at.join(".vscode/tasks.json"), "{}\n").unwrap();
    fs::write(at.join(".env"), "A=1\n").unwrap();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    fs::write(at.join("key.py"), format!("key = \"{token}\"\n")).unwrap();
    symlink("/etc/passwd", at.join("link")).unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    let left_out = back["left_out"].to_string();
    for path in [".vscode/tasks.json", ".env", "key.py", "link"] {
        assert!(left_out.contains(path), "{path} in {left_out}");
    }
    assert_eq!((&back["removed"], &back["files"]), (&json!(false), &json!(1)), "{back}");
    assert!(at.join("key.py").exists(), "what was left out is nowhere else");
    row.resume(&run).ended(0, "done");
    let files = row.git(&["ls-tree", "-r", "--name-only", &format!("sequester/{run}")]);
    for path in [".vscode", ".env", "key.py", "link"] {
        assert!(!files.contains(path), "{path} in {files}");
    }
    row.is_proved(&run);
}

#[test]
fn a_ticked_box_means_done_and_a_hand_back_is_offered() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let edited = tasks("grep right a.txt")
        .replace("files: {create: [a.txt]}", "done: true\nfiles: {create: [a.txt]}");
    fs::write(row.bench.path("plan.md"), edited).unwrap();
    let before = row.tried(&run, "a").len();
    let told = row.text(&["resume", &run, "--plan", &row.plan()]);
    assert!(told.contains("`a` is ticked in the plan, so it counts as done."), "{told}");
    assert!(told.contains("Its parked change is not taken."), "{told}");
    assert!(told.contains(&format!("sequester hand-back {run} a")), "{told}");
    assert_eq!(row.tried(&run, "a").len(), before);
    assert_eq!((row.state(&run, "a").0, row.state(&run, "b").0), ("skipped".into(), "done".into()));
    let files = row.git(&["ls-tree", "--name-only", &format!("sequester/{run}")]);
    assert!(files.contains("b.txt") && !files.contains("a.txt"), "{files}");
    row.is_proved(&run);
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right, by hand\n").unwrap();
    row.json(&["hand-back", &run, "a"]);
    // The box is still ticked: the edit counts all the same.
    row.text(&["resume", &run, "--plan", &row.plan()]);
    assert_eq!(row.state(&run, "a").0, "done");
    assert_eq!(row.file(&run, "a.txt"), "right, by hand\n");
    row.is_proved(&run);
}

#[test]
fn an_edit_that_was_handed_back_is_verified_by_the_plan_as_it_was_edited_then() {
    let (row, run) = waiting(&tasks("grep rihgt a.txt"), wrong);
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    row.json(&["hand-back", &run, "a"]);
    fs::write(row.bench.path("plan.md"), tasks("grep right a.txt")).unwrap();
    let before = row.tried(&run, "a");
    row.text(&["resume", &run, "--plan", &row.plan()]);
    assert_eq!(
        (row.state(&run, "a").0, row.file(&run, "a.txt")),
        ("done".into(), "right\n".into())
    );
    assert_eq!(row.tried(&run, "a"), before, "no subagent did it again");
    row.is_proved(&run);
}

#[test]
fn what_cannot_stand_beside_files_that_stay_and_what_is_too_large_is_left_out() {
    let row = Row::new(&tasks("true"), |request: &Request| match own(request) {
        "a" => deliver(request, "/tmp/a.txt", "nothing"),
        own => deliver(request, &format!("{own}.txt"), own),
    });
    row.bench.write("d/id_rsa", "not a key\n");
    row.bench.commit("base");
    let run = row.run(&[]).ended(3, "waiting").to_owned();
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    let _ = fs::remove_dir_all(at.join("d"));
    fs::write(at.join("d"), "a file\n").unwrap();
    File::create(at.join("model.bin")).unwrap().set_len(17 << 20).unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    let left_out = back["left_out"].to_string();
    assert!(left_out.contains("directory with files that stay"), "{back}");
    assert!(left_out.contains("larger than 16 MiB"), "{back}");
    assert_eq!((&back["removed"], &back["files"]), (&json!(false), &json!(1)), "{back}");
    row.resume(&run).ended(0, "done");
    assert_eq!(row.file(&run, "d/id_rsa"), "not a key\n");
}

#[test]
fn a_subagent_that_puts_a_file_in_the_place_of_a_secret_ends_no_run() {
    let row = Row::new(&tasks("true"), |request: &Request| match own(request) {
        "a" => deliver(request, "a.txt; rm -rf d; echo b > d", "a"),
        own => deliver(request, &format!("{own}.txt"), own),
    });
    row.bench.write("d/id_rsa", "not a key\n");
    row.bench.commit("base");
    let run = row.run(&[]).ended(0, "done").to_owned();
    assert_eq!(row.file(&run, "d/id_rsa"), "not a key\n");
    row.is_proved(&run);
}

/// Three of which two fail by themselves, unless the strong model is asked.
fn failing() -> Row {
    let tasks = [
        ("a", "files: {create: [a.txt]}", "Write a."),
        ("b", "files: {create: [b.txt]}", "Write b."),
        ("c", "files: {create: [c.txt]}", "Write c."),
    ];
    Row::new(&plan("solo", &tasks), |request: &Request| match own(request) {
        "c" => deliver(request, "c.txt", "c"),
        _ if request.model.contains("gpt") => {
            super::stopped(super::wrote(request), "complete", "Too hard.", "")
        }
        own => deliver(request, &format!("{own}.txt"), own),
    })
}

#[test]
fn resume_tries_all_that_failed_with_another_model() {
    let row = failing();
    let run = row.run(&[]).ended(1, "failed").to_owned();
    let before = (row.tried(&run, "a").len(), row.tried(&run, "c").len());
    let again = row.tell(&["resume", &run, "--retry", "failed", "--json"]);
    again.ended(1, "failed");
    assert_eq!((row.tried(&run, "a").len(), row.tried(&run, "c").len()), (before.0 + 1, before.1));
    let model =
        ["resume", &run, "--retry", "failed", "--model", "anthropic/claude-sonnet-5", "--json"];
    row.tell(&model).ended(0, "done");
    assert!(row.tried(&run, "a").last().unwrap().ends_with("b done"), "{:?}", row.tried(&run, "a"));
    assert_eq!((row.file(&run, "a.txt"), row.file(&run, "b.txt")), ("a".into(), "b".into()));
    row.is_proved(&run);
}

#[test]
fn retry_all_takes_what_waits_and_what_was_skipped_too() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    row.answer("Skip this task and what needs it");
    row.resume(&run).ended(0, "done");
    let none = row.text(&["resume", &run, "--retry", "failed"]);
    assert!(none.contains("No task failed"), "{none}");
    let before = row.tried(&run, "a").len();
    row.tell(&["resume", &run, "--retry", "all", "--json"]).ended(3, "waiting");
    assert!(row.tried(&run, "a").len() > before);
    let before = row.tried(&run, "a").len();
    row.tell(&["resume", &run, "--retry", "all", "--json"]).ended(3, "waiting");
    assert!(row.tried(&run, "a").len() > before, "it waited after a failure");
    row.is_proved(&run);
}

#[test]
fn resume_takes_a_profile_for_those_who_write() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let unknown = row.tell(&["resume", &run, "--profile", "nobody", "--json"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    row.tell(&["resume", &run, "--retry", "a", "--profile", "full-access", "--json"])
        .ended(3, "waiting");
    let shown = row.json(&["show", &run, "a"]);
    let profiles: Vec<&Value> =
        shown["attempts"].as_array().unwrap().iter().map(|one| &one["profile"]).collect();
    assert_eq!((profiles[0], profiles.last().unwrap()), (&json!("writer"), &&json!("full-access")));
}

/// Runs git in a folder as the person would.
fn git_in(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=P", "-c", "user.email=p@example.org"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

#[test]
fn a_link_of_the_base_lets_no_protected_content_through() {
    let bench = Bench::with(&[("README.md", "Letters\n"), ("vs/README.md", "Settings\n")]);
    symlink("vs", bench.repo().join(".vscode")).unwrap();
    bench.commit("link");
    bench.write("../plan.md", tasks("grep right a.txt"));
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(wrong)));
    let run = row.run(&[]).ended(3, "waiting").to_owned();
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    fs::write(at.join("vs/tasks.json"), "{}\n").unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    let left_out = &back["left_out"];
    assert_eq!(left_out.as_array().map(Vec::len), Some(1), "{back}");
    assert_eq!(left_out[0]["path"], "vs/tasks.json", "{back}");
    assert!(left_out[0]["why"].as_str().unwrap().contains("the link at `.vscode`"), "{back}");
    row.resume(&run).ended(0, "done");
    let files = row.git(&["ls-tree", "-r", "--name-only", &format!("sequester/{run}")]);
    assert!(files.contains("a.txt") && !files.contains("tasks.json"), "{files}");
}

#[test]
fn what_the_run_and_the_task_grant_is_granted_to_an_edit_too() {
    let check = "checks: [\"grep right a.txt\"]";
    let text = "Write the right letter to `a.txt`. Create `.github/workflows/ci.yml`.";
    let (plan, grant) = (plan("solo", &[("a", check, text)]), ["--grant", ".vscode/tasks.json"]);
    let row = Row::new(&plan, wrong);
    let run = row.run(&grant).ended(3, "waiting").to_owned();
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    for path in [".vscode/tasks.json", ".github/workflows/ci.yml"] {
        fs::create_dir_all(at.join(path).parent().unwrap()).unwrap();
        fs::write(at.join(path), "{}\n").unwrap();
    }
    let back = row.json(&["hand-back", &run, "a"]);
    assert_eq!((&back["left_out"], &back["files"]), (&json!([]), &json!(3)), "{back}");
    row.resume(&run).ended(0, "done");
    assert_eq!(row.file(&run, ".vscode/tasks.json"), "{}\n");
    assert_eq!(row.file(&run, ".github/workflows/ci.yml"), "{}\n");
    row.is_proved(&run);
}

#[test]
fn a_worktree_stays_with_what_is_nowhere_else() {
    let bench = Bench::with(&[("README.md", "Letters\n"), (".gitignore", "*.log\n")]);
    bench.write("../plan.md", tasks("grep right a.txt"));
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(wrong)));
    let run = row.run(&[]).ended(3, "waiting").to_owned();
    let at = row.open(&run, "a");
    fs::write(at.join("notes.log"), "my notes\n").unwrap();
    fs::create_dir(at.join("sub")).unwrap();
    git_in(&at.join("sub"), &["init", "-q"]);
    fs::write(at.join("sub/x"), "x\n").unwrap();
    fs::write(at.join("a.txt"), "still wrong\n").unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    assert_eq!(back["not_taken"], json!(["notes.log", "sub/"]), "{back}");
    assert_eq!((&back["removed"], &back["left_out"]), (&json!(false), &json!([])), "{back}");
    assert_eq!(fs::read_to_string(at.join("notes.log")).unwrap(), "my notes\n");
    let told = row.text(&["hand-back", &run, "a"]);
    assert!(told.contains("does not include `notes.log`, `sub/`."), "{told}");
    let remove = format!("`git worktree remove --force {}` removes it", at.display());
    assert!(told.contains(&remove), "{told}");
    fs::remove_file(at.join("notes.log")).unwrap();
    fs::remove_dir_all(at.join("sub")).unwrap();

    fs::write(at.join("a.txt"), "right\n").unwrap();
    git_in(&at, &["add", "a.txt"]);
    git_in(&at, &["commit", "-qm", "my own"]);
    let back = row.json(&["hand-back", &run, "a"]);
    assert_eq!((&back["own_commits"], &back["files"]), (&json!(true), &json!(1)), "{back}");
    assert_eq!((&back["not_taken"], &back["removed"]), (&json!([]), &json!(false)), "{back}");
    let told = row.text(&["hand-back", &run, "a"]);
    assert!(told.contains(&format!("`git -C {} branch NAME HEAD`", at.display())), "{told}");
    git_in(&at, &["branch", "mine", "HEAD"]);
    assert_eq!(row.json(&["hand-back", &run, "a"])["removed"], json!(true));
    row.resume(&run).ended(0, "done");
    assert_eq!(row.file(&run, "a.txt"), "right\n");
}

/// A pipe that waits for the other end.
fn pipe(row: &Row, name: &str) -> PathBuf {
    let at = row.bench.path(name);
    assert!(Command::new("mkfifo").arg(&at).status().unwrap().success());
    at
}

/// Opens a pipe without waiting.
fn open_pipe(at: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(at).unwrap()
}

#[test]
fn a_task_that_is_done_meanwhile_is_not_opened_again_by_a_hand_back() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    let (reached, go) = (pipe(&row, "reached"), pipe(&row, "go"));
    // A git that stops once, while the worktree is read.
    let programs = row.bench.path("programs");
    fs::create_dir(&programs).unwrap();
    let search = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&search).map(|one| one.join("git")).find(|git| git.is_file());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'ls-files --others'*)\n\
         if mkdir {0}/once 2>/dev/null; then echo > {1}; read line < {2}; fi;; esac\nexec {3} \"$@\"\n",
        programs.display(),
        reached.display(),
        go.display(),
        git.unwrap().display(),
    );
    fs::write(programs.join("git"), script).unwrap();
    fs::set_permissions(programs.join("git"), Permissions::from_mode(0o755)).unwrap();
    let folders = [programs].into_iter().chain(std::env::split_paths(&search));
    let mut command = row.command(&["hand-back", &run, "a"]);
    command.env("PATH", std::env::join_paths(folders).unwrap());
    let answer = std::thread::scope(|scope| {
        let back = scope.spawn(|| {
            let output = command.output().unwrap();
            // One that ends early keeps the test waiting no longer.
            drop(open_pipe(&reached));
            Answer::of(&output)
        });
        fs::read(&reached).unwrap();
        row.answer("Accept as it is");
        row.resume(&run).ended(0, "done");
        let mut go = open_pipe(&go);
        writeln!(go).unwrap();
        back.join().unwrap()
    });
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("`a` is done."), "{answer:?}");
    assert_eq!((row.state(&run, "a").0, at.exists()), ("done".into(), true));
    assert_eq!(row.file(&run, "a.txt"), "wrong");
    row.is_proved(&run);
}

#[test]
fn hand_back_is_typed_in_the_worktree_itself() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let at = row.open(&run, "a");
    fs::create_dir(at.join("deep")).unwrap();
    fs::write(at.join("a.txt"), "still wrong\n").unwrap();
    let back = row.hand_back_in(&at.join("deep"), &[]);
    assert_eq!((back.code, at.exists()), (Some(0), false), "{back:?}");
    let repo = row.bench.repo().canonicalize().unwrap();
    assert!(back.out.contains(&format!("Go on in `{}`.", repo.display())), "{back:?}");
    row.resume(&run).ended(3, "waiting");

    let elsewhere = row.bench.path("elsewhere");
    row.json(&["open", &run, "a", elsewhere.to_str().unwrap()]);
    fs::write(elsewhere.join("a.txt"), "right\n").unwrap();
    let alone = row.hand_back_in(&elsewhere, &[&run]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    let back = row.hand_back_in(&elsewhere, &[&run, "a"]);
    assert_eq!((back.code, elsewhere.exists()), (Some(0), false), "{back:?}");
    row.resume(&run).ended(0, "done");
    assert_eq!(row.file(&run, "a.txt"), "right\n");
    let none = row.hand_back_in(&row.bench.repo(), &[]);
    assert!(none.err.contains("sequester hand-back RUN TASK"), "{none:?}");
}

#[test]
fn a_folder_that_names_another_repository_hands_nothing_back_there() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    let note = fs::read_dir(row.bench.repo().join(".git/worktrees")).unwrap().next().unwrap();
    let note = fs::read(note.unwrap().path().join("sequester-task")).unwrap();
    let forged = row.bench.path("forged");
    fs::create_dir(&forged).unwrap();
    git_in(&forged, &["init", "-q", "--separate-git-dir", "git", "."]);
    fs::write(forged.join("git/sequester-task"), note).unwrap();
    let back = row.hand_back_in(&forged, &[]);
    assert_eq!(back.code, Some(2), "{back:?}");
    assert!(back.err.contains("not the worktree of a task"), "{back:?}");
    assert!(at.exists());
}

#[test]
fn open_says_what_takes_the_edit_and_follows_no_link_of_the_repository() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let outside = row.bench.path("outside");
    fs::create_dir(&outside).unwrap();
    let ours = row.bench.repo().join(".sequester/open");
    symlink(&outside, &ours).unwrap();
    row.tell(&["open", &run, "a", "--json"]).failed(2, "SQ0006", "link");
    assert_eq!((fs::read_dir(&outside).unwrap().count(), row.worktrees()), (0, 1));
    fs::remove_file(&ours).unwrap();
    let told = row.text(&["open", &run, "a"]);
    assert!(told.contains("Only `hand-back` takes the edit"), "{told}");
}
