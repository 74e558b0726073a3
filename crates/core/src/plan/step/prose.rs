//! Sentences that are no instructions: what they do to the instructions around them. Only what plainly does nothing may be passed over.

use super::sentence::{CODE, Sentence};
use super::words;

/// What a sentence means for the instructions around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bearing {
    /// It explains something else.
    None,
    /// It points at something that may be an instruction: none may follow it.
    Points,
    /// It asks, takes back, holds back, or is not understood.
    Unclear,
}

/// Sentences that lead to steps and say nothing else of them.
const LEADS: &str = ",steps,the steps,implementation,tests,changes,tasks,subtasks,do the following,do this,follow these steps,";
/// Verbs of work that are not its aim where a sentence before the first step begins with them.
const NO_AIMS: words::List = words::List(
    " hold pass drop let keep ask use take send put open close read save test run check ",
);
/// What a sentence before the first step may speak of in its first words.
const WORK: words::List =
    words::List(" change changes rewrite refactoring addition additions fix fixes update updates ");
/// What a sentence before the first step may forbid, and of what: how the work is to be, which it is or is not by itself.
const CONSTRAINTS: words::List = words::List(" change modify touch edit alter break rename ");
const CONSTRAINED: words::List = words::List(
    " public existing other names signature signatures api behaviour behavior interface interfaces schema ",
);

/// What is there to be learnt from or chosen from, not to be done.
const LESSONS: words::List =
    words::List(" training tutorial exercise exercises quiz lesson lessons demo demonstration ");
const SEVERAL: words::List = words::List(" two three four five several multiple many ");
const CHOICES: words::List =
    words::List(" options approaches ways variants choices proposals possibilities ");

/// What a sentence in a step means.
pub(super) fn bearing(sentence: &Sentence) -> Bearing {
    let plain = unlabelled(sentence.plain.trim_matches(['(', ')', '>', '*', '_', ' ', '"']));
    let all: Vec<&str> = words::split(plain).collect();
    let phrases = ["have to ", "has to ", "make sure", "to be ", "as well", "do not ", "by hand"];
    let asks = all.iter().any(|word| words::ASKS.has(word) || words::HOLDS.has(word))
        || phrases.iter().any(|phrase| plain.contains(phrase));
    let english = words::is_english(plain) && !is_struck(sentence);
    if asks || words::cancels(plain) || !english {
        return Bearing::Unclear;
    }
    let clauses = clauses(plain);
    let mut rest = clauses.as_slice();
    // What holds under a condition stands behind the comma.
    while let [first, others @ ..] = rest {
        let opens = words::split(first).next().is_some_and(|word| words::OPENERS.has(word));
        if !opens || others.is_empty() {
            break;
        }
        rest = others;
    }
    let [main, others @ ..] = rest else { return Bearing::Unclear };
    if !describes(main) || !others.iter().all(|clause| goes_on(clause)) {
        return Bearing::Unclear;
    }
    let conditional = is_conditional(&all);
    let objects = ["this", "that", "these", "those", "it", "them"];
    let ends =
        |clause: &str| words::split(clause).last().is_some_and(|word| objects.contains(&word));
    let further = rest.iter().any(|clause| ends(clause))
        || others.iter().any(|clause| names_steps(&words::split(clause).collect::<Vec<_>>()));
    match subject(main) {
        Subject::Steps | Subject::Pointed(Tense::Past) => Bearing::Unclear,
        Subject::Acting if !conditional && !further => lead(plain),
        Subject::Stranger if further => Bearing::Unclear,
        Subject::Acting | Subject::Pointed(_) | Subject::Stranger if conditional => {
            Bearing::Unclear
        }
        Subject::Acting | Subject::Pointed(_) | Subject::Stranger => Bearing::Points,
        Subject::Other if conditional && names_steps(&all) => Bearing::Unclear,
        Subject::Other if further => Bearing::Points,
        Subject::Other => lead(plain),
    }
}

/// Whether words may hold only sometimes; `not a table` says what something is.
fn is_conditional(all: &[&str]) -> bool {
    all.iter().enumerate().any(|(at, word)| {
        let names = *word == "not" && matches!(all.get(at + 1), Some(&("a" | "an" | "the")));
        words::is_condition(word) && !names
    })
}

/// A sentence that ends with a colon leads to something.
fn lead(plain: &str) -> Bearing {
    if plain.ends_with([':', '：']) { Bearing::Points } else { Bearing::None }
}

