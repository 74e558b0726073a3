//! A repository that holds one commit and nothing else, reachable or not.

use std::fs;
use std::io;
use std::path::Path;

use sequester_core::repository::Error;

use super::tree::Stored;
use super::{Export, index};
use crate::name::Format;
use crate::program::broken;

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

fn unwritable(error: &io::Error) -> Error {
    broken(format!("the repository of the base cannot be written: {error}."))
}
