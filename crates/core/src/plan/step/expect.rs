//! What `Expected:` says: an ending, a number of tests, a text in the output. What is only described is no expectation.

use super::gap::{Gap, short};
use super::pattern::{self, Caught, Token};
use super::sentence::Sentence;
use super::{Exit, Expect, form, words};

#[derive(Clone, Copy)]
enum Says {
    Pass,
    Fail,
    /// Fail, and show this.
    FailWith,
    Code,
    Silent,
    Text,
}

use Says::{Code, Fail, FailWith, Pass, Silent, Text};

/// One row per form of an expectation.
#[rustfmt::skip]
const SAYS: &[(&str, Says)] = &[
    ("pass|passes|passed|passing|ok|green|success|succeeds|successful|clean", Pass),
    ("[all] [of] [the] [{n}] [new|unit|existing] test|tests|checks|suites|suite|specs|it|they [are|is|all] pass|passes|passed|passing|green|ok|succeed", Pass),
    ("[all] [the] [{n}] [new] {q} test|tests pass|passes|passed", Pass),
    ("{n} tests|test pass|passed in {q}", Pass),
    ("all {*} pass|passes|passed|green", Pass),
    ("all [{n}] pass|passes|passed|passing|green|ok", Pass),
    ("{n} pass|passed|passing|tests|test [pass|passed|passing|ok|green] [total]", Pass),
    ("pass|passed|ok , [all] {n} test|tests [pass|passed|passing]", Pass),
    ("[all] [{n}] [tests] pass|passed [tests] , 0|no|zero failed|failures|failed|errors", Pass),
    ("no|0|zero [type|lint|typescript|compile|syntax|import] error|errors|failures|warnings|issues", Pass),
    ("[the] [clean] build|compile|compilation|command|script|typecheck|type-check|lint|linter|install|it [is] succeeds|passes|successful|clean|pass|compiles|completes [successfully|cleanly]", Pass),
    ("[it] compiles|builds [cleanly|successfully|without|with] [no] [errors]", Pass),
    ("[the] {*} test|tests pass|passes|passed", Pass),
    ("[both|all|the] {*} build|builds|compile|compiles|succeed|succeeds|type-check|type-checks|exit|exits [successfully|cleanly|0]", Pass),
    ("no [new] [type|typescript] errors from|in|related|for [to] {*}", Pass),
    ("no new errors", Pass),
    ("fail|fails|failed|failing|red|failure", Fail),
    ("[the] {*} test|tests fail|fails", Fail),
    ("[all] [the] [{n}] [new] test|tests|it|build|compilation fail|fails|failing", Fail),
    ("fail|fails|failed|failing [with|:|—|–] [an|the|error|message] [error|message] [:] {q}", FailWith),
    ("fail|fails|failed|failing ( {q} )", FailWith),
    ("[it] exit|exits [with] [code|status] [code] [:] {n}", Code),
    ("[all|both] [two|three|four|five] commands|command exit|exits [with] [code] {n}", Code),
    ("[exit] code|status [is|of] [:] {n}", Code),
    ("no output|matches|diff|differences|results|hits", Silent),
    ("nothing|empty [output]", Silent),
    ("( no output )", Silent),
    ("prints nothing", Silent),
    ("zero matches", Silent),
    ("[the] [output] [is|prints|shows|contains|includes|outputs|print|show] [:] {q}", Text),
];
/// What begins a reason behind an ending.
const REASONS: [&str; 12] =
    ["(", "—", "–", "-", "because", "since", "as", "with", "due", ":", ",", "until"];
const COUNTS: &str = "(|—|– [all] {n} [new] test|tests|passed|passing|pass|specs [pass|passed|passing|green|total] [)]";

/// The expectation that a sentence spells out, and whether it gives a reason that nothing compares.
pub(super) fn read(said: &Sentence) -> Result<(Expect, bool), Gap> {
    let tokens = pattern::tokens(said).map(|tokens| lift(&tokens));
    let tokens = tokens.as_deref().map(form::core);
    let found = tokens.and_then(|tokens| whole(tokens).or_else(|| with_reason(tokens)));
    found.ok_or_else(|| {
        Gap::result(format!(
            "what it expects is described, not spelled out (`{}`)",
            short(&said.raw)
        ))
    })
}

/// A verdict in code counts as a word.
fn lift<'s>(tokens: &[Token<'s>]) -> Vec<Token<'s>> {
    let verdict = |code: &str| match code {
        "PASS" | "PASSED" | "pass" | "OK" => Some("pass"),
        "FAIL" | "FAILED" | "fail" => Some("fail"),
        _ => None,
    };
    let lift = |token: &Token<'s>| match token {
        Token::Code(code) => verdict(code).map_or(*token, |word| Token::Word(word, code)),
        token => *token,
    };
    tokens.iter().map(lift).collect()
}

