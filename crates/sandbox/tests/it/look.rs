//! The change so far, and a change put back, each beside what the harvest says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use sequester_core::change::{Action, Change, Entry, Mode};
use sequester_core::path::RepoPath;
use sequester_sandbox::Jail;
use sequester_sandbox::harvest::{Look, Rules};

use crate::bench::{Bench, Talk};

type Seen = (String, Action, Option<Mode>, Option<Mode>, Vec<u8>);

/// What counts of a change.
fn seen(change: &Change) -> Vec<Seen> {
    let of = |one: &Entry| (one.path.clone(), one.action, one.was, one.mode, one.content.clone());
    change.entries.iter().map(of).collect()
}

fn harvest(bench: &Bench) -> Change {
    let change = Jail::harvest(&bench.harvest(), &rules()).unwrap();
    assert_eq!(change.refused, []);
    change
}

fn rules() -> Rules {
    Rules { exclude: "own.log\n".to_owned(), ..Rules::default() }
}

#[expect(clippy::disallowed_methods, reason = "who looks brings the time")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// A base with something of every kind.
fn fill(base: &Path) {
    for folder in ["lib/deep/er", "docs", "kept/out", "gone"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    fs::write(base.join(".gitignore"), "out/\n*.tmp\n!docs/fine.tmp\n").unwrap();
    fs::write(base.join("lib/.gitignore"), "made\n").unwrap();
    for number in 0..6 {
        for folder in ["", "lib/", "lib/deep/", "lib/deep/er/", "docs/", "kept/out/", "gone/"] {
            let text = format!("{folder}{number}\n");
            fs::write(base.join(format!("{folder}f{number}")), text).unwrap();
        }
    }
    fs::set_permissions(base.join("lib/f1"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("f0", base.join("docs/link")).unwrap();
}

/// Numbers that look like chance and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn path(&mut self) -> String {
        const FOLDERS: [&str; 9] = [
            "",
            "lib/",
            "lib/deep/",
            "lib/deep/er/",
            "docs/",
            "kept/out/",
            "gone/",
            "new/",
            "new/er/",
        ];
        const NAMES: [&str; 9] = ["f0", "f1", "f2", "f3", "link", "made", "x.tmp", "n1", "own.log"];
        format!("{}{}", FOLDERS[self.roll(9)], NAMES[self.roll(9)])
    }

    fn folder(&mut self) -> &'static str {
        ["lib", "lib/deep", "lib/deep/er", "docs", "kept", "gone", "new", "f4", "out"][self.roll(9)]
    }

    /// One thing that somebody does in a tree; what does not work is no matter.
    fn deed(&mut self) -> String {
        let (one, other) = (self.path(), self.path());
        let way = |path: &str| format!("mkdir -p $(dirname {path})");
        match self.roll(11) {
            0 | 1 => format!("{}; echo {} > {one}", way(&one), self.roll(100)),
            2 => format!("echo more >> {one}"),
            3 => format!("rm -f {one}"),
            4 => format!("{}; mv {one} {other}", way(&other)),
            5 => format!("mv -T {} {}", self.folder(), self.folder()),
            6 => format!("ln -sfn f{} {one}", self.roll(3)),
            7 => format!("test -f {one} && chmod $(test -x {one} && echo 644 || echo 755) {one}"),
            8 => format!("rm -rf {one}; mkdir -p {one}; echo in > {one}/inner"),
            9 => format!("rm -rf {}", self.folder()),
            _ => {
                let folder = self.folder();
                format!("rm -rf {folder}; {}; echo file > {folder}", way(folder))
            }
        }
    }
}

fn work(bench: &Bench, tools: &mut Talk, deeds: &[String]) {
    let mut script = format!("exec 2>/dev/null; cd {}", bench.at().display());
    for deed in deeds {
        write!(script, "; {{ {deed}; }}").unwrap();
    }
    assert_eq!(tools.ask(&script), "");
}

pub(crate) fn agrees() {
    for seed in 0..12 {
        let mut dice = Dice(seed * 7 + 1);
        let bench = Bench::over(fill);
        let layer = bench.layer();
        let named = [RepoPath::parse("docs").unwrap()];
        layer.copy_up(bench.base(), &named).unwrap();
        let time = now() - Duration::from_hours(1);
        layer.touch(bench.base(), &[(RepoPath::parse("lib/f3").unwrap(), time)]).unwrap();
        let mut look = Look::new(layer.store(), bench.base(), &rules());
        look.prepare(now()).unwrap();
        let mut last = Change::default();
        for round in 0..4 {
            let (jail, mut tools) = bench.start();
            let mut done = Vec::new();
            for _ in 0..3 {
                let deeds: Vec<String> = (0..5).map(|_| dice.deed()).collect();
                work(&bench, &mut tools, &deeds);
                done.extend(deeds);
                let taken = look.take(now()).unwrap();
                assert!(taken.as_ref() != Some(&last), "told twice after {done:#?}");
                last = taken.unwrap_or(last);
            }
            drop(jail);
            let told = format!("seed {seed}, round {round}: {done:#?}");
            let harvested = harvest(&bench);
            assert_eq!(seen(&last), seen(&harvested), "{told}");
            assert_eq!(look.take(now()).unwrap(), None, "{told}");
            // Whoever looks for the first time sees the same.
            let mut fresh = Look::new(layer.store(), bench.base(), &rules());
            let first = fresh.take(now()).unwrap().unwrap_or_default();
            assert_eq!(first, last, "{told}");
            restores(&harvested, &told);
        }
    }
}

