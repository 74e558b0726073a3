//! Plans of all formats: the same plan each time, faults and tasks at places that exist, tasks that can be ordered.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use sequester_core::graph::TaskGraph;
use sequester_core::id::TaskId;
use sequester_core::plan::{self, Format, Options, step};
use sequester_fuzz::assert_inside;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, source)) = bytes.split_first() else { return };
    let options = Options {
        format: Format::ALL.get(usize::from(*which) % (Format::ALL.len() + 1)).copied(),
        parallel: which & 0x80 != 0,
        file_name: if which & 0x40 == 0 { "plan.md" } else { "tasks.json" }.to_owned(),
        ..Options::default()
    };
    let parsed = plan::parse(source, &options);
    assert_eq!(parsed, plan::parse(source, &options));
    let valid = source.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let body = valid.strip_prefix('\u{feff}').unwrap_or(valid);
    assert!(!parsed.plan.tasks.is_empty() || !parsed.faults.is_empty());
    let (graph, more) = TaskGraph::new(&parsed.plan);
    for fault in parsed.faults.iter().chain(&parsed.warnings).chain(&more) {
        assert_inside(body, fault.place, &fault.message);
    }
    let Ok(text) = std::str::from_utf8(source) else {
        assert!(parsed.plan.tasks.is_empty());
        return;
    };
    let mut ids = BTreeSet::new();
    for task in &parsed.plan.tasks {
        let is_new = ids.insert(task.id.clone());
        assert!(
            is_new || !parsed.faults.is_empty() || !more.is_empty(),
            "{} is there twice",
            task.id
        );
        assert_inside(body, task.place, "of a task");
        let own = body.get(task.span.clone()).expect("a span outside of the plan");
        let is_composed =
            matches!(parsed.plan.format, Format::TaskMaster | Format::Gsd | Format::Cursor);
        assert!(is_composed || own == task.text);
        for one in
            task.steps.iter().map(|step| step.place).chain(task.files.iter().map(|file| file.place))
        {
            assert_inside(body, one, "of a step or file");
        }
        let lines = task.text.split('\n').count();
        for one in step::read(&task.text).steps {
            assert!(
                (1..=lines).contains(&(one.line as usize)),
                "step at line {} of {lines}",
                one.line
            );
        }
    }
    let placed: Vec<TaskId> = graph.waves().concat();
    assert!(placed.iter().all(|id| ids.contains(id)));
    // Ticking changes boxes and nothing else.
    if let Ok(ticked) = plan::tick(&parsed.plan, text, text, &ids) {
        let plain = |text: &str| {
            text.replace("[x]", "[ ]")
                .replace("[X]", "[ ]")
                .replace("[-]", "[ ]")
                .replace("[~]", "[ ]")
        };
        assert_eq!(ticked.text.len(), text.len());
        assert!(ticked.boxes > 0 || plain(&ticked.text) == plain(text));
    }
});