fn whole(tokens: &[Token<'_>]) -> Option<(Expect, bool)> {
    let find = |(row, says): &(&str, Says)| Some((*says, pattern::find(row, tokens)?));
    let (says, caught) = SAYS.iter().find_map(find)?;
    Some((meant(says, caught)?, false))
}

fn meant(says: Says, Caught { mut codes, number, .. }: Caught) -> Option<Expect> {
    let exit = match (says, number) {
        (Fail | FailWith, _) => Exit::Fail,
        (Code, Some(0)) => Exit::Pass,
        (Code, Some(code)) => Exit::Code(u8::try_from(code).ok()?),
        _ => Exit::Pass,
    };
    let count = number.filter(|_| matches!(says, Pass));
    let text = codes.pop().filter(|_| matches!(says, FailWith | Text));
    Some(Expect { exit, text, count, silent: matches!(says, Silent), lines: Vec::new() })
}

/// An ending and a reason for it. A reason that takes back what it is the reason of makes it no ending.
fn with_reason(tokens: &[Token<'_>]) -> Option<(Expect, bool)> {
    let begins =
        |at: &usize| matches!(tokens[*at], Token::Word(word, _) if REASONS.contains(&word));
    (1..tokens.len()).filter(begins).find_map(|at| {
        let (expect, _) = whole(&tokens[..at])?;
        let reason = &tokens[at..];
        // `FAIL (cannot find it)` says why; `PASS (not yet)` takes it back.
        let fails = expect.exit != Exit::Pass;
        let why = |word: &str| fails && (matches!(word, "not" | "cannot") || word.ends_with("n't"));
        if matches!(reason.get(1), Some(Token::Word(word, _)) if words::is_condition(word) && !why(word)) {
            return None;
        }
        match expect.exit {
            Exit::Pass if expect.text.is_none() && !expect.silent => {
                if let Some(caught) = pattern::find(COUNTS, reason) {
                    return Some((Expect { count: caught.number, ..expect }, false));
                }
                let count = counted(reason)?;
                (!reason.iter().any(takes_back)).then_some((Expect { count, ..expect }, true))
            }
            Exit::Pass => (!reason.iter().any(|token| takes_back(token) || is_verdict(token)))
                .then_some((expect, true)),
            _ if matches!(reason[0], Token::Word("with", _)) && reason.iter().any(takes_back) => {
                None
            }
            _ => (!reason.iter().any(is_open)).then_some((expect, true)),
        }
    })
}

/// The number of tests that a reason states; two that differ say nothing.
#[expect(clippy::option_option, reason = "no number is fine, two are not")]
fn counted(reason: &[Token<'_>]) -> Option<Option<u32>> {
    let named = |token: &Token<'_>| {
        matches!(word(token), "test" | "tests" | "passed" | "passing" | "pass" | "specs" | "green")
    };
    let between = |token: &&Token<'_>| {
        matches!(word(token), "new" | "unit" | "existing" | "integration" | "of" | "the" | "more")
    };
    let mut found = None;
    for (at, token) in reason.iter().enumerate() {
        let number: Option<u32> = word(token).split('/').next().and_then(|one| one.parse().ok());
        let behind = reason[at + 1..].iter().find(|token| !between(token));
        match (number.filter(|_| behind.is_some_and(named)), found) {
            (Some(number), Some(other)) if number != other => return None,
            (Some(number), _) => found = Some(number),
            (None, _) => {}
        }
    }
    Some(found)
}

fn word<'s>(token: &Token<'s>) -> &'s str {
    if let Token::Word(word, _) = token { word } else { "" }
}

fn takes_back(token: &Token<'_>) -> bool {
    let Token::Word(word, _) = token else { return false };
    words::is_condition(word)
        || word.starts_with("fail")
        || matches!(*word, "but" | "some" | "then")
}

/// A further expectation behind a text.
fn is_verdict(token: &Token<'_>) -> bool {
    let Token::Word(word, _) = token else { return true };
    word.starts_with("pass") || word.parse::<u32>().is_ok()
}

/// A failure that may not come.
fn is_open(token: &Token<'_>) -> bool {
    let open = " if unless or only optional optionally either may might maybe sometimes except but after when never always necessarily ";
    matches!(token, Token::Word(word, _) if open.contains(&format!(" {word} ")))
}

/// What the words of a title or of a sentence say of how a command ends; both at once say nothing.
pub(super) fn ending(words: &[&str]) -> Option<Exit> {
    let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
    let pass = has(&["pass", "passes", "passing", "passed", "green", "succeeds", "success"]);
    let fail = has(&["fail", "fails", "failing", "failed", "failure", "red"]);
    match (pass, fail) {
        (true, false) => Some(Exit::Pass),
        (false, true) => Some(Exit::Fail),
        _ => None,
    }
}
