//! A run as lines of JSON.

use sequester_core::run::Recorded;
use sequester_core::store::{ErrorKind, RunStore};
use serde_json::Value;

use crate::fixture::{Place, all, append, batch, naming, run};

#[test]
fn every_event_is_a_line_that_can_be_read_back() {
    let place = Place::filled(600);
    let store = place.open();
    let mut out = Vec::new();
    store.export(&run("r"), &mut out).unwrap();
    let lines: Vec<Recorded> = out
        .split_inclusive(|byte| *byte == b'\n')
        .map(|l| serde_json::from_slice(l).unwrap())
        .collect();
    assert_eq!(lines, all(&store, "r"));
    let first: Value =
        serde_json::from_slice(out.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(
        first,
        serde_json::json!({
            "seq": 1, "at": "1970-01-01T00:00:01.000Z", "run": "r", "task": "task",
            "event": "step_skipped", "step": "review", "reason": "event 0"
        })
    );
}

#[test]
fn blobs_are_text_where_they_are_and_base_64_elsewhere() {
    let place = Place::new();
    let store = place.open();
    let lease = store.lease(&run("r")).unwrap();
    append(&lease, naming("grüße\n".as_bytes())).unwrap();
    append(&lease, naming(&[0xff, 0x00])).unwrap();
    append(&store.lease(&run("other")).unwrap(), naming(b"foreign")).unwrap();
    let mut out = Vec::new();
    store.export_blobs(&run("r"), &mut out).unwrap();
    let digest = |bytes: &[u8]| sequester_core::digest::Digest::of(bytes);
    let wanted = format!(
        "{{\"blob\":\"{}\",\"text\":\"grüße\\n\"}}\n{{\"blob\":\"{}\",\"base64\":\"/wA=\"}}\n",
        digest("grüße\n".as_bytes()),
        digest(&[0xff, 0x00])
    );
    assert_eq!(String::from_utf8(out).unwrap(), wanted);
}

#[test]
fn an_export_ends_where_the_damage_begins_and_not_before() {
    let place = Place::filled(300);
    place.sql("UPDATE events SET body = body || ' ' WHERE seq = 290");
    let mut out = Vec::new();
    let error = place.open().export(&run("r"), &mut out).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Damaged);
    assert!(error.message.starts_with("Event 290 of"), "{}", error.message);
    assert_eq!(out.split(|byte| *byte == b'\n').count() - 1, 289);
}

#[test]
fn an_empty_run_exports_nothing_and_one_that_is_not_there_is_named() {
    let place = Place::new();
    let store = place.open();
    append(&store.lease(&run("r")).unwrap(), batch(&[])).unwrap();
    let mut out = Vec::new();
    store.export(&run("r"), &mut out).unwrap();
    store.export_blobs(&run("r"), &mut out).unwrap();
    assert!(out.is_empty());
    assert_eq!(store.export(&run("no"), &mut out).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(store.export_blobs(&run("no"), &mut out).unwrap_err().kind, ErrorKind::NotFound);
}
