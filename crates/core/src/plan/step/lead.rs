//! What one sentence asks for, in itself or of the fence that follows it.

mod asked;

use super::sentence::Sentence;
use super::target::is_path;
use asked::Asked;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// The fence is a file: all of it, or all of it if the file is new.
    Make {
        whole: bool,
    },
    /// The fence is all of the file that the step is about.
    Overwrite,
    Append,
    /// The fence is text to be found; the next one stands in its place.
    Find,
    With,
    /// The fence goes after or before this line.
    Insert {
        anchor: String,
        after: bool,
    },
    /// Exact text for exact text, no fence needed.
    Inline {
        old: String,
        new: String,
    },
    Delete {
        paths: Vec<String>,
        folder: bool,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Commands, and the plain words behind them. None: the fence holds them.
    Run {
        commands: Vec<String>,
        tail: String,
    },
    Expected(Sentence),
    Ask(String),
    Options(Vec<String>),
    Default(String),
    Commit(Option<String>),
    /// A code span and nothing else.
    Code(String),
    /// An instruction that is not spelled out; whether it changes files.
    Vague {
        writes: bool,
    },
    /// Holds only under a condition.
    If,
    Prose,
}

const FILLERS: [&str; 28] = [
    "then, ",
    "then ",
    "now, ",
    "now ",
    "next, ",
    "next ",
    "first, ",
    "first ",
    "finally, ",
    "finally ",
    "also, ",
    "also ",
    "afterwards, ",
    "afterwards ",
    "afterward, ",
    "after that, ",
    "additionally, ",
    "lastly, ",
    "subsequently, ",
    "in addition, ",
    "again, ",
    "just ",
    "simply ",
    "once done, ",
    "and ",
    "please ",
    "note: ",
    "- ",
];
/// Words that change a file without saying exactly what to write where.
pub(super) const WRITES: &str = " add insert update modify extend implement replace change edit append fix refactor wire register import \
    export adjust rewrite convert migrate move rename remove delete drop introduce define make set put include extract apply \
    ensure document configure enable disable simplify split merge integrate hook expose bump clean copy port mark create write \
    overwrite save prepend swap inline generate scaffold populate patch strip carry ";
/// Words that look at something or run something.
pub(super) const LOOKS: &str = " verify check confirm test validate lint build install start stop open launch review inspect search \
    grep list execute run deploy push publish dispatch wait report manually regenerate format type-check typecheck restart ";

pub(super) fn read(sentence: &Sentence) -> Lead {
    let plain = strip(&sentence.plain);
    let verb = first_word(plain);
    if verb == "expected" || verb == "expect" && plain[6..].starts_with(':') {
        return Lead::Expected(
            sentence.after_colon().unwrap_or_else(|| Sentence::new(&sentence.raw[verb.len()..])),
        );
    }
    if matches!(
        verb,
        "if" | "when" | "unless" | "otherwise" | "once" | "while" | "optional" | "optionally"
    ) || plain.starts_with("for each ")
        || plain.starts_with("for every ")
    {
        return Lead::If;
    }
    if let Some(said) = labelled(sentence, plain, verb) {
        return said;
    }
    let (rest, codes) = in_file(plain, &sentence.codes);
    let core = rest.trim_end_matches([':', '.', ' ', '：']);
    if core.is_empty() {
        return if codes.len() < sentence.codes.len() {
            Lead::Make { whole: false }
        } else {
            Lead::Prose
        };
    }
    let asked = Asked {
        core,
        codes,
        inside: codes.len() < sentence.codes.len(),
        colon: rest.ends_with([':', '：']),
    };
    asked.read()
}

/// Numbers and words of order at the start mean nothing.
fn strip(plain: &str) -> &str {
    let mut plain = plain.trim_start();
    loop {
        let number = plain.trim_start_matches(|c: char| c.is_ascii_digit());
        let bare = number
            .strip_prefix(". ")
            .or_else(|| number.strip_prefix(") "))
            .filter(|_| number.len() < plain.len());
        let next = bare.or_else(|| FILLERS.iter().find_map(|filler| plain.strip_prefix(filler)));
        match next {
            Some(next) => plain = next.trim_start(),
            None => return plain,
        }
    }
}

fn first_word(plain: &str) -> &str {
    let end =
        plain.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'').unwrap_or(plain.len());
    &plain[..end]
}

/// `Ask: ...`, `Options: ...`, `Default: ...`.
fn labelled(sentence: &Sentence, plain: &str, verb: &str) -> Option<Lead> {
    let label = plain[verb.len()..].starts_with([':', '：']);
    if !label || !matches!(verb, "ask" | "question" | "options" | "default") {
        return None;
    }
    let said = sentence.after_colon()?.raw;
    let bare = |text: &str| {
        let text = text.trim().trim_end_matches('.');
        text.trim_matches(['`', '*', '"']).trim().to_owned()
    };
    Some(match verb {
        "options" => Lead::Options(
            said.split([',', '/', '|']).map(bare).filter(|one| !one.is_empty()).collect(),
        ),
        "default" => Lead::Default(bare(&said)),
        _ => Lead::Ask(said),
    })
}

/// Cuts `In src/a.rs,` and `Open src/a.rs and` off.
fn in_file<'s>(plain: &'s str, codes: &'s [String]) -> (&'s str, &'s [String]) {
    let first = codes.first().is_some_and(|code| is_path(code));
    let rest = ["in ¤", "inside ¤", "open ¤", "edit ¤", "in file ¤", "in the file ¤"]
        .iter()
        .find_map(|start| plain.strip_prefix(start));
    match rest.filter(|_| first) {
        Some(rest)
            if rest.is_empty()
                || rest.starts_with([',', ':', '：'])
                || rest.starts_with(" and ")
                || rest.starts_with(" replace")
                || rest.starts_with(" change") =>
        {
            let inner = rest.trim_start_matches([',', ' ']);
            (inner.strip_prefix("and ").unwrap_or(inner), &codes[1..])
        }
        _ => (plain, codes),
    }
}
