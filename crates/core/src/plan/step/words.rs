//! The words that the reader knows. Everything it decides by a word is decided here.

/// Words that each stand between blanks.
pub(super) struct List(&'static str);

impl List {
    pub(super) fn has(&self, word: &str) -> bool {
        let apart =
            |at: usize| self.0[..at].ends_with(' ') && self.0[at + word.len()..].starts_with(' ');
        !word.is_empty() && self.0.match_indices(word).any(|(at, _)| apart(at))
    }
}

/// A sentence with one of these may hold only sometimes, or not at all.
pub(super) const CONDITIONS: List = List(
    " if unless when whenever once until while otherwise optional optionally only or either maybe \
    perhaps possibly not never don't dont doesn't cannot can't without except instead skip later after before \
    manual manually hand example examples alternative alternatively alternatives rollback reference usage \
    currently previously wrong bad avoid choose pick decide possible should could would might may sometimes ",
);
/// Of these, what holds a sentence back even where it explains, or stands in a comment of a script.
pub(super) const HOLDS: List = List(
    " unless only optional optionally instead skip example examples alternative alternatively alternatives \
    manual manually later wrong avoid maybe perhaps either choose pick decide otherwise ",
);
/// What asks of the reader, wherever it stands in a sentence.
pub(super) const ASKS: List = List(
    " must should shall ought need needs ensure sure forget remember don't dont never avoid please you \
    your you'll let's todo tbd required too also likewise optional optionally instead by-hand manually everywhere \
    similarly ditto again always fixme ",
);
/// Titles that begin so ask for a change of files.
pub(super) const CHANGES: List = List(
    " add insert update modify extend implement replace change edit append fix refactor wire register import \
    export adjust rewrite convert migrate introduce define set put include extract apply document configure enable \
    disable simplify split merge integrate hook expose bump port mark create write overwrite save prepend swap inline \
    populate patch strip make declare delete remove drop rename move use ask give teach handle support let pass ",
);
/// Titles that begin so are met by a command as well as by a change.
pub(super) const DOES: List = List(
    " install generate regenerate scaffold initialize initialise init format copy clean delete remove \
    rename move create build set reset setup apply ",
);
/// Titles that begin so are met by a command.
pub(super) const LOOKS: List = List(
    " run re-run rerun verify check confirm test validate lint execute type-check typecheck typechecking \
    build compile smoke final full inspect see watch observe ",
);
/// Verbs of instructions that begin no title which the reader knows, for the clauses of an explanation.
pub(super) const ORDERS: List = List(
    " handle mention say rework tweak keep leave follow repeat do go call return treat consider adapt \
    correct tidy note wrap allow provide cover show print log store load parse accept reject raise throw guard bring \
    try tell send touch revert undo reuse annotate expand shorten improve cite commit push publish deploy open close \
    start stop restart search find look read review wait report ",
);
pub(super) const SUBJECTS: List = List(
    " this these that those it its they their there here the a an both all each every no none nothing \
    we our one two three some any most what which ",
);
pub(super) const PRONOUNS: List =
    List(" this these that those it they there here none nothing we what which ");
pub(super) const VERBS: List = List(
    " is are was were isn't aren't has have had does doesn't do will won't would can can't cannot may might \
    stay pass fail come live exist match go work use hold take give make keep let ",
);
/// What a clause of an explanation may begin with, beside a subject and a verb.
pub(super) const LINKS: List = List(
    " in on at by for with from to of as than like into onto over under via per without within about \
    after before so but or and nor which who whom whose that where when while because since if unless until not only \
    even both either neither i.e e.g been then still yet already almost no though although just thus hence therefore \
    rather more less ",
);
pub(super) const OPENERS: List =
    List(" if when whenever while unless once until after before with without because since as ");

pub(super) fn is_condition(word: &str) -> bool {
    CONDITIONS.has(word) || word.ends_with("n't") || word.ends_with("n’t")
}

pub(super) fn is_order(word: &str) -> bool {
    [CHANGES, DOES, LOOKS, ORDERS].iter().any(|list| list.has(word))
}

/// `returns`, `parses`; a plural looks the same.
pub(super) fn is_third_person(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
}
