//! A tree object: one folder.

use sequester_core::repository::Error;

use crate::name::{Format, Name};
use crate::program::broken;

/// One entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node<'a> {
    pub(crate) mode: Mode,
    pub(crate) name: &'a [u8],
    pub(crate) id: Name,
    /// The mode as it stands there: other programs wrote others, and what nobody changed stays as it is.
    written: &'a [u8],
}

impl<'a> Node<'a> {
    pub(crate) fn new(mode: Mode, name: &'a [u8], id: Name) -> Self {
        Self { mode, name, id, written: mode.as_str().as_bytes() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    File,
    Executable,
    Link,
    Folder,
    Submodule,
}

impl Mode {
    /// By the kind and the right to run, as git reads what older versions and other programs wrote.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let bits = u32::from_str_radix(text, 8).ok()?;
        match bits & 0o170_000 {
            0o040_000 => Some(Self::Folder),
            0o100_000 if bits & 0o100 != 0 => Some(Self::Executable),
            0o100_000 => Some(Self::File),
            0o120_000 => Some(Self::Link),
            0o160_000 => Some(Self::Submodule),
            _ => None,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Folder => "40000",
            Self::Submodule => "160000",
        }
    }
}

/// The entries, in the order in which they stand.
pub(crate) fn read(
    raw: &[u8],
    format: Format,
) -> impl Iterator<Item = Result<Node<'_>, Error>> + use<'_> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let node = take(&mut rest, format);
        if node.is_none() {
            rest = &[];
        }
        Some(node.ok_or_else(|| broken("a tree is damaged. Run `git fsck`.")))
    })
}

fn take<'a>(rest: &mut &'a [u8], format: Format) -> Option<Node<'a>> {
    let blank = rest.iter().take(16).position(|byte| *byte == b' ')?;
    let (mode, after) = rest.split_at(blank);
    let end = after.iter().position(|byte| *byte == 0)?;
    let (name, after) = (&after[1..end], &after[end + 1..]);
    if name.is_empty() || name.contains(&b'/') {
        return None;
    }
    let (id, after) = after.split_at_checked(format.length())?;
    *rest = after;
    Some(Node { mode: Mode::read(mode)?, name, id: format.take(id)?, written: mode })
}

/// All entries, sorted by name alone; nothing may stand there twice.
pub(crate) fn read_sorted(raw: &[u8], format: Format) -> Result<Vec<Node<'_>>, Error> {
    let mut nodes = read(raw, format).collect::<Result<Vec<_>, _>>()?;
    nodes.sort_by_key(|node| node.name);
    if nodes.is_sorted_by(|one, other| one.name < other.name) {
        return Ok(nodes);
    }
    Err(broken("a tree holds the same name twice. Run `git fsck`."))
}

/// The bytes of the tree with these entries.
pub(crate) fn write(mut nodes: Vec<Node<'_>>) -> Vec<u8> {
    // Git compares folders as if a slash followed their names.
    let key = |node: &Node<'_>| {
        let end: &[u8] = if node.mode == Mode::Folder { b"/" } else { b"" };
        (node.name.iter().chain(end).copied()).collect::<Vec<u8>>()
    };
    nodes.sort_by(|one, other| match one.name.len().min(other.name.len()) {
        // Most names differ before either ends.
        short if one.name[..short] != other.name[..short] => one.name.cmp(other.name),
        _ => key(one).cmp(&key(other)),
    });
    let mut raw = Vec::with_capacity(nodes.len() * 48);
    for node in nodes {
        raw.extend(node.written);
        raw.push(b' ');
        raw.extend(node.name);
        raw.push(0);
        raw.extend(node.id.as_bytes());
    }
    raw
}
