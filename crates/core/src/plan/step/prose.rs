//! Sentences that begin with no instruction: whether they explain, or ask for something all the same.
//!
//! The rule is the cautious one. Only what is plainly explanation may be passed over.

use super::lead::{LOOKS, WRITES};
use super::sentence::CODE;

/// What asks wherever it stands, each between blanks.
const ASKS: [&str; 36] = [
    " must ",
    " should ",
    " shall ",
    " ought ",
    " need ",
    " needs ",
    " have to ",
    " has to ",
    " make sure ",
    " making sure ",
    " ensure ",
    " be sure ",
    " forget ",
    " remember ",
    " don't ",
    " don’t ",
    " do not ",
    " never ",
    " avoid ",
    " please ",
    " you ",
    " your ",
    " you'll ",
    " let's ",
    " let us ",
    " todo ",
    " tbd ",
    " required ",
    " too ",
    " as well ",
    " optional ",
    " optionally ",
    " instead ",
    " by hand ",
    " manually ",
    " everywhere ",
];
/// Sentences that start like this add to what was asked.
const ADDS: [&str; 6] = ["also ", "likewise", "same ", "the same ", "similarly", "ditto"];
/// Verbs of instructions that start no sentence which is carried out.
const MORE: &str = " handle mention say rework tweak keep leave use follow repeat do go call pass return treat consider \
    adapt correct tidy note wrap skip allow support provide cover show print log store load parse accept reject raise \
    throw guard bring try ask tell send touch revert undo reuse declare annotate expand shorten improve cite ";
const SUBJECTS: &str = " this these that those it its they their there here the a an both all each every no none nothing \
    we our one two three some any most only what ";
const VERBS: &str = " is are was were isn't aren't has have had does doesn't will won't would can can't cannot may might \
    stay stays pass fail come comes live lives exist match go work use need ";
const REASONS: &str = " because since as so why reason rationale background context see e.g i.e hence thus therefore ";
const CONDITIONS: &str = " if when whenever while unless once until after before with without ";
/// Words that a bare verb cannot be.
const FUNCTION: &str = " in on at by for with from to of as than like into onto over under via per without within about \
    after before so but or and nor which who whom whose that where when while because since if unless until not only even \
    both either neither i.e e.g is are was were be been has have had does do did will would can could may might then also \
    all each every across between through during against around behind below above along among despite except inside \
    outside near plus minus what how why whether though although just still yet already almost once no let lets because ";
const DETERMINERS: &str = " it them the this that these those a an all every each any both its ";

/// A sentence that asks for nothing and says why, what or how.
pub(super) fn explains(plain: &str) -> bool {
    let plain = bare(plain);
    !asks(plain) && describes(plain, 0)
}

/// Whether a sentence asks for something, whatever it begins with.
pub(super) fn asks(plain: &str) -> bool {
    let plain = bare(plain);
    let spaced = spaced(plain);
    ASKS.iter().any(|word| spaced.contains(word))
        || ADDS.iter().any(|start| plain.starts_with(start))
        || clauses(plain).iter().any(|clause| is_imperative(clause))
}

/// A caption whose fence is shown, not meant.
pub(super) fn warns(plain: &str) -> bool {
    let words = " not no never wrong bad avoid example examples usage previously old before would could later instead \
        optional optionally if unless e.g reference alternatively alternative ";
    spaced(plain).split(' ').any(|word| is_one(words, word) || word.ends_with("n't"))
}

/// Words of another language, as far as letters and small words tell.
pub(super) fn is_foreign(plain: &str) -> bool {
    let small = " el los las que y del una por para con der das und ist nicht mit ein eine wird le les des est une dans pour \
        avec il che per sono della não uma os het een niet van en sie wenn ";
    let other = |c: char| c.is_alphabetic() && !c.is_ascii();
    plain.chars().any(other) || spaced(plain).split(' ').any(|word| is_one(small, word))
}

/// Another clause behind the first that asks for more than the sentence itself gives.
pub(super) fn goes_on(plain: &str) -> bool {
    let filler = "the following this it that with content contents code exactly to below these lines line in as";
    clauses(plain).iter().skip(1).any(|clause| {
        let (verb, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        let given = rest.split(|c: char| !c.is_alphanumeric() && c != CODE);
        let given = given
            .filter(|word| !word.is_empty())
            .all(|word| filler.split_whitespace().any(|one| one == word));
        is_one(WRITES, verb) && !given
    })
}

fn describes(plain: &str, depth: usize) -> bool {
    let words: Vec<&str> = spaced_words(plain);
    let Some(first) = words.first() else { return true };
    if is_one(REASONS, first) {
        return true;
    }
    if is_one(CONDITIONS, first) {
        // What holds then stands behind the comma.
        let main = plain.split_once(", ").map(|(_, main)| main);
        return depth < 4 && main.is_some_and(|main| describes(main, depth + 1));
    }
    let subject = is_one(SUBJECTS, first) || first.starts_with(CODE);
    subject && words[1..].iter().any(|word| is_one(VERBS, word) || is_third_person(word))
}

/// `returns`, `parses`; a plural looks the same.
fn is_third_person(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
}

fn is_imperative(clause: &str) -> bool {
    let words = spaced_words(clause);
    let Some(first) = words.first().copied() else { return false };
    if is_one(WRITES, first) || is_one(LOOKS, first) || is_one(MORE, first) {
        return true;
    }
    let object = words.get(1).is_some_and(|next| is_one(DETERMINERS, next));
    let other = first.starts_with(CODE)
        || is_one(FUNCTION, first)
        || is_one(SUBJECTS, first)
        || is_third_person(first)
        || ["ed", "ing", "ly"].iter().any(|end| first.ends_with(end));
    object && !other
}

/// The clauses of a sentence, without the words that tie them together.
fn clauses(plain: &str) -> Vec<&str> {
    let mut found = vec![plain];
    for mark in [", ", "; ", ": ", " — ", " – ", " - ", " and ", " then ", " but ", " → ", " ("]
    {
        found = found.into_iter().flat_map(|clause| clause.split(mark)).collect();
    }
    found.into_iter().map(untie).filter(|clause| !clause.is_empty()).collect()
}

fn untie(clause: &str) -> &str {
    let ties =
        ["and ", "then ", "so ", "but ", "or ", "also ", "now ", "just ", "simply ", "afterwards "];
    let mut clause = clause.trim();
    while let Some(rest) = ties.iter().find_map(|tie| clause.strip_prefix(tie)) {
        clause = rest.trim_start();
    }
    clause
}

/// Without what marks an aside.
fn bare(plain: &str) -> &str {
    plain.trim_matches(['(', ')', '>', '*', '_', ' ', '"'])
}

fn spaced_words(plain: &str) -> Vec<&str> {
    plain
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-' | '.') && c != CODE)
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| !word.is_empty())
        .collect()
}

fn spaced(plain: &str) -> String {
    format!(" {} ", spaced_words(plain).join(" "))
}

fn is_one(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|one| one == word)
}
