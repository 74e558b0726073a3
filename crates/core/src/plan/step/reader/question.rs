//! Questions that a step spells out, with their options and their default.

use super::{Action, Place, Reader, Sentence};
use crate::plan::step::gap::Gap;

impl Reader<'_, '_> {
    /// Takes what belongs to a question: `Ask: ...`, `Options: ...`, `Default: ...`, an item below it.
    pub(super) fn answer(&mut self, sentence: &Sentence, place: Place, line: u32) -> bool {
        let label = sentence.plain.split([':', '：']).next().unwrap_or_default();
        let said = sentence
            .after_colon()
            .filter(|_| matches!(label, "ask" | "question" | "options" | "default"));
        match (label, said, self.open_question()) {
            ("ask" | "question", Some(said), _) => {
                self.settle();
                let question =
                    Action::Ask { question: said.raw, options: Vec::new(), default: None };
                self.push(question, line);
            }
            ("options", Some(said), Some((options, _))) => {
                let all = said.raw.split([',', '/', '|']).map(bare).filter(|one| !one.is_empty());
                options.extend(all);
            }
            ("default", Some(said), Some((_, default))) => *default = Some(bare(&said.raw)),
            (_, Some(_), None) => {
                self.blame(Gap::new("it answers a question that is not asked"), line);
            }
            (_, None, Some((options, default))) if place == Place::Item => {
                let option = sentence.raw.trim_matches(['`', '*', ' ']);
                let chosen = option.strip_suffix("(default)").map(bare);
                options.push(chosen.clone().unwrap_or_else(|| option.to_owned()));
                *default = chosen.or(default.take());
            }
            _ => return false,
        }
        true
    }

    fn open_question(&mut self) -> Option<(&mut Vec<String>, &mut Option<String>)> {
        match &mut self.task.told.steps[self.state.start..].last_mut()?.action {
            Action::Ask { options, default, .. } => Some((options, default)),
            _ => None,
        }
    }
}

fn bare(text: &str) -> String {
    text.trim().trim_end_matches('.').trim_matches(['`', '*', '"', ' ']).to_owned()
}
