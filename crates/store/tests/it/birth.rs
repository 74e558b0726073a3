//! A store whose maker did not come far.

use std::fs;
use std::path::Path;

use sequester_core::store::{ErrorKind, RunStore};
use sequester_store::Store;

use crate::child::Child;
use crate::fixture::{Place, all, append, batch, run};

/// What the maker of a store leaves when it is killed within the transaction by which the file becomes a database.
fn leave_unfinished(place: &Place, pages_before: u32) {
    fs::create_dir(place.file().parent().unwrap()).unwrap();
    place.sql("PRAGMA journal_mode = WAL");
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let (records, nonce, sector, page) = (0_u32, 7_u32, 512_u32, 4096_u32);
    for number in [records, nonce, pages_before, sector, page] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    fs::write(journal_of(place), journal).unwrap();
}

fn journal_of(place: &Place) -> std::path::PathBuf {
    place.file().with_file_name("store.db-journal")
}

/// Nobody reads from it, or what a whole store says; and whoever comes next makes it.
fn goes_on(file: &Path, at: &str) {
    match Store::open_reading(file) {
        Ok(store) => assert!(store.runs().unwrap().len() <= 1, "{at}"),
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::NotFound, "{at}: {error}");
            assert!(error.message.starts_with("There is no store at `"), "{at}: {error}");
        }
    }
    let store = Store::open(file).unwrap_or_else(|error| panic!("{at}: {error}"));
    append(&store.lease(&run("next")).unwrap(), batch(&["x"])).unwrap();
    drop(store);
    assert_eq!(all(&Store::open_reading(file).unwrap(), "next").len(), 1, "{at}");
}

#[test]
fn a_file_that_never_became_a_database_is_no_store_yet() {
    for pages_before in [0, 1] {
        let place = Place::new();
        leave_unfinished(&place, pages_before);
        let is_absent = Store::open_reading(&place.file()).err().map(|error| error.kind);
        assert_eq!(is_absent, Some(ErrorKind::NotFound), "{pages_before}");
        assert!(journal_of(&place).exists(), "who reads changes nothing");
        goes_on(&place.file(), "within its first transaction");
    }
}

#[test]
fn a_store_that_somebody_elses_program_left_unfinished_is_not_called_absent() {
    let place = Place::filled(3);
    place.sql("PRAGMA journal_mode = DELETE");
    let file = fs::read(place.file()).unwrap();
    let unfinished = Place::new();
    leave_unfinished(&unfinished, 1);
    fs::copy(journal_of(&unfinished), journal_of(&place)).unwrap();
    let error = Store::open_reading(&place.file()).err().unwrap();
    assert_eq!(error.kind, ErrorKind::ReadOnly);
    assert!(fs::read(place.file()).unwrap() == file);
}

/// When its maker is killed: as soon as this is to be seen of the store.
type Sight = (&'static str, fn(&Path) -> bool);

fn size(file: &Path, end: &str) -> u64 {
    let name = format!("store.db{end}");
    fs::metadata(file.with_file_name(name)).map_or(0, |found| found.len())
}

const SIGHTS: [Sight; 8] = [
    ("its folder", |file| file.parent().is_some_and(Path::exists)),
    ("its leases", |file| file.with_file_name("store.db-leases").exists()),
    ("its file", Path::exists),
    ("its first journal", |file| size(file, "-journal") > 0),
    ("its first page", |file| size(file, "") > 0),
    ("its log", |file| file.with_file_name("store.db-wal").exists()),
    ("a part of its tables", |file| size(file, "-wal") > 8_192),
    ("its first run", |file| size(file, "-wal") > 30_000),
];

#[test]
fn whoever_makes_a_store_and_is_killed_leaves_none_or_a_whole_one() {
    for (at, is_there) in SIGHTS.into_iter().cycle().take(SIGHTS.len() * 4) {
        let place = Place::new();
        let file = place.file();
        let mut child = Child::start(&["write", file.to_str().unwrap(), "r", "1"]);
        while !is_there(&file) && !child.has_ended() {}
        child.kill();
        goes_on(&file, at);
    }
}
