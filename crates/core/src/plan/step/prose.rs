//! Sentences that explain. Only what plainly asks nothing of the reader may be passed over.

use super::sentence::{CODE, Sentence};
use super::words;

/// Whether a sentence speaks of something else than the reader, and no clause of it is an order.
pub(super) fn explains(sentence: &Sentence) -> bool {
    let plain = unlabelled(sentence.plain.trim_matches(['(', ')', '>', '*', '_', ' ', '"']));
    let all = split_words(plain);
    let asks = all.iter().any(|word| words::ASKS.has(word));
    let phrases = ["have to ", "has to ", "make sure", "to be ", "as well", "do not ", "by hand"];
    // What points at something else says of it whether it holds.
    let points = all.first().is_some_and(|word| words::PRONOUNS.has(word))
        || all.get(1) == Some(&"following");
    let held = all.iter().any(|word| words::HOLDS.has(word) || points && words::is_condition(word));
    if all.is_empty() || asks || held || phrases.iter().any(|phrase| plain.contains(phrase)) {
        return false;
    }
    let clauses = clauses(plain);
    let mut rest = clauses.as_slice();
    // What holds under a condition stands behind the comma.
    while let [first, others @ ..] = rest {
        if !split_words(first).first().is_some_and(|word| words::OPENERS.has(word))
            || others.is_empty()
        {
            break;
        }
        rest = others;
    }
    let [main, others @ ..] = rest else { return false };
    describes(main) && others.iter().all(|clause| goes_on(clause))
}

/// `Note:`, `Why:`: what follows is judged.
fn unlabelled(plain: &str) -> &str {
    ["note", "why", "reason", "rationale", "context", "background"]
        .iter()
        .find_map(|label| plain.strip_prefix(label)?.strip_prefix(':'))
        .map_or(plain, str::trim_start)
}

/// A subject that is not the reader, and its verb.
fn describes(clause: &str) -> bool {
    let all = split_words(clause);
    let Some(first) = all.first() else { return false };
    let code = first.starts_with(CODE);
    if !code && !words::SUBJECTS.has(first) {
        return false;
    }
    let direct = code || words::PRONOUNS.has(first);
    let from = if direct { 1 } else { 2 };
    all.iter().enumerate().skip(from).any(|(at, word)| {
        let last = at + 1 == all.len();
        words::VERBS.has(word) || words::is_third_person(word) && (direct || !last)
    })
}

/// A further clause that is no order: it begins like a part of what went before.
fn goes_on(clause: &str) -> bool {
    let all = split_words(clause);
    let Some(first) = all.first() else { return true };
    let single = all.len() == 1 && !words::is_order(first);
    single
        || first.starts_with(CODE)
        || words::SUBJECTS.has(first)
        || words::VERBS.has(first)
        || words::LINKS.has(first)
        || !words::is_order(first)
            && (words::is_third_person(first)
                || ["ed", "ing", "ly"].iter().any(|end| first.ends_with(end)))
}

fn clauses(plain: &str) -> Vec<&str> {
    let mut found = vec![plain];
    for mark in
        [", ", "; ", ": ", " — ", " – ", " - ", " and ", " then ", " but ", " so ", " → ", " ("]
    {
        found = found.into_iter().flat_map(|clause| clause.split(mark)).collect();
    }
    found.into_iter().map(untie).filter(|clause| !clause.is_empty()).collect()
}

fn untie(clause: &str) -> &str {
    let clause = clause.trim();
    let ties = ["and ", "then ", "so ", "but ", "or ", "just "];
    ties.iter().find_map(|tie| clause.strip_prefix(tie)).unwrap_or(clause)
}

fn split_words(plain: &str) -> Vec<&str> {
    plain
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-' | '.') && c != CODE)
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| !word.is_empty())
        .collect()
}
