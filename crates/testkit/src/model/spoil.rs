//! Replies as they are meant to be, and as a fault makes them.

use std::time::Duration;

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::answer::{Answer, Step};
use super::errors::{Refusal, error};
use super::fault::Fault;
use super::request::{Request, Wire};
use super::sse::Frame;
use super::turn::Turn;
use super::{anthropic, chat, responses};

/// What a fault sends without asking the script, if it is of that kind.
pub(super) fn without_reply(fault: &Fault, request: &Request) -> Option<Answer> {
    let refuse = |refusal: &Refusal| {
        let (status, body) = error(request.wire, refusal);
        Some(Answer::json(status, &body))
    };
    match fault {
        Fault::TooManyRequests { retry_after } => refuse(&Refusal::RateLimited).map(|answer| {
            let seconds = retry_after.as_millis().div_ceil(1_000);
            answer.with("retry-after", seconds).with("retry-after-ms", retry_after.as_millis())
        }),
        Fault::Overloaded => refuse(&Refusal::Overloaded),
        Fault::ContextTooLong => refuse(&Refusal::ContextTooLong),
        Fault::Unauthorized => refuse(&Refusal::Unauthorized),
        Fault::NoCredit => refuse(&Refusal::NoCredit),
        Fault::UnknownModel => refuse(&Refusal::UnknownModel(request.model.clone())),
        Fault::Unavailable => Some(page(503, "text/plain", "no healthy upstream")),
        Fault::WrongContentType => {
            Some(page(200, "text/html; charset=utf-8", "<html><body>Please log in.</body></html>"))
        }
        Fault::Hang => Some(Answer::Silence),
        // In a reply that is not streamed there is no room for an event.
        Fault::ErrorEvent if !request.stream => match request.wire {
            Wire::Responses => {
                let (code, message) = FAILED;
                Some(Answer::json(200, &responses::failed(request, code, message)))
            }
            Wire::Anthropic => refuse(&Refusal::Overloaded),
            Wire::Chat => refuse(&Refusal::Server),
        },
        _ => None,
    }
}

const FAILED: (&str, &str) = ("server_error", "The server had an error.");

fn page(status: u16, content_type: &str, text: &'static str) -> Answer {
    Answer::typed(status, content_type, vec![Step::Send(Bytes::from_static(text.as_bytes()))])
}

/// The reply to a request, spoilt or not.
pub(super) fn reply(
    turn: &Turn,
    request: &Request,
    fault: Option<&Fault>,
    between: Duration,
) -> Answer {
    if request.stream {
        let steps = stream(frames(turn, request), request, fault, between);
        return Answer::typed(200, "text/event-stream; charset=utf-8", steps)
            .with("cache-control", "no-cache");
    }
    let mut body = body(turn, request);
    if fault == Some(&Fault::NoStopReason) {
        forget_reason(&mut body);
    }
    Answer::typed(200, "application/json", whole(&body.to_string().into(), fault))
}

fn frames(turn: &Turn, request: &Request) -> Vec<Frame> {
    match request.wire {
        Wire::Anthropic => anthropic::frames(turn, request),
        Wire::Chat => chat::frames(turn, request),
        Wire::Responses => responses::frames(turn, request),
    }
}

fn body(turn: &Turn, request: &Request) -> Value {
    match request.wire {
        Wire::Anthropic => anthropic::body(turn, request),
        Wire::Chat => chat::body(turn, request),
        Wire::Responses => responses::body(turn, request),
    }
}

