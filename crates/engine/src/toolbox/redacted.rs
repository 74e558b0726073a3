//! Outputs without secrets: before a model, an event or a log sees them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequester_core::future::BoxFuture;
use sequester_core::secret::{Hider, SecretSet};
use sequester_core::tool::{Invocation, Returned, Spec, Toolbox};

/// Hides what looks like a secret, and every value that the attempt's context or one of its outputs gave away as one.
pub struct Redacted<T> {
    inner: T,
    known: Mutex<KnownSecrets>,
}

struct KnownSecrets {
    secrets: SecretSet,
    hider: Arc<Hider>,
}

impl<T: Toolbox> Redacted<T> {
    /// With the secrets of the attempt's context.
    pub fn new(inner: T, secrets: SecretSet) -> Self {
        let hider = Arc::new(secrets.hider());
        Self { inner, known: Mutex::new(KnownSecrets { secrets, hider }) }
    }

    fn known(&self) -> MutexGuard<'_, KnownSecrets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What hides all that is known, after this was learned.
    fn learn(&self, learn: impl FnOnce(&mut SecretSet) -> bool) -> Arc<Hider> {
        let mut known = self.known();
        if learn(&mut known.secrets) {
            known.hider = Arc::new(known.secrets.hider());
        }
        Arc::clone(&known.hider)
    }

    fn clean(&self, text: String, hider: &Hider) -> String {
        let redacted = hider.redact(&text);
        if redacted.found.is_empty() {
            return text;
        }
        self.learn(|known| known.learn(&text, &redacted.found));
        redacted.text.into_owned()
    }
}

impl<T: Toolbox> Toolbox for Redacted<T> {
    fn specs(&self) -> Vec<Spec> {
        self.inner.specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            let mut returned = self.inner.call(invocation).await;
            let found = std::mem::take(&mut returned.secrets);
            let hider = self.learn(|known| known.extend(&found));
            returned.outcome = returned.outcome.map(|text| self.clean(text, &hider));
            returned
        })
    }
}
