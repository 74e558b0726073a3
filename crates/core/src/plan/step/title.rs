//! What the title of a step asks for, beside being its name: whatever stands below it must meet it.

use crate::path::RepoPath;

use super::gap::{Gap, Needs, short};
use super::pattern::{self, Token};
use super::sentence::Sentence;
use super::{Action, Exit, Step, expect, form, prose, target, words};

/// What must come of a step so that its title is met.
#[derive(Clone, Debug, Default)]
pub(super) struct Title {
    /// Clauses that ask for changes of files.
    changes: usize,
    /// Clauses that a command meets as well.
    does: usize,
    /// Clauses that only a command meets.
    looks: usize,
    commits: bool,
    /// How its commands must end.
    pub(super) exit: Option<Exit>,
    /// Files it names.
    pub(super) paths: Vec<String>,
    kind: Kind,
    /// It may hold only sometimes.
    pub(super) condition: bool,
}

/// What a title is by its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// It begins with a verb that the reader knows, or is what a part of a task is called.
    Order,
    /// It is what a part of a plan or of a program is called.
    Part,
    #[default]
    Other,
}

/// Headings of the parts of a task.
const PARTS: &str = ",implementation,tests,steps,changes,code,verification,setup,task,";
/// Headings of the parts of a program.
const NAMES: &str = ",backend,frontend,server,client,api,ui,database,docs,documentation,cli,schema,types,models,migration,migrations,\
    configuration,config,ci,core,storage,parser,components,routes,pages,styles,assets,scripts,";

/// `Phase 2`, `Part B: the parser`.
fn is_numbered(plain: &str) -> bool {
    let (kind, rest) = plain.split_once(' ').unwrap_or_default();
    let number = rest.split([' ', ':', '.']).next().unwrap_or_default();
    matches!(kind, "phase" | "part" | "stage" | "task" | "section" | "milestone" | "wave" | "group")
        && (number.len() == 1 || number.starts_with(|c: char| c.is_ascii_digit()))
}

/// Ends of titles that put the work off, or give it to another place or person.
const TAILS: &[&str] = &[
    " tomorrow",
    " someday",
    " some day",
    " next week",
    " next time",
    " on the server",
    " on staging",
    " on production",
    " in production",
    " in your head",
    " on paper",
    " yourself",
];

/// `Clean up tomorrow`, `Verify that nobody runs this`.
fn is_elsewhere(plain: &str) -> bool {
    let plain = plain.trim_end_matches(['.', '*', '_', ' ']);
    TAILS.iter().any(|tail| plain.ends_with(tail))
        || words::split(plain).any(|word| word == "nobody")
}

impl Title {
    pub(super) fn read(sentence: &Sentence) -> Self {
        // A title that is too long to be read may say anything.
        let Some(tokens) = pattern::tokens(sentence) else {
            return Self { condition: true, ..Self::default() };
        };
        let mut title = Self::default();
        let executable = sentence.plain.contains(" executable");
        let sure = sentence.plain.contains("make sure ");
        let mut starts = true;
        let mut first = true;
        let mut looked = Vec::new();
        let mut looking = false;
        // Behind an opening parenthesis.
        let mut closed = false;
        for token in form::core(&tokens) {
            let word = match token {
                Token::Word(word, _) => *word,
                Token::Code(code) | Token::Quote(code) => {
                    title.paths.extend(target::is_path(code).then(|| (*code).to_owned()));
                    (starts, first) = (false, false);
                    continue;
                }
            };
            closed |= word == "(";
            if matches!(
                word,
                "and" | "," | ";" | "then" | "+" | "&" | "—" | "–" | ":" | "/" | "(" | "→"
            ) {
                starts = true;
                continue;
            }
            // `to confirm they fail (module not found)`: how it fails.
            let how = word == "not" && closed && expect::ending(&looked) == Some(Exit::Fail);
            title.condition |= (words::is_condition(word) || word == "but") && !how;
            if starts {
                // `Make it executable` and `make sure` are for a command.
                let verb = match word {
                    "make" if executable => "set",
                    "make" if sure => "check",
                    word => word,
                };
                if first && (verb == "commit" || words::is_known(verb)) {
                    title.kind = Kind::Order;
                }
                looking = title.clause(verb) || looking && !words::is_order(word);
            }
            if looking {
                looked.push(word);
            }
            (starts, first) = (false, false);
        }
        title.condition |= prose::is_taken_back(sentence) || is_elsewhere(&sentence.plain);
        title.exit = expect::ending(&looked);
        // A heading that is a part of a task.
        let bare = sentence.plain.strip_prefix("the ").unwrap_or(&sentence.plain);
        let name = format!(",{bare},");
        if PARTS.contains(&name) {
            title.kind = Kind::Order;
        } else if NAMES.contains(&name) || is_numbered(&sentence.plain) {
            title.kind = Kind::Part;
        }
        // What is in Latin letters and neither an order nor a known name may say anything.
        let latin =
            |c: char| !c.is_alphabetic() || matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
        title.condition |= !title.leads() && sentence.plain.chars().all(latin);
        title
    }

