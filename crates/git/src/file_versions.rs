//! Every content that a file has had, by the names of git's blobs.

use std::collections::BTreeSet;

use sequester_core::path::RepoPath;
use sequester_core::repository::Error;

use crate::name::Kind;
use crate::repo::Repo;

/// Commits that are looked at, the newest first: their names are fed to git in one piece, which a pipe must hold.
const MOST_COMMITS: &str = "--max-count=900";

impl Repo {
    /// The blobs of these contents, and of all that HEAD's history has at these paths.
    pub fn file_versions<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p RepoPath>,
        contents: &[&[u8]],
    ) -> Result<BTreeSet<String>, Error> {
        let format = self.objects.format();
        let named = contents.iter().map(|bytes| format.name(Kind::Blob, bytes).to_string());
        let mut versions: BTreeSet<String> = named.collect();
        let paths: Vec<String> =
            paths.into_iter().map(|path| format!(":(literal){path}")).collect();
        if paths.is_empty() || self.is_own() {
            return Ok(versions);
        }
        let mut list = vec!["rev-list", "--full-history", MOST_COMMITS, "HEAD", "--"];
        list.extend(paths.iter().map(String::as_str));
        let listed = self.program.run(&list)?;
        // Without a commit there is no history.
        if !listed.success || listed.text.is_empty() {
            return Ok(versions);
        }
        let mut compare = vec![
            "diff-tree",
            "--stdin",
            "-r",
            "-m",
            "--root",
            "--no-renames",
            "--no-commit-id",
            "--",
        ];
        compare.extend(paths.iter().map(String::as_str));
        let told = self.program.feed(&compare, format!("{}\n", listed.text).as_bytes())?;
        for line in told.lines().filter_map(|line| line.strip_prefix(':')) {
            // Modes, then names, of before and after.
            let names = line.split([' ', '\t']).skip(2).take(2);
            versions.extend(
                names.filter(|name| name.bytes().any(|byte| byte != b'0')).map(str::to_owned),
            );
        }
        Ok(versions)
    }
}
