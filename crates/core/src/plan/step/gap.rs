//! Why a step cannot be carried out word for word, and what would mend it.

use super::prose;
use super::sentence::Sentence;
use super::words::is_condition;
use crate::path::RepoPath;

/// What is missing, and where a person can put it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) reason: String,
    pub(super) remedy: &'static str,
}

const NAME_FILE: &str = "Name the file right before its code, as in \"Create `path`:\".";
const SAY_PLACE: &str = "Say which lines the code replaces, or after which line it stands.";
const GIVE_TEXT: &str = "Give the exact text in a fence right after the sentence.";
const GIVE_COMMAND: &str = "Give the command, as in \"Run: `command`\".";
const SAY_RESULT: &str = "Say what must come of the command: \"Expected: PASS\", \"Expected: FAIL\", or the exact output.";
const WRITE_OUT: &str = "Write the code out in full.";
const SAY_EXACTLY: &str =
    "Say it as one exact instruction, or leave it out if nothing is to be done.";
const TAKE_OUT: &str = "Leave it out: what the task does not ask for is not done.";
const SAY_WHICH: &str = "Take the step out, or the sentence that forbids it.";
const BY_YOURSELF: &str = "Leave the step out of the task and change the file yourself, or grant it by `protected.grant` in your own configuration if it can be.";
const SAY_LANGUAGE: &str = "Mark the code with the file's own language, or with none; or say \"Run:\" where it is commands.";
const WRITE_PATH: &str = "Write the path relative to the repository's root, without leaving it.";
const STAY_INSIDE: &str =
    "Keep to the repository: leave the step out, or say it without what leads outside.";
const BY_PERSON: &str =
    "Leave it out of the task and do it yourself, or give the command and what it must come to.";
const NO_CONDITION: &str = "Decide it in the plan: say what is to be done, without a condition.";

/// A kind of gap: a reason of its own, and the remedy of its kind.
macro_rules! kinds {
    ($($name:ident: $remedy:ident),*) => {
        $(pub(super) fn $name(reason: impl Into<String>) -> Self {
            Self { reason: reason.into(), remedy: $remedy }
        })*
    };
}

impl Gap {
    kinds! {
        new: SAY_EXACTLY, path: NAME_FILE, place: SAY_PLACE, command: GIVE_COMMAND, result: SAY_RESULT, code: WRITE_OUT,
        outside: STAY_INSIDE, person: BY_PERSON, forbidden: SAY_WHICH, protected: BY_YOURSELF, language: SAY_LANGUAGE, beyond: WRITE_PATH
    }

    pub(super) fn sentence(said: &str) -> Self {
        if is_by_hand(said) {
            return Self::person(format!("`{}`: by hand is for a person", short(said)));
        }
        if let Some(gap) = Self::refused(said) {
            return gap;
        }
        let mut words = said.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let remedy = match () {
            () if is_result(said) => SAY_RESULT,
            () if words.any(|word| is_condition(&word)) => NO_CONDITION,
            () => SAY_EXACTLY,
        };
        let said = short(said);
        Self {
            reason: format!("`{said}` is not an instruction to be followed word for word"),
            remedy,
        }
    }

    /// Words that ask for nothing to be done, and stand where something is.
    fn refused(said: &str) -> Option<Self> {
        let sentence = Sentence::new(said);
        let plain = sentence.plain.replace('’', "'");
        let forbids = ["do not ", "don't ", "never ", "avoid "];
        let told = short(said);
        if prose::is_struck(&sentence) {
            return Some(Self { reason: format!("`{told}` is struck out"), remedy: TAKE_OUT });
        }
        forbids.iter().any(|not| plain.starts_with(not)).then(|| Self {
            reason: format!("`{told}` says what is not to be done"),
            remedy: TAKE_OUT,
        })
    }

    /// A title that nothing below it meets.
    pub(super) fn unmet(said: &str, needs: Needs) -> Self {
        Self::refused(said).unwrap_or_else(|| match needs {
            Needs::Command => Self::command("it names no command"),
            Needs::Steps => Self::new("it says what is wanted, but not word for word how"),
        })
    }

    /// Something above an instruction that may hold it back.
    pub(super) fn above(said: &str) -> Self {
        let said = short(said.trim_matches(['*', '_', ' ']));
        Self {
            reason: format!("`{said}` stands above it, and may hold it back"),
            remedy: NO_CONDITION,
        }
    }

    pub(super) fn file() -> Self {
        Self::path("it is not said which file its code belongs to")
    }

    pub(super) fn purpose() -> Self {
        Self::path("it is not said what its code is for")
    }

    pub(super) fn fragment(path: &RepoPath) -> Self {
        Self::place(format!("it does not say where in `{path}` its code belongs"))
    }

    pub(super) fn text(said: &str) -> Self {
        Self {
            reason: format!("it does not give the text for `{}`", short(said)),
            remedy: GIVE_TEXT,
        }
    }
}

/// What a title asks for and has not got.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    Command,
    Steps,
}

/// `It should print 3.`
fn is_result(said: &str) -> bool {
    let said = said.to_lowercase();
    let begins = ["it should ", "this should ", "you should see ", "the output should "];
    begins.iter().any(|begin| said.starts_with(begin))
}

/// Whether something is for a person.
pub(super) fn is_by_hand(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("by hand") || said.contains("manual")
}

/// The start of a text, for a message.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    let text = text.trim();
    let head = super::head(text, MOST);
    if head.len() < text.len() { format!("{head} …") } else { head.to_owned() }
}
