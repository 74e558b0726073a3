//! Why a step cannot be carried out word for word, and what would mend it.

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
const NO_CONDITION: &str = "Decide it in the plan: say what is to be done, without a condition.";

impl Gap {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: SAY_EXACTLY }
    }

    pub(super) fn sentence(said: &str) -> Self {
        let conditional = said
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| super::words::is_condition(&word.to_lowercase()));
        let reason =
            format!("`{}` is not an instruction to be followed word for word", short(said));
        Self { reason, remedy: if conditional { NO_CONDITION } else { SAY_EXACTLY } }
    }

    pub(super) fn file() -> Self {
        Self {
            reason: "it is not said which file its code belongs to".to_owned(),
            remedy: NAME_FILE,
        }
    }

    pub(super) fn purpose() -> Self {
        Self { reason: "it is not said what its code is for".to_owned(), remedy: NAME_FILE }
    }

    pub(super) fn path(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: NAME_FILE }
    }

    pub(super) fn place(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: SAY_PLACE }
    }

    pub(super) fn fragment(path: &RepoPath) -> Self {
        Self::place(format!("it does not say where in `{path}` its code belongs"))
    }

    pub(super) fn text(said: &str) -> Self {
        let reason = format!("it does not give the text for `{}`", short(said));
        Self { reason, remedy: GIVE_TEXT }
    }

    pub(super) fn command(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: GIVE_COMMAND }
    }

    pub(super) fn result(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: SAY_RESULT }
    }

    pub(super) fn code(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: WRITE_OUT }
    }
}

/// The start of a text, for a message; cut between words.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    let text = text.trim();
    if text.len() <= MOST {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(MOST)];
    let head = head.rsplit_once(' ').map_or(head, |(head, _)| head);
    format!("{head} …")
}
