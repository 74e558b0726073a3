//! The head of a request, read in one way only: what two programs could take differently is no request.

use super::body::Body;
use super::refusal::Refusal;
use super::target::Target;
use crate::proxy::host::Peer;

/// What a head may be long.
pub(super) const HEAD_BYTES: usize = 16 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// `CONNECT`.
    Tunnel(Target),
    Plain(Plain),
}

/// A request as it goes on to its host: alone on its connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) target: Target,
    pub(super) head: Vec<u8>,
    pub(super) body: Body,
}

type Header<'a> = (&'a str, &'a str);

/// Ours to say, or of the one connection that it came by.
const DROPPED: [&str; 12] = [
    // A header of this name is dropped behind us in any case: our own `Connection: close` names it.
    "close",
    "connection",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
    "http2-settings",
    "proxy-features",
];

/// What `Connection` may not drop: it would change where the request goes or ends.
const FRAMING: [&str; 3] = ["content-length", "host", "transfer-encoding"];

/// Where the head ends, once it is whole. Lines are looked at from `from` on.
pub(super) fn find_end(bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal> {
    for at in from..bytes.len() {
        let is_line_end = bytes[at] == b'\n';
        if bytes[at] == 0 {
            return Err(Refusal::Malformed("it holds a NUL"));
        }
        if is_line_end && (at == 0 || bytes[at - 1] != b'\r') {
            return Err(Refusal::Malformed("a line does not end with CR and LF"));
        }
        // Other protocols would wait for an answer behind theirs.
        if is_line_end && !bytes[..at].contains(&b'\n') {
            split_first_line(str::from_utf8(&bytes[..at - 1]).unwrap_or_default())?;
        }
        if is_line_end && bytes[..=at].ends_with(b"\r\n\r\n") {
            return Ok(Some(at + 1));
        }
    }
    if bytes.len() >= HEAD_BYTES {
        return Err(Refusal::Malformed("its head is longer than 16 KB"));
    }
    Ok(None)
}

/// Reads a head with the empty line that ends it. `tunnel` is where it came through, if through one.
pub(super) fn parse(head: &[u8], tunnel: Option<&Target>) -> Result<Request, Refusal> {
    let text = head.strip_suffix(b"\r\n\r\n").ok_or(Refusal::Malformed("its head does not end"))?;
    // Bytes beyond ASCII have no agreed meaning in a head.
    let text = str::from_utf8(text).ok().filter(|text| text.is_ascii());
    let text = text.ok_or(Refusal::Malformed("its head is not ASCII"))?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let [method, place, version] = split_first_line(first)?;
    let headers = lines.map(parse_header).collect::<Result<Vec<_>, _>>()?;

    if method == "CONNECT" && tunnel.is_none() {
        let target = match Peer::parse_with_port(place) {
            Some((peer, Some(port))) => Target { peer, port },
            _ => return Err(Refusal::Malformed("`CONNECT` needs a host and a port")),
        };
        check_host(&headers, &target, None)?;
        return match read_body(&headers, version)? {
            Body::Counted(0) => Ok(Request::Tunnel(target)),
            _ => Err(Refusal::Malformed("`CONNECT` has no body")),
        };
    }
    let (target, path) = match tunnel {
        None => split_address(place)?,
        Some(_) if method == "CONNECT" || !place.starts_with('/') => {
            return Err(Refusal::Malformed("in a tunnel it must name a path"));
        }
        Some(target) => (target.clone(), place.to_owned()),
    };
    check_host(&headers, &target, Some(80))?;
    let body = read_body(&headers, version)?;
    let head = rewrite(method, &path, version, &target, &headers)?;
    Ok(Request::Plain(Plain { target, head, body }))
}

fn split_first_line(line: &str) -> Result<[&str; 3], Refusal> {
    let mut words = line.split(' ');
    let (Some(method), Some(place), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal::Malformed("its first line is not a method, an address and a version"));
    };
    if !is_token(method) {
        return Err(Refusal::Malformed("its method is no word"));
    }
    if !place.bytes().all(|byte| byte.is_ascii_graphic()) || place.contains('#') {
        return Err(Refusal::Malformed("its address holds what no address may"));
    }
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(Refusal::Malformed("its version is neither `HTTP/1.1` nor `HTTP/1.0`"));
    }
    Ok([method, place, version])
}

