//! Newtypes for the names that things go by.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new("")
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self::new(id)
            }
        }
    };
}

name! {
    /// The id of a task, exactly as the plan writes it.
    TaskId
}

name! {
    /// The id of a run: short enough to type, and the end of its branch's name.
    RunId
}

impl RunId {
    /// An id that somebody else wrote down. It is part of paths and names of branches, so it holds letters, digits and dashes alone.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = (1..=64).contains(&text.len()) && !text.starts_with('-');
        (fits && text.bytes().all(is_plain)).then(|| Self::new(text))
    }
}

name! {
    /// The id of a question in the inbox.
    QuestionId
}

name! {
    /// A state of all files, as the repository names it.
    TreeId
}

name! {
    /// A commit, as the repository names it.
    CommitId
}
