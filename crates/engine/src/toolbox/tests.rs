use std::sync::Arc;

use futures_util::FutureExt;
use sequester_core::future::BoxFuture;
use sequester_core::message::Call;
use sequester_core::secret::{SecretSet, redact};
use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec, Toolbox};
use sequester_testkit::SECRET;
use serde_json::{Value, json};

use super::*;

/// Tools that say a fixed text.
struct Says(&'static [&'static str], String);

impl Toolbox for Says {
    fn specs(&self) -> Vec<Spec> {
        let spec = |name: &&'static str| Spec {
            name: (*name).into(),
            description: "".into(),
            parameters: Arc::new(json!({})),
            effect: Effect::Reads,
        };
        self.0.iter().map(spec).collect()
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move { Outcome::Output(self.1.clone()).into() })
    }
}

fn names(toolbox: &dyn Toolbox) -> Vec<String> {
    toolbox.specs().into_iter().map(|spec| spec.name.into_owned()).collect()
}

fn call(toolbox: &dyn Toolbox, name: &str, arguments: Value) -> Outcome {
    let call = Call { id: "1".to_owned(), name: name.to_owned(), arguments };
    let invocation = Invocation { call, seen: std::collections::BTreeMap::new() };
    toolbox.call(&invocation).now_or_never().map(|returned| returned.outcome).unwrap()
}

#[test]
fn what_is_filtered_out_is_neither_listed_nor_callable() {
    let toolbox = Filtered::new(Says(&["Read", "Write"], "x".to_owned()), ["Read".to_owned()]);
    assert_eq!(names(&toolbox), ["Read"]);
    assert_eq!(call(&toolbox, "Read", json!({})), Outcome::Output("x".to_owned()));
    let refused = "There is no tool `Write` in this profile.";
    assert_eq!(call(&toolbox, "Write", json!({})), Outcome::Refused(refused.to_owned()));
}

#[test]
fn secrets_are_gone_before_the_text_is_cut() {
    let text = format!("{}\ntoken {}p_{SECRET}\n{}", "x".repeat(60), "gh", "y".repeat(2_000));
    // Cut first, the limit would fall into the secret and hide it from the rules.
    let toolbox =
        Capped { inner: Redacted::new(Says(&["Read"], text), SecretSet::default()), bytes: 296 };
    let Outcome::Output(text) = call(&toolbox, "Read", json!({})) else { panic!("no output") };
    assert!(!text.contains(&SECRET[..8]) && text.contains("[redacted: "), "{text}");
    assert!(text.len() <= 296 && text.contains("bytes were cut here"), "{text}");
}

/// Tools that give back what they are asked for, and tell of a secret that they took out.
struct Echoes;

impl Toolbox for Echoes {
    fn specs(&self) -> Vec<Spec> {
        Vec::new()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            let text = |key: &str| invocation.call.arguments[key].as_str().unwrap_or("").to_owned();
            let mut returned = Returned::from(Outcome::Output(text("says")));
            let taken = text("takes");
            returned.secrets.learn(&taken, &redact(&taken).found);
            returned
        })
    }
}

#[test]
fn a_secret_that_was_known_once_is_hidden_in_later_outputs() {
    let [known, told, taken] = ["aa", "bb", "cc"].map(|one| format!("{one}7&{one}Kq2!"));
    let assign = |value: &str| format!("DB_PASS={value}");
    let mut secrets = SecretSet::default();
    let context = assign(&known);
    secrets.learn(&context, &redact(&context).found);
    let toolbox = Redacted::new(Echoes, secrets);
    let says = |says: &str| call(&toolbox, "x", json!({ "says": says }));
    let hidden = Outcome::Output("login([redacted: assigned-password])".to_owned());
    let login = |value: &str| format!("login({value})");
    assert_eq!(says(&login(&known)), hidden);
    assert_eq!(says(&login(&told)), Outcome::Output(login(&told)), "not known yet");
    says(&assign(&told));
    assert_eq!(says(&login(&told)), hidden);
    call(&toolbox, "x", json!({ "says": "", "takes": assign(&taken) }));
    assert_eq!(says(&login(&taken)), hidden);
    says(&assign("swordfish"));
    let word = Outcome::Output("a swordfish".to_owned());
    assert_eq!(says("a swordfish"), word, "a plain word is hidden at its place only");
}

