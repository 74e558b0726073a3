//! How records are ranked and chosen.

use super::*;

/// Records with a title and paths each, the last being the newest.
fn index(records: &[(&str, &[&str])]) -> (Index, Vec<Seen>) {
    let mut index = Index::default();
    for (title, paths) in records {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        index.add(&Entry { title, summary: "", paths: &paths });
    }
    let age = |at: usize| u32::try_from(records.len() - at).unwrap();
    let seen = (0..records.len()).map(|at| Seen { at, age: age(at), uses: 0 }).collect();
    (index, seen)
}

fn ask(text: &str) -> Query<'_> {
    Query { text, paths: &[] }
}

fn order(ranked: &[Ranked]) -> Vec<usize> {
    ranked.iter().map(|one| one.at).collect()
}

const SHOP: [(&str, &[&str]); 6] = [
    ("Passwords are hashed with argon2", &["src/auth/password.rs"]),
    ("The cart keeps its items", &["src/cart.rs"]),
    ("Mails are sent by a queue", &["src/mail/queue.rs"]),
    ("Invoices as PDF", &["src/invoice.rs"]),
    ("The login page remembers the user", &["src/auth/login.rs"]),
    ("Images are resized", &["src/image.rs"]),
];

#[test]
fn what_shares_rare_words_comes_first_and_what_shares_none_is_left_out() {
    let (index, seen) = index(&SHOP);
    let ranked = index.rank(&ask("Reset a hashed password in src/auth"), &seen, Relevance::Words);
    assert_eq!(order(&ranked)[..2], [0, 4], "{ranked:?}");
    assert!(ranked[0].why.starts_with("hashed"), "{ranked:?}");
    assert_eq!(index.rank(&ask("entirely unrelated"), &seen, Relevance::Words), []);
}

#[test]
fn the_files_that_a_task_names_are_looked_for_too() {
    let (index, seen) = index(&SHOP);
    let paths = ["src/mail/queue.rs".to_owned()];
    let query = Query { text: "Deliver faster", paths: &paths };
    assert_eq!(index.rank(&query, &seen, Relevance::Words)[0].at, 2);
}

#[test]
fn ties_are_newest_first_and_age_takes_at_most_half() {
    let (index, _) = index(&[("cart", &[]), ("cart", &[]), ("cart", &[])]);
    let ages = |ages: [u32; 3]| [0, 1, 2].map(|at| Seen { at, age: ages[at], uses: 0 });
    let rank = |seen: &[Seen]| index.rank(&ask("cart"), seen, Relevance::Words);
    assert_eq!(order(&rank(&ages([5, 5, 5]))), [2, 1, 0]);
    let ranked = rank(&ages([u32::MAX, 1, 31]));
    assert_eq!(order(&ranked), [1, 2, 0]);
    assert!((ranked[1].score / ranked[0].score - 0.75).abs() < 0.001, "{ranked:?}");
    assert!((ranked[2].score / ranked[0].score - 0.5).abs() < 0.001, "{ranked:?}");
}

#[test]
fn use_lifts_a_record_a_little_and_is_told() {
    let (index, _) = index(&[("cart", &[]), ("cart", &[])]);
    let seen = |uses| [Seen { at: 0, age: 3, uses }, Seen { at: 1, age: 3, uses: 0 }];
    let rank = |uses| index.rank(&ask("cart"), &seen(uses), Relevance::Words);
    assert_eq!(order(&rank(0)), [1, 0]);
    assert_eq!(order(&rank(1)), [0, 1]);
    assert_eq!(rank(1)[0].why, "cart; used once before");
    assert_eq!(rank(u32::MAX)[0].score.to_bits(), rank(7)[0].score.to_bits());
    assert!(rank(u32::MAX)[0].score < 1.2 * rank(0)[0].score);
}

