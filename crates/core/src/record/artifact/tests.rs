use super::*;
use crate::report::Artifact;

fn left(id: &str, label: Label, refs: &[&str]) -> Left {
    let artifact = Artifact {
        label,
        content: format!("About {id}."),
        relevance: None,
        refs: refs.iter().map(|one| (*one).to_owned()).collect(),
    };
    Left { id: id.to_owned(), artifact }
}

fn of(task: &str, all: Vec<Left>) -> Vec<Record> {
    let kept = Kept { artifacts: all, ..Kept::default() };
    artifacts((&TaskId::new(task), "A title"), &["a.rs".to_owned()], [&kept])
}

#[test]
fn an_artifact_is_a_record_of_its_task_with_its_refs() {
    let mut one = left("decision-1", Label::Decision, &["A/finding-1", "a.rs"]);
    one.artifact.relevance = Some("storage".to_owned());
    let [record] = of("A", vec![one]).try_into().unwrap();
    let expected = Record {
        id: "A/decision-1".into(),
        task: TaskId::new("A"),
        kind: Kind::Artifact,
        title: "storage".to_owned(),
        text: "About decision-1.".to_owned(),
        paths: vec!["a.rs".to_owned()],
        refs: vec!["A/finding-1".to_owned(), "a.rs".to_owned()],
        label: "decision".to_owned(),
    };
    assert_eq!(record, expected);
}

#[test]
fn a_secret_in_an_artifact_is_redacted() {
    let mut one = left("finding-1", Label::Finding, &[]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    one.artifact.content = format!("The token is {secret}.");
    let [record] = of("A", vec![one]).try_into().unwrap();
    assert!(!record.text.contains(&secret), "{}", record.text);
}

#[test]
fn a_todo_is_open_until_something_that_was_done_refers_to_it() {
    let mut all = of(
        "A",
        vec![
            left("todo-1", Label::Todo, &[]),
            left("todo-2", Label::Todo, &[]),
            left("todo-3", Label::Todo, &["A/todo-1"]),
            left("error-1", Label::Error, &["A/todo-3"]),
        ],
    );
    let open = |all: &[Record]| -> Vec<String> {
        open_todos(all.iter()).iter().map(|one| one.id.to_string()).collect()
    };
    // Neither another TODO nor an error does what is to be done.
    assert_eq!(open(&all), ["A/todo-1", "A/todo-2", "A/todo-3"]);
    all.extend(of("B", vec![left("decision-1", Label::Decision, &["A/todo-2", "a.rs"])]));
    all.extend(of("C", vec![left("todo-1", Label::Todo, &[])]));
    assert_eq!(open(&all), ["A/todo-1", "A/todo-3", "C/todo-1"]);
}
