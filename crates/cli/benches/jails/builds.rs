//! The tests of ordinary projects, outside and in two profiles, in turns: right after a warm build, and after a change of one line.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cost::{Cost, measure, ratio, run as once};

const ROUNDS: usize = 2;

struct Project {
    name: &'static str,
    /// What fetches its dependencies and builds it once.
    prepare: &'static str,
    test: &'static [&'static str],
    /// The file that gets one more line, and how a line that does nothing begins.
    edited: (&'static str, &'static str),
}

const PROJECTS: [Project; 4] = [
    Project {
        name: "rust",
        prepare: "mv project.toml Cargo.toml && cargo test",
        test: &["cargo", "test", "--offline"],
        edited: ("src/lib.rs", "//"),
    },
    Project {
        name: "node",
        prepare: "npm install && npm test",
        test: &["npm", "test"],
        edited: ("src/work.ts", "//"),
    },
    Project {
        name: "python",
        prepare: "python3 -m venv .venv && .venv/bin/pip install --requirement requirements.txt && .venv/bin/python -m pytest",
        test: &[".venv/bin/python", "-m", "pytest"],
        edited: ("pkg/work.py", "#"),
    },
    Project {
        name: "go",
        prepare: "mv module.txt go.mod && GOSUMDB=off GOFLAGS=-mod=mod GOPROXY=file://$PWD/../proxy go test ./...",
        // What it has passed it would not run again.
        test: &["go", "test", "-count=1", "./..."],
        edited: ("work.go", "//"),
    },
];

pub(crate) fn run() {
    println!("| tests of a project | profile | outside | inside | wall | processor |");
    println!("|---|---|---|---|---|---|");
    let folder = tempfile::Builder::new().prefix("builds-").tempdir_in("/var/tmp").unwrap();
    serve_module(folder.path());
    for project in &PROJECTS {
        let place = folder.path().join(project.name);
        copy(&projects().join(project.name), &place);
        once(Command::new("sh").args(["-c", project.prepare]).current_dir(&place));
        for when in ["warm", "changed"] {
            for profile in ["validate", "writer"] {
                let change = |number: usize| {
                    if when == "changed" {
                        edit(&place, project.edited, number);
                    }
                };
                let (outside, inside) = compare(project, &place, profile, &change);
                println!(
                    "| {}, {when} | {profile} | {:.1} s | {:.1} s | {} | {} |",
                    project.name,
                    outside.wall.as_secs_f64(),
                    inside.wall.as_secs_f64(),
                    ratio(inside.wall, outside.wall),
                    ratio(inside.processor, outside.processor),
                );
            }
        }
    }
}

/// The sums of all rounds.
fn compare(project: &Project, place: &Path, profile: &str, change: &dyn Fn(usize)) -> (Cost, Cost) {
    let (mut outside, mut inside) = (Cost::default(), Cost::default());
    for round in 0..ROUNDS {
        change(2 * round);
        let mut plain = Command::new(project.test[0]);
        outside += measure(plain.args(&project.test[1..]).current_dir(place));
        change(2 * round + 1);
        let mut jailed = Command::new(env!("CARGO_BIN_EXE_sequester"));
        jailed.args(["sandbox", "--profile", profile, "--"]).args(project.test);
        inside += measure(jailed.current_dir(place));
    }
    (outside, inside)
}

/// One line more or less in a file.
fn edit(place: &Path, (file, comment): (&str, &str), number: usize) {
    let path = place.join(file);
    let mut text = fs::read_to_string(&path).unwrap();
    let _ = writeln!(text, "{comment} Change {number}.");
    fs::write(path, text).unwrap();
}

fn projects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/projects")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A module for Go in the form of a proxy's folder.
fn serve_module(folder: &Path) {
    let source = folder.join("example.org/dep@v1.0.0");
    copy(&projects().join("go-module"), &source);
    fs::rename(source.join("module.txt"), source.join("go.mod")).unwrap();
    let versions = folder.join("proxy/example.org/dep/@v");
    fs::create_dir_all(&versions).unwrap();
    fs::copy(source.join("go.mod"), versions.join("v1.0.0.mod")).unwrap();
    let about = "{\"Version\":\"v1.0.0\",\"Time\":\"2026-01-01T00:00:00Z\"}";
    fs::write(versions.join("v1.0.0.info"), about).unwrap();
    let zip = "import zipfile\nwith zipfile.ZipFile('proxy/example.org/dep/@v/v1.0.0.zip', 'w') as pack:\n for name in ('go.mod', 'dep.go'): pack.write('example.org/dep@v1.0.0/' + name)";
    once(Command::new("python3").args(["-c", zip]).current_dir(folder));
}
