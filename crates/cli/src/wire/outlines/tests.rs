use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

/// Parsers of which one breaks on `breaks`, and one answers `lies` with what is not there.
fn parsers(started: &Arc<AtomicUsize>) -> Confined {
    let started = Arc::clone(started);
    let start = move || {
        started.fetch_add(1, Ordering::Relaxed);
        let (stream, mut other) = UnixStream::pair().unwrap();
        thread::spawn(move || {
            while let Ok(Request { path, text }) = receive(&mut other, REQUEST_BYTES) {
                let mut symbols = Outlines.outline(&path, &text);
                if text.contains("breaks") {
                    return;
                }
                for symbol in symbols.iter_mut().filter(|_| text.contains("lies")) {
                    symbol.bytes.end += 1_000;
                }
                send(&mut other, &symbols).unwrap();
            }
        });
        Ok(Server { stream, _running: None })
    };
    Confined { start: Box::new(start), server: Mutex::default() }
}

fn rust() -> RepoPath {
    RepoPath::parse("src/a.rs").unwrap()
}

#[test]
fn a_text_that_breaks_a_parser_gets_a_plain_outline_and_the_next_one_its_own() {
    let started = Arc::default();
    let confined = parsers(&started);
    let (good, bad) = ("impl Jar {\n    fn open() {}\n}\n", "fn breaks() {}\n");
    let reader = confined.reader();
    for _ in 0..2 {
        assert_eq!(reader.outline(&rust(), good), Outlines.outline(&rust(), good));
        assert_eq!(reader.outline(&rust(), bad), Outlines::plain(&rust(), bad));
    }
    reader.end().map_err(|failure| failure.message().to_owned()).unwrap();
    // Each time one that had worked, then a fresh one: it is not to be blamed for what came before.
    assert_eq!(started.load(Ordering::Relaxed), 4);
}

#[test]
fn what_a_broken_parser_says_is_believed_only_if_it_fits_the_text() {
    let confined = parsers(&Arc::default());
    let text = "fn lies() {}\n";
    assert_eq!(confined.reader().outline(&rust(), text), Outlines::plain(&rust(), text));
}

#[test]
fn nothing_is_started_for_text_that_no_parser_reads() {
    let started = Arc::default();
    let (confined, path) = (parsers(&started), RepoPath::parse("notes.md").unwrap());
    assert_eq!(confined.reader().outline(&path, "# Jars\n").len(), 1);
    let long = "fn a() {}\n".repeat(900_000);
    assert!(!confined.reader().outline(&rust(), &long).is_empty());
    assert_eq!(started.load(Ordering::Relaxed), 0);
}

#[test]
fn without_a_jail_there_is_no_context() {
    let start = || Err(Failure::work(sequester_core::fault::Code::NoJail, "", "No.", "Hint."));
    let confined = Confined { start: Box::new(start), server: Mutex::default() };
    let reader = confined.reader();
    assert_eq!(reader.outline(&rust(), "fn a() {}\n"), Vec::new());
    assert_eq!(reader.end().err().map(|failure| failure.message().to_owned()), Some("No.".into()));
}
