//! The project's notes: every byte of the file is kept, and merging again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequester_core::id::{RunId, TaskId};
use sequester_core::notes::{self, Merged, Note, Notes};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut parts = text.splitn(3, '\0');
    let (file, content) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let section = parts.next().unwrap_or("Findings");
    let mut notes = Notes::parse(file);
    assert_eq!(notes.render(), file);
    let entries = notes.entries();
    assert_eq!(notes.standing().is_empty(), Notes::parse(file).standing().is_empty());

    let note = Note { section: section.to_owned(), content: content.to_owned() };
    let (run, task) = (RunId::new("r1"), TaskId::new("a"));
    let merged = notes.merge(&note, &run, &task);
    assert_eq!(notes.merge(&note, &run, &task), Merged::Unchanged);
    let once = notes.render();
    // Words of people stay, and the file is read back as it was written.
    let read = Notes::parse(&once);
    assert_eq!(read.entries(), notes.entries(), "{once:?}");
    let persons = |entries: &[notes::Entry]| -> Vec<String> {
        let kept = entries.iter().filter(|one| one.task.is_none() && one.section != "");
        kept.map(|one| format!("{}\n{}", one.section, one.content)).collect()
    };
    let (before, after) = (persons(&entries), persons(&read.entries()));
    assert!(before.iter().all(|one| after.contains(one)), "{merged:?} {before:?} {after:?}");

    let mut again = read.clone();
    again.settle(&run, &task, &[note]);
    let mut twice = Notes::parse(&again.render());
    twice.settle(&run, &task, &notes::joined(&[]));
    let gone = twice.render();
    twice.settle(&run, &task, &[]);
    assert_eq!(twice.render(), gone);

    let mut small = Notes::parse(&once);
    let said = small.compact(200);
    assert!(small.render().len() <= once.len());
    assert!(small.render().len() <= 200 || !said.is_empty());
    if let Some(rescued) = notes::rescue(&once, file) {
        assert!(notes::rescue(&rescued, file).is_none(), "{rescued:?}");
    }
});