#[test]
fn no_secret_that_a_tool_tells_of_is_recorded() {
    let toolbox = Redacted::new(Echoes, SecretSet::default());
    let arguments = json!({ "says": "", "takes": format!("DB_PASS={}", "k7&q".repeat(3)) });
    let call = Call { id: "1".to_owned(), name: "x".to_owned(), arguments };
    let invocation = Invocation { call, seen: std::collections::BTreeMap::new() };
    let returned = toolbox.call(&invocation).now_or_never().unwrap();
    assert!(returned.secrets.is_empty());
}

#[test]
fn joined_toolboxes_route_by_name_and_the_first_wins() {
    let boxes: Vec<Box<dyn Toolbox>> = vec![
        Box::new(Says(&["Read"], "first".to_owned())),
        Box::new(Says(&["Read", "Grep"], "second".to_owned())),
    ];
    let toolbox = Joined(boxes);
    assert_eq!(names(&toolbox), ["Read", "Grep"]);
    assert_eq!(call(&toolbox, "Read", json!({})), Outcome::Output("first".to_owned()));
    assert_eq!(call(&toolbox, "Grep", json!({})), Outcome::Output("second".to_owned()));
    assert!(matches!(call(&toolbox, "Bash", json!({})), Outcome::Refused(_)));
}

#[test]
fn a_request_for_an_ignored_file_asks_a_person_and_others_say_why_not() {
    let toolbox = Requests::new(|path| match path.as_str() {
        "dist/a.js" | ".git/config" | ".sequester/x" => Standing::Ignored,
        "new.js" => Standing::Uncommitted,
        "src/a.js" => Standing::InWorkspace,
        _ => Standing::Absent,
    });
    let ask = |paths: Value| {
        call(&toolbox, "request_files", json!({"paths": paths, "reason": " to\n look "}))
    };
    let question = "May the subagent see `dist/a.js`, which git ignores? It says: to look";
    let files = vec!["dist/a.js".to_owned()];
    let asked = |question: &str| {
        let (question, files) = (question.to_owned(), files.clone());
        Outcome::NeedsApproval { question, files }
    };
    assert_eq!(ask(json!(["dist/a.js"])), asked(question));
    let both = format!(
        "{question}\nIt cannot have the others it asked for:\n`.env` may hold secrets and cannot be had.\n"
    );
    assert_eq!(ask(json!(["dist/a.js", ".env"])), asked(&both));
    for closed in [".git/config", ".sequester/x", ".GIT/config", "sub/.git/config"] {
        let told = format!("`{closed}` belongs to git or to this program and cannot be had.\n");
        assert_eq!(ask(json!([closed])), Outcome::Failed(told));
    }
    let told = "`new.js` is not committed; a person can add it or use `--include-dirty`.\n";
    assert_eq!(ask(json!(["new.js"])), Outcome::Failed(told.to_owned()));
    let long = json!({"paths": ["dist/a.js"], "reason": "é".repeat(1_000)});
    let Outcome::NeedsApproval { question: asked, .. } = call(&toolbox, "request_files", long)
    else {
        panic!("no question")
    };
    assert!(asked.ends_with(&format!("says: {}...", "é".repeat(300))), "{asked}");
    let told = "`src/a.js` is in your workspace: use Read.\n`b` does not exist.\n\
                `.env` may hold secrets and cannot be had.\n`../x` is outside of the repository and cannot be had.\n";
    assert_eq!(ask(json!(["src/a.js", "b", ".env", "../x"])), Outcome::Failed(told.to_owned()));
    assert!(matches!(ask(json!("src/a.js")), Outcome::Failed(_)));
}

/// Tells when it is gone.
struct Held(Arc<std::sync::atomic::AtomicBool>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Toolbox for Held {
    fn specs(&self) -> Vec<Spec> {
        Vec::new()
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async { Outcome::Output(String::new()).into() })
    }
}

#[test]
fn tools_whose_call_was_given_up_while_they_were_made_are_gone_with_their_box() {
    let gone = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (began, begins) = std::sync::mpsc::channel();
    let theirs = Arc::clone(&gone);
    let toolbox = Lazy::new(Vec::new(), move || {
        began.send(()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        Ok(Box::new(Held(Arc::clone(&theirs))) as Box<dyn Toolbox>)
    });
    crate::block_on(async move {
        let call = Call { id: "1".to_owned(), name: "Read".to_owned(), arguments: json!({}) };
        let invocation = Invocation { call, seen: std::collections::BTreeMap::new() };
        assert!(toolbox.call(&invocation).now_or_never().is_none());
        begins.recv().unwrap();
        drop(toolbox);
        assert!(gone.load(std::sync::atomic::Ordering::SeqCst));
    })
    .unwrap();
}