/// The shop and records that have no word of any question here.
fn large_shop() -> Vec<(&'static str, &'static [&'static str])> {
    let others = ["Invoices", "Coupons", "Refunds", "Taxes"].map(|title| (title, &[][..]));
    SHOP.into_iter().chain(others).collect()
}

#[test]
fn among_ten_records_little_in_common_is_not_chosen() {
    let shop = large_shop();
    let (index, seen) = index(&shop);
    let ranked = index.rank(&ask("Write a page about opening hours"), &seen, Relevance::Words);
    assert_eq!(order(&ranked), [4], "{ranked:?}");
    assert_eq!(choose(&ranked, shop.len()), []);
    let ranked = index.rank(&ask("Hash passwords of the login page"), &seen, Relevance::Words);
    assert_eq!(order(choose(&ranked, shop.len())), [4, 0]);
}

#[test]
fn among_fewer_records_any_evidence_fills_up_to_three() {
    for count in [1, 2, 3, 6, 9] {
        let (index, seen) = index(&large_shop()[..count]);
        let chosen = |text: &str| {
            let ranked = index.rank(&ask(text), &seen, Relevance::Words);
            order(choose(&ranked, count))
        };
        let text = "Opening hours\n\nOf passwords, the cart, mails and PDF.";
        assert_eq!(chosen(text).len(), count.min(TOP), "{count}");
        let nothing: [usize; 0] = [];
        assert_eq!(chosen("entirely unrelated"), nothing, "{count}");
    }
}

#[test]
fn words_that_all_records_share_still_count() {
    for count in [4, 12, 200] {
        let shared = ("Customs of parcels in the harbour office", &["src/parcel/harbour.rs"][..]);
        let mut records = vec![shared; count];
        records[0].0 = "Customs of parcels in the harbour office weigh little";
        let (index, _) = index(&records);
        let seen: Vec<Seen> = (0..count).map(|at| Seen { at, age: 1, uses: 0 }).collect();
        let chosen = |text: &str| {
            let ranked = index.rank(&ask(text), &seen, Relevance::Words);
            order(choose(&ranked, count))
        };
        let newest = [count - 1, count - 2, count - 3];
        assert_eq!(
            chosen("Print labels of customs and parcels in the harbour office"),
            newest,
            "{count}"
        );
        assert_eq!(chosen("Weigh customs and parcels in the harbour office")[0], 0, "{count}");
    }
}

#[test]
fn among_ten_records_and_more_the_same_evidence_is_wanted() {
    let score = |count: usize| {
        let mut records = vec![("The cart keeps its items", &[][..])];
        records.resize(count, ("Images", &[][..]));
        let (index, _) = index(&records);
        let seen: Vec<Seen> = (0..count).map(|at| Seen { at, age: 1, uses: 0 }).collect();
        let ranked = index.rank(&ask("Empty the cart"), &seen, Relevance::Words);
        ranked[0].score
    };
    assert!(score(10) < score(11) && score(11) < score(200), "only its rarity counts");
}

#[test]
fn the_seeds_rule_counts_words_in_the_last_ten_and_takes_whatever_has_one() {
    let mut records = vec![("login page", &[][..])];
    records.extend([("nothing", &[][..]); 8]);
    records.extend([("login", &[][..]), ("page of the login", &[][..])]);
    let (index, seen) = index(&records);
    let ranked = index.rank(&ask("The login page"), &seen, Relevance::Seed);
    assert_eq!(order(&ranked), [10, 9]);
    assert_eq!(ranked.iter().map(|one| one.score).collect::<Vec<_>>(), [2.0, 1.0]);
    assert_eq!(choose(&ranked, records.len()), ranked);
}

#[test]
fn relevance_can_be_turned_off() {
    let (index, seen) = index(&SHOP);
    assert_eq!(index.rank(&ask("password"), &seen, Relevance::Off), []);
    for one in Relevance::ALL {
        assert_eq!(Relevance::parse(one.as_str()), Some(one));
        assert_eq!(serde_json::to_value(one).unwrap(), one.as_str());
    }
    assert_eq!(Relevance::parse("meaning"), None);
}

#[test]
fn a_record_that_is_not_seen_or_not_there_or_named_twice_does_no_harm() {
    let (index, seen) = index(&SHOP);
    let query = ask("hashed password");
    let once = index.rank(&query, &seen[..1], Relevance::Words);
    let odd = [seen[0], Seen { at: 99, age: 1, uses: 0 }, seen[0]];
    assert_eq!(index.rank(&query, &odd, Relevance::Words), once);
    assert_eq!(index.rank(&query, &[], Relevance::Words), []);
    assert_eq!(Index::default().rank(&query, &seen, Relevance::Words), []);
}

#[test]
fn texts_in_other_scripts_are_found() {
    let texts = [
        "数据库连接池已修复",
        "Исправлена база данных",
        "تم إصلاح قاعدة البيانات",
        "データベース接続",
    ];
    let records: Vec<(&str, &[&str])> = texts.iter().map(|text| (*text, &[][..])).collect();
    let (index, seen) = index(&records);
    for (query, at) in [("连接池", 0), ("данных", 1), ("البيانات", 2), ("データベース", 3)]
    {
        assert_eq!(index.rank(&ask(query), &seen, Relevance::Words)[0].at, at, "{query}");
    }
}

#[test]
fn hostile_texts_are_bounded() {
    let huge = "word\0".repeat(1 << 18) + &"x".repeat(1 << 20);
    let paths = vec!["a/b".to_owned(); 10_000];
    let mut index = Index::default();
    for text in ["", "\0", huge.as_str()] {
        index.add(&Entry { title: text, summary: text, paths: &paths });
    }
    let seen: Vec<Seen> = (0..3).map(|at| Seen { at, age: 0, uses: 0 }).collect();
    for text in ["", "\0\0", huge.as_str(), "word"] {
        let ranked = index.rank(&ask(text), &seen, Relevance::Words);
        assert!(ranked.iter().all(|one| one.score.is_finite()));
        assert_eq!(ranked.first().map(|one| one.at), text.contains("word").then_some(2));
    }
}
