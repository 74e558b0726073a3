//! WebFetch: a page of an allowed host, as Markdown.

mod charset;
mod host;
mod html;

use std::io::Read as _;
use std::time::Instant;

use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::header::{CONTENT_TYPE, LOCATION};
use ureq::http::{HeaderMap, HeaderName, Response};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body, Proxy};
use url::Url;

use crate::file::binary_kind;
use crate::lines::note;
use crate::root::{failed, refuse};
use crate::tool::{Seen, Tool};
use crate::workbench::{Settings, Workbench};
use charset::Charset;
use host::{Guard, Private, Reach};

const PAGE_BYTES: usize = 2 << 20;
const REDIRECTS: usize = 5;
/// Room for what is said after the text.
const WORDS: usize = 1_024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    url: String,
    offset: Option<usize>,
}

pub(crate) struct WebFetch;

impl Tool for WebFetch {
    type Args = Args;
    const NAME: &'static str = "WebFetch";
    const DESCRIPTION: &'static str = "Fetches a page by HTTP or HTTPS from an allowed host. HTML comes as Markdown, other text as it is. \
        Redirects are followed to allowed hosts only. A long page comes in parts; use `offset` for the next.";
    const EFFECT: Effect = Effect::Reads;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "The page's address, beginning with `http://` or `https://`."},
                "offset": {"type": "integer", "minimum": 0, "description": "The byte of the page's text to begin at, as an earlier part names it; 0 if left out."},
            },
            "required": ["url"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, _: &Seen) -> Result<Returned, Outcome> {
        let url = Url::parse(&args.url)
            .map_err(|error| failed(format!("`{}` is no address: {error}.", args.url)))?;
        let (url, mut response) = follow(url, &bench.settings)?;
        let status = response.status();
        let kind = header(response.headers(), &CONTENT_TYPE).to_ascii_lowercase();
        let page = read(&mut response)
            .map_err(|error| failed(format!("`{url}` could not be read to its end: {error}.")))?;
        let (text, notes) = page.text(&url, &kind)?;
        let room = bench.settings.output_bytes.saturating_sub(WORDS);
        // Of the whole text: a part may begin inside a secret.
        let clean = bench.redact(&text).text;
        let text = part(&clean, args.offset.unwrap_or(0), room)? + &notes;
        if status.is_success() {
            return Ok(Outcome::Output(text).into());
        }
        Err(failed(format!("`{url}` answered {status}.\n{text}")))
    }
}

/// What is shown of a text at once, from `offset` on.
fn part(clean: &str, offset: usize, room: usize) -> Result<String, Outcome> {
    let total = clean.len();
    if offset > 0 && offset >= total {
        return Err(failed(format!(
            "The page has {total} bytes of text; there is no byte {offset}."
        )));
    }
    let from = clean.floor_char_boundary(offset);
    let rest = &clean[from..];
    if rest.len() <= room {
        let shown = rest.to_owned();
        return Ok(if shown.is_empty() || shown.ends_with('\n') { shown } else { shown + "\n" });
    }
    // At least one character, and whole lines, if that costs little.
    let most = rest.ceil_char_boundary(rest.floor_char_boundary(room).max(1));
    let line = rest[..most].rfind('\n').map(|at| at + 1).filter(|line| *line >= most / 4 * 3);
    let end = line.unwrap_or(most);
    let mut shown = rest[..end].to_owned();
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    let next = from + end;
    note(
        &mut shown,
        format_args!("Bytes {from} to {next} of {total}. Read on with `offset` {next}."),
    );
    Ok(shown)
}

/// The first answer that is no redirect. Every address on the way must be allowed.
fn follow(mut url: Url, settings: &Settings) -> Result<(Url, Response<Body>), Outcome> {
    let until = Instant::now().checked_add(settings.fetch_time);
    for _ in 0..=REDIRECTS {
        let reach = check_allowed(&url, settings)?;
        let response = ask(&url, reach, settings, until)?;
        let location = header(response.headers(), &LOCATION);
        if !response.status().is_redirection() || location.is_empty() {
            return Ok((url, response));
        }
        url = redirect(&url, location)?;
    }
    Err(failed(format!("`{url}` is the sixth redirect in a row; five are followed.")))
}

/// Where a redirect leads; never from what is encrypted to what is not.
fn redirect(url: &Url, location: &str) -> Result<Url, Outcome> {
    let next = url.join(location);
    let next =
        next.map_err(|error| failed(format!("`{url}` redirects to no address: {error}.")))?;
    if url.scheme() == "https" && next.scheme() == "http" {
        return Err(refuse(&format!(
            "`{url}` redirects to `{next}`, where anybody on the way can read and change it. That is not followed."
        )));
    }
    Ok(next)
}

