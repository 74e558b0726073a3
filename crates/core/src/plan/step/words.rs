//! The words that the reader knows. Everything it decides by a word is decided here.

use super::sentence::CODE;

/// Words that each stand between blanks.
pub(super) struct List(pub(super) &'static str);

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
    manual manually hand example examples alternative alternatively alternatives rollback usage \
    currently previously wrong bad avoid choose pick decide possible should could would might may sometimes ",
);
/// Of these, what holds a sentence back even where it explains, or stands in a comment of a script.
pub(super) const HOLDS: List = List(
    " unless only optional optionally instead skip example examples alternative alternatively alternatives \
    manual manually later wrong avoid maybe perhaps either choose pick decide otherwise ",
);
/// What takes back: a sentence with one of these is never passed over, a name only where an order speaks of it.
pub(super) const CANCELS: List = List(
    " cancelled canceled cancel withdrawn deprecated obsolete forbidden superseded abandoned mistake mistakes \
    mistaken void revoked retracted rejected shelved scrapped outdated disregard ignore postponed deferred suspended \
    prohibited banned moot wontfix draft wip hypothetical illustration illustrative illustrates fictional pseudocode \
    pseudo-code tentative skip danger dangerous disaster trap blocked awaiting approval sign-off tbd someday contingency \
    emergency joke kidding skipped dry-run tomorrow removed n/a no-op ",
);
/// The same in several words.
const CANCELLING: &[&str] = &[
    "old plan",
    "old way",
    "no longer",
    "not yet",
    "on hold",
    "work in progress",
    "not to be",
    "not needed",
    "no need",
    "not wanted",
    "not approved",
    "not ready",
    "in error",
    "by mistake",
    "nothing to do",
    "out of scope",
    "for later",
    "do nothing",
    "bad idea",
    "for reference",
    "not to do",
    "not sure",
    "used to be",
    "for the record",
    "not run",
    "n't run",
    "never run",
    "in case of",
    "how not to",
];
/// What takes back or holds back in other languages than English. No sentence of theirs is passed over, but names are.
const FOREIGN: List = List(
    " nunca jamás jamas sin si opcional solo sólo solamente cancelado nicht nie niemals kein keine keinen wenn \
    falls nur außer später ohne ne pas jamais sans seulement facultatif optionnel non mai opzionale senza não nao somente apenas \
    niet nooit geen alleen indien zonder nigdy jeśli inte ikke aldrig не никогда нельзя если только нет không đừng nếu ",
);
/// The same in languages that set no blanks between words.
const UNSPACED: &[&str] = &[
    "ない",
    "ません",
    "せず",
    "禁止",
    "不要",
    "任意",
    "場合",
    "もし",
    "中止",
    "廃止",
    "取消",
    "取り消し",
    "後で",
    "スキップ",
    "手動",
    "不",
    "请别",
    "勿",
    "如果",
    "可选",
    "仅",
    "只",
    "若",
    "废弃",
    "跳过",
    "手动",
    "지 마",
    "않",
    "금지",
    "취소",
];
/// What speaks of the instructions themselves, and of where they stand.
pub(super) const PLAN: List = List(
    " step steps plan task tasks command commands script scripts instruction instructions below above following \
    follows next rest remaining remainder snippet block section everything anything ",
);
/// What leaves nothing to be done.
pub(super) const NOTHING: List = List(" nothing none nobody nowhere neither dropped dead closed ");
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
    " this these that those it its they their there here the a an both all each every none nothing \
    we our one two three some any most what which ",
);
pub(super) const PRONOUNS: List =
    List(" this these that those it they there here none nothing we what which ");
/// Subjects that point at what stands before or behind them.
pub(super) const POINTERS: List =
    List(" this these that those it its they their here none nothing we our what which ");
pub(super) const DETERMINERS: List = List(" this these that those its their our ");
/// Parts of a program.
pub(super) const PARTS: List = List(
    " function functions component components class classes module modules type types file files test tests endpoint \
    endpoints hook hooks page pages table tables field fields schema schemas parser method methods interface interfaces layer \
    helper helpers package service route routes library ",
);
/// What something that a sentence points at may do, so that the sentence says nothing of whether it counts.
pub(super) const DESCRIBES: List = List(
    " add adjust allow build bundle cache call collect combine compare compute configure contain convert copy count \
    cover create decode define derive document emit enable encode expose extend extract fetch fix format gather generate give \
    group guard handle hold implement import include initialise initialize insert install introduce keep let list load log make \
    map match merge mirror move normalise normalize open parse pass prepare preserve print produce protect provide put read \
    record reduce refactor register remove rename render replace resolve restore return reuse save scan select send serve set \
    simplify sort split store support sync take test track translate turn update use validate verify wire wrap write yield ",
);
/// Words that only English sentences have.
const ENGLISH: List = List(
    " the of to and is are with for from this that these those it its by be which when because than them they their \
    has have does ",
);
pub(super) const VERBS: List = List(
    " is are was were isn't aren't has have had does doesn't do will won't would can can't cannot may might \
    stay pass fail come live exist exists works remains match go work use hold take give make keep let ",
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

/// Whether a text in lower case takes something back.
pub(super) fn cancels(plain: &str) -> bool {
    split(plain).any(|word| CANCELS.has(word))
        || CANCELLING.iter().any(|phrase| plain.contains(phrase))
}

/// Whether a text may hold something back in another language, or is in one that nobody here knows.
pub(super) fn is_foreign_hold(text: &str) -> bool {
    let plain = text.to_lowercase();
    let known = |c: char| {
        !c.is_alphabetic()
            || matches!(c, '\0'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1eff}' | '\u{3040}'..='\u{30ff}')
            || matches!(c, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ffef}' | '\u{3005}'..='\u{3007}')
    };
    split(&plain).next() == Some("no")
        || split(&plain).any(|word| FOREIGN.has(word))
        || UNSPACED.iter().any(|word| plain.contains(word))
        || !plain.chars().all(known)
}

/// Whether a text in lower case is in English as far as its words tell.
pub(super) fn is_english(plain: &str) -> bool {
    plain.chars().all(|c| !c.is_alphabetic() || c < '\u{250}')
        && split(plain).any(|word| ENGLISH.has(word) || is_describing(word))
}

/// `adds`, `fixes`, `copies`.
pub(super) fn is_describing(word: &str) -> bool {
    let stems = [("ies", "y"), ("es", ""), ("s", "")];
    stems.iter().any(|(end, stem)| {
        word.strip_suffix(end).is_some_and(|base| DESCRIBES.has(&format!("{base}{stem}")))
    })
}

/// Words without the marks around them.
pub(super) fn split(plain: &str) -> impl Iterator<Item = &str> {
    plain
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-' | '.') && c != CODE)
        .map(|word| word.trim_matches(['.', '-', '\'']))
        .filter(|word| !word.is_empty())
}

/// Whether a title may begin so.
pub(super) fn is_known(word: &str) -> bool {
    [CHANGES, DOES, LOOKS].iter().any(|list| list.has(word))
}

pub(super) fn is_order(word: &str) -> bool {
    is_known(word) || ORDERS.has(word)
}

/// `returns`, `parses`; a plural looks the same.
pub(super) fn is_third_person(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
}
