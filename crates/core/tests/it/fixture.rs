//! The fixtures, and short forms of what was read from them.

use sequester_core::fault::Fault;
use sequester_core::graph::TaskGraph;
use sequester_core::plan::{self, FileRef, Format, Options, Parsed, Plan, Reason, Task};

macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        /// Every fixture by its path under `fixtures/plans`.
        pub(crate) const ALL: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../fixtures/plans/", $name)))),*];
    };
}

fixtures!(
    "kiro/flat.md",
    "kiro/plain.md",
    "kiro/ugly.md",
    "native/conflict.md",
    "native/plain.md",
    "native/ugly.md",
    "openspec/plain.md",
    "openspec/ugly.md",
    "openspec/unnumbered/tasks.md",
    "speckit/conflict.md",
    "speckit/plain.md",
    "speckit/ugly.md",
    "superpowers/languages.md",
    "superpowers/levels.md",
    "superpowers/parallel.md",
    "superpowers/plain.md",
    "superpowers/ugly.md",
    "taskmaster/plain.json",
    "taskmaster/tagged.json",
    "taskmaster/ugly.json",
    "track/boxes.md",
    "track/headings.md",
    "track/ugly.md",
);

pub(crate) fn bytes(name: &str) -> &'static [u8] {
    ALL.iter().find(|(other, _)| *other == name).unwrap().1
}

pub(crate) fn read(name: &str) -> Parsed {
    plan::parse(bytes(name), &options(name))
}

pub(crate) fn options(name: &str) -> Options {
    Options { file_name: name.rsplit('/').next().unwrap().to_owned(), ..Options::default() }
}

pub(crate) fn text(source: &str) -> Parsed {
    plan::parse(source.as_bytes(), &Options::default())
}

/// `id: title <- needs`, with `!` for declared needs, `=path` for shared files, and the flags.
pub(crate) fn tasks(plan: &Plan) -> Vec<String> {
    plan.tasks.iter().map(task).collect()
}

fn task(task: &Task) -> String {
    let mut line = format!("{}: {}", task.id, task.title);
    for (index, need) in task.needs.iter().enumerate() {
        let reason = match &need.reason {
            Reason::Declared => "!".to_owned(),
            Reason::Order => String::new(),
            Reason::SameFile(path) => format!("={path}"),
        };
        let arrow = if index == 0 { " <-" } else { "" };
        line.extend([arrow, " ", need.id.as_str(), &reason]);
    }
    for (flag, name) in [(task.done, " (done)"), (task.optional, " (optional)")] {
        line.push_str(if flag { name } else { "" });
    }
    line
}

pub(crate) fn find<'p>(plan: &'p Plan, id: &str) -> &'p Task {
    plan.tasks.iter().find(|task| task.id.as_str() == id).unwrap()
}

pub(crate) fn files(plan: &Plan, id: &str) -> Vec<String> {
    find(plan, id).files.iter().map(shown).collect()
}

/// Files that the prose mentions.
pub(crate) fn hints(plan: &Plan, id: &str) -> Vec<String> {
    find(plan, id).hints.iter().map(|hint| shown(&hint.0)).collect()
}

fn shown(file: &FileRef) -> String {
    let lines = file.lines.map_or(String::new(), |(first, last)| format!(":{first}-{last}"));
    format!("{:?} {}{lines}", file.action, file.path)
}

pub(crate) fn parents(plan: &Plan, id: &str) -> Vec<(String, String)> {
    let parents = find(plan, id).parents.iter();
    parents.map(|parent| (parent.title.clone(), parent.text.clone())).collect()
}

pub(crate) fn waves(plan: &Plan) -> Vec<String> {
    let (graph, faults) = TaskGraph::new(plan);
    assert_eq!(faults, []);
    let join = |wave: Vec<sequester_core::id::TaskId>| {
        wave.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    graph.waves().into_iter().map(join).collect()
}

/// `line:column code message`.
pub(crate) fn faults(faults: &[Fault]) -> Vec<String> {
    faults
        .iter()
        .map(|fault| {
            assert!(fault.message.ends_with('.') && fault.hint.ends_with('.'), "{fault:?}");
            format!(
                "{}:{} {:?} {}",
                fault.place.line, fault.place.column, fault.code, fault.message
            )
        })
        .collect()
}

/// Reads a fixture that has nothing wrong with it.
pub(crate) fn clean(name: &str, format: Format) -> Plan {
    let parsed = read(name);
    assert_eq!(parsed.faults, []);
    assert_eq!(parsed.plan.format, format);
    parsed.plan
}
