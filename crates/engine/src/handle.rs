//! A handle to the tasks of a run, for a program that dispatches them itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use sequester_core::context::{
    Clarification, Content, FormKind, Given, IsolatedContext, Kind, Refusal, TaskCall,
};
use sequester_core::id::{TaskId, TreeId};
use sequester_core::path::RepoPath;
use sequester_core::run::workflow::WRITER;
use sequester_core::run::{RunState, TaskRun};

use crate::controller::bases::{Bases, Made, Recipe};
use crate::controller::reveal::given;
use crate::controller::{Trouble, Wanted, World};

/// Gives out the isolated contexts of a run's tasks, each over the task's own base, and keeps them until something is added.
///
/// ```no_run
/// use sequester_core::context::TaskCall;
/// use sequester_core::run::RunState;
/// use sequester_engine::{Handle, Trouble, World};
///
/// fn dispatch(world: World, run: RunState) -> Result<TaskCall, Trouble> {
///     let mut handle = Handle::new(world, run);
///     let task = "A.9.1.3".into();
///     handle.add_clarification(&task, "Use async methods.")?;
///     handle.add_file(&task, "src/module.py")?;
///     handle.task_call(&task, "writer")
/// }
/// ```
pub struct Handle {
    world: World,
    run: RunState,
    bases: Bases,
    desks: BTreeMap<TaskId, Desk>,
}

/// What one task was given besides, and what it is shown with that, by agent.
#[derive(Default)]
struct Desk {
    added: usize,
    clarifications: Vec<Clarification>,
    given: Vec<Given>,
    contexts: BTreeMap<String, Arc<IsolatedContext>>,
}

impl Handle {
    /// Over a run as it is now: see [`crate::read`].
    pub fn new(world: World, run: RunState) -> Self {
        Self { world, run, bases: Bases::default(), desks: BTreeMap::new() }
    }

    /// What a subagent that works on the task is shown: the same one until something is added.
    pub fn context(&mut self, task: &TaskId) -> Result<Arc<IsolatedContext>, Trouble> {
        let named = self.known(task)?.spec.agent.clone();
        self.context_for(task, named.as_deref().unwrap_or(WRITER))
    }

    /// The arguments of a Task call that hands the context to a subagent of another program.
    pub fn task_call(&mut self, task: &TaskId, agent: &str) -> Result<TaskCall, Trouble> {
        let context = self.context_for(task, agent)?;
        Ok(context.to_task_call(&self.known(task)?.spec.title))
    }

    /// Tells a task, and no other, something besides.
    pub fn add_clarification(&mut self, task: &TaskId, text: &str) -> Result<(), Trouble> {
        self.known(task)?;
        let desk = self.desks.entry(task.clone()).or_default();
        desk.added += 1;
        desk.clarifications.push(Clarification {
            id: format!("added-{}", desk.added),
            task: task.clone(),
            question: "Said besides:".to_owned(),
            answer: text.to_owned(),
        });
        desk.contexts.clear();
        Ok(())
    }

    /// Shows a file of the task's base to the task, and to no other. What cannot be shown is not added.
    pub fn add_file(&mut self, task: &TaskId, path: &str) -> Result<(), Trouble> {
        let file = RepoPath::parse(path).map_err(|_| refused(path, OUTSIDE))?;
        let name = file.as_str().to_owned();
        self.known(task)?;
        let desk = self.desks.entry(task.clone()).or_default();
        desk.given.push(Given { task: task.clone(), path: file, content: Content::Base });
        let before = std::mem::take(&mut desk.contexts);
        let with_it = self.context(task).and_then(|context| shown(&context, &name));
        if let (Err(_), Some(desk)) = (&with_it, self.desks.get_mut(task)) {
            desk.given.pop();
            desk.contexts = before;
        }
        with_it
    }

    /// What was kept and added for a task is gone.
    pub fn forget(&mut self, task: &TaskId) {
        self.desks.remove(task);
    }

    fn context_for(&mut self, task: &TaskId, agent: &str) -> Result<Arc<IsolatedContext>, Trouble> {
        let kept = self.desks.get(task).and_then(|desk| desk.contexts.get(agent));
        if let Some(context) = kept {
            return Ok(Arc::clone(context));
        }
        let base = self.base(task)?;
        let known = self.known(task)?;
        let mut clarifications = known.clarifications.clone();
        let mut given = given(self.world.store.as_ref(), known)?;
        let desk = self.desks.entry(task.clone()).or_default();
        clarifications.extend(desk.clarifications.iter().cloned());
        given.extend(desk.given.iter().cloned());
        let context = self.world.crew.context(&Wanted {
            clarifications: &clarifications,
            given: &given,
            ..Wanted::new(task, agent, &base)
        })?;
        Ok(Arc::clone(desk.contexts.entry(agent.to_owned()).or_insert(Arc::new(context))))
    }

    fn known(&self, task: &TaskId) -> Result<&TaskRun, Trouble> {
        self.run.task(task).ok_or_else(|| unknown(task))
    }

    fn base(&self, task: &TaskId) -> Result<TreeId, Trouble> {
        let at = self.run.position(task).ok_or_else(|| unknown(task))?;
        let recipe = Recipe::of(&self.run, &self.run.foundation(at));
        match self.bases.make(self.world.repository.as_ref(), &recipe)? {
            Made::Base { tree, .. } => Ok(tree),
            Made::Conflict { task: other, .. } => Err(Trouble::Crew {
                message: format!("What `{task}` builds on does not fit together: see `{other}`."),
                hint: "Take the run up again with `sequester resume`.".to_owned(),
            }),
        }
    }
}

/// Whether a context has the file's contents; else why not.
fn shown(context: &IsolatedContext, path: &str) -> Result<(), Trouble> {
    let manifest = &context.manifest;
    let is_shown = manifest.fragments.iter().any(|row| {
        let has_text = !matches!(row.form, FormKind::Path | FormKind::NotThereYet);
        row.kind == Kind::File && row.source == path && has_text
    });
    if is_shown {
        return Ok(());
    }
    let withheld = manifest.withheld.iter();
    let mut withheld = withheld.filter(|one| one.kind == Kind::File && one.source == path);
    let why = withheld.next_back().map_or(Refusal::OverBudget, |one| one.rule);
    Err(refused(path, why.as_str()))
}

const OUTSIDE: &str = "it is outside of the repository";

fn refused(path: &str, why: &str) -> Trouble {
    Trouble::Crew {
        message: format!("`{path}` cannot be shown: {why}."),
        hint: "Name a file of the task's base; what git ignores is no part of it.".to_owned(),
    }
}

fn unknown(task: &TaskId) -> Trouble {
    Trouble::Crew {
        message: format!("The run has no task `{task}`."),
        hint: "`sequester show` lists its tasks.".to_owned(),
    }
}
