use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;

fn note(section: &str, content: &str) -> Note {
    Note { section: section.to_owned(), content: content.to_owned() }
}

fn write(book: &Book, task: &str) -> Result<Vec<String>, String> {
    let notes = [note("Findings", &words(task)), note(task, "one of my own")];
    book.merge(&RunId::from("r1"), &TaskId::from(task), &notes)
}

fn words(task: &str) -> String {
    format!("- {task} begins\n- {task} goes on\n- {task} ends")
}

fn file(root: &Path) -> PathBuf {
    root.join(PATH)
}

/// Tasks whose words under `Findings` are whole, each once.
fn whole(root: &Path) -> Vec<String> {
    let notes = Notes::parse(&fs::read_to_string(file(root)).unwrap());
    let entries = notes.entries().into_iter().filter(|one| one.section == "Findings");
    let mut tasks: Vec<String> = entries
        .filter_map(|one| {
            let task = one.task?.to_string();
            assert_eq!(one.content, words(&task));
            Some(task)
        })
        .collect();
    tasks.sort_unstable();
    tasks
}

#[test]
#[ignore = "another test starts it as a process of its own"]
fn writes_as_it_is_told() {
    let mut told = String::new();
    io::stdin().read_to_string(&mut told).unwrap();
    let mut told = told.lines();
    let book = Book::of(Path::new(told.next().unwrap()));
    let (name, count) = (told.next().unwrap(), told.next().unwrap().parse::<usize>().unwrap());
    for at in 0..count {
        let task = format!("{name}-{at}");
        write(&book, &task).unwrap();
        println!("kept {task}");
    }
}

fn start(root: &Path, name: &str, count: usize) -> Child {
    let itself = "wire::notes::tests::writes_as_it_is_told";
    let mut child = Command::new("/proc/self/exe")
        .args(["--exact", itself, "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = format!("{}\n{name}\n{count}\n", root.display());
    child.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
    child
}

#[test]
fn a_hundred_processes_lose_no_line_of_each_other() {
    let root = tempfile::tempdir().unwrap();
    let children: Vec<Child> =
        (0..100).map(|at| start(root.path(), &format!("p{at:03}"), 1)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let expected: Vec<String> = (0..100).map(|at| format!("p{at:03}-0")).collect();
    assert_eq!(whole(root.path()), expected);
}

#[test]
fn who_is_killed_tears_nothing_and_loses_nothing_that_was_kept() {
    let root = tempfile::tempdir().unwrap();
    let mut kept = Vec::new();
    for round in 0..25 {
        let mut child = start(root.path(), &format!("k{round:02}"), 1_000);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("kept ").map(ToOwned::to_owned));
        kept.extend(told.take(1 + round % 4));
        child.kill().unwrap();
        child.wait().unwrap();
        let there = whole(root.path());
        let missing: Vec<&String> = kept.iter().filter(|task| !there.contains(task)).collect();
        // What it did after it was last heard is there whole or not at all; `whole` sees to that.
        assert_eq!(missing, Vec::<&String>::new(), "round {round}");
    }
    assert!(fs::read_to_string(file(root.path())).unwrap().len() < BYTES, "nothing was compacted");
}

#[test]
fn no_save_of_a_person_is_lost_while_others_write() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    book.init().unwrap();
    let path = file(root.path());
    thread::scope(|scope| {
        for writer in 0..4 {
            let book = &book;
            scope.spawn(move || {
                for at in 0..25 {
                    write(book, &format!("w{writer}-{at}")).unwrap();
                }
            });
        }
        // As an editor does it: the file as it is, one line more, and a new file in its place.
        for at in 0..200 {
            let text = fs::read_to_string(&path).unwrap() + &format!("- mine {at}\n");
            let beside = path.with_extension("editor");
            fs::write(&beside, text).unwrap();
            fs::rename(&beside, &path).unwrap();
        }
    });
    let text = book.read().unwrap();
    let missing: Vec<String> = (0..200)
        .map(|at| format!("- mine {at}"))
        .filter(|line| !text.lines().any(|one| one == line))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn what_a_person_writes_into_the_open_file_is_found_later() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    book.init().unwrap();
    let mut open = OpenOptions::new().append(true).open(file(root.path())).unwrap();
    write(&book, "a").unwrap();
    open.write_all(b"- late\n").unwrap();
    let said = write(&book, "b").unwrap();
    assert_eq!(said, [RESCUED]);
    let text = fs::read_to_string(file(root.path())).unwrap();
    assert!(text.contains("## Saved at the same time\n\n- late\n"), "{text}");
    assert_eq!(whole(root.path()), ["a", "b"]);
    // Once, also for who only reads.
    let mut open = OpenOptions::new().append(true).open(file(root.path())).unwrap();
    write(&book, "c").unwrap();
    open.write_all(b"- later\n").unwrap();
    assert!(book.read().unwrap().contains("- later\n"));
    assert_eq!(write(&book, "d").unwrap(), Vec::<String>::new());
}

#[test]
fn a_save_that_empties_the_file_before_it_writes_is_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    write(&book, "a").unwrap();
    let text = fs::read_to_string(file(root.path())).unwrap() + "- mine\n";
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    let mut open = options.open(file(root.path())).unwrap();
    thread::scope(|scope| {
        let merging = scope.spawn(|| write(&book, "b").unwrap());
        thread::sleep(Duration::from_millis(60));
        open.write_all(text.as_bytes()).unwrap();
        assert_eq!(merging.join().unwrap(), Vec::<String>::new());
    });
    assert_eq!(whole(root.path()), ["a", "b"]);
    assert!(book.read().unwrap().contains("- mine\n"));
    // The same in the moment between the look and the exchange.
    let (folder, _lock) = book.enter().unwrap();
    let swap = Swap { folder: &folder };
    let found = swap.look().unwrap();
    let mut open = options.open(file(root.path())).unwrap();
    assert!(matches!(swap.put(found.as_ref(), "ours").unwrap(), Put::Missed));
    open.write_all(b"- again\n").unwrap();
    assert_eq!(fs::read_to_string(file(root.path())).unwrap(), "- again\n");
}

