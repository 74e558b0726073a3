//! The one place where a text is cut: head and tail stay, and the cut says how much is missing.

use std::collections::VecDeque;

/// Room for the words that say what was cut.
const WORDS: usize = 96;

/// `text`, or its head and tail if it is longer than `limit` bytes.
pub fn cap(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let mut kept = Cap::new(limit);
    kept.push(text.as_bytes());
    kept.finish()
}

/// Takes any number of bytes and never holds more than its limit.
pub struct Cap {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Cap {
    pub fn new(limit: usize) -> Self {
        let half = limit.saturating_sub(WORDS) / 2;
        Self { half, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(self.half)..];
        let over = (self.tail.len() + last.len()).saturating_sub(self.half);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(last);
    }

    /// What is left, as text of at most the limit. Bytes that are no UTF-8 become replacement characters.
    pub fn finish(mut self) -> String {
        let whole = self.total == (self.head.len() + self.tail.len()) as u64;
        if whole {
            self.head.extend(self.tail.drain(..));
            let text = String::from_utf8_lossy(&self.head);
            if text.len() <= 2 * self.half {
                return text.into_owned();
            }
            // Replacement characters are longer than what they stand for.
            self.tail = self.head.split_off(self.head.len() / 2).into();
        }
        let tail = self.tail.make_contiguous();
        let head = &self.head[..fitting_start(&self.head, self.half)];
        let tail = &tail[tail.len() - fitting_end(tail, self.half)..];
        let cut = self.total - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let gap = if head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{gap}[{cut} bytes were cut here. Narrow the call to see them.]\n{tail}")
    }
}

/// How many bytes of the start become at most `room` bytes of text; whole lines, if that costs little.
fn fitting_start(bytes: &[u8], room: usize) -> usize {
    // A character that the cut split is left out, not replaced.
    let bytes = &bytes[..bytes.len() - split_at_end(bytes)];
    let (mut taken, mut length) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if length + valid.len() > room {
            taken += valid.floor_char_boundary(room - length);
            break;
        }
        length += valid.len();
        taken += valid.len();
        if !chunk.invalid().is_empty() {
            if length + REPLACED > room {
                break;
            }
            length += REPLACED;
            taken += chunk.invalid().len();
        }
    }
    let line = bytes[..taken].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if line >= taken / 4 * 3 { line } else { taken }
}

/// How many bytes of the end become at most `room` bytes of text; whole lines, if that costs little.
fn fitting_end(bytes: &[u8], room: usize) -> usize {
    let split = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    let bytes = &bytes[split..];
    let mut length = String::from_utf8_lossy(bytes).len();
    let mut left = 0;
    for chunk in bytes.utf8_chunks() {
        if length <= room {
            break;
        }
        let valid = chunk.valid();
        let away = valid.ceil_char_boundary((length - room).min(valid.len()));
        left += away;
        length -= away;
        if length > room {
            left += chunk.invalid().len();
            length -= if chunk.invalid().is_empty() { 0 } else { REPLACED };
        }
    }
    let kept = &bytes[left..];
    let line = kept.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    kept.len() - if line <= kept.len() / 4 { line } else { 0 }
}

/// The length of the replacement character.
const REPLACED: usize = char::REPLACEMENT_CHARACTER.len_utf8();

/// How many bytes at the end begin a character without ending it.
fn split_at_end(bytes: &[u8]) -> usize {
    let begins = |back: &usize| {
        let end = str::from_utf8(&bytes[bytes.len() - back..]);
        end.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=bytes.len().min(3)).find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests;