/// What a sentence before the first step means: it may say what all of them are for.
pub(super) fn introduction(sentence: &Sentence) -> Bearing {
    let plain = unlabelled(sentence.plain.trim_matches(['(', ')', '>', '*', '_', ' ', '"']));
    let name = format!(",{},", plain.trim_end_matches([':', '：', '.']));
    let all: Vec<&str> = words::split(plain).collect();
    let first = all.first().copied().unwrap_or_default();
    let labelled = plain.strip_prefix(first).is_some_and(|rest| rest.starts_with(':'));
    let noun = all.iter().take(3).any(|word| WORK.has(word));
    let aim = (is_aim(first) || words::is_describing(first) || noun) && !labelled && !says(&all);
    let clauses = clauses(plain);
    let further = |clause: &str| goes_on(clause) || words::split(clause).next().is_some_and(is_aim);
    let whole = clauses.iter().skip(1).all(|clause| further(clause));
    let held = holds(sentence) || words::cancels(plain) || names_steps(&all);
    let nothing = leaves_nothing(&all) || all.iter().any(|word| words::ASKS.has(word));
    let colon = plain.ends_with([':', '：']);
    let plainly = words::is_english(plain) || is_aim(first);
    let refers = first == "see"
        && all[1..].iter().all(|word| word.starts_with(CODE) || words::LINKS.has(word));
    if LEADS.contains(&name) || refers || aim && plainly && whole && !held && !nothing && !colon {
        Bearing::None
    } else {
        bearing(sentence)
    }
}

/// Whether a sentence says what something is, or points at something: it is no aim then.
fn says(all: &[&str]) -> bool {
    let links =
        |word: &&&str| !matches!(**word, "that" | "which" | "so" | "because" | "where" | "who");
    let states = ["is", "are", "was", "were", "has", "have", "had", "will"];
    let points = ["it", "this", "these", "those", "them", "everything", "anything"];
    all.iter().take_while(links).any(|word| states.contains(word))
        || all.iter().take(4).any(|word| points.contains(word)) && !matches!(all, ["this", ..])
}

/// Whether a sentence that begins so, before the first step, says what all of them are for.
fn is_aim(word: &str) -> bool {
    let work = [words::CHANGES, words::DOES, words::DESCRIBES].iter().any(|list| list.has(word));
    work && !NO_AIMS.has(word)
}

/// Whether what explains, by its label, says that there is something to be done.
pub(super) fn is_remark(sentence: &Sentence) -> bool {
    let all: Vec<&str> = words::split(&sentence.plain).collect();
    let held = all.iter().any(|word| words::HOLDS.has(word))
        || all.first().is_some_and(|word| words::OPENERS.has(word))
        || is_conditional(&all) && all.iter().any(|word| matches!(*word, "run" | "execute"))
        || all.iter().any(|word| LESSONS.has(word))
        || all.windows(2).any(|pair| SEVERAL.has(pair[0]) && CHOICES.has(pair[1]))
        || leaves_nothing(&all);
    !held && !cancels(sentence) && !words::cancels(&sentence.plain) && !names_steps(&all)
}

/// `Nothing is to be done`, `run nothing`.
fn leaves_nothing(all: &[&str]) -> bool {
    all.iter().enumerate().any(|(at, word)| {
        let asked = at.checked_sub(1).is_none_or(|before| {
            words::is_order(all[before]) || before == 0 && words::is_describing(all[before])
        });
        words::NOTHING.has(word) && asked
    })
}

/// Whether what a task waits for is other tasks, which the runtime sees to.
pub(super) fn is_need(sentence: &Sentence) -> bool {
    words::split(&sentence.plain).all(|word| {
        matches!(word, "task" | "tasks" | "none" | "and" | "nothing" | "step" | "steps")
            || word.starts_with(CODE)
            || word.contains(|c: char| c.is_ascii_digit())
    })
}

/// Whether a sentence forbids something that only a reader of the result can compare: `Do not change the public names.`
pub(super) fn is_constraint(sentence: &Sentence) -> bool {
    let plain = sentence.plain.replace('’', "'");
    let rest = ["do not ", "don't ", "never "].iter().find_map(|not| plain.strip_prefix(not));
    rest.is_some_and(|rest| {
        let all: Vec<&str> = words::split(rest).collect();
        let held = all.iter().any(|word| words::is_condition(word) || words::PRONOUNS.has(word));
        all.first().is_some_and(|word| CONSTRAINTS.has(word))
            && all.iter().any(|word| CONSTRAINED.has(word))
            && !held
            && !names_steps(&all)
            && !words::cancels(rest)
    })
}

