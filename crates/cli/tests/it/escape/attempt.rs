//! An attempt to get out, as data.

use super::leg::{ANYWHERE, Leg};

/// One thing that a jailed program tries.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) id: String,
    pub(super) class: &'static str,
    pub(super) name: String,
    pub(super) script: Script,
    pub(super) shape: Shape,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Script {
    Shell(&'static str),
    Python(&'static str),
}

/// What tables give the attempts in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) breach: Breach,
    pub(super) profiles: &'static [Profile],
    /// Where it succeeds without the jail.
    pub(super) legs: &'static [Leg],
    /// Whether it does so on every machine; else it counts where it does.
    pub(super) certain: bool,
    /// Where `T` is: a folder of the attempt's own, with a file in it.
    pub(super) place: Place,
    /// In a jail of its own, with these limits.
    pub(super) alone: Option<&'static [&'static str]>,
}

/// What shows that it succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breach {
    /// It printed what is secret.
    Prints,
    /// It said that something worked that must not.
    Says,
    /// The folder `T` is not as it was.
    Changes,
    /// The file at this path, `P`, holds its mark.
    Holds(&'static str),
    /// A file in `T` gives its owner's rights to whoever runs it.
    GivesRights,
    /// Its mark reached a socket of the machine's.
    Arrives,
    /// Its mark reached the host that may be reached, under another name.
    Misleads,
    /// A process of the machine's, `PID`, is not as it was.
    Harms,
    /// It printed more bytes than this.
    Floods(usize),
    /// It ended well, and `T` holds more bytes than this.
    Outgrows(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Outside,
    Workspace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    ReadOnly,
    Research,
    Validate,
    Writer,
    FullAccess,
}

pub(super) const EVERY: &[Profile] = &[
    Profile::ReadOnly,
    Profile::Research,
    Profile::Validate,
    Profile::Writer,
    Profile::FullAccess,
];

/// Those whose writes are gone when they end.
pub(super) const FLEETING: &[Profile] = &[Profile::ReadOnly, Profile::Research, Profile::Validate];

/// Those that may be given hosts.
pub(super) const CONNECTED: &[Profile] = &[Profile::Research, Profile::FullAccess];

pub(super) const PLAIN: Shape = Shape {
    breach: Breach::Prints,
    profiles: EVERY,
    legs: ANYWHERE,
    certain: true,
    place: Place::Outside,
    alone: None,
};

impl Profile {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Research => "research",
            Self::Validate => "validate",
            Self::Writer => "writer",
            Self::FullAccess => "full-access",
        }
    }
}

/// A line of a table.
pub(super) enum Row {
    Sh(&'static str, &'static str),
    Py(&'static str, &'static str),
}

pub(super) fn rows(class: &'static str, shape: Shape, rows: &[Row]) -> Vec<Attempt> {
    let made = rows.iter().map(|row| {
        let (name, script) = match *row {
            Row::Sh(name, script) => (name, Script::Shell(script)),
            Row::Py(name, script) => (name, Script::Python(script)),
        };
        Attempt { id: String::new(), class, name: name.to_owned(), script, shape }
    });
    made.collect()
}

/// Attempts to put their mark into files, which the paths name from the ground's folder.
pub(super) fn marks(class: &'static str, shape: Shape, paths: &[&'static str]) -> Vec<Attempt> {
    let made = paths.iter().map(|path| Attempt {
        id: String::new(),
        class,
        name: format!("`{path}` is written"),
        script: Script::Shell(r#"mkdir -p "$(dirname "$P")"; echo "$MARK" >> "$P""#),
        shape: Shape { breach: Breach::Holds(path), ..shape },
    });
    made.collect()
}
