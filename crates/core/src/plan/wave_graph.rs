//! The waves that a newer Kiro plan gives under `## Task Dependency Graph`, as JSON.

use std::collections::HashMap;

use serde::Deserialize;

use super::markdown::{Block, Document, Kind};
use super::unit::Drafts;
use crate::fault::{Code, Fault};

#[derive(Deserialize)]
struct WaveList {
    waves: Vec<Wave>,
}

#[derive(Deserialize)]
struct Wave {
    tasks: Vec<String>,
}

/// The positions of the tasks, wave by wave; none without a graph, or, with a warning, where it cannot be used.
pub(super) fn read(document: &Document<'_>, drafts: &mut Drafts) -> Option<Vec<Vec<usize>>> {
    let is_heading = |block: &Block<'_>| {
        let title = document.text(&block.words).trim_end_matches([':', '：']);
        block.level().is_some() && title.eq_ignore_ascii_case("task dependency graph")
    };
    let at = document.blocks.iter().position(is_heading)?;
    let block = document.blocks.get(at + 1).filter(|block| matches!(block.kind, Kind::Fence(_)));
    match block.map_or(Err("it is not a JSON block of waves".to_owned()), |block| {
        waves(document.text(&block.words), drafts)
    }) {
        Ok(waves) => Some(waves),
        Err(why) => {
            drafts.warnings.push(Fault::new(
                Code::UnusedOrder,
                document.lines.place(document.blocks[at].range.start),
                format!("The task dependency graph is not used: {why}. The tasks run in the order of the plan."),
                "Correct the graph, or remove it if the order of the plan is meant.",
            ));
            None
        }
    }
}

fn waves(json: &str, drafts: &Drafts) -> Result<Vec<Vec<usize>>, String> {
    let list: WaveList =
        serde_json::from_str(json).map_err(|_| "it is not a JSON block of waves".to_owned())?;
    let ids = drafts.tasks.iter().enumerate();
    let positions: HashMap<&str, usize> =
        ids.map(|(at, draft)| (draft.task.id.as_str(), at)).collect();
    let mut waves = Vec::new();
    let mut wave_of: Vec<Option<usize>> = vec![None; drafts.tasks.len()];
    for wave in list.waves {
        let mut members = Vec::new();
        for id in wave.tasks {
            let one = positions.get(id.as_str()).map(|at| vec![*at]);
            let tasks = one.or_else(|| drafts.parents.get(&id).cloned());
            let tasks = tasks.ok_or_else(|| format!("it names `{id}`, which is no task"))?;
            for at in tasks {
                if wave_of[at].replace(waves.len()).is_some() {
                    return Err(format!("it names `{id}` twice"));
                }
                members.push(at);
            }
        }
        waves.push(members);
    }
    // The latest tasks beneath a parent are looked for once, however many tasks need it.
    let mut latest: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (at, draft) in drafts.tasks.iter().enumerate() {
        let Some(wave) = wave_of[at] else { continue };
        for need in &draft.task.needs {
            let id = need.id.as_str();
            let last = latest.entry(id).or_insert_with(|| {
                let beneath = drafts.parents.get(id).into_iter().flatten();
                last_two(positions.get(id).into_iter().chain(beneath), &wave_of)
            });
            if last.iter().any(|(other, need)| need != &at && *other >= wave) {
                return Err(format!(
                    "task `{}` needs `{id}`, which the graph has no earlier",
                    draft.task.id
                ));
            }
        }
    }
    Ok(waves)
}

/// The waves and positions of the two tasks that come last: a task that is one of them asks for the other.
fn last_two<'a>(
    tasks: impl Iterator<Item = &'a usize>,
    wave_of: &[Option<usize>],
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> =
        tasks.filter_map(|at| Some((wave_of[*at]?, *at))).collect();
    found.sort_unstable_by(|one, two| two.cmp(one));
    found.truncate(2);
    found
}

#[cfg(test)]
mod tests {
    use crate::graph::TaskGraph;
    use crate::id::TaskId;
    use crate::plan::{Options, parse};

