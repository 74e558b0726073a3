//! What stands above a block and decides whether it counts: headings, labels, a box that is ticked.

/// What becomes of what stands in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule<'a> {
    /// It counts.
    Open,
    /// It asks for nothing.
    Aside(Aside),
    /// It may not count: the words that may hold it back.
    Held(&'a str),
}

impl<'a> Rule<'a> {
    /// What may hold it back.
    pub(super) fn held(self) -> Option<&'a str> {
        if let Self::Held(said) = self { Some(said) } else { None }
    }
}

/// Why something asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aside {
    /// A list of files or interfaces.
    Listing,
    /// What explains; it may ask all the same.
    Remark,
    /// What the work is for: a list behind its sentence is the work.
    Aim,
    /// What is shown, not meant.
    Shown,
    /// What must hold in the end.
    Criteria,
    /// How far the work is.
    Status,
    /// What it waits for.
    Needs,
    /// A step that is done.
    Done,
}

/// How a label stands in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Alone,
    /// What it is about stands behind it.
    Filled,
}

/// A block that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Paragraph,
    Fence,
    Item,
    Box,
    /// `Step 3:`.
    Step,
    Rule,
    /// What belongs to a list item.
    Nested,
}

#[derive(Clone, Copy)]
enum Reach {
    /// Until a heading of this level or above.
    Heading(u8),
    /// Until a heading, a step, or where the list item ends that it stands in; what it has covered so far.
    Label { end: usize, covered: Covered },
    /// From the next box until a list item ends.
    Item { end: usize },
}

/// What stands between a label and what comes next.
#[derive(Clone, Copy, PartialEq)]
enum Covered {
    Nothing,
    /// Words in its own line.
    Words,
    List,
    Block,
}

#[derive(Clone, Copy)]
struct Scope<'a> {
    reach: Reach,
    rule: Rule<'a>,
    /// The words that open it.
    said: &'a str,
}

/// The scopes around a place in the text, outermost first.
#[derive(Default)]
pub(super) struct Scopes<'a>(Vec<Scope<'a>>);

impl<'a> Scopes<'a> {
    pub(super) fn heading(&mut self, level: u8, said: &'a str, rule: Rule<'a>) {
        self.0.retain(|scope| matches!(scope.reach, Reach::Heading(outer) if outer < level));
        self.0.push(Scope { reach: Reach::Heading(level), rule, said });
    }

    /// `end` is where the item ends that the label stands in.
    pub(super) fn label(&mut self, label: Label, said: &'a str, aside: Aside, end: Option<usize>) {
        self.0.retain(|scope| !matches!(scope.reach, Reach::Label { .. }));
        let covered = if label == Label::Alone { Covered::Nothing } else { Covered::Words };
        let reach = Reach::Label { end: end.unwrap_or(usize::MAX), covered };
        self.0.push(Scope { reach, rule: Rule::Aside(aside), said });
    }

    /// A box that may not count: neither do those in it. What else stands in it is told by its title.
    pub(super) fn item(&mut self, said: &'a str, end: usize) {
        self.0.push(Scope { reach: Reach::Item { end }, rule: Rule::Open, said });
    }

    /// Something that may not count, and what follows it, until the next step.
    pub(super) fn hold(&mut self, said: &'a str) {
        let reach = Reach::Label { end: usize::MAX, covered: Covered::Block };
        self.0.push(Scope { reach, rule: Rule::Held(said), said });
    }

    /// A box that is ticked: what follows it is done, until the next step.
    pub(super) fn done(&mut self) {
        self.label(Label::Alone, "", Aside::Done, None);
    }

    /// Comes to the next block, which starts at an offset: scopes that it ends are left, others cover it.
    pub(super) fn enter(&mut self, next: Next, start: usize) -> Rule<'a> {
        self.0.retain(|scope| match scope.reach {
            Reach::Label { end, .. } | Reach::Item { end } => start < end,
            Reach::Heading(_) => true,
        });
        self.0.retain_mut(|scope| scope.goes_on(next));
        self.rule()
    }

    /// The outermost aside, or else what holds it back.
    pub(super) fn rule(&self) -> Rule<'a> {
        let aside = self.0.iter().find(|scope| matches!(scope.rule, Rule::Aside(_)));
        let held = || self.0.iter().find(|scope| matches!(scope.rule, Rule::Held(_)));
        aside.or_else(held).map_or(Rule::Open, |scope| scope.rule)
    }
}

impl Scope<'_> {
    /// Whether it covers the next block. What is shown under a label is what stands right below it: whether the label means
    /// more than that is not clear.
    fn goes_on(&mut self, next: Next) -> bool {
        let covered = match &mut self.reach {
            Reach::Heading(_) => return true,
            Reach::Item { .. } => {
                if next == Next::Box {
                    self.rule = Rule::Held(self.said);
                }
                return true;
            }
            Reach::Label { covered, .. } => covered,
        };
        let own_words = *covered == Covered::Words && next == Next::Item;
        let own = covered.take(next);
        let Rule::Aside(aside) = self.rule else { return next != Next::Step };
        let ends = match aside {
            Aside::Criteria | Aside::Shown => false,
            Aside::Done => next == Next::Box,
            Aside::Listing => matches!(next, Next::Box | Next::Paragraph | Next::Rule),
            Aside::Aim => own_words || matches!(next, Next::Paragraph | Next::Rule | Next::Box),
            Aside::Remark | Aside::Status | Aside::Needs => {
                matches!(next, Next::Paragraph | Next::Rule) || next == Next::Box && !own
            }
        };
        let more = match aside {
            Aside::Shown => !own,
            Aside::Remark | Aside::Aim | Aside::Status | Aside::Needs => next == Next::Fence,
            _ => false,
        };
        if more {
            self.rule = Rule::Held(self.said);
        }
        !ends && next != Next::Step
    }
}

impl Covered {
    /// Takes the next block; whether it is what the label stands for.
    fn take(&mut self, next: Next) -> bool {
        let before = *self;
        match next {
            Next::Paragraph | Next::Fence | Next::Rule => *self = Self::Block,
            Next::Item | Next::Box if before == Self::Nothing => *self = Self::List,
            _ => {}
        }
        match next {
            Next::Paragraph | Next::Fence => before == Self::Nothing,
            Next::Box => matches!(before, Self::Nothing | Self::List),
            Next::Item | Next::Nested => before != Self::Block,
            Next::Rule | Next::Step => true,
        }
    }
}
