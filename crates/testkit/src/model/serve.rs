//! From a request to its answer.

use std::sync::Arc;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use serde_json::json;
use tokio::sync::Barrier;
use tokio::time::sleep;

use super::answer::Answer;
use super::errors::{Refusal, error};
use super::fault::Faults;
use super::ledger::{Ledger, Recorded};
use super::request::{Request, Wire};
use super::script::Script;
use super::server::Pace;
use super::spoil;

/// What no request of a test exceeds.
const BODY: usize = 64 << 20;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) script: Script,
    pub(super) faults: Faults,
    pub(super) pace: Pace,
    pub(super) key: Option<String>,
    pub(super) models: Vec<String>,
    pub(super) together: Barrier,
    pub(super) ledger: Arc<Ledger>,
}

impl Service {
    /// With the request, where it is recorded.
    pub(super) async fn answer(
        &self,
        request: hyper::Request<Incoming>,
    ) -> (Answer, Option<Recorded>) {
        let (parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BODY).collect().await else {
            let told = json!({"error": {"message": "The body is too large."}});
            return (Answer::json(413, &told), None);
        };
        let body = body.to_bytes();
        let recorded = self.ledger.is_recording().then(|| recorded(&parts, &body));
        if let Some(recorded) = &recorded {
            self.ledger.record(recorded.clone());
        }
        let answer = match (&parts.method, Wire::at(parts.uri.path())) {
            (&Method::POST, Some(wire)) => self.reply(wire, &parts.headers, body).await,
            (&Method::GET, None) if parts.uri.path() == "/v1/models" => self.list(&parts.headers),
            _ => Answer::json(404, &json!({"error": {"message": "There is nothing here."}})),
        };
        (answer, recorded)
    }

    fn list(&self, headers: &HeaderMap) -> Answer {
        let sent = [Wire::Anthropic, Wire::Chat].map(|wire| sent_key(wire, headers));
        if self.key.as_deref().is_some_and(|key| !sent.contains(&Some(key))) {
            return self.refuse(Wire::Chat, &Refusal::Unauthorized);
        }
        if self.models.is_empty() {
            return spoil::models(&["scripted".to_owned()]);
        }
        spoil::models(&self.models)
    }

    async fn reply(&self, wire: Wire, headers: &HeaderMap, body: Bytes) -> Answer {
        let index = self.ledger.count();
        let mut request = match self.read(wire, headers, &body) {
            Ok(request) => request,
            Err(refusal) => return self.refuse(wire, &refusal),
        };
        let fault = self.faults.draw(index, &request);
        if let Some(fault) = &fault {
            self.ledger.inject(fault);
            if let Some(answer) = spoil::without_reply(fault, &request) {
                return answer;
            }
        }
        let Some(turn) = self.script.turn(&request) else {
            let message = format!("The script has no turn {}.", request.turn);
            return self.refuse(wire, &Refusal::Invalid(message));
        };
        // While the model takes its time, only the turn is held.
        drop(body);
        request.forget_text();
        self.together.wait().await;
        if !self.pace.first.is_zero() {
            sleep(self.pace.first).await;
        }
        spoil::reply(&turn, &request, fault.as_ref(), self.pace.between)
    }

    fn read(&self, wire: Wire, headers: &HeaderMap, body: &[u8]) -> Result<Request, Refusal> {
        if self.key.as_deref().is_some_and(|key| sent_key(wire, headers) != Some(key)) {
            return Err(Refusal::Unauthorized);
        }
        if wire == Wire::Anthropic && !headers.contains_key("anthropic-version") {
            return Err(Refusal::Invalid("anthropic-version: header is required".to_owned()));
        }
        let request = Request::read(wire, body).map_err(Refusal::Invalid)?;
        if !self.models.is_empty() && !self.models.contains(&request.model) {
            return Err(Refusal::UnknownModel(request.model));
        }
        Ok(request)
    }

    fn refuse(&self, wire: Wire, refusal: &Refusal) -> Answer {
        if let Refusal::Invalid(why) = refusal {
            self.ledger.reject(why);
        }
        let (status, body) = error(wire, refusal);
        Answer::json(status, &body)
    }
}

fn sent_key(wire: Wire, headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match wire {
        Wire::Anthropic => text("x-api-key"),
        Wire::Chat | Wire::Responses => text("authorization")?.strip_prefix("Bearer "),
    }
}

fn recorded(parts: &Parts, body: &Bytes) -> Recorded {
    let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    Recorded {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        headers: parts.headers.iter().map(header).collect(),
        body: body.clone(),
    }
}
