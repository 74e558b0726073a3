//! A file's bytes in the form that git writes and reads where lines would not do.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes in one line.
const LINE: usize = 52;

/// The part after a file's heading that turns `old` into `new`. Git takes it only over the very file that it names, so it holds for
/// repositories that name objects by SHA-1.
pub(super) fn part(old: Option<&[u8]>, new: Option<&[u8]>) -> io::Result<String> {
    let content = new.unwrap_or_default();
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content)?;
    let mut text = format!("index {}..{}\n", name(old), name(new));
    let _ = writeln!(text, "GIT binary patch\nliteral {}", content.len());
    for line in packed.finish()?.chunks(LINE) {
        text.push(letter(line.len()));
        line.chunks(4).for_each(|four| push_digits(four, &mut text));
        text.push('\n');
    }
    text.push('\n');
    Ok(text)
}

/// The object's name; zeros for none.
fn name(content: Option<&[u8]>) -> String {
    let Some(content) = content else { return "0".repeat(40) };
    let mut hash = Sha1::new_with_prefix(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// How many bytes a line holds: 1 to 26 in capitals, then small letters.
fn letter(bytes: usize) -> char {
    let at = bytes as u8;
    char::from(if at <= 26 { b'A' + at - 1 } else { b'a' + at - 27 })
}

/// Up to four bytes, filled up with zeros, as five digits of base 85.
fn push_digits(four: &[u8], text: &mut String) {
    let mut bytes = [0; 4];
    bytes[..four.len()].copy_from_slice(four);
    let mut rest = u32::from_be_bytes(bytes);
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(rest % 85) as usize];
        rest /= 85;
    }
    text.extend(digits.map(char::from));
}
