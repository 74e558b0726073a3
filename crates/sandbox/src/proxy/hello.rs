//! The first message of TLS: which name it asks for.

use tls_parser::{
    SNIType, TlsExtension, TlsExtensionType, TlsHandshakeType, TlsRecordType,
    parse_tls_extension_sni_content, parse_tls_extension_unknown, parse_tls_handshake_client_hello,
    parse_tls_record_header,
};

use super::refusal::Refusal;
use super::target::{Host, Target};

/// What a first message may be long, with the heads of its records.
pub(super) const HELLO_BYTES: usize = 16 * 1024;
/// What every record of TLS begins with that carries a handshake.
pub(super) const HANDSHAKE: u8 = 0x16;
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
    let asked = read_name(&message)
        .map_err(|Unread| Refusal::Hello("The first message of a tunnel is no proper TLS"))?;
    let is_same = match (&asked, &target.host) {
        (Some(asked), Host::Name(name)) => asked.eq_ignore_ascii_case(name),
        (None, Host::Name(_)) => false,
        (Some(asked), Host::Address(address)) => asked.parse() == Ok(*address),
        (None, Host::Address(_)) => true,
    };
    if is_same { Ok(Progress::Whole) } else { Err(Refusal::Name { asked, target: target.clone() }) }
}

/// The first message without its head, once it is whole, out of the records that it came in.
fn gather(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    const OTHER: Refusal = Refusal::Hello("A tunnel does not begin with TLS");
    let mut message = Vec::new();
    while let Ok((rest, head)) = parse_tls_record_header(bytes) {
        let is_handshake = head.record_type == TlsRecordType::Handshake && head.version.0 >> 8 == 3;
        if !is_handshake || head.len == 0 || usize::from(head.len) > HELLO_BYTES {
            return Err(OTHER);
        }
        let length = usize::from(head.len).min(rest.len());
        message.extend_from_slice(&rest[..length]);
        bytes = &rest[length..];
        let Some((&[kind, a, b, c], content)) = message.split_first_chunk() else {
            continue;
        };
        let whole = u32::from_be_bytes([0, a, b, c]) as usize;
        if kind != u8::from(TlsHandshakeType::ClientHello) || content.len() > whole {
            return Err(OTHER);
        }
        if content.len() == whole && length == usize::from(head.len) {
            return Ok(Some(content.to_vec()));
        }
    }
    let is_tls = bytes.first().is_none_or(|first| *first == HANDSHAKE);
    if is_tls { Ok(None) } else { Err(OTHER) }
}

/// A message that breaks the rules.
struct Unread;

/// The one name of the one extension that may hold one. The library passes over what stands behind a part that it has
/// read; we do not.
fn read_name(message: &[u8]) -> Result<Option<String>, Unread> {
    let Ok((&[], hello)) = parse_tls_handshake_client_hello(message) else {
        return Err(Unread);
    };
    let mut extensions = hello.ext.unwrap_or_default();
    let mut asked = None;
    while !extensions.is_empty() {
        let Ok((rest, TlsExtension::Unknown(kind, data))) = parse_tls_extension_unknown(extensions)
        else {
            return Err(Unread);
        };
        extensions = rest;
        if kind == TlsExtensionType::ServerName && asked.replace(read_only_name(data)?).is_some() {
            return Err(Unread);
        }
    }
    Ok(asked)
}

fn read_only_name(data: &[u8]) -> Result<String, Unread> {
    let Ok((_, TlsExtension::SNI(names))) = parse_tls_extension_sni_content(data) else {
        return Err(Unread);
    };
    let [(SNIType::HostName, name)] = names[..] else {
        return Err(Unread);
    };
    let is_all = data.len() == name.len() + 5 && name.is_ascii();
    String::from_utf8(name.to_vec()).ok().filter(|_| is_all).ok_or(Unread)
}

#[cfg(test)]
mod tests;
