//! Bytes in a patch, as git packs them.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes per line.
const LINE: usize = 52;

/// What stands after a file's heading: how to make the new bytes, and the old ones again.
pub(super) fn part(old: &[u8], new: &[u8]) -> std::io::Result<String> {
    Ok(format!("GIT binary patch\n{}\n{}\n", literal(new)?, literal(old)?))
}

fn literal(bytes: &[u8]) -> std::io::Result<String> {
    let mut stream = ZlibEncoder::new(Vec::new(), Compression::default());
    stream.write_all(bytes)?;
    let packed = stream.finish()?;
    let mut text = format!("literal {}\n", bytes.len());
    for line in packed.chunks(LINE) {
        // `A` to `Z` tell up to 26 bytes, `a` to `z` the rest.
        let length = line.len() as u8;
        text.push(char::from(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 }));
        for four in line.chunks(4) {
            let mut padded = [0; 4];
            padded[..four.len()].copy_from_slice(four);
            let mut value = u32::from_be_bytes(padded);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(value % 85) as usize];
                value /= 85;
            }
            text.extend(digits.map(char::from));
        }
        text.push('\n');
    }
    Ok(text)
}