/// Whether an aside is about the instructions outside of it after all: it takes something back, or forbids to go on.
pub(super) fn cancels(sentence: &Sentence) -> bool {
    let plain = sentence.plain.replace('’', "'");
    let all: Vec<&str> = words::split(&plain).collect();
    let Some(first) = all.first() else { return false };
    let stops = matches!(all.as_slice(), ["stop" | "halt" | "wait" | "abort", ..]);
    let negated = all.iter().any(|word| {
        matches!(*word, "not" | "never" | "nothing" | "none" | "no") || word.ends_with("n't")
    });
    let goes = ["go on", "carry out", "proceed", "continue", "execute"];
    let points = all.len() <= 2 || names_steps(&all) || words::POINTERS.has(first);
    stops
        || points && words::cancels(&plain) && !is_ordered(&plain)
        || negated && (names_steps(&all) || goes.iter().any(|go| plain.contains(go)))
}

/// Whether a name, of a step or of a heading, may hold back what stands below it.
pub(super) fn holds(sentence: &Sentence) -> bool {
    let plain = sentence.plain.as_str();
    let condition = words::split(plain).any(words::is_condition);
    condition || is_taken_back(sentence)
}

/// Whether a name takes back what stands below it. Behind an order, such a word is about something else.
pub(super) fn is_taken_back(sentence: &Sentence) -> bool {
    let plain = sentence.plain.as_str();
    let parts = plain.split(['(', '[', '—', '–', ':', '：', ';']).map(str::trim);
    let given = parts
        .clone()
        .skip(1)
        .any(|part| words::split(part).any(|word| matches!(word, "by" | "done")));
    is_struck(sentence)
        || given
        || plain.ends_with('?')
        || words::is_foreign_hold(plain)
        || parts.into_iter().any(|part| words::cancels(part) && !is_ordered(part))
}

fn is_ordered(plain: &str) -> bool {
    words::split(plain).next().is_some_and(words::is_order)
}

/// `~~so~~`, `~so~`, `<del>so</del>`, and marks that say no.
pub(super) fn is_struck(sentence: &Sentence) -> bool {
    let plain = &sentence.plain;
    let single = plain.starts_with('~') && plain.trim_end_matches([':', '.']).ends_with('~');
    let marks = ["~~", "<del", "<s>", "<strike", "❌", "🚫", "⛔", "🛑", "✗", "✘", "✖", "☠", "⚠"];
    single || marks.iter().any(|mark| plain.contains(mark))
}

/// `Note:`, `Why:`: what follows is judged.
fn unlabelled(plain: &str) -> &str {
    ["note", "why", "reason", "rationale", "context", "background"]
        .iter()
        .find_map(|label| plain.strip_prefix(label)?.strip_prefix(':'))
        .map_or(plain, str::trim_start)
}

/// A subject that is not the reader, and its verb.
fn describes(clause: &str) -> bool {
    let all: Vec<&str> = words::split(clause).collect();
    let Some(first) = all.first() else { return false };
    let code = first.starts_with(CODE);
    if !code && !words::SUBJECTS.has(first) {
        return false;
    }
    let direct = code || words::PRONOUNS.has(first);
    let from = if direct { 1 } else { 2 };
    all.iter().enumerate().skip(from).any(|(at, word)| {
        let last = at + 1 == all.len();
        words::VERBS.has(word) || words::is_third_person(word) && (direct || !last)
    })
}

/// What a clause is about.
enum Subject {
    /// The instructions, by name.
    Steps,
    /// What stands before or behind it, and what that does.
    Acting,
    /// What stands before or behind it, and what that is.
    Pointed(Tense),
    /// Something that is not plainly a part of a program, or of which is said what it is: it may be about anything.
    Stranger,
    /// A part of a program.
    Other,
}

enum Tense {
    Present,
    Past,
}

