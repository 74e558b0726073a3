//! What files ask for, as people see it.

use std::fmt::Write as _;

use sequester_core::fault::{Fault, Place};
use serde::Serialize;

use super::terminal;
use crate::wire::trust::{Asking, Standing, digest_of};

/// The JSON shape of one file.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    file: String,
    pub(crate) standing: Standing,
    digest: String,
    asks: Vec<Ask<'a>>,
    /// What it does not get from anybody.
    refused: Vec<Ask<'a>>,
}

#[derive(Serialize)]
struct Ask<'a> {
    #[serde(flatten)]
    place: Place,
    message: &'a str,
    /// The line as it stands.
    text: &'a str,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(asking: &'a Asking, standing: Standing) -> Self {
        let Asking { source, asks, refused } = asking;
        let line = |place: Place| {
            source.text.lines().nth(place.line.saturating_sub(1) as usize).unwrap_or_default()
        };
        let list = |faults: &'a [Fault]| -> Vec<Ask<'a>> {
            let ask = |fault: &'a Fault| Ask {
                place: fault.place,
                message: &fault.message,
                text: line(fault.place).trim(),
            };
            faults.iter().map(ask).collect()
        };
        Self {
            file: source.origin.to_string(),
            standing,
            digest: digest_of(source.text.as_bytes()),
            asks: list(asks),
            refused: list(refused),
        }
    }

    /// Whether all that it asks for counts.
    pub(crate) fn is_settled(&self) -> bool {
        self.standing == Standing::Accepted && self.refused.is_empty()
    }
}

pub(crate) fn render(shown: &[Shown<'_>], width: usize) -> String {
    let mut out = String::new();
    for Shown { file, standing, digest, asks, refused } in shown {
        let standing = word(*standing);
        let _ = writeln!(out, "{file} ({standing}, content {})", &digest[..12]);
        for (asks, mark) in [(asks, ""), (refused, " It stays refused.")] {
            for Ask { place, message, text } in asks {
                let _ = writeln!(out, "  {}: {text}", place.line);
                let _ = writeln!(out, "    {message}{mark}");
            }
        }
    }
    terminal::fold(&terminal::clean(&out), width)
}

/// How it stands now.
pub(crate) fn ended(shown: &[Shown<'_>], width: usize) -> String {
    if shown.is_empty() {
        return "Nothing asks for more than a repository may have.\n".to_owned();
    }
    let mut out = String::new();
    for Shown { file, standing, .. } in shown {
        let _ = writeln!(out, "{file}: {}", word(*standing));
    }
    if shown.iter().any(|one| one.standing != Standing::Accepted) {
        out += "What is not accepted does not count: whatever needs it ends with exit code 5. `sequester trust --yes` accepts it.\n";
    }
    terminal::fold(&terminal::clean(&out), width)
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Never => "not accepted",
        Standing::Changed => "changed since it was accepted",
        Standing::Accepted => "accepted",
    }
}
