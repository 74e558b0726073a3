//! What a task says that it consumes, and what meets that.

use std::collections::BTreeSet;

use crate::evidence::named;

/// One line of what a task consumes.
pub(super) struct Wish<'a> {
    text: &'a str,
    /// As far as it says them in code.
    names: Vec<&'a str>,
    words: Vec<String>,
}

/// One line of what a task produces, read once: many are asked whether it is theirs.
#[derive(Debug)]
pub(super) struct Offer {
    /// What it is called in code.
    names: BTreeSet<String>,
    words: Vec<String>,
}

impl Offer {
    pub(super) fn of(text: &str) -> Self {
        Self { names: named(text).map(|name| name.own.to_owned()).collect(), words: words(text) }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

impl<'a> Wish<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, names: named(text).map(|name| name.own).collect(), words: words(text) }
    }

    pub(super) fn text(&self) -> &str {
        self.text
    }

    /// By a name in code where both have one; else by the words, or by the task that it names.
    pub(super) fn is_met_by(&self, task: &str, offer: &Offer) -> bool {
        if !self.names.is_empty() && !offer.names.is_empty() {
            return self.names.iter().any(|name| offer.names.contains(*name));
        }
        self.words == offer.words || self.names_task(task)
    }

    fn names_task(&self, task: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        let mut words =
            self.text.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches('.'));
        // A bare number is a count more often than a task.
        let is_number = task.bytes().all(|byte| byte.is_ascii_digit());
        !is_number && words.any(|word| word.eq_ignore_ascii_case(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_consumed_is_met_by_name_by_words_or_by_the_task_it_names() {
        for (consumed, text, wanted) in [
            ("`put` of the store", "`Store::put(code, url)`", true),
            ("`get`", "`Store::put(code, url)`", false),
            ("`put`", "`put_all()`", false),
            ("A table of codes", "a  table of codes", true),
            ("what store-1 made", "a table of codes", true),
            ("what store-10 made", "a table of codes", false),
            ("a list", "a table of codes", false),
        ] {
            let is_met = Wish::of(consumed).is_met_by("store-1", &Offer::of(text));
            assert_eq!(is_met, wanted, "{consumed}");
        }
    }
}
