use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures_util::future::join_all;
use sequester_core::protected::Grants;
use sequester_core::provider::{Answer, Kind};

use super::*;

/// A provider that is away until somebody says otherwise.
#[derive(Default)]
struct Moody {
    asked: AtomicU32,
    is_back: AtomicBool,
}

impl Provider for Moody {
    fn model(&self) -> &'static str {
        "far/one"
    }

    fn powers(&self) -> Powers {
        Powers::default()
    }

    fn complete<'a>(
        &'a self,
        _: Request<'a>,
        _: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let error =
            Error { kind: Kind::Overloaded, message: "Busy.".to_owned(), retry_after: None };
        let is_back = self.is_back.load(Ordering::SeqCst);
        Box::pin(async move { if is_back { Ok(Reply::default()) } else { Err(error) } })
    }
}

struct Nobody;

impl Deltas for Nobody {
    fn text(&self, _: &str) {}
}

async fn ask(provider: &dyn Provider) -> bool {
    let request = Request {
        system: "",
        messages: &[],
        tools: &[],
        answer: Answer::Free,
        output_limit: 1,
        turns: 1,
        task: "",
        grants: &Grants::default(),
    };
    provider.complete(request, &Nobody).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn while_a_provider_is_away_one_at_a_time_asks_whether_it_is_back() {
    let moody = Arc::new(Moody::default());
    let circuits = Circuits::default();
    let guarded = circuits.guard(Arc::clone(&moody) as _);
    let until_answered = async || {
        while !ask(guarded.as_ref()).await {
            sleep_until(Instant::now() + Duration::from_millis(10)).await;
        }
    };
    let back = async {
        sleep_until(Instant::now() + Duration::from_secs(20)).await;
        moody.is_back.store(true, Ordering::SeqCst);
    };
    let everybody = join_all((0..100).map(|_| until_answered()));
    tokio::join!(everybody, back);
    // Five fail at first, then one each after pauses of 1, 2, 4 and 8 seconds; after 16 more it is back for all.
    assert_eq!(moody.asked.load(Ordering::SeqCst), 5 + 4 + 100);
}

#[tokio::test(start_paused = true)]
async fn who_tries_and_is_cut_off_leaves_the_try_to_the_next() {
    let circuit = Circuit::default();
    let error = Error { kind: Kind::Network, message: String::new(), retry_after: None };
    for _ in 0..MOST {
        circuit.enter().await.leave(Some(&error));
    }
    drop(circuit.enter().await);
    let pass = circuit.enter().await;
    assert!(pass.tries);
    pass.leave(None);
    assert!(!circuit.enter().await.tries, "it is closed again");
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_refuses_opens_nothing() {
    let circuit = Circuit::default();
    let error = Error { kind: Kind::BadRequest, message: String::new(), retry_after: None };
    for _ in 0..20 {
        circuit.enter().await.leave(Some(&error));
    }
    assert!(!circuit.enter().await.tries);
}
