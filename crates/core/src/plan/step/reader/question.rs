//! Questions that a step spells out, with their options and their default.

use super::{Action, Place, Reader, Sentence};
use crate::plan::step::gap::Gap;

impl Reader<'_, '_> {
    /// Takes what belongs to a question: `Ask: ...`, `Options: ...`, `Default: ...`, `Answer: ...`, an item below it.
    pub(super) fn answer(&mut self, sentence: &Sentence, place: Place, line: u32) -> bool {
        let label = sentence.plain.split([':', '：']).next().unwrap_or_default();
        let said = sentence
            .after_colon()
            .filter(|_| matches!(label, "ask" | "question" | "options" | "default" | "answer"));
        match (label, said, self.open_question()) {
            ("ask" | "question", Some(said), _) => {
                self.settle();
                self.push(
                    Action::Ask {
                        question: said.raw,
                        options: Vec::new(),
                        default: None,
                        answer: None,
                    },
                    line,
                );
            }
            ("options", Some(said), Some(Open { options, .. })) => {
                let all = said.raw.split([',', '/', '|']).map(bare).filter(|one| !one.is_empty());
                options.extend(all);
            }
            ("default", Some(said), Some(Open { default, .. })) => *default = Some(bare(&said.raw)),
            ("answer", Some(said), Some(Open { answer, .. })) if !bare(&said.raw).is_empty() => {
                *answer = Some(bare(&said.raw));
            }
            ("answer", Some(_), Some(_)) => self.blame(Gap::new("its answer is empty"), line),
            (_, Some(_), None) => {
                self.blame(Gap::new("it answers a question that is not asked"), line);
            }
            (_, None, Some(Open { options, default, answer: None })) if place == Place::Item => {
                let option = sentence.raw.trim_matches(['`', '*', ' ']);
                let chosen = option.strip_suffix("(default)").map(bare);
                options.push(chosen.clone().unwrap_or_else(|| option.to_owned()));
                *default = chosen.or(default.take());
            }
            _ => return false,
        }
        true
    }

    fn open_question(&mut self) -> Option<Open<'_>> {
        match &mut self.task.told.steps[self.state.start..].last_mut()?.action {
            Action::Ask { options, default, answer, .. } => Some(Open { options, default, answer }),
            _ => None,
        }
    }
}

/// The question right above.
struct Open<'s> {
    options: &'s mut Vec<String>,
    default: &'s mut Option<String>,
    answer: &'s mut Option<String>,
}

fn bare(text: &str) -> String {
    text.trim().trim_end_matches('.').trim_matches(['`', '*', '"', ' ']).to_owned()
}
