//! WebSearch over an endpoint that the person configured.

use std::fmt::Write as _;
use std::time::Duration;

use reqwest::Url;
use sequester_core::future::BoxFuture;
use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec, Toolbox};
use serde_json::{Value, json};

use crate::pool::Pool;

const NAME: &str = "WebSearch";
const PLACE: &str = "{query}";
const WAIT: Duration = Duration::from_secs(20);
const LARGEST: usize = 2 << 20;
/// Of one query, in bytes; of one answer, in results and in characters per field.
const QUERY: usize = 1_000;
const RESULTS: usize = 10;
const FIELD: usize = 400;

/// A search engine that answers in JSON, such as SearxNG.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pool: Pool,
    template: String,
}

impl Endpoint {
    /// Nothing where the template is none.
    pub fn new(pool: &Pool, template: &str) -> Option<Self> {
        let endpoint = || Self { pool: pool.clone(), template: template.to_owned() };
        Self::is_template(template).then(endpoint)
    }

    /// Whether this is an address with `{query}` in it, and not where the host stands: a query must not choose that.
    pub fn is_template(text: &str) -> bool {
        let hosts = ["x", "y"].map(|query| fill(text, query)?.host_str().map(str::to_owned));
        text.contains(PLACE) && hosts[0].is_some() && hosts[0] == hosts[1]
    }

    async fn search(&self, arguments: &Value) -> Outcome {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default().trim();
        if query.is_empty() || query.len() > QUERY {
            return failed(&format!("`query` must be a text of 1 to {QUERY} bytes."));
        }
        let Some(url) = fill(&self.template, query) else {
            return failed("The query makes no address.");
        };
        let body = match self.pool.get(url, None, WAIT, LARGEST).await {
            Ok(body) => body,
            Err(why) => return failed(&format!("The search endpoint gave nothing. {why}")),
        };
        match serde_json::from_slice::<Value>(&body).ok().as_ref().and_then(results) {
            Some(results) => Outcome::Output(list(results)),
            None => failed("The search endpoint answered in an unknown form."),
        }
    }
}

fn fill(template: &str, query: &str) -> Option<Url> {
    let url = Url::parse(&template.replace(PLACE, &encode(query))).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

fn failed(words: &str) -> Outcome {
    Outcome::Failed(words.to_owned())
}

fn encode(query: &str) -> String {
    let mut encoded = String::with_capacity(query.len());
    for byte in query.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn results(body: &Value) -> Option<&Vec<Value>> {
    let places = ["/results", "/web/results", "/items", "/data", ""];
    places.iter().find_map(|place| body.pointer(place)?.as_array())
}

fn list(results: &[Value]) -> String {
    let mut text = String::new();
    for result in results.iter().take(RESULTS) {
        let field = |names: &[&str]| {
            let found = names.iter().find_map(|name| result.get(name)?.as_str());
            let line = found.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            shorten(line)
        };
        let url = field(&["url", "link", "href"]);
        if url.is_empty() {
            continue;
        }
        let title = field(&["title", "name"]);
        let about = field(&["content", "snippet", "description", "text"]);
        let _ = writeln!(text, "- {title}\n  {url}");
        if !about.is_empty() {
            let _ = writeln!(text, "  {about}");
        }
    }
    if text.is_empty() {
        return "Nothing was found.\n".to_owned();
    }
    let more = results.len().saturating_sub(RESULTS);
    if more > 0 {
        let results = if more == 1 { "result is" } else { "results are" };
        let _ = writeln!(text, "[{more} more {results} not shown. Search for something narrower.]");
    }
    text
}

fn shorten(line: String) -> String {
    match line.char_indices().nth(FIELD) {
        Some((at, _)) => {
            let more = line[at..].chars().count();
            format!("{} [{more} more characters]", &line[..at])
        }
        None => line,
    }
}

impl Toolbox for Endpoint {
    fn specs(&self) -> Vec<Spec> {
        vec![Spec {
            name: NAME.into(),
            description: "Searches the web and lists titles, addresses and excerpts.".into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to search for."},
                },
                "required": ["query"],
                "additionalProperties": false,
            })
            .into(),
            effect: Effect::Reads,
        }]
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            let call = &invocation.call;
            if call.name != NAME {
                return Outcome::Refused(format!("There is no tool `{}` here.", call.name)).into();
            }
            self.search(&call.arguments).await.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_goes_into_its_place() {
        let template = "http://h/s?x={query}&n=5";
        assert!(Endpoint::is_template(template));
        let url = fill(template, "a b&c=ü").unwrap().to_string();
        assert_eq!(url, "http://h/s?x=a%20b%26c%3D%C3%BC&n=5");
        let nonsense = ["", "h/{query}", "file:///x/{query}", "http://h/s", "http://{query}/s"];
        for text in nonsense.into_iter().chain(["http://{query}.h/", "http://[/{query}"]) {
            assert!(!Endpoint::is_template(text), "{text}");
        }
    }

    #[test]
    fn the_usual_shapes_make_the_same_list() {
        let result = json!({"title": "A\n title", "url": "http://a/", "content": "About it."});
        let other = json!({"name": "A title", "link": "http://a/", "snippet": "About  it."});
        let bodies = [
            json!({"results": [result]}),
            json!({"items": [other]}),
            json!({"data": [result]}),
            json!({"web": {"results": [result]}}),
            json!([other]),
        ];
        for body in bodies {
            assert_eq!(list(results(&body).unwrap()), "- A title\n  http://a/\n  About it.\n");
        }
        assert_eq!(results(&json!({"error": "no"})), None);
        assert_eq!(list(&[]), "Nothing was found.\n");
    }

    #[test]
    fn a_list_is_bounded_and_says_what_is_missing() {
        let long =
            json!({"title": "t".repeat(10_000), "url": "http://a/", "content": "c".repeat(10_000)});
        let text = list(&vec![long; 100]);
        assert!(text.len() < RESULTS * (3 * FIELD + 100));
        assert!(text.starts_with(&format!("- {} [9600 more characters]\n", "t".repeat(FIELD))));
        assert!(
            text.ends_with("[90 more results are not shown. Search for something narrower.]\n")
        );
    }
}
