use super::*;
use crate::report::FieldType;

fn read(text: &str) -> Workflows {
    let origin = Origin::Repository(".sequester/workflows/own.yaml".to_owned());
    Workflows::read(&[Source { origin, text: text.to_owned() }])
}

#[test]
fn all_built_in_workflows_are_read() {
    let names: Vec<&str> = built_in().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["solo", "chain", "pipeline", "build", "parallel", "adaptive"]);
    let agents = built_in().iter().flat_map(|one| &one.steps).filter_map(|one| one.agent.as_ref());
    for agent in agents {
        assert!(crate::agent::find(agent).is_some(), "{agent}");
    }
}

#[test]
fn a_workflow_of_a_file_takes_the_place_of_a_built_in_one_once_it_is_accepted() {
    let text = "name: solo\nsteps:\n  - {id: a, agent: writer, retries: 2}\n";
    let origin = Origin::Accepted(".sequester/workflows/own.yaml".to_owned());
    let known = Workflows::read(&[Source { origin, text: text.to_owned() }]);
    assert_eq!(known.find("solo").unwrap().steps[0].retries, 2);
    assert_eq!((known.iter().count(), known.faults().len()), (6, 0));
    let known = read(text);
    assert_ne!(known.find("solo").unwrap().steps[0].retries, 2);
    assert!(known.faults()[0].fault.code.is_trust(), "{:?}", known.faults());
}

#[test]
fn all_that_is_wrong_with_a_workflow_is_said_with_its_line() {
    let text = "name: mine
steps:
  - {id: a, agent: writer, check: [tests]}
  - {id: a, agent: writer}
  - {id: b}
  - {id: c, agent: writer, needs: [d], when: maybe, retries: -1}
  - {id: e, check: [speed], speed: 1}
";
    let known = read(text);
    assert!(known.find("mine").is_none());
    let lines: Vec<u32> = known.faults().iter().map(|one| one.fault.place.line).collect();
    assert_eq!(lines, [3, 4, 5, 6, 6, 6, 7, 7, 7], "{:#?}", known.faults());
}

#[test]
fn in_two_stages_a_change_is_judged_by_what_was_asked_before_how_it_is_made() {
    let writes = |agent: &str| agent == "writer" || agent == "executor";
    let steps = |name: &str| {
        let known = read("");
        let staged = known.find(name).unwrap().in_two_stages(writes);
        let told = |step: &Step| format!("{} {:?}", step.id, step.agent.as_deref().unwrap_or("-"));
        staged.steps.iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(
        steps("build"),
        [
            "write \"writer\"",
            "check \"-\"",
            "review-spec \"spec-reviewer\"",
            "review \"quality-reviewer\""
        ]
    );
    // A plan is no change.
    assert!(steps("pipeline").contains(&"review \"reviewer\"".to_owned()));
}

#[test]
fn a_workflow_declares_phases_with_fields_of_their_own() {
    let known = read(
        "name: mine
phases:
  threats: {findings: {threats: [text], worst: text, count: number}}
  gate: {judges: true, findings: {passed: boolean, why: text}}
steps:
  - {id: threats, agent: Explore, phase: threats}
  - {id: write, agent: writer}
  - {id: gate, agent: Explore, phase: gate, needs: [write]}
",
    );
    assert_eq!(known.faults(), []);
    let mine = known.find("mine").unwrap();
    let fields = &mine.phases["threats"].findings.0;
    assert_eq!(fields["threats"], FieldType::Texts);
    assert_eq!((fields["worst"], fields["count"]), (FieldType::Text, FieldType::Number));
    let phase = |agent: &str| crate::agent::find(agent).map(|role| role.phase);
    let ids: Vec<String> = mine.completed(phase).steps.into_iter().map(|step| step.id).collect();
    assert_eq!(ids, ["threats", "write", "check", "gate"], "checks come before it judges");
    assert!(!mine.is_unjudged(phase));
}

#[test]
fn all_that_is_wrong_with_own_phases_is_said() {
    let text = "name: mine
phases:
  research: {findings: {a: text}}
  Bad Name: {findings: {a: text}}
  empty: {}
  gate: {judges: true, findings: {why: text}}
  typed: {findings: {a: date, b: [number]}, colour: red}
steps:
  - {id: a, agent: Explore, phase: nowhere}
";
    let faults =
        read(text).faults().iter().map(|one| one.fault.message.clone()).collect::<Vec<_>>();
    assert_eq!(faults.len(), 8, "{faults:#?}");
}
