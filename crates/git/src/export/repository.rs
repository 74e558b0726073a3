//! A repository that holds one commit and nothing else, reachable or not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use sequester_core::repository::{Error, Snapshot, Stamp};

use super::tree::Stored;
use super::{Export, Kind, index};
use crate::name::Format;
use crate::program::{Program, broken};

/// Who made the commit, when, and what it says: the same for every base, so that equal files are one commit.
const IDENTITY: &str = "sequester <sequester@localhost> 946684800 +0000";
const MESSAGE: &str = "The state this work starts from\n";
const BRANCH: &str = "refs/heads/main";

/// Git neither looks at what differs between workspaces nor starts anything by itself.
const CONFIG: &str = "[core]
\tfilemode = true
\tbare = false
\tlogallrefupdates = false
\tcheckstat = minimal
\ttrustctime = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

/// Makes the repository `to/git` over the files in `to/tree`.
///
/// Trees and the commit are made in a repository beside it, which borrows the blobs from the person's. What is reachable from
/// the commit then goes into one pack: nothing else ever was in the new repository.
pub(super) fn make(export: &Export<'_>, stored: &[Stored], to: &Path) -> Result<(), Error> {
    let (git, scratch) = (to.join("git"), to.join("git.new"));
    let sha256 = export.tree.objects.format() == Format::Sha256;
    prepare(&git, sha256)
        .and_then(|()| prepare(&scratch, sha256))
        .map_err(|error| unwritable(&error))?;
    let bytes = index::encode(&export.items, stored);
    let bytes = bytes.ok_or_else(|| broken("the base holds a name that is no object's."))?;
    fs::write(scratch.join("index"), bytes).map_err(|error| unwritable(&error))?;
    let objects = export.tree.objects.folder();
    let private = export.tree.program.private(&to.join("tree"), &scratch, objects);
    keep_uncommitted(export, stored, &private)?;
    let tree = private.ask(&["write-tree", "--missing-ok"])?;
    let commit = format!("tree {tree}\nauthor {IDENTITY}\ncommitter {IDENTITY}\n\n{MESSAGE}");
    let commit =
        private.feed(&["hash-object", "-t", "commit", "-w", "--stdin"], commit.as_bytes())?;
    let pack = git.join("objects/pack/pack");
    let pack = pack.to_str().ok_or_else(|| broken("the base's path is not UTF-8."))?;
    let arguments = ["pack-objects", "--quiet", "--revs", "--window=0", "--compression=1", pack];
    private.feed(&arguments, commit.as_bytes())?;
    let finish = || -> io::Result<()> {
        fs::rename(scratch.join("index"), git.join("index"))?;
        fs::write(git.join(BRANCH), format!("{commit}\n"))?;
        fs::remove_dir_all(&scratch)
    };
    finish().map_err(|error| unwritable(&error))
}

/// What a repository consists of before its first commit.
pub(crate) fn prepare(git: &Path, sha256: bool) -> io::Result<()> {
    for folder in ["objects/pack", "objects/info", "refs/heads", "refs/tags"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), format!("ref: {BRANCH}\n"))?;
    let format = if sha256 {
        "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
    } else {
        "\trepositoryformatversion = 0\n"
    };
    fs::write(git.join("config"), format!("{CONFIG}[core]\n{format}"))
}

/// Blobs that no commit holds are made from the files just written.
fn keep_uncommitted(
    export: &Export<'_>,
    stored: &[Stored],
    private: &Program,
) -> Result<(), Error> {
    if export.items.iter().all(|item| item.name.is_some()) {
        return Ok(());
    }
    let known: BTreeSet<&str> = (export.tree.entries().iter())
        .filter_map(|entry| match &entry.stamp {
            Stamp::Content(name) => Some(name.as_str()),
            Stamp::Stat { .. } => None,
        })
        .collect();
    let mut paths = String::new();
    for (item, stored) in export.items.iter().zip(stored) {
        let path = private.root().join(item.path.as_str());
        match item.kind {
            _ if known.contains(stored.name.as_str()) => {}
            Kind::Submodule => {}
            Kind::Link => {
                let to = path.read_link().map_err(|error| unwritable(&error))?.into_os_string();
                private.feed(&["hash-object", "-w", "--stdin"], to.as_encoded_bytes())?;
            }
            // The dot keeps a name that starts with a quote from being taken for a quoted one.
            Kind::File | Kind::Program => {
                let _ = writeln!(paths, "./{}", item.path);
            }
        }
    }
    let arguments = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
    private.feed(&arguments, paths.as_bytes()).map(drop)
}

fn unwritable(error: &io::Error) -> Error {
    broken(format!("the repository of the base cannot be written: {error}."))
}
