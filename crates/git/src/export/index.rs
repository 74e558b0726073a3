//! The index file of git, version 2, so that git inside knows every file without reading it.

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::Item;
use super::tree::Stored;

/// The longest name that the length field of an entry can tell.
const LONGEST: usize = 0xFFF;

/// The bytes of the index over these entries, in the order of their paths. None if a name is no object's.
pub(super) fn encode(items: &[Item], stored: &[Stored]) -> Option<Vec<u8>> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(2_u32.to_be_bytes());
    bytes.extend(u32::try_from(items.len()).ok()?.to_be_bytes());
    let mut length = 0;
    for (item, stored) in items.iter().zip(stored) {
        let start = bytes.len();
        // Device, inode, owner and the time of the last change of state are others in each workspace; the repository is
        // configured so that git does not look at them.
        let seconds = stored.modified.tv_sec.cast_unsigned() as u32;
        let nanos = stored.modified.tv_nsec.cast_unsigned() as u32;
        let figures = [0, 0, seconds, nanos, 0, 0, item.kind.mode(), 0, 0, stored.size as u32];
        for figure in figures {
            bytes.extend(figure.to_be_bytes());
        }
        let name = decode(&stored.name)?;
        length = name.len();
        bytes.extend(name);
        let path = item.path.as_str().as_bytes();
        bytes.extend((path.len().min(LONGEST) as u16).to_be_bytes());
        bytes.extend(path);
        // At least one zero byte, then up to the next multiple of eight.
        let padded = (bytes.len() - start) / 8 * 8 + 8;
        bytes.resize(start + padded, 0);
    }
    let checksum = match length {
        32 => Sha256::digest(&bytes).to_vec(),
        _ => Sha1::digest(&bytes).to_vec(),
    };
    bytes.extend(checksum);
    Some(bytes)
}

fn decode(name: &str) -> Option<Vec<u8>> {
    let digits = name.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    matches!(digits.len(), 40 | 64).then(|| pairs.collect()).flatten()
}
