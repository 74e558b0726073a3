//! The words that the reader knows. Everything it decides by a word is decided here.

/// A sentence with one of these may hold only sometimes, or not at all.
const CONDITIONS: &str = " if unless when whenever once until while otherwise optional optionally only or either maybe \
    perhaps possibly not never don't dont doesn't cannot can't without except instead skip later after before \
    manual manually hand example examples alternative alternatively alternatives rollback reference usage \
    currently previously wrong bad avoid choose pick decide possible should could would might may sometimes ";
/// Of these, what holds a sentence back even where it explains, or stands in a comment of a script.
const HOLDS: &str = " unless only optional optionally instead skip example examples alternative alternatively alternatives \
    manual manually later wrong avoid maybe perhaps either choose pick decide otherwise ";
/// What asks of the reader, wherever it stands in a sentence.
const ASKS: &str = " must should shall ought need needs ensure sure forget remember don't dont never avoid please you \
    your you'll let's todo tbd required too also likewise optional optionally instead by-hand manually everywhere \
    similarly ditto again always fixme ";
/// Titles that begin so ask for a change of files.
const CHANGES: &str = " add insert update modify extend implement replace change edit append fix refactor wire register import \
    export adjust rewrite convert migrate introduce define set put include extract apply document configure enable \
    disable simplify split merge integrate hook expose bump port mark create write overwrite save prepend swap inline \
    populate patch strip make declare delete remove drop rename move use ask give teach handle support let pass ";
/// Titles that begin so are met by a command as well as by a change.
const DOES: &str = " install generate regenerate scaffold initialize initialise init format copy clean delete remove \
    rename move create build set reset setup apply ";
/// Titles that begin so are met by a command.
const LOOKS: &str = " run re-run rerun verify check confirm test validate lint execute type-check typecheck typechecking \
    build compile smoke final full inspect see watch observe ";
/// Verbs of instructions that begin no title which the reader knows, for the clauses of an explanation.
const ORDERS: &str = " handle mention say rework tweak keep leave follow repeat do go call return treat consider adapt \
    correct tidy note wrap allow provide cover show print log store load parse accept reject raise throw guard bring \
    try tell send touch revert undo reuse annotate expand shorten improve cite commit push publish deploy open close \
    start stop restart search find look read review wait report ";
const SUBJECTS: &str = " this these that those it its they their there here the a an both all each every no none nothing \
    we our one two three some any most what which ";
const PRONOUNS: &str = " this these that those it they there here none nothing we what which ";
const VERBS: &str = " is are was were isn't aren't has have had does doesn't do will won't would can can't cannot may might \
    stay pass fail come live exist match go work use hold take give make keep let ";
/// What a clause of an explanation may begin with, beside a subject and a verb.
const LINKS: &str = " in on at by for with from to of as than like into onto over under via per without within about \
    after before so but or and nor which who whom whose that where when while because since if unless until not only \
    even both either neither i.e e.g been then still yet already almost no though although just thus hence therefore \
    rather more less ";
const OPENERS: &str =
    " if when whenever while unless once until after before with without because since as ";

pub(super) fn is_condition(word: &str) -> bool {
    is_one(CONDITIONS, word) || word.ends_with("n't") || word.ends_with("n’t")
}

pub(super) fn holds_back(word: &str) -> bool {
    is_one(HOLDS, word)
}

pub(super) fn asks(word: &str) -> bool {
    is_one(ASKS, word)
}

pub(super) fn looks(word: &str) -> bool {
    is_one(LOOKS, word)
}

pub(super) fn does(word: &str) -> bool {
    is_one(DOES, word)
}

pub(super) fn changes(word: &str) -> bool {
    is_one(CHANGES, word)
}

pub(super) fn is_order(word: &str) -> bool {
    changes(word) || does(word) || looks(word) || is_one(ORDERS, word)
}

pub(super) fn is_subject(word: &str) -> bool {
    is_one(SUBJECTS, word)
}

pub(super) fn is_pronoun(word: &str) -> bool {
    is_one(PRONOUNS, word)
}

pub(super) fn is_verb(word: &str) -> bool {
    is_one(VERBS, word)
}

pub(super) fn links(word: &str) -> bool {
    is_one(LINKS, word)
}

pub(super) fn opens(word: &str) -> bool {
    is_one(OPENERS, word)
}

/// `returns`, `parses`; a plural looks the same.
pub(super) fn is_third_person(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
}

/// Whether a word is one of a list in which each stands between blanks.
fn is_one(list: &str, word: &str) -> bool {
    let apart = |at: usize| {
        let (before, after) = (&list[..at], &list[at + word.len()..]);
        before.ends_with(' ') && after.starts_with(' ')
    };
    !word.is_empty() && list.match_indices(word).any(|(at, _)| apart(at))
}
