//! What the words of an instruction ask for, by their verb.

use super::{LOOKS, Lead, WRITES, first_word};
use crate::plan::step::command;
use crate::plan::step::sentence::CODE;
use crate::plan::step::target::is_path;

const SEPARATORS: [&str; 8] = ["and", "then", "and then", "&&", ";", "&", "+", ""];

pub(super) struct Asked<'s> {
    pub(super) core: &'s str,
    pub(super) codes: &'s [String],
    /// A file was named before.
    pub(super) inside: bool,
    pub(super) colon: bool,
}

impl Asked<'_> {
    pub(super) fn read(&self) -> Lead {
        let verb = first_word(self.core);
        let found = match verb {
            "run" | "re-run" | "rerun" | "execute" => Some(self.run(verb)),
            "commit" => Some(self.commit()),
            "delete" | "remove" => self.delete(verb),
            "rename" | "move" => self.rename(verb),
            "create" | "write" | "overwrite" | "implement" | "define" => Some(self.make(verb)),
            "append" => self.append().then_some(Lead::Append),
            "add" => self.add(),
            "replace" | "change" | "update" => self.exchange(verb),
            "after" | "before" => self.insert(verb),
            _ => None,
        };
        found.or_else(|| self.paired()).or_else(|| self.named()).unwrap_or_else(|| self.rest(verb))
    }

    fn run(&self, verb: &str) -> Lead {
        let gaps: Vec<&str> = self.core[verb.len()..].split(CODE).collect();
        if self.codes.is_empty() {
            return Lead::Run { commands: Vec::new(), tail: self.core.to_owned() };
        }
        let before = gaps[0].trim_matches([' ', ':', '：']);
        let count = 1 + gaps[1..gaps.len() - 1]
            .iter()
            .take_while(|gap| SEPARATORS.contains(&gap.trim_matches([' ', ',', ':'])))
            .count();
        let tail = gaps[count..].join("¤");
        let elsewhere = ["in ", "from ", "inside ", "under ", "with ", "against ", "on ", "for "];
        let placed =
            elsewhere.iter().any(|word| tail.trim_start().starts_with(word)) && tail.contains(CODE);
        let by_hand = ["background", "terminal", "manually", "browser"]
            .iter()
            .any(|word| self.core.contains(word));
        let of_file = !before.is_empty() && is_path(&self.codes[0]);
        if placed || by_hand || of_file {
            return Lead::Vague { writes: false };
        }
        Lead::Run { commands: self.codes[..count.min(self.codes.len())].to_vec(), tail }
    }

    fn commit(&self) -> Lead {
        Lead::Commit(self.codes.iter().find_map(|code| match command::commit(code) {
            Some(message) => message,
            None => (!code.starts_with("git ") && !is_path(code)).then(|| code.clone()),
        }))
    }

    /// The verb, words of files, paths, nothing else.
    fn delete(&self, verb: &str) -> Option<Lead> {
        let words = "the file files old unused entire whole directory folder dir obsolete now dead stale these both following module";
        let gaps: Vec<&str> = self.core[verb.len()..].split(CODE).collect();
        let (first, others) = gaps.split_first()?;
        let (last, between) = others.split_last()?;
        let plain = only(first, words)
            && between.iter().all(|gap| SEPARATORS.contains(&gap.trim_matches([' ', ','])))
            && is_end(last);
        let paths = self.codes.iter().all(|code| is_path(code) || code.ends_with('/'));
        let folder = ["directory", "folder", "dir"]
            .iter()
            .any(|word| first.split_whitespace().any(|one| one == *word));
        (plain && paths).then(|| Lead::Delete { paths: self.codes.to_vec(), folder })
    }

    fn rename(&self, verb: &str) -> Option<Lead> {
        let gaps: Vec<&str> = self.core[verb.len()..].split(CODE).collect();
        let [first, to, last] = gaps.as_slice() else { return None };
        let plain = only(first, "the file")
            && matches!(to.trim(), "to" | "→" | "->" | "into")
            && is_end(last);
        let [from, to] = self.codes else { return None };
        (plain && is_path(from) && is_path(to))
            .then(|| Lead::Rename { from: from.clone(), to: to.clone() })
    }

    /// `Create x`, `Write x`: the whole file; `Write a test in x`: a new file.
    fn make(&self, verb: &str) -> Lead {
        let at = self.codes.iter().position(|code| is_path(code));
        let before =
            at.and_then(|at| self.core.split(CODE).nth(at)).unwrap_or(self.core).trim_end();
        let within = ["in", "into", "inside", "to", "using"]
            .iter()
            .any(|word| before.ends_with(&format!(" {word}")));
        let direct = verb == "write" && before == "write to";
        Lead::Make {
            whole: !matches!(verb, "implement" | "define") && (!within || direct) && !self.inside,
        }
    }

    fn append(&self) -> bool {
        let places = [
            " after ",
            " before ",
            " section",
            " inside ",
            " under ",
            " class",
            " within ",
            " list",
            " table",
            " block",
            " array",
            " between ",
            " each ",
        ];
        !places.iter().any(|place| self.core.contains(place))
    }

    fn add(&self) -> Option<Lead> {
        let ends = [
            "to the end of",
            "at the end of",
            "to the bottom of",
            "at the bottom of",
            "to the end",
            "at the end",
            "at the bottom",
        ];
        if ends.iter().any(|end| self.core.contains(end)) {
            // The end of a file, not of something in it.
            let at_file = ends.iter().any(|end| {
                let after = self.core.split(end).nth(1).map(str::trim);
                after.is_some_and(|after| {
                    after.is_empty()
                        || matches!(after, "of the file" | "the file")
                        || after.starts_with(CODE)
                            && self.codes.last().is_some_and(|code| is_path(code))
                })
            });
            return (at_file && self.append()).then_some(Lead::Append);
        }
        let words = "a an the new file test script following";
        let gaps: Vec<&str> = self.core[3..].split(CODE).collect();
        let file = gaps[0].contains("file")
            && only(gaps[0], words)
            && self.codes.first().is_some_and(|code| is_path(code));
        file.then_some(Lead::Make { whole: true })
    }

    /// A file for a file, exact text for exact text, or a fence for a fence.
    fn exchange(&self, verb: &str) -> Option<Lead> {
        let gaps: Vec<&str> = self.core[verb.len()..].split(CODE).collect();
        let file = "the entire whole full complete existing current all of file content contents in code everything its with this following exactly";
        let wholly = ["file", "content", "contents", "everything"]
            .iter()
            .any(|word| gaps[0].split_whitespace().any(|one| one == *word));
        let paths = self.codes.iter().filter(|code| is_path(code)).count();
        let on_file = paths == 1
            && self.codes.len() == 1
            && gaps.get(1).is_some_and(|gap| {
                only(gap, "with the following this exactly content contents new full complete")
            });
        if verb == "replace" && only(gaps[0], file) && (on_file || self.codes.is_empty() && wholly)
        {
            return Some(Lead::Overwrite);
        }
        if let Some(inline) = self.inline(&gaps) {
            return Some(inline);
        }
        let given = ["with", "to", "by", "with this", "with the following", "to this"];
        let ends = given.iter().any(|end| self.core.ends_with(&format!(" {end}")));
        (verb != "update" && self.colon && !ends).then_some(Lead::Find)
    }

    fn inline(&self, gaps: &[&str]) -> Option<Lead> {
        let [first, to, rest @ ..] = gaps else { return None };
        let to = matches!(to.trim(), "to" | "with" | "by" | "→" | "->");
        if !to || !only(first, "the line text string value word call import from") || self.colon {
            return None;
        }
        let placed = match rest {
            [end] => self.codes.len() == 2 && is_end(end),
            [place, end] => {
                place.trim() == "in"
                    && is_end(end)
                    && self.codes.get(2).is_some_and(|code| is_path(code))
            }
            _ => false,
        };
        let [old, new, ..] = self.codes else { return None };
        (placed && !old.is_empty()).then(|| Lead::Inline { old: old.clone(), new: new.clone() })
    }

    /// `After the line x, add:`.
    fn insert(&self, verb: &str) -> Option<Lead> {
        let rest = self.core[verb.len()..].trim_start();
        let rest = rest.strip_prefix("the line ¤").or_else(|| rest.strip_prefix("this line: ¤"))?;
        let rest = rest.trim_start_matches([',', ' ']);
        let anchor = self.codes.first()?.clone();
        let plain = matches!(
            rest,
            "add"
                | "insert"
                | "add this"
                | "insert this"
                | "add the following"
                | "insert the following"
        );
        (plain && !anchor.is_empty()).then_some(Lead::Insert { anchor, after: verb == "after" })
    }

    /// The two halves of a replacement by fences.
    fn paired(&self) -> Option<Lead> {
        let core = self.core.split(" (").next().unwrap_or(self.core);
        let second = [
            "with",
            "to",
            "by",
            "into",
            "after",
            "becomes",
            "new",
            "new text",
            "new code",
            "replace with",
            "replace it with",
            "replace that with",
            "replace this with",
            "replace them with",
            "change to",
            "change it to",
            "and replace with",
            "and replace it with",
            "with this",
            "with the following",
            "to this",
            "to the following",
            "with exactly",
            "it becomes",
            "new version",
        ];
        if self.codes.is_empty() && second.contains(&core) {
            return Some(Lead::With);
        }
        let first = ["find", "locate", "old", "before", "current", "search", "from"];
        let starts = first.contains(&first_word(core));
        (starts && self.colon && !self.core.ends_with(" add") && !self.core.contains(" add "))
            .then_some(Lead::Find)
    }

    /// A path and next to nothing else.
    fn named(&self) -> Option<Lead> {
        if !self.codes.first().is_some_and(|code| is_path(code)) {
            return None;
        }
        let (before, after) = self.core.split_once(CODE)?;
        let whole = "full complete entire updated new final content contents of file for the with";
        let before = before.trim_end_matches([':', ' ']);
        if !is_end(after) {
            return None;
        }
        match before {
            "" | "file" | "path" | "new file" | "in" => Some(Lead::Make { whole: false }),
            _ if only(before, whole) && before.contains("content") => Some(Lead::Overwrite),
            _ => None,
        }
    }

    fn rest(&self, verb: &str) -> Lead {
        if let ("¤", [code]) = (self.core, self.codes) {
            return Lead::Code(code.clone());
        }
        // In a list: what to do stands behind what to do it to.
        let behind = self.core.trim_start_matches([CODE, ':', ' ', '—', '–', '-', '：']);
        let verb = if verb.is_empty() { first_word(behind) } else { verb };
        let listed = |list: &str| !verb.is_empty() && list.contains(&format!(" {verb} "));
        let command = self.codes.len() == 1 && !is_path(&self.codes[0]);
        let gaps: Vec<&str> = self.core.split(CODE).collect();
        if listed(LOOKS)
            && command
            && is_end(gaps[1])
            && (gaps[0].ends_with(": ")
                || gaps[0].ends_with(" with ")
                || gaps[0].ends_with("running "))
        {
            return Lead::Run { commands: self.codes.to_vec(), tail: String::new() };
        }
        if listed(WRITES) || self.inside && verb != "the" && self.colon {
            return Lead::Vague { writes: true };
        }
        if listed(LOOKS) { Lead::Vague { writes: false } } else { Lead::Prose }
    }
}

/// Whether all words are among these.
fn only(text: &str, words: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .all(|word| words.split_whitespace().any(|one| one == word))
}

/// Nothing more, or an aside.
fn is_end(text: &str) -> bool {
    let text = text.trim_matches([' ', '.', ':', ',', '：']);
    text.is_empty()
        || text.starts_with('(') && text.ends_with(')')
        || text.starts_with('—')
        || text.starts_with("- ")
}
