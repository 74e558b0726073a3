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
    let mut wave_of: HashMap<usize, usize> = HashMap::new();
    for wave in list.waves {
        let mut members = Vec::new();
        for id in wave.tasks {
            let one = positions.get(id.as_str()).map(|at| vec![*at]);
            let tasks = one.or_else(|| drafts.parents.get(&id).cloned());
            let tasks = tasks.ok_or_else(|| format!("it names `{id}`, which is no task"))?;
            for at in tasks {
                if wave_of.insert(at, waves.len()).is_some() {
                    return Err(format!("it names `{id}` twice"));
                }
                members.push(at);
            }
        }
        waves.push(members);
    }
    for (at, wave) in &wave_of {
        for need in &drafts.tasks[*at].task.needs {
            let one = positions.get(need.id.as_str()).into_iter();
            let beneath = drafts.parents.get(need.id.as_str()).into_iter().flatten();
            if one
                .chain(beneath)
                .any(|need| need != at && wave_of.get(need).is_some_and(|need| need >= wave))
            {
                let id = &drafts.tasks[*at].task.id;
                return Err(format!(
                    "task `{id}` needs `{}`, which the graph has no earlier",
                    need.id
                ));
            }
        }
    }
    Ok(waves)
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
}