fn parse_header(line: &str) -> Result<Header<'_>, Refusal> {
    if line.starts_with([' ', '\t']) {
        return Err(Refusal::Malformed("a header goes on in a second line"));
    }
    let (name, value) = line.split_once(':').unwrap_or_default();
    if !is_token(name) {
        return Err(Refusal::Malformed("a header has no proper name"));
    }
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return Err(Refusal::Malformed("a header holds a control character"));
    }
    Ok((name, value.trim_matches([' ', '\t'])))
}

fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

/// `http://host[:port]/path` as where to go and what to ask for there.
fn split_address(place: &str) -> Result<(Target, String), Refusal> {
    let Some((scheme, rest)) = place.split_once("://") else {
        return Err(Refusal::Malformed("it must name a whole address, `http://host/path`"));
    };
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(Refusal::Malformed("only `http://` is asked for so; all else needs `CONNECT`"));
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let Some((host, port)) = Peer::parse_with_port(authority) else {
        return Err(Refusal::Malformed("its address names no proper host"));
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok((Target { peer: host, port: port.unwrap_or(80) }, format!("{slash}{path}")))
}

/// A `Host` must be the target. Without a port it stands for `port`, or for any.
fn check_host(headers: &[Header<'_>], target: &Target, port: Option<u16>) -> Result<(), Refusal> {
    let Some(value) = only(headers, "host")? else {
        return Ok(());
    };
    let named = Peer::parse_with_port(value);
    let is_same = named.is_some_and(|(host, named)| {
        host == target.peer && named.or(port).is_none_or(|port| port == target.port)
    });
    if is_same {
        Ok(())
    } else {
        Err(Refusal::Malformed("its `Host` is not the host of its address"))
    }
}

fn read_body(headers: &[Header<'_>], version: &str) -> Result<Body, Refusal> {
    match (only(headers, "content-length")?, only(headers, "transfer-encoding")?) {
        (None, None) => Ok(Body::Counted(0)),
        (Some(length), None) if length.bytes().all(|byte| byte.is_ascii_digit()) => length
            .parse()
            .map(Body::Counted)
            .map_err(|_| Refusal::Malformed("its `Content-Length` is no length")),
        (Some(_), None) => Err(Refusal::Malformed("its `Content-Length` is no length")),
        (None, Some(coding)) if coding.eq_ignore_ascii_case("chunked") && version == "HTTP/1.1" => {
            Ok(Body::chunked())
        }
        (None, Some(_)) => {
            Err(Refusal::Malformed("its `Transfer-Encoding` is not `chunked` alone"))
        }
        (Some(_), Some(_)) => {
            Err(Refusal::Malformed("it has both `Content-Length` and `Transfer-Encoding`"))
        }
    }
}

/// The value of a header that may stand once.
fn only<'a>(headers: &[Header<'a>], name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
    let first = values.next().map(|header| header.1);
    match values.next() {
        None => Ok(first),
        Some(_) => Err(Refusal::Malformed("a header that may stand once stands twice")),
    }
}

fn rewrite(
    method: &str,
    path: &str,
    version: &str,
    target: &Target,
    headers: &[Header<'_>],
) -> Result<Vec<u8>, Refusal> {
    let mut dropped: Vec<String> = DROPPED.map(str::to_owned).to_vec();
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("connection") || name.eq_ignore_ascii_case("proxy-connection")
        {
            dropped.extend(value.split(',').map(|word| word.trim().to_ascii_lowercase()));
        }
    }
    if dropped[DROPPED.len()..].iter().any(|name| FRAMING.contains(&name.as_str())) {
        return Err(Refusal::Malformed("its `Connection` names a header that it needs"));
    }
    let port = if target.port == 80 { String::new() } else { format!(":{}", target.port) };
    let mut head = format!("{method} {path} {version}\r\nHost: {}{port}\r\n", target.peer);
    for (name, value) in headers {
        if !dropped.contains(&name.to_ascii_lowercase()) {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
    }
    head.push_str("Connection: close\r\n\r\n");
    Ok(head.into_bytes())
}

#[cfg(test)]
mod tests;
