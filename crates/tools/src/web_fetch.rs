//! WebFetch: a page of an allowed host, as Markdown.

mod html;

use std::io::Read as _;
use std::time::Instant;

use sequester_core::tool::{Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::header::{CONTENT_TYPE, LOCATION};
use ureq::http::{HeaderMap, HeaderName, Response};
use ureq::{Agent, Body, Proxy};
use url::Url;

use crate::file::binary_kind;
use crate::lines::note;
use crate::root::{failed, refuse};
use crate::tool::{Seen, Tool};
use crate::workbench::{Settings, Workbench};

const PAGE_BYTES: usize = 2 << 20;
const REDIRECTS: usize = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    url: String,
}

pub(crate) struct WebFetch;

impl Tool for WebFetch {
    type Args = Args;
    const NAME: &'static str = "WebFetch";
    const DESCRIPTION: &'static str = "Fetches a page by HTTP or HTTPS from an allowed host. HTML comes as Markdown, other text as it is. \
        Redirects are followed to allowed hosts only.";
    const EFFECT: Effect = Effect::Reads;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "The page's address, beginning with `http://` or `https://`."},
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
        let text = page.text(&url, &kind)?;
        if status.is_success() {
            return Ok(Outcome::Output(text).into());
        }
        Err(failed(format!("`{url}` answered {status}.\n{text}")))
    }
}

/// The first answer that is no redirect. Every address on the way must be allowed.
fn follow(mut url: Url, settings: &Settings) -> Result<(Url, Response<Body>), Outcome> {
    let until = Instant::now().checked_add(settings.fetch_time);
    for _ in 0..=REDIRECTS {
        check_allowed(&url, settings)?;
        let response = ask(&url, settings, until)?;
        let location = header(response.headers(), &LOCATION);
        if !response.status().is_redirection() || location.is_empty() {
            return Ok((url, response));
        }
        let next = url.join(location);
        url = next.map_err(|error| failed(format!("`{url}` redirects to no address: {error}.")))?;
    }
    Err(failed(format!("`{url}` is the sixth redirect in a row; five are followed.")))
}

fn ask(url: &Url, settings: &Settings, until: Option<Instant>) -> Result<Response<Body>, Outcome> {
    let proxy = settings.proxy.as_deref().map(Proxy::new).transpose();
    let proxy = proxy.map_err(|error| failed(format!("The proxy's address is wrong: {error}.")))?;
    let agent: Agent = Agent::config_builder()
        .timeout_global(until.map(|until| until.saturating_duration_since(Instant::now())))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        // Without this line it would be taken from the environment.
        .proxy(proxy)
        .user_agent("sequester")
        .build()
        .into();
    let answer = agent.get(url.as_str()).call();
    answer.map_err(|error| failed(format!("`{url}` could not be fetched: {error}.")))
}

fn check_allowed(url: &Url, settings: &Settings) -> Result<(), Outcome> {
    let host = match url.host_str() {
        Some(host) if matches!(url.scheme(), "http" | "https") => host,
        _ => return Err(refuse(&format!("`{url}` is neither `http` nor `https`."))),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("An address with a user's name or password in it is not fetched."));
    }
    if settings.hosts.is_empty() {
        return Err(refuse(
            "No host may be asked: the setting `hosts` is empty. Work without the page, or ask for it.",
        ));
    }
    if settings.hosts.iter().any(|allowed| allows(allowed, host, url)) {
        return Ok(());
    }
    let hosts = settings.hosts.join("`, `");
    Err(refuse(&format!(
        "The host of `{url}` may not be asked. The setting `hosts` allows `{hosts}`."
    )))
}

/// `host`, `*.host` for what is beneath it, either with `:port`; without one it is the scheme's own port.
fn allows(allowed: &str, host: &str, url: &Url) -> bool {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let Some(allowed) = allowed.strip_suffix(port.as_str()) else { return false };
    match allowed.strip_prefix("*.") {
        Some(above) => {
            let beneath = host.len().checked_sub(above.len() + 1);
            beneath.is_some_and(|at| {
                at > 0 && host.as_bytes()[at] == b'.' && host[at + 1..].eq_ignore_ascii_case(above)
            })
        }
        None => host.eq_ignore_ascii_case(allowed),
    }
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
    fn text(&self, url: &Url, kind: &str) -> Result<String, Outcome> {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !is_text(kind) || binary_kind(&self.bytes).is_some() {
            let kind = if kind.is_empty() { "of no stated kind" } else { kind };
            let size = self.bytes.len();
            return Err(refuse(&format!(
                "`{url}` is no text ({kind}, {size} bytes read). Only text is fetched."
            )));
        }
        let text = String::from_utf8_lossy(&self.bytes);
        let is_html = matches!(kind, "text/html" | "application/xhtml+xml");
        let mut output = if is_html { html::to_markdown(&text) } else { text.into_owned() };
        if !self.whole {
            output.push('\n');
            note(
                &mut output,
                format_args!("The page is longer than {PAGE_BYTES} bytes; the rest was not read."),
            );
        }
        Ok(output)
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
    fn a_host_is_allowed_by_name_and_port() {
        for (allowed, url, expected) in [
            ("example.org", "https://example.org/a", true),
            ("Example.org", "http://EXAMPLE.org", true),
            ("example.org", "https://example.org:8443/", false),
            ("example.org:8443", "https://example.org:8443/", true),
            ("example.org:8443", "https://example.org/", false),
            ("example.org", "https://a.example.org/", false),
            ("*.example.org", "https://a.b.example.org/", true),
            ("*.example.org", "https://example.org/", false),
            ("*.example.org", "https://badexample.org/", false),
            ("example.org", "https://example.org.evil.test/", false),
            ("[::1]:80", "https://[::1]:80/", true),
            ("", "https://example.org/", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(allows(allowed, url.host_str().unwrap(), &url), expected, "{allowed} {url}");
        }
    }
}
