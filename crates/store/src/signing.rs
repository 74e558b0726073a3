//! Heads of runs, signed with a key of the person's own that lies outside of every repository.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sequester_core::id::RunId;
use sequester_core::store::{Error, ErrorKind};

use crate::chain::Hash;
use crate::error;

/// The key that signs what this user's processes record.
pub struct Signer {
    pair: Ed25519KeyPair,
    key: PublicKey,
}

/// What others check a signature with: `ed25519:` and 32 bytes in base 64.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

pub(crate) type Signature = [u8; 64];

/// What is signed of a run: where it is kept, and how far it has come.
pub(crate) struct HeadClaim<'a> {
    pub(crate) place: &'a str,
    pub(crate) run: &'a RunId,
    pub(crate) count: u64,
    pub(crate) hash: &'a Hash,
    pub(crate) accepted: Option<&'a Acceptance>,
}

/// The first events of a run that somebody else recorded, and that its signer accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub events: u64,
    /// Whose signature they had; nothing where they had none that held.
    pub recorded_by: Option<PublicKey>,
}

const UNSIGNED: &str = "unsigned";

impl Acceptance {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (events, key) = text.split_once(' ')?;
        let recorded_by = if key == UNSIGNED { None } else { Some(key.parse().ok()?) };
        Some(Self { events: events.parse().ok()?, recorded_by })
    }
}

impl fmt::Display for Acceptance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.recorded_by {
            Some(key) => write!(out, "{} {key}", self.events),
            None => write!(out, "{} {UNSIGNED}", self.events),
        }
    }
}

const FILE: &str = "signing-key";
const PREFIX: &str = "ed25519:";
/// A key file is far smaller.
const MOST_BYTES: u64 = 4 << 10;

impl Signer {
    /// The key in a folder; nothing where there is none yet.
    pub fn load(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(FILE);
        let file = match OpenOptions::new().read(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error::of_disk(&error, &path)),
        };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| error::of_disk(&error, &path))?;
        let pair = Ed25519KeyPair::from_pkcs8(&bytes).map_err(|why| {
            let message = format!("`{}` is no signing key: {why}.", path.display());
            let hint = "Restore it from a backup, or move it away; then `sequester trust` signs your runs anew.";
            error::new(ErrorKind::Damaged, message, hint)
        })?;
        Ok(Some(Self::of(pair)))
    }

    /// The same, and makes one where there is none.
    pub fn load_or_create(folder: &Path) -> Result<Self, Error> {
        if let Some(signer) = Self::load(folder)? {
            return Ok(signer);
        }
        let made = create(folder);
        match (made, Self::load(folder)?) {
            // Another process may have been first.
            (_, Some(signer)) => Ok(signer),
            (Err(error), None) => Err(error::of_disk(&error, folder)),
            (Ok(()), None) => Err(error::of_disk(&io::ErrorKind::NotFound.into(), folder)),
        }
    }

    fn of(pair: Ed25519KeyPair) -> Self {
        let mut key = [0; 32];
        key.copy_from_slice(pair.public_key().as_ref());
        Self { pair, key: PublicKey(key) }
    }

    pub fn key(&self) -> PublicKey {
        self.key
    }

    /// Vouches for something else of this user's at a place.
    pub fn seal_place(&self, kind: &str, path: &Path) -> String {
        STANDARD_NO_PAD.encode(self.sign(&place_text(kind, path)))
    }

    pub fn has_sealed_place(&self, kind: &str, path: &Path, seal: &str) -> bool {
        let seal = STANDARD_NO_PAD.decode(seal.trim());
        seal.is_ok_and(|seal| self.key.verifies(&place_text(kind, path), &seal))
    }

    pub(crate) fn sign_head(&self, claim: &HeadClaim<'_>) -> Signature {
        self.sign(&claim.text())
    }

    pub(crate) fn sign(&self, text: &str) -> Signature {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.pair.sign(text.as_bytes()).as_ref());
        signature
    }
}

/// Written beside and linked: a file with half a key is never seen, and an existing one never replaced.
fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let random = SystemRandom::new();
    let key = Ed25519KeyPair::generate_pkcs8(&random)
        .map_err(|_| io::Error::other("the machine gives no random numbers"))?;
    let fresh = folder.join(format!("{FILE}.{}", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)
        .and_then(|mut file| file.write_all(key.as_ref()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::hard_link(&fresh, folder.join(FILE)))
        .and_then(|()| File::open(folder)?.sync_all());
    let _ = std::fs::remove_file(fresh);
    written
}

impl HeadClaim<'_> {
    fn text(&self) -> String {
        let Self { place, run, count, hash, accepted } = self;
        let accepted = accepted.map(|one| format!("{one}\n")).unwrap_or_default();
        format!("sequester head 1\n{place}\n{run}\n{count}\n{}\n{accepted}", hex(*hash))
    }

    pub(crate) fn is_signed(&self, key: &PublicKey, signature: &[u8]) -> bool {
        key.verifies(&self.text(), signature)
    }
}

impl PublicKey {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(text.as_bytes(), signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}", STANDARD_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let bytes = text.strip_prefix(PREFIX).and_then(|key| STANDARD_NO_PAD.decode(key).ok());
        bytes.and_then(|bytes| Self::from_bytes(&bytes)).ok_or_else(|| {
            format!(
                "`{text}` is no public key. One looks like `{PREFIX}` and 43 letters and digits."
            )
        })
    }
}

fn place_text(kind: &str, path: &Path) -> String {
    format!("sequester place 1\n{kind}\n{}\n", place_of(path))
}

/// The place of a store, as it is signed: its path stays private.
pub(crate) fn place_of(path: &Path) -> String {
    blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex().to_string()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("a/keys");
        assert!(Signer::load(&keys).unwrap().is_none());
        let made = Signer::load_or_create(&keys).unwrap().key();
        assert_eq!(Signer::load_or_create(&keys).unwrap().key(), made);
        let about = std::fs::metadata(keys.join(FILE)).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
        assert_eq!(made.to_string().parse::<PublicKey>().unwrap(), made);
        assert!("ed25519:abc".parse::<PublicKey>().is_err());
        std::fs::write(keys.join(FILE), "x").unwrap();
        assert!(Signer::load_or_create(&keys).is_err());
    }

    #[test]
    fn every_part_of_a_claim_is_signed() {
        let folder = tempfile::tempdir().unwrap();
        let signer = Signer::load_or_create(folder.path()).unwrap();
        let (run, other) = (RunId::from("r1"), RunId::from("r2"));
        let (hash, elsewhere) = ([7; 32], [8; 32]);
        let claim = || HeadClaim { place: "a", run: &run, count: 3, hash: &hash, accepted: None };
        let signature = signer.sign_head(&claim());
        assert!(claim().is_signed(&signer.key(), &signature));
        for changed in [
            HeadClaim { place: "b", ..claim() },
            HeadClaim { run: &other, ..claim() },
            HeadClaim { count: 2, ..claim() },
            HeadClaim { hash: &elsewhere, ..claim() },
        ] {
            assert!(!changed.is_signed(&signer.key(), &signature));
        }
        assert!(!claim().is_signed(&PublicKey([1; 32]), &signature));
    }
}
