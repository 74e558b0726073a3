//! Bad luck: a clear error, and nothing lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::Duration;

use sequester_core::moment::Moment;
use sequester_core::store::{ErrorKind, Letter, RunStore};
use sequester_store::{Options, Rule, Store};

use crate::child::Child;
use crate::fixture::{Place, all, append, batch, naming, run};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_made_belongs_to_its_owner_alone() {
    let place = Place::new();
    let store = place.open();
    append(&store.lease(&run("r")).unwrap(), batch(&["x"])).unwrap();
    let file = place.file();
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(&place.leases()), 0o700);
    for name in ["store.db", "store.db-wal", "store.db-shm", "store.db-leases/gate"] {
        assert_eq!(mode(&file.with_file_name(name)), 0o600, "{name}");
    }
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let place = Place::filled(1);
    place.sql("PRAGMA user_version = 99");
    let before = fs::read(place.file()).unwrap();
    for opened in [Store::open(&place.file()), Store::open_reading(&place.file())] {
        let error = opened.err().unwrap();
        assert_eq!(error.kind, ErrorKind::Newer);
        let end = "store.db` has version 99; this program knows versions up to 2.";
        assert!(error.message.ends_with(end), "{}", error.message);
        assert_eq!(error.hint, "Use the newer `sequester` that wrote it.");
    }
    assert!(fs::read(place.file()).unwrap() == before);
}

#[test]
fn an_event_of_a_later_kind_is_not_guessed_at() {
    let place = Place::filled(1);
    let body = r#"{"seq":1,"at":"2026-11-16T09:05:12.345Z","run":"r","event":"moon_landed"}"#;
    let hash = blake3::Hasher::new().update(&[0; 32]).update(body.as_bytes()).finalize();
    place.sql(&format!(
        "UPDATE events SET body = '{body}', hash = x'{hash}'; UPDATE runs SET hash = x'{hash}'"
    ));
    let error = place.open().events(&run("r"), 0, 9).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Newer);
    assert!(error.message.starts_with("Event 1 of run `r` is of no kind"), "{}", error.message);
}

#[test]
fn a_full_disk_loses_nothing_and_nothing_is_kept_after_what_is_missing() {
    let place = Place::filled(1);
    let store = place.open_with(Options { most_pages: Some(64), ..Options::default() });
    let lease = store.lease(&run("r")).unwrap();
    let large = lease.append(Moment(1), naming(&vec![7; 1 << 20]));
    let small = lease.append(Moment(1), batch(&["after it"]));
    let error = futures_executor::block_on(large).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Full);
    assert!(error.message.starts_with("The disk of the store `"), "{}", error.message);
    assert!(futures_executor::block_on(small).is_err());
    assert!(append(&lease, batch(&["later"])).is_err());
    drop(lease);
    assert_eq!(all(&store, "r").len(), 1);
    append(&store.lease(&run("r")).unwrap(), batch(&["resumed"])).unwrap();
    assert_eq!(all(&store, "r").len(), 2);
}

#[test]
fn one_run_that_is_fenced_out_does_not_hold_up_the_others() {
    let place = Place::new();
    let store = place.open();
    let (old, other) = (store.lease(&run("r")).unwrap(), store.lease(&run("other")).unwrap());
    fs::remove_dir_all(place.leases()).unwrap();
    let _new = store.lease(&run("r")).unwrap();
    let at = Moment(1);
    let (late, fine) = (old.append(at, batch(&["late"])), other.append(at, batch(&["fine"])));
    assert_eq!(futures_executor::block_on(late).unwrap_err().kind, ErrorKind::Held);
    assert_eq!(futures_executor::block_on(fine).unwrap().len(), 1);
}

#[test]
fn a_store_that_somebody_locks_for_too_long_says_so() {
    let place = Place::filled(1);
    let patience = Duration::from_millis(50);
    let store = place.open_with(Options { patience, ..Options::default() });
    let lease = store.lease(&run("r")).unwrap();
    let other = rusqlite::Connection::open(place.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(append(&lease, batch(&["x"])).unwrap_err().kind, ErrorKind::Locked);
    let letter = Letter::Cancel { by: "somebody".to_owned() };
    let error = store.post(&run("r"), &letter).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Locked);
    assert!(error.message.ends_with("store.db` for too long."), "{}", error.message);
    assert_eq!(all(&store, "r").len(), 1, "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    store.post(&run("r"), &letter).unwrap();
}

#[test]
fn who_opened_for_reading_changes_nothing() {
    let place = Place::new();
    assert_eq!(Store::open_reading(&place.file()).err().unwrap().kind, ErrorKind::NotFound);
    assert!(!place.file().parent().unwrap().exists());
    let place = Place::filled(1);
    let store = Store::open_reading(&place.file()).unwrap();
    assert_eq!(all(&store, "r").len(), 1);
    assert!(!store.is_held(&run("r")).unwrap());
    let letter = Letter::Cancel { by: "somebody".to_owned() };
    for error in [
        store.lease(&run("r")).err(),
        store.post(&run("r"), &letter).err(),
        store.gc(&Rule::Named(Vec::new())).err(),
    ] {
        assert_eq!(error.unwrap().kind, ErrorKind::ReadOnly);
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let place = Place::filled(1);
    let folder = place.file().parent().unwrap().to_owned();
    for path in [place.folder.path(), &folder, &place.leases()] {
        fs::set_permissions(path, Permissions::from_mode(0o555)).unwrap();
    }
    // Root is let through everywhere, so somebody else has to try; others try as they are.
    let root = chown(place.file(), Some(65_534), Some(65_534)).is_ok();
    let start = if root { Child::start_as_nobody } else { Child::start };
    let mut child = start(&["try", place.file().to_str().unwrap()]);
    let writing = child.wait_for("open ");
    assert!(writing.starts_with("ReadOnly: "), "{writing}");
    let reading = child.wait_for("open_reading ");
    assert!(reading.starts_with("ReadOnly: "), "{reading}");
    assert!(child.end().success());
    for path in [place.folder.path(), &folder, &place.leases()] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_link_or_a_pipe_in_its_place_is_refused() {
    let outside = Place::filled(1);
    let place = Place::new();
    let folder = place.file().parent().unwrap().to_owned();
    symlink(outside.file().parent().unwrap(), &folder).unwrap();
    let refused = || Store::open(&place.file()).err().unwrap();
    assert!(refused().message.contains("is no place for a store"), "{}", refused());
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    symlink(outside.file(), place.file()).unwrap();
    assert!(refused().message.contains("is no place for a store"), "{}", refused());
    assert!(Store::open_reading(&place.file()).is_err());
    fs::remove_file(place.file()).unwrap();
    symlink("/dev/null", folder.join("store.db-leases")).unwrap();
    assert_eq!(refused().kind, ErrorKind::Broken);
}
