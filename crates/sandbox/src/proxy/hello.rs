//! The first message of TLS: which name it asks for.

use super::refusal::Refusal;
use super::target::Target;
use crate::proxy::host::Peer;

/// What a first message may be long, with the heads of its records.
pub(super) const HELLO_BYTES: usize = 16 * 1024;
/// What every record of TLS begins with that carries a handshake.
pub(super) const HANDSHAKE: u8 = 0x16;
const CLIENT_HELLO: u8 = 1;
/// A record by which TLS says that access is denied.
pub(super) const DENIED: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 49];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Partial,
    Whole,
}

/// Whether these bytes begin with a first message that asks for the target, as far as they go.
pub(super) fn check(bytes: &[u8], target: &Target) -> Result<Progress, Refusal> {
    let Some(message) = gather(bytes)? else {
        if bytes.len() >= HELLO_BYTES {
            return Err(Refusal::Hello("The first message of a tunnel is longer than 16 KB"));
        }
        return Ok(Progress::Partial);
    };
    let asked = read_name(&message).map_err(|unread| match unread {
        Unread::Broken => Refusal::Hello("The first message of a tunnel is no proper TLS"),
        Unread::Sealed => Refusal::Hello(
            "The first message of a tunnel holds another that is encrypted, which may ask for any name",
        ),
    })?;
    let is_same = match (&asked, &target.peer) {
        (Some(asked), Peer::Name(name)) => asked.eq_ignore_ascii_case(name),
        (None, Peer::Name(_)) => false,
        (Some(asked), Peer::Address(address)) => asked.parse() == Ok(*address),
        (None, Peer::Address(_)) => true,
    };
    if is_same { Ok(Progress::Whole) } else { Err(Refusal::Name { asked, target: target.clone() }) }
}

/// The first message without its head, once it is whole, out of the records that it came in.
fn gather(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    const OTHER: Refusal = Refusal::Hello("A tunnel does not begin with TLS");
    let mut message = Vec::new();
    while let Some((&[kind, major, _, high, low], rest)) = bytes.split_first_chunk() {
        let announced = usize::from(u16::from_be_bytes([high, low]));
        if kind != HANDSHAKE || major != 3 || announced == 0 || announced > HELLO_BYTES {
            return Err(OTHER);
        }
        let length = announced.min(rest.len());
        message.extend_from_slice(&rest[..length]);
        bytes = &rest[length..];
        let Some((&[kind, a, b, c], content)) = message.split_first_chunk() else {
            continue;
        };
        let whole = u32::from_be_bytes([0, a, b, c]) as usize;
        if kind != CLIENT_HELLO || content.len() > whole {
            return Err(OTHER);
        }
        if content.len() == whole && length == announced {
            return Ok(Some(content.to_vec()));
        }
    }
    let is_tls = bytes.first().is_none_or(|first| *first == HANDSHAKE);
    if is_tls { Ok(None) } else { Err(OTHER) }
}

/// A message that does not tell.
enum Unread {
    /// It breaks the rules.
    Broken,
    /// What it really asks for is encrypted.
    Sealed,
}

/// What is left of a message. Nothing is passed over: each part is as long as it says, and all of them are the whole.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Unread> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Unread::Broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u16, Unread> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A part with its length before it, in one byte.
    fn short(&mut self) -> Result<&'a [u8], Unread> {
        let length = self.take(1)?[0];
        self.take(length.into())
    }

    /// A part with its length before it, in two bytes.
    fn long(&mut self) -> Result<&'a [u8], Unread> {
        let length = self.number()?;
        self.take(length.into())
    }

    fn end(&self) -> Result<(), Unread> {
        if self.0.is_empty() { Ok(()) } else { Err(Unread::Broken) }
    }
}

const VERSION_AND_RANDOM: usize = 2 + 32;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;
/// By which the name that counts is encrypted, in its final form and in the first drafts'.
const SEALED: [u16; 2] = [0xfe0d, 0xffce];

/// The one name of the one extension that may hold one.
fn read_name(message: &[u8]) -> Result<Option<String>, Unread> {
    let mut rest = Rest(message);
    rest.take(VERSION_AND_RANDOM)?;
    let (session, ciphers, compressions) = (rest.short()?, rest.long()?, rest.short()?);
    let fits = session.len() <= 32 && ciphers.len().is_multiple_of(2);
    if !fits || ciphers.is_empty() || compressions.is_empty() {
        return Err(Unread::Broken);
    }
    let mut extensions = Rest(if rest.0.is_empty() { &[] } else { rest.long()? });
    rest.end()?;
    let mut asked = None;
    while !extensions.0.is_empty() {
        let (kind, data) = (extensions.number()?, extensions.long()?);
        if SEALED.contains(&kind) {
            return Err(Unread::Sealed);
        }
        if kind == SERVER_NAME && asked.replace(read_only_name(data)?).is_some() {
            return Err(Unread::Broken);
        }
    }
    Ok(asked)
}

/// A list that holds one name and nothing else.
fn read_only_name(data: &[u8]) -> Result<String, Unread> {
    let mut data = Rest(data);
    let mut names = Rest(data.long()?);
    data.end()?;
    let kind = names.take(1)?[0];
    let name = names.long()?;
    names.end()?;
    if kind != HOST_NAME || name.is_empty() || !name.is_ascii() {
        return Err(Unread::Broken);
    }
    String::from_utf8(name.to_vec()).map_err(|_| Unread::Broken)
}

#[cfg(test)]
mod tests;