    const PLAN: &str = "- [ ] 1. a\n- [ ] 2. b\n  - [ ] 2.1 c\n  - [ ] 2.2 d\n- [ ] 3. Checkpoint\n- [ ] 4. e\n\n## Task Dependency Graph\n\n";

    /// The waves that come out, or the warning.
    fn told(graph: &str) -> String {
        let parsed = parse(format!("{PLAN}{graph}").as_bytes(), &Options::default());
        let (graph, faults) = TaskGraph::new(&parsed.plan);
        assert_eq!((parsed.faults, faults), (vec![], vec![]));
        if let [warning] = &parsed.warnings[..] {
            return warning.message.clone();
        }
        let waves = graph
            .waves()
            .into_iter()
            .map(|wave| wave.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" "));
        waves.collect::<Vec<_>>().join(", ")
    }

    fn json(waves: &str) -> String {
        format!("```json\n{{\"waves\": {waves}}}\n```\n")
    }

    #[test]
    fn tasks_run_in_the_waves_of_the_graph_and_others_after_what_stands_before_them() {
        let waves = r#"[{"id": 0, "tasks": ["2.1", "4"]}, {"id": 1, "tasks": ["1", "2.2"]}]"#;
        assert_eq!(told(&json(waves)), "2.1 4, 1 2.2, 3");
        assert_eq!(told(&json(r#"[{"tasks": ["2", "4"]}, {"tasks": ["1"]}]"#)), "2.1 2.2 4, 1, 3");
    }

    #[test]
    fn a_graph_that_cannot_be_used_is_told_and_the_order_of_the_plan_holds() {
        for (graph, why) in [
            ("Words.\n".to_owned(), "it is not a JSON block of waves"),
            (json(r#"[{"tasks": ["9"]}]"#), "it names `9`, which is no task"),
            (json(r#"[{"tasks": ["1"]}, {"tasks": ["1"]}]"#), "it names `1` twice"),
        ] {
            let message = told(&graph);
            let start = format!("The task dependency graph is not used: {why}. ");
            assert!(message.starts_with(&start), "{message}");
        }
        let needs = PLAN
            .replace("2. b\n", "2. b (depends on 4)\n")
            .replace("2.1 c", "2.1 c (depends on 4)");
        let plan = format!("{needs}{}", json(r#"[{"tasks": ["2.1"]}, {"tasks": ["4"]}]"#));
        let parsed = parse(plan.as_bytes(), &Options::default());
        let expected = "task `2.1` needs `4`, which the graph has no earlier";
        assert!(
            parsed.warnings.iter().any(|one| one.message.contains(expected)),
            "{:?}",
            parsed.warnings
        );
    }

    #[test]
    fn the_first_task_that_stands_too_early_is_told() {
        let task = |at: u32| format!("- [ ] {at}. a (depends on 100)\n");
        let tasks: String = (1..100).map(task).collect();
        let ids: Vec<String> = (1..100).rev().map(|at| format!("\"{at}\"")).collect();
        let waves = json(&format!(r#"[{{"tasks": [{}]}}, {{"tasks": ["100"]}}]"#, ids.join(",")));
        let plan = format!("{tasks}- [ ] 100. b\n\n## Task Dependency Graph\n\n{waves}");
        let parsed = parse(plan.as_bytes(), &Options::default());
        let told = parsed.warnings.iter().find(|one| one.message.contains("the graph has no"));
        assert!(told.unwrap().message.contains("not used: task `1` needs `100`"), "{told:?}");
        let own = "- [ ] 1. a\n  - [ ] 1.1 b (depends on 1)\n  - [ ] 1.2 c\n\n## Task Dependency Graph\n\n";
        for (graph, is_used) in [
            (r#"[{"tasks": ["1.2"]}, {"tasks": ["1.1"]}]"#, true),
            (r#"[{"tasks": ["1"]}]"#, false),
        ] {
            let parsed = parse(format!("{own}{}", json(graph)).as_bytes(), &Options::default());
            assert_eq!(parsed.warnings.is_empty(), is_used, "{:?}", parsed.warnings);
        }
    }
}