    /// Takes the first word of a clause; whether it looks at something.
    fn clause(&mut self, word: &str) -> bool {
        let (changes, does) = (words::CHANGES.has(word), words::DOES.has(word));
        let looks = words::LOOKS.has(word);
        self.commits |= word == "commit";
        self.does += usize::from(does);
        self.looks += usize::from(looks && !does);
        self.changes += usize::from(changes && !does && !looks);
        looks
    }

    /// Whether it asks for commands and no more.
    pub(super) fn wants_command(&self) -> bool {
        self.looks > 0 && self.changes + self.does == 0 && !self.condition
    }

    /// Whether commands may be what it asks for.
    pub(super) fn may_run(&self) -> bool {
        self.does > 0 && self.changes == 0 && !self.condition
    }

    /// Whether a heading may stand above instructions.
    pub(super) fn leads(&self) -> bool {
        !self.condition && (self.kind != Kind::Other || !self.paths.is_empty())
    }

    pub(super) fn is_order(&self) -> bool {
        self.kind == Kind::Order
    }

    /// Whether it asks for anything.
    pub(super) fn asks(&self) -> bool {
        self.changes + self.does + self.looks > 0 || !self.paths.is_empty()
    }

    /// Fails if the steps below do not come to what it asks for.
    pub(super) fn check(&self, said: &Sentence, steps: &[Step]) -> Result<(), Gap> {
        let runs = steps.iter().filter(|step| matches!(step.action, Action::Run { .. })).count();
        let other = |action: &Action| matches!(action, Action::Run { .. } | Action::Commit { .. });
        let changes = steps.iter().filter(|step| !other(&step.action)).count();
        let met = changes >= self.changes
            && changes + runs >= self.changes + self.does
            && (self.looks == 0 || runs > 0)
            && (!steps.is_empty() || self.commits);
        if !met {
            let runs_none = self.looks > 0 && runs == 0 && changes >= self.changes;
            let needs = if runs_none { Needs::Command } else { Needs::Steps };
            return Err(Gap::unmet(&said.raw, needs));
        }
        let mentions = |path: &String| {
            steps.iter().any(|step| match &step.action {
                Action::Run { command, .. } => command.contains(path.as_str()),
                action => {
                    let name = path.trim_end_matches('/');
                    let is_it = |path: &RepoPath| {
                        path.as_str().ends_with(name) || name.starts_with(path.as_str())
                    };
                    action.touched().into_iter().any(is_it)
                }
            })
        };
        match self.paths.iter().find(|path| !mentions(path)) {
            Some(path) => Err(Gap::place(format!(
                "`{}` speaks of `{}`, and nothing is done to it",
                short(&said.raw),
                short(path)
            ))),
            None => Ok(()),
        }
    }
}
