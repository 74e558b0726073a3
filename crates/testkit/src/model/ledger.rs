//! What the server saw and did.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use serde_json::Value;

use super::fault::Fault;
use super::request::{Request, Wire};

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order of hyper's map.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Recorded {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The request in the form for all wires, or why the real API would not accept it.
    pub fn request(&self) -> Result<Request, String> {
        let wire = Wire::at(&self.path).ok_or_else(|| format!("`{}` is no API.", self.path))?;
        Request::read(wire, &self.body)
    }
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    recording: AtomicBool,
    requests: Mutex<Vec<Recorded>>,
    /// Those of them whose answer was sent to its end.
    delivered: Mutex<Vec<Recorded>>,
    injected: Mutex<BTreeMap<&'static str, usize>>,
    rejected: Mutex<Vec<String>>,
    /// Requests to one of the wires.
    asked: AtomicUsize,
    present: AtomicUsize,
    peak: AtomicUsize,
    silent: AtomicUsize,
}

impl Ledger {
    pub(super) fn set_recording(&self, on: bool) {
        self.recording.store(on, Ordering::Relaxed);
    }

    pub(super) fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }

    pub(super) fn record(&self, request: Recorded) {
        lock(&self.requests).push(request);
    }

    /// Counts a request; its index.
    pub(super) fn count(&self) -> usize {
        self.asked.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn inject(&self, fault: &Fault) {
        *lock(&self.injected).entry(fault.name()).or_default() += 1;
    }

    pub(super) fn reject(&self, why: &str) {
        lock(&self.rejected).push(why.to_owned());
    }

    pub(super) fn deliver(&self, request: Recorded) {
        lock(&self.delivered).push(request);
    }

    pub(super) fn delivered(&self) -> Vec<Recorded> {
        lock(&self.delivered).clone()
    }

    pub(super) fn requests(&self) -> Vec<Recorded> {
        lock(&self.requests).clone()
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    pub(super) fn injected(&self) -> BTreeMap<&'static str, usize> {
        lock(&self.injected).clone()
    }

    pub(super) fn rejected(&self) -> Vec<String> {
        lock(&self.rejected).clone()
    }

    pub(super) fn present(&self) -> usize {
        self.present.load(Ordering::Relaxed)
    }

    pub(super) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    pub(super) fn silent(&self) -> usize {
        self.silent.load(Ordering::Relaxed)
    }
}

/// A request in progress: from its arrival until its answer is sent or its client is gone.
#[derive(Debug)]
pub(super) struct Presence(Arc<Ledger>, Option<Recorded>);

impl Presence {
    pub(super) fn of(ledger: &Arc<Ledger>) -> Self {
        let now = ledger.present.fetch_add(1, Ordering::Relaxed) + 1;
        ledger.peak.fetch_max(now, Ordering::Relaxed);
        Self(Arc::clone(ledger), None)
    }

    /// What it is, where that is recorded.
    pub(super) fn with(mut self, request: Option<Recorded>) -> Self {
        self.1 = request;
        self
    }

    /// All of the answer was handed over.
    pub(super) fn deliver(&mut self) {
        if let Some(request) = self.1.take() {
            self.0.deliver(request);
        }
    }

    /// Nothing more will be sent.
    pub(super) fn fall_silent(&self) {
        self.0.silent.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.present.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