#[test]
fn a_save_that_is_written_long_after_it_emptied_the_file_is_found_later() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    write(&book, "a").unwrap();
    let mut options = OpenOptions::new();
    let mut open = options.write(true).truncate(true).open(file(root.path())).unwrap();
    for task in ["b", "c", "d"] {
        write(&book, task).unwrap();
    }
    open.write_all(b"## Mine\n\n- mine\n").unwrap();
    assert!(book.read().unwrap().contains("- mine\n"));
    open.write_all(b"- and this\n").unwrap();
    assert_eq!(write(&book, "e").unwrap(), [RESCUED]);
    let text = fs::read_to_string(file(root.path())).unwrap();
    assert!(text.contains("- mine\n") && text.contains("- and this\n"), "{text}");
    assert_eq!(whole(root.path()), ["b", "c", "d", "e"]);
}

#[test]
fn a_save_that_cannot_be_read_goes_back_and_no_other_is_removed_with_it() {
    let root = tempfile::tempdir().unwrap();
    let (book, path) = (Book::of(root.path()), file(root.path()));
    book.init().unwrap();
    let (folder, _lock) = book.enter().unwrap();
    let swap = Swap { folder: &folder };
    let beside = |name: &str| root.path().join(".sequester").join(name);
    let count = || fs::read_dir(beside("")).unwrap().count();
    let (found, before) = (swap.look().unwrap(), count());
    fs::write(&path, b"\xff").unwrap();
    let refusal = swap.put(found.as_ref(), "ours").err().unwrap();
    assert!(refusal.ends_with("Save it as UTF-8, or move it away."), "{refusal}");
    assert_eq!((fs::read(&path).unwrap(), count()), (b"\xff".to_vec(), before));
    // They saved once more before the first save was back in its place.
    fs::write(beside("notes-before-1-2-0"), b"\xff").unwrap();
    fs::write(&path, "- saved again\n").unwrap();
    let said = swap.give_back("notes-before-1-2-0", "ours", "No.".to_owned());
    assert_eq!(said, "No. What was saved at that moment lies beside it, in `notes-before-1-2-0`.");
    assert_eq!(fs::read(beside("notes-before-1-2-0")).unwrap(), b"- saved again\n");
    assert_eq!(fs::read(&path).unwrap(), b"\xff");
    // The exchange fails: nothing is removed either.
    fs::remove_file(&path).unwrap();
    swap.give_back("notes-before-1-2-0", "- saved again\n", "No.".to_owned());
    assert!(beside("notes-before-1-2-0").exists());
}