fn subject(clause: &str) -> Subject {
    let all: Vec<&str> = words::split(clause).collect();
    let Some((first, rest)) = all.split_first() else { return Subject::Other };
    // `These functions`: parts of the program, not of the text.
    let part =
        rest.iter().take(3).any(|word| words::PARTS.has(word)) && words::DETERMINERS.has(first);
    let several = matches!(*first, "these" | "those" | "they" | "their" | "we" | "our");
    let acts =
        |word: &str| if several { words::DESCRIBES.has(word) } else { words::is_describing(word) };
    let is_verb = |word: &str| words::VERBS.has(word) || acts(word);
    // `The tests are`: what follows an article is no verb.
    let from = usize::from(!first.starts_with(CODE) && !words::PRONOUNS.has(first));
    let verb = rest.iter().skip(from).position(|word| is_verb(word));
    let verb = verb.map_or(rest.len(), |at| at + from);
    let acts = rest.get(verb).is_some_and(|word| acts(word))
        && !names_steps(&rest[(verb + 1).min(rest.len())..]);
    let counts =
        matches!(*first, "all" | "both" | "each" | "every" | "any" | "some" | "most" | "one");
    let alone = rest.first().is_some_and(|word| *word == "of" || words::VERBS.has(word));
    let named = words::PLAN.has(first) || rest[..verb].iter().any(|word| words::PLAN.has(word));
    // `This task adds`: nothing is said of whether it counts.
    let itself =
        acts && verb == 1 && *first == "this" && matches!(rest[0], "task" | "plan" | "step");
    let past = || rest.iter().any(|word| matches!(*word, "was" | "were" | "had" | "did"));
    match () {
        () if named && !itself => Subject::Steps,
        () if part || !(words::POINTERS.has(first) || counts && alone) => {
            let known = first.starts_with(CODE)
                || rest[..verb].iter().any(|word| words::PARTS.has(word) || word.starts_with(CODE));
            let is =
                rest.get(verb).is_some_and(|word| matches!(*word, "is" | "are" | "was" | "were"));
            let named = rest.get(verb + 1).is_some_and(|word| is_name(word));
            let tells = if is { known && named } else { known || acts };
            if tells || *first == "there" { Subject::Other } else { Subject::Stranger }
        }
        () if acts => Subject::Acting,
        () if past() => Subject::Pointed(Tense::Past),
        () => Subject::Pointed(Tense::Present),
    }
}

/// What says what something is called, made of or where it stands, behind `is`.
fn is_name(word: &str) -> bool {
    let known = " a an the new already part called named defined documented stored kept shared split made based read rendered tested ";
    words::List(known).has(word)
        || word.starts_with(CODE)
        || word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether words speak of the instructions; `in step` does not.
fn names_steps(all: &[&str]) -> bool {
    all.iter().enumerate().any(|(at, word)| match *word {
        "step" | "task" | "plan" | "script" | "command" | "block" | "section" => {
            let before = at.checked_sub(1).map_or("", |before| all[before]);
            let numbered =
                all.get(at + 1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
            numbered
                || matches!(
                    before,
                    "this" | "that" | "the" | "next" | "each" | "every" | "last" | "first"
                )
        }
        "next" | "rest" | "anything" | "everything" => false,
        word => words::PLAN.has(word),
    })
}

/// A further clause that is no order: it begins like a part of what went before.
fn goes_on(clause: &str) -> bool {
    let all: Vec<&str> = words::split(clause).collect();
    let Some(first) = all.first() else { return true };
    let single = all.len() == 1 && !words::is_order(first);
    single
        || first.starts_with(CODE)
        || words::SUBJECTS.has(first)
        || words::VERBS.has(first)
        || words::LINKS.has(first)
        || !words::is_order(first)
            && (words::is_third_person(first)
                || ["ed", "ing", "ly"].iter().any(|end| first.ends_with(end)))
}

fn clauses(plain: &str) -> Vec<&str> {
    let mut found = vec![plain];
    for mark in
        [", ", "; ", ": ", " — ", " – ", " - ", " and ", " then ", " but ", " so ", " → ", " ("]
    {
        found = found.into_iter().flat_map(|clause| clause.split(mark)).collect();
    }
    found.into_iter().map(untie).filter(|clause| !clause.is_empty()).collect()
}

fn untie(clause: &str) -> &str {
    let clause = clause.trim();
    let ties = ["and ", "then ", "so ", "but ", "or ", "just "];
    ties.iter().find_map(|tie| clause.strip_prefix(tie)).unwrap_or(clause)
}
