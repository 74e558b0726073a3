//! Inputs to begin with: those of `fuzz/seeds/`, and the project's own fixtures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::shell;

/// A file or folder of the project, and how inputs are made of it.
pub(super) enum Seeds {
    /// Each file as it is.
    Files(&'static str),
    /// Each line, and the whole.
    Lines(&'static str),
    /// Each file behind a byte by which the target chooses a variant.
    Variant(u8, &'static str),
}

/// By the place of the format in `Format::ALL`; the last stands for a format that is to be detected.
pub(super) const PLANS: &[Seeds] = &[
    Seeds::Variant(0, "crates/core/tests/fixtures/plans/superpowers"),
    Seeds::Variant(1, "crates/core/tests/fixtures/plans/track"),
    Seeds::Variant(2, "crates/core/tests/fixtures/plans/speckit"),
    Seeds::Variant(3, "crates/core/tests/fixtures/plans/openspec"),
    Seeds::Variant(4, "crates/core/tests/fixtures/plans/kiro"),
    Seeds::Variant(5, "crates/core/tests/fixtures/plans/taskmaster"),
    Seeds::Variant(6, "crates/core/tests/fixtures/plans/native"),
    Seeds::Variant(7, "crates/core/tests/fixtures/plans"),
    Seeds::Variant(7, "examples"),
];

/// Puts the seeds of a target into its corpus; what earlier runs found stays there.
pub(super) fn copy(name: &str, sources: &[Seeds]) -> Result<()> {
    let root = shell::root();
    let corpus = root.join("fuzz/corpus").join(name);
    fs::create_dir_all(&corpus)?;
    let own = files(&root.join("fuzz/seeds").join(name))?;
    let mut inputs: Vec<Vec<u8>> = own;
    for source in sources {
        match source {
            Seeds::Files(path) => inputs.extend(files(&root.join(path))?),
            Seeds::Lines(path) => {
                let text = fs::read(root.join(path)).context(*path)?;
                inputs.extend(text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
                inputs.push(text);
            }
            Seeds::Variant(first, path) => {
                let behind = |bytes: Vec<u8>| [&[*first][..], &bytes].concat();
                inputs.extend(files(&root.join(path))?.into_iter().map(behind));
            }
        }
    }
    for (at, input) in inputs.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{at:03}")), input)?;
    }
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<Vec<u8>>> {
    shell::files(folder, "")?.iter().map(|path| Ok(fs::read(path)?)).collect()
}
