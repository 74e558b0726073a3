//! What goes between client and server: frames of four bytes of length, the highest first, and JSON.

use std::io::{self, Read, Write};

use sequester_core::tool::{Invocation, Returned};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The longest frame that a server takes.
pub(crate) const REQUEST_BYTES: usize = 16 << 20;
/// The longest frame that a client takes.
pub(crate) const ANSWER_BYTES: usize = 1 << 20;

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

fn malformed(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("A frame is malformed: {why}."))
}