fn ask(
    url: &Url,
    reach: Reach,
    settings: &Settings,
    until: Option<Instant>,
) -> Result<Response<Body>, Outcome> {
    let proxy = settings.proxy.as_deref().map(Proxy::new).transpose();
    let proxy = proxy.map_err(|error| failed(format!("The proxy's address is wrong: {error}.")))?;
    let is_direct = proxy.is_none();
    let config = Agent::config_builder()
        .timeout_global(until.map(|until| until.saturating_duration_since(Instant::now())))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        // Without this line it would be taken from the environment.
        .proxy(proxy)
        .user_agent("sequester")
        .build();
    // A proxy resolves the name itself, and checks what comes out.
    let agent = if is_direct {
        Agent::with_parts(config, DefaultConnector::default(), Guard { reach })
    } else {
        Agent::new_with_config(config)
    };
    agent.get(url.as_str()).call().map_err(|error| match Private::of(&error) {
        Some(private) => refuse(&format!(
            "`{url}` is not fetched: {private}. The setting `hosts` has to name such an address itself."
        )),
        None => failed(format!("`{url}` could not be fetched: {error}.")),
    })
}

fn check_allowed(url: &Url, settings: &Settings) -> Result<Reach, Outcome> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refuse(&format!("`{url}` is neither `http` nor `https`.")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("An address with a user's name or password in it is not fetched."));
    }
    if settings.hosts.is_empty() {
        return Err(refuse(
            "No host may be asked: the setting `hosts` is empty. Work without the page, or ask for it.",
        ));
    }
    settings.hosts.iter().find_map(|entry| host::allow(entry, url)).ok_or_else(|| {
        let hosts = settings.hosts.join("`, `");
        refuse(&format!(
            "The host of `{url}` may not be asked. The setting `hosts` allows `{hosts}`."
        ))
    })
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// What was read of a page.
struct Page {
    bytes: Vec<u8>,
    whole: bool,
}

fn read(response: &mut Response<Body>) -> std::io::Result<Page> {
    let mut bytes = Vec::new();
    let reader = response.body_mut().as_reader();
    reader.take(PAGE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() <= PAGE_BYTES;
    bytes.truncate(PAGE_BYTES);
    Ok(Page { bytes, whole })
}

impl Page {
    /// The page as text, and what has to be said of it.
    fn text(&self, url: &Url, header: &str) -> Result<(String, String), Outcome> {
        let kind = header.split(';').next().unwrap_or_default().trim();
        let charset = Charset::find(&self.bytes, header);
        let is_binary = !charset.is_wide() && binary_kind(&self.bytes).is_some();
        if !is_text(kind) || is_binary {
            let kind = if kind.is_empty() { "of no stated kind" } else { kind };
            let size = self.bytes.len();
            return Err(refuse(&format!(
                "`{url}` is no text ({kind}, {size} bytes read). Only text is fetched."
            )));
        }
        let (text, lossy) = charset.decode(&self.bytes);
        let is_html = matches!(kind, "text/html" | "application/xhtml+xml");
        let text = if is_html { html::to_markdown(&text) } else { text };
        let mut notes = String::new();
        if !self.whole {
            note(
                &mut notes,
                format_args!("The page is longer than {PAGE_BYTES} bytes; the rest was not read."),
            );
        } else if lossy {
            let charset = charset.name();
            note(&mut notes, format_args!("Bytes that are no {charset} are shown as \u{FFFD}."));
        }
        Ok((text, notes))
    }
}

fn is_text(kind: &str) -> bool {
    const TEXTS: &[&str] =
        &["json", "xml", "javascript", "yaml", "x-yaml", "toml", "x-ndjson", "graphql"];
    let of_application = kind.strip_prefix("application/").is_some_and(|rest| {
        TEXTS.contains(&rest) || rest.ends_with("+json") || rest.ends_with("+xml")
    });
    kind.is_empty() || kind.starts_with("text/") || kind == "image/svg+xml" || of_application
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_leads_nowhere_less_safe() {
        let redirect = |from: &str, to: &str| {
            let next = redirect(&Url::parse(from).unwrap(), to);
            next.map(String::from).map_err(|outcome| matches!(outcome, Outcome::Refused(_)))
        };
        assert_eq!(redirect("https://a/b", "c?d"), Ok("https://a/c?d".to_owned()));
        assert_eq!(redirect("https://a/b", "//c/"), Ok("https://c/".to_owned()));
        assert_eq!(redirect("http://a/", "https://a/"), Ok("https://a/".to_owned()));
        assert_eq!(redirect("http://a/", "http://b/"), Ok("http://b/".to_owned()));
        assert_eq!(redirect("https://a/", "http://a/"), Err(true));
        assert_eq!(redirect("https://a/", "http://[/"), Err(false));
    }

    #[test]
    fn a_part_ends_at_a_line_or_at_least_at_a_character() {
        let part = |text: &str, offset, room| part(text, offset, room).unwrap();
        assert_eq!(part("", 0, 10), "");
        assert_eq!(part("abc", 0, 10), "abc\n");
        let on = "[Bytes 0 to 6 of 9. Read on with `offset` 6.]\n";
        assert_eq!(part("aa\nbb\ncc\n", 0, 7), format!("aa\nbb\n{on}"));
        assert_eq!(part("aa\nbb\ncc\n", 6, 7), "cc\n");
        assert_eq!(
            part("\u{e9}\u{e9}", 0, 3),
            "\u{e9}\n[Bytes 0 to 2 of 4. Read on with `offset` 2.]\n"
        );
        assert_eq!(part("\u{e9}\u{e9}", 1, 4), "\u{e9}\u{e9}\n");
    }
}
