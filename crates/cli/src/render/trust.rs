//! What files ask for, as people see it.

use std::fmt::Write as _;

use sequester_core::fault::{Fault, Place};
use serde::Serialize;

use super::terminal;
use crate::wire::trust::{Asking, Grants, Standing, digest_of};

/// The JSON shape of one file.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    file: String,
    standing: Standing,
    digest: String,
    asks: Vec<Ask<'a>>,
    /// What it does not get from anybody.
    refused: Vec<Ask<'a>>,
    /// Why it cannot be used, nor accepted.
    faults: Vec<Ask<'a>>,
    /// All that counts once it is accepted, as it was read.
    grants: &'a Grants,
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
        let Asking { source, asks, refused, faults, grants } = asking;
        let lines: Vec<&str> = source.text.lines().collect();
        let line = |place: Place| {
            lines.get(place.line.saturating_sub(1) as usize).copied().unwrap_or_default()
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
            faults: list(faults),
            grants,
        }
    }

    /// Whether it waits for the person's word.
    pub(crate) fn is_open(&self) -> bool {
        self.standing != Standing::Accepted && self.faults.is_empty()
    }

    /// What a command that needs the file ends with.
    pub(crate) fn exit(&self) -> u8 {
        match (self.standing, self.faults.is_empty(), self.refused.is_empty()) {
            (_, false, _) => 2,
            (Standing::Accepted, true, true) => 0,
            _ => 5,
        }
    }
}

pub(crate) fn render(shown: &[Shown<'_>], width: usize) -> String {
    let mut out = String::new();
    for Shown { file, standing, digest, asks, refused, faults, grants } in shown {
        let standing = word(*standing);
        let _ = writeln!(out, "{} ({standing}, content {})", on_line(file), &digest[..12]);
        let marked =
            [(asks, ""), (refused, " It stays refused."), (faults, " It cannot be accepted so.")];
        for (asks, mark) in marked {
            for Ask { place, message, text } in asks {
                let _ = writeln!(out, "  {}: {}", place.line, on_line(text));
                let _ = writeln!(out, "    {}{mark}", on_line(message));
            }
        }
        if !grants.is_empty() {
            out += "  what counts if it is accepted:\n";
        }
        for (key, values) in *grants {
            let _ = writeln!(out, "    {key}: {}", on_line(&values.join(", ")));
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
    for Shown { file, standing, refused, faults, .. } in shown {
        let lines = |asks: &[Ask<'_>]| {
            let lines: Vec<String> = asks.iter().map(|ask| ask.place.line.to_string()).collect();
            lines.join(", ")
        };
        let but = if !faults.is_empty() {
            format!("; it cannot be used before line {} is mended", lines(faults))
        } else if !refused.is_empty() {
            format!(
                "; it is refused as long as line {} is there, whoever accepts it",
                lines(refused)
            )
        } else {
            String::new()
        };
        let _ = writeln!(out, "{}: {}{but}", on_line(file), word(*standing));
    }
    if shown.iter().any(Shown::is_open) {
        out += "What is not accepted does not count: whatever needs it ends with exit code 5. `sequester trust --yes` accepts it.\n";
    }
    terminal::fold(&terminal::clean(&out), width)
}

/// Nothing of a file makes lines that look like ours.
fn on_line(text: &str) -> String {
    terminal::cut(text, usize::MAX)
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Never => "not accepted",
        Standing::Changed => "changed since it was accepted",
        Standing::Accepted => "accepted",
    }
}