/// A change that is put back over the same base is harvested as the same change.
fn restores(change: &Change, told: &str) {
    let bench = Bench::over(fill);
    let layer = bench.layer();
    layer.copy_up(bench.base(), &[RepoPath::parse("lib/deep").unwrap()]).unwrap();
    let time = now() - Duration::from_hours(1);
    layer.touch(bench.base(), &[(RepoPath::parse("f0").unwrap(), time)]).unwrap();
    layer.restore(bench.base(), change).unwrap();
    assert_eq!(seen(&harvest(&bench)), seen(change), "{told}");
    let mut look = Look::new(layer.store(), bench.base(), &rules());
    look.prepare(now()).unwrap();
    let again = look.take(now()).unwrap().unwrap_or_default();
    assert_eq!(seen(&again), seen(change), "{told}");
    // The jail sees no mark of the kernel's as a file.
    let (jail, mut tools) = bench.start();
    let strange = format!("find {} -type c", bench.at().display());
    assert_eq!(tools.ask(&strange), "", "{told}");
    drop(jail);
}

pub(crate) fn tells() {
    let bench = Bench::new();
    let layer = bench.layer();
    let mut look = Look::new(layer.store(), bench.base(), &Rules::default());
    assert_eq!(look.take(now()).unwrap(), None);
    let (jail, mut tools) = bench.start();
    let deed = |text: &str| vec![text.to_owned()];
    work(&bench, &mut tools, &deed("echo one > c.txt; mkfifo pipe; echo S=1 > .env"));
    let first = look.take(now()).unwrap().unwrap();
    let paths: Vec<&str> = first.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["c.txt"]);
    assert_eq!(look.take(now()).unwrap(), None);
    // The same size, at once: times alone might not tell.
    work(&bench, &mut tools, &deed("echo two > c.txt"));
    let second = look.take(now()).unwrap().unwrap();
    assert_eq!(second.entries[0].content, b"two\n");
    // Too large to be held, and yet not in the way of the rest.
    work(&bench, &mut tools, &deed("truncate -s 17M large; rm a.txt"));
    let third = look.take(now()).unwrap().unwrap();
    let paths: Vec<&str> = third.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["a.txt", "c.txt"]);
    work(&bench, &mut tools, &deed("rm c.txt; echo a > a.txt"));
    assert_eq!(look.take(now()).unwrap(), Some(Change::default()));
    drop(jail);
}

/// However the layer is changed while it is looked at, nothing outside of it is read.
pub(crate) fn races() {
    let bench = Bench::over(|base| fs::create_dir(base.join("d")).unwrap());
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "outside").unwrap();
    symlink("outside", outside.path().join("link")).unwrap();
    let (jail, mut tools) = bench.start();
    work(
        &bench,
        &mut tools,
        &["mkdir new; echo inside > new/file; ln -s inside new/link".to_owned()],
    );
    drop(jail);
    let upper = bench.layer().store().join("upper");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::rename(upper.join("new"), upper.join("away"));
                let _ = symlink(outside.path(), upper.join("new"));
                let _ = fs::remove_file(upper.join("new"));
                let _ = fs::rename(upper.join("away"), upper.join("new"));
            }
        });
        let mut all = BTreeSet::new();
        let end = Instant::now() + Duration::from_secs(1);
        while Instant::now() < end {
            let mut look = Look::new(bench.layer().store(), bench.base(), &Rules::default());
            let change = look.take(now()).unwrap().unwrap_or_default();
            all.extend(change.entries.into_iter().map(|entry| (entry.path, entry.content)));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let place = outside.path().as_os_str().as_encoded_bytes();
        let strange =
            |content: &[u8]| content != b"inside\n" && content != b"inside" && content != place;
        assert!(!all.iter().any(|(_, content)| strange(content)), "{all:?}");
    });
}

/// Under 20 ms for 100 changed files in a repository of 6,000.
#[expect(clippy::print_stdout, reason = "what was measured is for people")]
pub(crate) fn quick() {
    let bench = Bench::over(|base| {
        fs::write(base.join(".gitignore"), "target/\n*.o\n").unwrap();
        for folder in 0..60 {
            fs::create_dir(base.join(format!("d{folder}"))).unwrap();
            for file in 0..100 {
                let text = format!("{folder} {file}\n").repeat(200);
                fs::write(base.join(format!("d{folder}/f{file}")), text).unwrap();
            }
        }
    });
    let mut look = Look::new(bench.layer().store(), bench.base(), &Rules::default());
    look.prepare(now()).unwrap();
    let (jail, mut tools) = bench.start();
    work(
        &bench,
        &mut tools,
        &["for i in $(seq 0 49); do echo x >> d$i/f1; rm d$i/f2; done".to_owned()],
    );
    let timed = |look: &mut Look| {
        let began = Instant::now();
        let taken = look.take(now()).unwrap();
        (taken.map_or(0, |change| change.entries.len()), began.elapsed())
    };
    // The best of some: others use this machine too.
    let fresh = || timed(&mut Look::new(bench.layer().store(), bench.base(), &Rules::default()));
    let cold = (0..5).map(|_| fresh()).min_by_key(|(_, took)| *took).unwrap();
    let first = timed(&mut look).0;
    std::thread::sleep(Duration::from_millis(150));
    timed(&mut look);
    let (second, same) = timed(&mut look);
    work(&bench, &mut tools, &["echo y >> d0/f1".to_owned()]);
    let (third, one) = timed(&mut look);
    drop(jail);
    let began = Instant::now();
    harvest(&bench);
    let whole = began.elapsed();
    let cold = cold.1;
    println!(
        "look at 100 changes of 6,000 files: {cold:?}, unchanged: {same:?}, one more: {one:?}; harvest: {whole:?}"
    );
    assert_eq!((first, second, third), (100, 0, 100));
    assert!(cold < Duration::from_millis(20), "{cold:?}");
}
