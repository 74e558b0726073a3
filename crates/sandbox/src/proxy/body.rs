//! How far the body of one request goes, so that nothing behind it passes as a second request.

use super::refusal::Refusal;

/// What is still to come of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Counted(u64),
    Chunked(Chunk),
}

/// What a chunked body is to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    Size { read: u64, digits: u8 },
    SizeEnd(u64),
    Data(u64),
    DataReturn,
    DataEnd,
    LastReturn,
    LastEnd,
    Done,
}

/// Neither extensions nor trailers: no client needs them, and servers disagree about them.
const BAD_CHUNK: Refusal = Refusal::Malformed("a chunk of its body is not proper");
const FIRST: Chunk = Chunk::Size { read: 0, digits: 0 };
const MOST_DIGITS: u8 = 15;

impl Body {
    pub(super) fn chunked() -> Self {
        Self::Chunked(FIRST)
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self, Self::Counted(0) | Self::Chunked(Chunk::Done))
    }

    /// How many of these bytes belong to the body.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        let mut taken = 0;
        while taken < bytes.len() && !self.is_done() {
            let rest = &bytes[taken..];
            taken += match self {
                Self::Counted(left) | Self::Chunked(Chunk::Data(left)) => {
                    count_down(left, rest.len())
                }
                Self::Chunked(chunk) => {
                    *chunk = chunk.after(rest[0])?;
                    1
                }
            };
            if *self == Self::Chunked(Chunk::Data(0)) {
                *self = Self::Chunked(Chunk::DataReturn);
            }
        }
        Ok(taken)
    }
}

fn count_down(left: &mut u64, most: usize) -> usize {
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(most);
    *left -= count as u64;
    count
}

impl Chunk {
    fn after(self, byte: u8) -> Result<Self, Refusal> {
        match (self, byte) {
            (Self::Size { read, digits: 1.. }, b'\r') => Ok(Self::SizeEnd(read)),
            (Self::Size { read, digits: digits @ ..MOST_DIGITS }, _) => {
                let digit = char::from(byte).to_digit(16).ok_or(BAD_CHUNK)?;
                Ok(Self::Size { read: read * 16 + u64::from(digit), digits: digits + 1 })
            }
            (Self::SizeEnd(0), b'\n') => Ok(Self::LastReturn),
            (Self::SizeEnd(size), b'\n') => Ok(Self::Data(size)),
            (Self::DataReturn, b'\r') => Ok(Self::DataEnd),
            (Self::DataEnd, b'\n') => Ok(FIRST),
            (Self::LastReturn, b'\r') => Ok(Self::LastEnd),
            (Self::LastEnd, b'\n') => Ok(Self::Done),
            _ => Err(BAD_CHUNK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKS: &[u8] = b"5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n";

    #[test]
    fn nothing_behind_a_body_belongs_to_it() {
        let mut body = Body::Counted(5);
        assert_eq!(body.take(b"helloGET / HTTP/1.1"), Ok(5));
        assert!(body.is_done());
        assert_eq!(body.take(b"more"), Ok(0));

        let mut body = Body::chunked();
        assert_eq!(body.take(&[CHUNKS, b"GET / HTTP/1.1"].concat()), Ok(CHUNKS.len()));
        assert!(body.is_done());
    }

    #[test]
    fn a_body_may_come_in_any_two_pieces() {
        for at in 0..=CHUNKS.len() {
            let mut body = Body::chunked();
            assert_eq!(body.take(&CHUNKS[..at]), Ok(at));
            assert_eq!(body.is_done(), at == CHUNKS.len());
            assert_eq!(body.take(&CHUNKS[at..]), Ok(CHUNKS.len() - at));
            assert!(body.is_done());
        }
    }

    #[test]
    fn a_chunk_is_written_in_one_way_only() {
        let bad: [&[u8]; 12] = [
            b"\r\n",
            b"g\r\n",
            b"5\n",
            b"5;a=b\r\n",
            b"5 \r\n",
            b"+5\r\n",
            b"0x5\r\n",
            b"1\r\nab\r\n",
            b"1\r\na\n",
            b"0\r\nX: y\r\n\r\n",
            b"0\r\n\n",
            b"1000000000000000\r\n",
        ];
        for bytes in bad {
            assert_eq!(Body::chunked().take(bytes), Err(BAD_CHUNK), "{}", bytes.escape_ascii());
        }
    }
}
