use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sequester_core::change::Change;
use sequester_core::future::BoxFuture;
use sequester_core::jail::{Cell, Error, ErrorKind, Jail, Jails, Ran};
use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec, Toolbox};
use serde_json::{Value, json};

use super::MemoryTrees;
use super::trees::compare;

type Files = BTreeMap<String, Vec<u8>>;

/// Jails without a wall: workspaces are maps. `Write` puts a text at a path, `Read` gives it back. A check is `true`, `false`,
/// `has PATH` or `lacks PATH`.
#[derive(Clone)]
pub struct MemoryJails(pub MemoryTrees);

impl Jails for MemoryJails {
    fn specs(&self) -> Vec<Spec> {
        let spec = |name: &'static str, effect| Spec {
            name: name.into(),
            description: "".into(),
            parameters: Arc::new(json!({"type": "object"})),
            effect,
        };
        vec![
            spec("Read", Effect::Reads),
            spec("Grep", Effect::Reads),
            spec("Glob", Effect::Reads),
            spec("Bash", Effect::Runs),
            spec("Write", Effect::Runs),
            spec("Edit", Effect::Runs),
            spec("WebFetch", Effect::Reads),
        ]
    }

    fn open<'a>(&'a self, cell: &'a Cell) -> BoxFuture<'a, Result<Box<dyn Jail>, Error>> {
        Box::pin(async move {
            let base = self.0.files(&cell.base).map_err(|error| Error {
                kind: ErrorKind::Workspace,
                message: error.message,
                hint: String::new(),
            })?;
            let mut work = base.clone();
            for entry in cell.change.iter().flat_map(|change| &change.entries) {
                match entry.mode {
                    Some(_) => work.insert(entry.path.clone(), entry.content.clone()),
                    None => work.remove(&entry.path),
                };
            }
            let jail = Room {
                base,
                specs: self.specs(),
                work: Arc::new(Mutex::new(work)),
                last: Mutex::new(cell.change.clone().unwrap_or_default()),
            };
            Ok(Box::new(jail) as Box<dyn Jail>)
        })
    }
}

struct Room {
    base: Files,
    specs: Vec<Spec>,
    work: Arc<Mutex<Files>>,
    /// What was told last.
    last: Mutex<Change>,
}

impl Room {
    fn work(&self) -> MutexGuard<'_, Files> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jail for Room {
    fn tools(&self) -> Box<dyn Toolbox> {
        Box::new(Tools(self.specs.clone(), Arc::clone(&self.work)))
    }

    fn look(&self) -> BoxFuture<'_, Result<Option<Change>, Error>> {
        Box::pin(async move {
            let change = compare(&self.base, &self.work());
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if change.entries == last.entries {
                return Ok(None);
            }
            last.clone_from(&change);
            Ok(Some(change))
        })
    }

    fn run<'a>(&'a self, command: &'a str, _: Duration) -> BoxFuture<'a, Result<Ran, Error>> {
        Box::pin(async move {
            let passed = match command.split_once(' ') {
                Some(("has", path)) => self.work().contains_key(path),
                Some(("lacks", path)) => !self.work().contains_key(path),
                _ => command == "true",
            };
            let output = format!("{command}: {}\n", if passed { "ok" } else { "error" });
            let (code, elapsed) = (i32::from(!passed), Duration::from_millis(1));
            Ok(Ran { code, output, elapsed, limit: None })
        })
    }

    fn harvest(self: Box<Self>) -> BoxFuture<'static, Result<Change, Error>> {
        Box::pin(async move { Ok(compare(&self.base, &self.work())) })
    }
}

struct Tools(Vec<Spec>, Arc<Mutex<Files>>);

impl Toolbox for Tools {
    fn specs(&self) -> Vec<Spec> {
        self.0.clone()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            let text = |key: &str| {
                let value = invocation.call.arguments.get(key).and_then(Value::as_str);
                value.unwrap_or_default().to_owned()
            };
            let mut files = self.1.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = match invocation.call.name.as_str() {
                "Write" => {
                    files.insert(text("path"), text("content").into_bytes());
                    Outcome::Output("Written.".to_owned())
                }
                "Read" => match files.get(&text("path")) {
                    Some(bytes) => Outcome::Output(String::from_utf8_lossy(bytes).into_owned()),
                    None => Outcome::Failed("It is not there.".to_owned()),
                },
                name => Outcome::Failed(format!("`{name}` does nothing here.")),
            };
            outcome.into()
        })
    }
}
