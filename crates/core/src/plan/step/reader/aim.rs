//! A sentence before a list of instructions that says what they are for.

use super::{Bearing, Part, Reader, Role, Sentence, Title, What, form, prose};

impl<'r> Reader<'r, '_> {
    /// A sentence that says what the list right behind it is for: `Add a parser.`
    pub(super) fn aim(&self) -> Option<(&'r Sentence, &'r Part<'r>)> {
        let parts = &self.section.parts;
        let at = parts.iter().position(|part| !matches!(part.what, What::Aside(..)))?;
        let [lead, item, ..] = &parts[at..] else { return None };
        let (What::Words(all), What::Item(_), None) = (&lead.what, &item.what, lead.held) else {
            return None;
        };
        let [said] = all.as_slice() else { return None };
        let title = Title::read(said);
        let is_aim = title.is_order() && !title.condition && form::read(said).is_none();
        let clear = prose::introduction(said) == Bearing::None && !said.plain.ends_with(':');
        (self.role == Role::Whole && is_aim && clear).then_some((said, lead))
    }

    /// What the list comes to must be what its sentence asks for.
    pub(super) fn meet(&mut self, aim: Option<(&Sentence, &Part<'_>)>) {
        if let Some((said, part)) = aim.filter(|_| !self.state.unclear)
            && let Err(gap) =
                Title::read(said).check(said, &self.task.told.steps[self.state.start..])
        {
            self.blame(gap, part.line);
        }
    }
}
