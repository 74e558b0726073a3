//! What is not what was written is named.

use std::fs;

use sequester_core::digest::Digest;
use sequester_core::store::{Error, ErrorKind, RunStore};
use sequester_store::Store;

use crate::fixture::{Place, append, naming, run};

fn read(place: &Place) -> Result<usize, Error> {
    Ok(Store::open_reading(&place.file())?.events(&run("r"), 0, usize::MAX)?.len())
}

fn assert_named(place: &Place, seq: u64) {
    let error = read(place).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Damaged);
    let sentence = format!(
        "Event {seq} of run `r` is not the one that was written: the chain does not fit there."
    );
    assert_eq!(error.message, sentence);
}

#[test]
fn any_flipped_bit_of_an_event_is_named_by_its_number() {
    let place = Place::filled(3);
    let bytes = fs::read(place.file()).unwrap();
    let connection = rusqlite::Connection::open(place.file()).unwrap();
    let body: String = connection
        .query_row("SELECT body FROM events WHERE seq = 2", [], |row| row.get(0))
        .unwrap();
    drop(connection);
    let found: Vec<usize> = (0..bytes.len() - body.len())
        .filter(|at| bytes[*at..*at + body.len()] == *body.as_bytes())
        .collect();
    let [start] = found[..] else { panic!("the body is there {} times", found.len()) };
    for at in 0..body.len() {
        let mut bytes = bytes.clone();
        bytes[start + at] ^= 1 << (at % 8);
        fs::write(place.file(), bytes).unwrap();
        assert_named(&place, 2);
    }
    fs::write(place.file(), bytes).unwrap();
    assert_eq!(read(&place).unwrap(), 3);
}

#[test]
fn a_changed_row_is_named_whatever_was_changed() {
    for (change, seq) in [
        ("UPDATE events SET body = replace(body, 'event 1', 'event 9') WHERE seq = 2", 2),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 2", 2),
        ("UPDATE events SET hash = x'00' WHERE seq = 3", 3),
        ("UPDATE events SET seq = 9 WHERE seq = 4", 4),
        ("UPDATE runs SET hash = zeroblob(32)", 4),
        ("UPDATE runs SET count = 3", 3),
        ("UPDATE runs SET count = 5", 5),
        ("INSERT INTO events SELECT run, 5, body, hash FROM events WHERE seq = 4", 5),
    ] {
        let place = Place::filled(4);
        place.sql(change);
        assert_named(&place, seq);
    }
}

#[test]
fn missing_events_are_named_at_the_start_in_the_middle_and_at_the_end() {
    for (gone, seq) in [("seq = 1", 1), ("seq = 2", 2), ("seq = 4", 4), ("seq > 2", 3), ("1", 1)] {
        let place = Place::filled(4);
        place.sql(&format!("DELETE FROM events WHERE {gone}"));
        assert_named(&place, seq);
    }
}

#[test]
fn an_event_of_another_run_does_not_fit() {
    let place = Place::filled(2);
    let store = place.open();
    append(&store.lease(&run("other")).unwrap(), naming(b"x")).unwrap();
    drop(store);
    place.sql(
        "UPDATE events SET (body, hash) = (SELECT body, hash FROM events WHERE run = 2) WHERE run = 1 AND seq = 1",
    );
    // The hash is right for that place, but the event says whose it is.
    assert_named(&place, 1);
}

#[test]
fn a_later_page_begins_where_the_one_before_ended() {
    let place = Place::filled(4);
    place.sql("UPDATE events SET hash = zeroblob(32) WHERE seq = 2");
    let store = place.open();
    assert!(store.events(&run("r"), 0, 1).is_ok());
    for (after, seq) in [(1, 2), (2, 3)] {
        let error = store.events(&run("r"), after, 1).unwrap_err();
        assert!(error.message.starts_with(&format!("Event {seq} of")), "{}", error.message);
    }
    assert!(store.events(&run("r"), 3, 1).is_ok());
}

#[test]
fn a_damaged_blob_is_named() {
    let place = Place::filled(1);
    let store = place.open();
    append(&store.lease(&run("r")).unwrap(), naming(b"bytes")).unwrap();
    let digest = Digest::of(b"bytes");
    place.sql("UPDATE blobs SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB)");
    let error = store.blob(&digest).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Damaged);
    assert_eq!(error.message, format!("The blob `{digest}` is not what its name says."));
    assert_eq!(store.damaged(&run("r")).unwrap(), [Some(digest)]);
    let other = store.blob(&Digest::of(b"never kept")).unwrap_err();
    assert_eq!(other.kind, ErrorKind::NotFound);
    place.sql("DELETE FROM blobs");
    assert_eq!(store.damaged(&run("r")).unwrap(), [None]);
}

#[test]
fn a_corrupted_page_is_named_by_its_file() {
    let place = Place::filled(300);
    let mut bytes = fs::read(place.file()).unwrap();
    for page in bytes.chunks_mut(4096).skip(2) {
        page[..64].fill(0xff);
    }
    fs::write(place.file(), bytes).unwrap();
    let error = read(&place).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Damaged);
    assert!(error.message.contains("store.db` is damaged"), "{}", error.message);
}

#[test]
fn a_missing_table_is_damage() {
    for table in ["events", "runs", "blobs"] {
        let place = Place::filled(1);
        place.sql(&format!("PRAGMA foreign_keys = OFF; DROP TABLE {table}"));
        let store = place.open();
        let read = store.events(&run("r"), 0, 9).and(store.blob(&Digest::of(b"x")).map(drop));
        assert_eq!(read.unwrap_err().kind, ErrorKind::Damaged, "{table}");
    }
}

#[test]
fn what_is_no_database_or_not_ours_is_left_as_it_is() {
    let place = Place::filled(0);
    place.sql("PRAGMA application_id = 7");
    let foreign = fs::read(place.file()).unwrap();
    for bytes in [b"These are my notes. ".repeat(300), foreign] {
        let place = Place::new();
        fs::create_dir_all(place.file().parent().unwrap()).unwrap();
        fs::write(place.file(), &bytes).unwrap();
        for error in [Store::open(&place.file()), Store::open_reading(&place.file())] {
            let error = error.err().unwrap();
            assert_eq!(error.kind, ErrorKind::Damaged);
            assert!(error.message.contains("store.db`"), "{}", error.message);
        }
        assert!(fs::read(place.file()).unwrap() == bytes);
    }
}
