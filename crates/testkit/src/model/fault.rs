//! Which requests go wrong, and how.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::hash::{hash, mix};
use super::request::Request;

/// One way for a request to go wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 429 with `retry-after` in whole seconds, rounded up, and `retry-after-ms`.
    TooManyRequests { retry_after: Duration },
    /// 529 on Anthropic's wire, 503 on OpenAI's, with the provider's body.
    Overloaded,
    /// 503 of a gateway, in plain text.
    Unavailable,
    /// The connection drops within a frame, in the middle of a call's arguments or of the text.
    CutMidStream,
    /// All is said and the body ends properly, but what ends the stream never came.
    CutCleanly,
    /// All is said and the stream is ended as it should be, but nothing in it says why the model stopped.
    NoStopReason,
    /// The body ends properly in the middle of a call's arguments or of the text.
    EndsEarly,
    /// One frame in the middle is not JSON; the rest follows.
    Malformed,
    /// Nothing is sent until the client leaves.
    Hang,
    /// Nothing more is sent from the middle on.
    HangMidStream,
    /// The right reply, a few bytes at a time with this delay between them. It must succeed.
    SlowDrip(Duration),
    /// 200 with a page of HTML.
    WrongContentType,
    /// The provider's own 400.
    ContextTooLong,
    /// 401.
    Unauthorized,
    /// The account has no credit: 400 on Anthropic's wire, 429 on OpenAI's.
    NoCredit,
    /// 404.
    UnknownModel,
    /// The provider says within a stream that began well that it failed.
    ErrorEvent,
}

impl Fault {
    /// Those after which the same request may well succeed, with delays of a test.
    pub fn passing() -> Vec<Self> {
        vec![
            Self::TooManyRequests { retry_after: Duration::from_millis(5) },
            Self::Overloaded,
            Self::Unavailable,
            Self::CutMidStream,
            Self::CutCleanly,
            Self::NoStopReason,
            Self::EndsEarly,
            Self::Malformed,
            Self::Hang,
            Self::HangMidStream,
            Self::SlowDrip(Duration::from_millis(1)),
            Self::WrongContentType,
            Self::ErrorEvent,
        ]
    }

    /// Those that no repetition heals.
    pub fn lasting() -> Vec<Self> {
        vec![Self::ContextTooLong, Self::Unauthorized, Self::NoCredit, Self::UnknownModel]
    }

    /// Its key in the counts of what was injected.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::CutMidStream => "cut_mid_stream",
            Self::CutCleanly => "cut_cleanly",
            Self::NoStopReason => "no_stop_reason",
            Self::EndsEarly => "ends_early",
            Self::Malformed => "malformed",
            Self::Hang => "hang",
            Self::HangMidStream => "hang_mid_stream",
            Self::SlowDrip(_) => "slow_drip",
            Self::WrongContentType => "wrong_content_type",
            Self::ContextTooLong => "context_too_long",
            Self::Unauthorized => "unauthorized",
            Self::NoCredit => "no_credit",
            Self::UnknownModel => "unknown_model",
            Self::ErrorEvent => "error_event",
        }
    }
}

/// The plan of what goes wrong.
pub struct Faults {
    plan: Plan,
    key: Option<Key>,
    /// How often each turn of each conversation was asked for.
    attempts: Mutex<HashMap<u64, u32>>,
}

type Key = Arc<dyn Fn(&Request) -> String + Send + Sync>;
type Choose = dyn Fn(&Request, u32) -> Option<Fault> + Send + Sync;

enum Plan {
    At(BTreeMap<usize, Fault>),
    Seeded { seed: u64, rate: f64, kinds: Vec<Fault> },
    When(Box<Choose>),
}

impl Faults {
    pub fn none() -> Self {
        Self::at(Vec::new())
    }

    /// By the index of the request in the order of arrival.
    pub fn at(faults: Vec<(usize, Fault)>) -> Self {
        Self::of(Plan::At(faults.into_iter().collect()))
    }

    /// Drawn for each attempt from the seed, the conversation, its turn and the number of the attempt: the same in whatever order
    /// requests arrive. Conversations are told apart by their whole request, or by [`Faults::keyed`].
    pub fn seeded(seed: u64, rate: f64, kinds: Vec<Fault>) -> Self {
        Self::of(Plan::Seeded { seed, rate, kinds })
    }

    /// Chosen from the request and the number of times it was sent before.
    pub fn when(choose: impl Fn(&Request, u32) -> Option<Fault> + Send + Sync + 'static) -> Self {
        Self::of(Plan::When(Box::new(choose)))
    }

    /// Tells conversations apart by a key, such as a marker in the prompt.
    #[must_use]
    pub fn keyed(mut self, key: impl Fn(&Request) -> String + Send + Sync + 'static) -> Self {
        self.key = Some(Arc::new(key));
        self
    }

    fn of(plan: Plan) -> Self {
        Self { plan, key: None, attempts: Mutex::default() }
    }

    pub(super) fn draw(&self, index: usize, request: &Request) -> Option<Fault> {
        let asked = match &self.key {
            Some(key) => hash(&[key(request).as_bytes(), &request.turn.to_le_bytes()]),
            None => request.digest,
        };
        match &self.plan {
            Plan::At(faults) => faults.get(&index).cloned(),
            Plan::Seeded { seed, rate, kinds } => {
                let attempt = self.attempt(asked);
                let drawn =
                    hash(&[&seed.to_le_bytes(), &asked.to_le_bytes(), &attempt.to_le_bytes()]);
                // The upper 53 bits fill a float's mantissa; the kind comes from a second draw.
                let share = (drawn >> 11) as f64 / (1_u64 << 53) as f64;
                let kind = mix(drawn) as usize % kinds.len().max(1);
                (share < *rate).then(|| kinds.get(kind).cloned()).flatten()
            }
            Plan::When(choose) => choose(request, self.attempt(asked)),
        }
    }

    fn attempt(&self, asked: u64) -> u32 {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = attempts.entry(asked).or_default();
        *count += 1;
        *count - 1
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Faults")
    }
}