fn stream(
    mut frames: Vec<Frame>,
    request: &Request,
    fault: Option<&Fault>,
    between: Duration,
) -> Vec<Step> {
    let middle = middle(&frames);
    let mut last = Vec::new();
    match fault {
        Some(Fault::CutMidStream) => {
            let torn = frames[middle].bytes();
            last = vec![Step::Send(torn.slice(..torn.len() / 2)), Step::Flush, Step::Cut];
            frames.truncate(middle);
        }
        Some(Fault::CutCleanly) => {
            frames.pop();
        }
        Some(Fault::NoStopReason) => {
            for frame in &mut frames {
                frame.change(forget_reason);
            }
        }
        Some(Fault::EndsEarly) => frames.truncate(middle + 1),
        Some(Fault::Malformed) => frames[middle] = frames[middle].torn(),
        Some(Fault::HangMidStream) => {
            frames.truncate(middle + 1);
            last = vec![Step::Flush, Step::Hang];
        }
        Some(Fault::ErrorEvent) => {
            frames.truncate(middle + 1);
            frames.extend(error_frames(request, middle));
        }
        Some(Fault::SlowDrip(delay)) => {
            let all: Vec<u8> = frames.iter().flat_map(Frame::bytes).collect();
            return drip(&all.into(), *delay);
        }
        _ => {}
    }
    let mut steps = Vec::with_capacity(frames.len() + last.len());
    for frame in frames {
        if !between.is_zero() && !steps.is_empty() {
            steps.push(Step::Wait(between));
        }
        steps.push(Step::Send(frame.bytes()));
    }
    steps.extend(last);
    steps
}

/// Takes out why the model stopped, wherever the wires say it. What is still in progress has not stopped.
fn forget_reason(said: &mut Value) {
    const PLACES: [&str; 5] = [
        "/stop_reason",
        "/delta/stop_reason",
        "/choices/0/finish_reason",
        "/status",
        "/response/status",
    ];
    for place in PLACES {
        if let Some(reason) = said.pointer_mut(place).filter(|reason| *reason != "in_progress") {
            *reason = Value::Null;
        }
    }
}

/// The middle of the last thing that is said in pieces; the first frame when nothing is.
fn middle(frames: &[Frame]) -> usize {
    let Some(end) = frames.iter().rposition(|frame| frame.delta) else { return 0 };
    let start = frames[..end].iter().rposition(|frame| !frame.delta).map_or(0, |before| before + 1);
    usize::midpoint(start, end)
}

fn error_frames(request: &Request, sequence: usize) -> Vec<Frame> {
    match request.wire {
        Wire::Anthropic => {
            let (_, body) = error(request.wire, &Refusal::Overloaded);
            vec![Frame::named("error", &body)]
        }
        Wire::Chat => {
            let (_, body) = error(request.wire, &Refusal::Server);
            vec![Frame::bare(body.to_string())]
        }
        Wire::Responses => responses::failure(request, sequence, FAILED.0, FAILED.1),
    }
}

/// A body that is not streamed.
fn whole(body: &Bytes, fault: Option<&Fault>) -> Vec<Step> {
    let half = Step::Send(body.slice(..body.len() / 2));
    match fault {
        Some(Fault::CutMidStream) => vec![half, Step::Flush, Step::Cut],
        Some(Fault::HangMidStream) => vec![half, Step::Flush, Step::Hang],
        Some(Fault::CutCleanly | Fault::EndsEarly) => vec![half],
        Some(Fault::Malformed) => vec![Step::Send(Bytes::from_static(b"{\"id\": \"msg_"))],
        Some(Fault::SlowDrip(delay)) => drip(body, *delay),
        _ => vec![Step::Send(body.clone())],
    }
}

/// A few bytes at a time, but not more than some hundreds of times.
fn drip(body: &Bytes, delay: Duration) -> Vec<Step> {
    let size = (body.len() / 200).max(7);
    let starts = (0..body.len()).step_by(size);
    starts
        .flat_map(|start| {
            [Step::Wait(delay), Step::Send(body.slice(start..body.len().min(start + size)))]
        })
        .collect()
}

/// What `GET /v1/models` says.
pub(super) fn models(names: &[String]) -> Answer {
    let entry = |name: &String| json!({"id": name, "object": "model", "created": chat::CREATED, "owned_by": "testkit"});
    Answer::json(
        200,
        &json!({"object": "list", "data": names.iter().map(entry).collect::<Vec<_>>()}),
    )
}
