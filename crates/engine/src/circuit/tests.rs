use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures_util::future::join_all;
use sequester_core::provider::Kind;

use super::*;

fn away(kind: Kind) -> Error {
    Error { kind, message: String::new(), retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn while_a_provider_is_away_one_at_a_time_asks_whether_it_is_back() {
    let (asked, is_back) = (AtomicU32::new(0), AtomicBool::new(false));
    let circuit = Circuits::default().of("far/one").unwrap();
    let ask = async || {
        let pass = circuit.enter().await;
        asked.fetch_add(1, Ordering::SeqCst);
        let is_back = is_back.load(Ordering::SeqCst);
        pass.leave((!is_back).then(|| away(Kind::Overloaded)).as_ref());
        is_back
    };
    let until_answered = async || {
        while !ask().await {
            sleep_until(Instant::now() + Duration::from_millis(10)).await;
        }
    };
    let back = async {
        sleep_until(Instant::now() + Duration::from_secs(20)).await;
        is_back.store(true, Ordering::SeqCst);
    };
    let everybody = join_all((0..100).map(|_| until_answered()));
    tokio::join!(everybody, back);
    // Five fail at first, then one each after pauses of 1, 2, 4 and 8 seconds; after 16 more it is back for all.
    assert_eq!(asked.load(Ordering::SeqCst), 5 + 4 + 100);
}

#[tokio::test(start_paused = true)]
async fn who_tries_and_is_cut_off_leaves_the_try_to_the_next() {
    let circuit = Arc::new(Circuit::default());
    let error = away(Kind::Network);
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
    let circuit = Arc::new(Circuit::default());
    let error = away(Kind::BadRequest);
    for _ in 0..20 {
        circuit.enter().await.leave(Some(&error));
    }
    assert!(!circuit.enter().await.tries);
}
