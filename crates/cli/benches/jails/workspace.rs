//! A workspace over a repository of 50,000 files: what one more attempt costs, beside `git status` there.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cost::{milliseconds, race, ratio, run as once};

const FOLDERS: usize = 1_000;
const FILES: usize = 50;
const HISTORY: usize = 2_000;

pub(crate) fn run() {
    println!(
        "| an attempt on 50,000 files | first | again, wall | again, processor | `git status` | to it |"
    );
    println!("|---|---|---|---|---|---|");
    for history in [1, HISTORY] {
        let folder = tempfile::Builder::new().prefix("files-").tempdir_in("/var/tmp").unwrap();
        let (repo, state) = (folder.path().join("repo"), folder.path().join("state"));
        make(&repo, history);
        let attempt = |script: &str| {
            let mut ours = Command::new(env!("CARGO_BIN_EXE_sequester"));
            let text = format!("- [ ] Run `{script}`\n\nExpected: PASS\n");
            ours.args(["task", &text, "--agent", "writer", "--model", "literal"]);
            ours.current_dir(&repo).env("XDG_STATE_HOME", &state);
            ours
        };
        let mut status = Command::new("git");
        status.args(["status", "--porcelain"]).current_dir(&repo);
        once(&mut status);
        let first = once(&mut attempt("true"));
        let mut commands = [attempt("true"), status];
        let [ours, floor] = race(&mut commands, 10, 1)[..] else { return };
        println!(
            "| {history} commits | {} | {} | {} | {} | {} |",
            milliseconds(first),
            milliseconds(ours.wall),
            milliseconds(ours.processor),
            milliseconds(floor.wall),
            ratio(ours.wall, floor.wall),
        );
    }
}

fn make(repo: &Path, history: usize) {
    for folder in 0..FOLDERS {
        let path = repo.join(format!("src/part{}/module{folder}", folder % 20));
        fs::create_dir_all(&path).unwrap();
        for file in 0..FILES {
            let mut text = String::new();
            for line in 0..20 {
                let _ = writeln!(text, "pub fn f{line}() -> u32 {{ {} }}", folder * file + line);
            }
            fs::write(path.join(format!("file{file}.rs")), text).unwrap();
        }
    }
    let git = |arguments: &[&str]| {
        let who =
            ["-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"];
        once(Command::new("git").args(who).args(arguments).current_dir(repo));
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "all"]);
    // As fast as history can be made: one stream instead of one process each.
    if history > 1 {
        let mut stream = String::from("feature done\n");
        for number in 1..history {
            let _ = write!(
                stream,
                "commit refs/heads/long\nmark :{number}\ncommitter Bench <bench@example.org> {number} +0000\ndata 1\nx{}\nM 100644 inline src/history\ndata <<END\n{number}\nEND\n",
                if number == 1 { "\nfrom HEAD^0" } else { "" }
            );
        }
        stream += "done\n";
        let path = repo.with_file_name("stream");
        fs::write(&path, stream).unwrap();
        let mut import = Command::new("git");
        import.args(["fast-import", "--quiet"]).current_dir(repo);
        let mut child = import.stdin(fs::File::open(path).unwrap()).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        git(&["checkout", "--quiet", "long"]);
        git(&["gc", "--quiet"]);
    }
}
