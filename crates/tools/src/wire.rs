//! What goes between client and server: frames of four bytes of length, the highest first, and JSON.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use sequester_core::tool::{Invocation, Returned};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::workbench::Settings;

use crate::lines::show;

/// The longest frame that a server takes.
pub(crate) const REQUEST_BYTES: usize = 16 << 20;
/// The longest frame that a client takes.
pub(crate) const ANSWER_BYTES: usize = 1 << 20;

/// The first thing that a server is told.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    pub(crate) root: PathBuf,
    pub(crate) settings: Settings,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) invocation: Invocation,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) id: u64,
    pub(crate) returned: Returned,
}

/// The frame of `value`, or its length if that is over `limit`.
pub(crate) fn encode(value: &impl Serialize, limit: usize) -> io::Result<Result<Vec<u8>, usize>> {
    let mut frame = vec![0; LENGTH];
    serde_json::to_writer(&mut frame, value)?;
    let length = frame.len() - LENGTH;
    match u32::try_from(length) {
        Ok(short) if length <= limit => {
            frame[..LENGTH].copy_from_slice(&short.to_be_bytes());
            Ok(Ok(frame))
        }
        _ => Ok(Err(length)),
    }
}

const WHY_CHARS: usize = 300;
const LENGTH: usize = size_of::<u32>();

/// In one piece, so that frames of several threads do not mix as long as the writer is locked.
pub(crate) fn send(output: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    output.write_all(frame)?;
    output.flush()
}

/// The next value; nothing at the end of input. Memory grows with what really comes, not with the length that is claimed.
pub(crate) fn receive<T: DeserializeOwned>(
    input: &mut impl Read,
    limit: usize,
) -> io::Result<Option<T>> {
    let mut length = [0; LENGTH];
    let mut filled = 0;
    while filled < LENGTH {
        match input.read(&mut length[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(malformed("it ended within its length")),
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > limit {
        return Err(malformed(&format!("it has {length} bytes and may have {limit}")));
    }
    let mut frame = Vec::new();
    input.by_ref().take(length as u64).read_to_end(&mut frame)?;
    if frame.len() < length {
        return Err(malformed(&format!("it ended after {} of {length} bytes", frame.len())));
    }
    serde_json::from_slice(&frame).map(Some).map_err(|error| malformed(&error.to_string()))
}

/// What is wrong with a frame; it may quote a text of any length.
pub(crate) fn malformed(why: &str) -> io::Error {
    let why = show(why, WHY_CHARS).line;
    io::Error::new(io::ErrorKind::InvalidData, format!("A frame is malformed: {why}."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn received(bytes: &[u8]) -> Result<bool, String> {
        let value = receive::<Request>(&mut &*bytes, REQUEST_BYTES);
        value.map(|value| value.is_some()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_malformed_frame_is_told_with_the_reason() {
        let invocation = json!({"call": {"id": "1", "name": "Read", "arguments": {}}});
        let frame = |value: &serde_json::Value| encode(value, REQUEST_BYTES).unwrap().unwrap();
        let request = frame(&json!({"id": 1, "invocation": invocation}));
        assert_eq!((received(&[]), received(&request)), (Ok(false), Ok(true)));
        for (bytes, why) in [
            (vec![0, 0], "it ended within its length."),
            (vec![0xFF; 8], "it has 4294967295 bytes and may have 16777216."),
            (vec![0, 0, 0, 9, b'{'], "it ended after 1 of 9 bytes."),
            (vec![0; 4], "EOF while parsing a value"),
            (frame(&json!({"id": "1"})), "invalid type: string"),
            (frame(&json!({"id": 1, "invocation": invocation, "more": 1})), "unknown field `more`"),
        ] {
            let told = received(&bytes).unwrap_err();
            assert!(told.starts_with("A frame is malformed: ") && told.contains(why), "{told}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        assert_eq!(encode(&"x".repeat(8), 9).unwrap(), Err(10));
        assert_eq!(encode(&"x".repeat(7), 9).unwrap().unwrap().len(), LENGTH + 9);
    }
}
