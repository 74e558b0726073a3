//! What a task says that it consumes, and what meets that.

use std::collections::BTreeSet;

use super::Record;
use crate::evidence::named;

/// One line of what a task consumes.
pub(super) struct Wish<'a> {
    text: &'a str,
    /// As far as it says them in code.
    names: Vec<&'a str>,
}

impl<'a> Wish<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, names: named(text).map(|name| name.own).collect() }
    }

    pub(super) fn text(&self) -> &str {
        self.text
    }

    /// By a name in code where both have one; else by the words, or by the task that it names.
    pub(super) fn is_met_by(&self, record: &Record, names: &BTreeSet<String>) -> bool {
        if !self.names.is_empty() && !names.is_empty() {
            return self.names.iter().any(|name| names.contains(*name));
        }
        let words = |text: &str| -> Vec<String> {
            text.split_whitespace().map(str::to_lowercase).collect()
        };
        words(self.text) == words(&record.text) || self.names_task(record.task.as_str())
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
    use crate::record::Kind;

    fn produced(text: &str) -> (Record, BTreeSet<String>) {
        let record = Record {
            id: "store-1/interface-1".into(),
            task: "store-1".into(),
            kind: Kind::Interface,
            title: "Keep codes".to_owned(),
            text: text.to_owned(),
            paths: Vec::new(),
            refs: Vec::new(),
            label: String::new(),
        };
        let names = named(text).map(|name| name.own.to_owned()).collect();
        (record, names)
    }

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
            let (record, names) = produced(text);
            assert_eq!(Wish::of(consumed).is_met_by(&record, &names), wanted, "{consumed}");
        }
    }
}
