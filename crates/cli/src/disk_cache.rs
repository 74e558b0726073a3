//! The user's cache folder as core's cache port.

use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sequester_core::cache::Cache;

/// Files in the user's cache folder, never in the repository. Anything may vanish at any time.
pub(crate) struct DiskCache {
    folder: Option<PathBuf>,
}

impl DiskCache {
    /// A folder for each repository under `$XDG_CACHE_HOME/sequester`, else `~/.cache/sequester`; without either
    /// nothing is kept.
    pub(crate) fn of(root: &Path) -> Self {
        let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let absolute =
            |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .map(|cache| cache.join("sequester").join(&name.as_str()[..16]));
        Self { folder }
    }
}

impl Cache for DiskCache {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.as_ref()?.join(key)).ok()
    }

    /// Written beside and renamed: a reader sees the old bytes or the new ones.
    fn put(&self, key: &str, bytes: &[u8]) {
        let Some(folder) = &self.folder else { return };
        let fresh = folder.join(format!("{key}.{}", std::process::id()));
        let kept = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .and_then(|()| OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh))
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&fresh, folder.join(key)));
        if kept.is_err() {
            let _ = fs::remove_file(&fresh);
        }
    }
}