#[test]
fn what_was_left_by_somebody_who_was_killed_is_thrown_away_or_found() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    write(&book, "a").unwrap();
    let folder = root.path().join(".sequester");
    fs::write(folder.join("notes.new"), "## Torn\n- ha").unwrap();
    let before = format!("notes-before-{}-{}", "0".repeat(32), "1".repeat(32));
    fs::write(folder.join(&before), "## Mine\n- saved\n").unwrap();
    write(&book, "b").unwrap();
    let text = fs::read_to_string(file(root.path())).unwrap();
    assert!(text.contains("- saved\n") && !text.contains("Torn"), "{text}");
    assert!(!folder.join(before).exists());
}

#[test]
fn of_any_number_of_saves_beside_the_file_only_the_latest_are_read_and_the_file_stays_readable() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    write(&book, "a").unwrap();
    let folder = root.path().join(".sequester");
    let beside = |name: &str| folder.join(format!("notes-before-{name}-1-0"));
    for at in 0..100 {
        File::create(beside(&format!("old{at}"))).unwrap();
    }
    // A clock that counts in ticks gives those of one tick the same time.
    let at = |path: &Path| {
        let about = fs::metadata(path).unwrap();
        (about.ctime(), about.ctime_nsec())
    };
    let last = at(&beside("old99"));
    loop {
        fs::write(folder.join("tick"), "").unwrap();
        if at(&folder.join("tick")) > last {
            break;
        }
    }
    fs::write(beside("large"), "- large\n".repeat(LARGEST / 8)).unwrap();
    fs::write(beside("mine"), "## Mine\n- saved\n").unwrap();
    let said = write(&book, "b").unwrap();
    assert!(said.iter().any(|one| one.contains("the latest 64 are looked at")), "{said:?}");
    let text = book.read().unwrap();
    assert!(text.contains("- saved\n") && !text.contains("- large\n"), "{} bytes", text.len());
    assert!(beside("large").exists(), "what had no room is not lost");
}

#[test]
fn a_file_that_was_deleted_is_made_again_and_one_with_a_mode_keeps_it() {
    let root = tempfile::tempdir().unwrap();
    let book = Book::of(root.path());
    assert_eq!(book.read(), Ok(String::new()));
    write(&book, "a").unwrap();
    fs::set_permissions(file(root.path()), fs::Permissions::from_mode(0o640)).unwrap();
    write(&book, "b").unwrap();
    let mode = fs::metadata(file(root.path())).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    fs::remove_file(file(root.path())).unwrap();
    write(&book, "c").unwrap();
    assert_eq!(whole(root.path()), ["c"]);
}

/// Puts something at a path.
type Lay<'a> = &'a dyn Fn(&Path);

#[test]
fn what_is_no_readable_file_is_said_and_stays() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("theirs");
    fs::write(&secret, "theirs").unwrap();
    let cases: [(&str, Lay<'_>); 5] = [
        ("is a folder", &|path| fs::create_dir(path).unwrap()),
        ("is a symbolic link", &|path| symlink(&secret, path).unwrap()),
        ("is not UTF-8", &|path| fs::write(path, b"## A\n\xff\xfe\n").unwrap()),
        ("has 52428800 bytes", &|path| File::create(path).unwrap().set_len(50 << 20).unwrap()),
        ("is no ordinary file", &|path| {
            let made = Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }),
    ];
    for (said, lay) in cases {
        let root = tempfile::tempdir().unwrap();
        let book = Book::of(root.path());
        fs::create_dir(root.path().join(".sequester")).unwrap();
        lay(&file(root.path()));
        let before = fs::symlink_metadata(file(root.path())).unwrap();
        for refusal in [book.read().unwrap_err(), write(&book, "a").unwrap_err()] {
            assert!(refusal.contains(said), "{refusal}");
        }
        assert!(book.init().is_err());
        let after = fs::symlink_metadata(file(root.path())).unwrap();
        assert_eq!((before.file_type(), before.len()), (after.file_type(), after.len()));
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "theirs");
}

#[test]
fn a_folder_of_ours_that_is_a_link_is_not_followed() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(outside.path(), root.path().join(".sequester")).unwrap();
    let book = Book::of(root.path());
    assert!(book.read().is_err() && write(&book, "a").is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn who_holds_the_lock_for_too_long_is_said() {
    let root = tempfile::tempdir().unwrap();
    let mut book = Book::of(root.path());
    let _held = book.enter().unwrap();
    book.patience = Duration::ZERO;
    let refusal = write(&book, "a").unwrap_err();
    assert_eq!(
        refusal,
        "`.sequester/NOTES.md` is held by another process for too long. What subagents noted is in `sequester records --kind note`."
    );
}
