//! Interfaces that a task produces: names in code are looked for in the code, prose is not.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What outlines say of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Found,
    Missing,
    /// There is no outline of such files.
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interfaces {
    pub found: Vec<String>,
    pub missing: Vec<String>,
    /// Prose, and code that names nothing that could be looked for.
    pub not_checked: Vec<String>,
}

pub(super) fn look(produces: &[String], names: &dyn Fn(&str) -> Known) -> Interfaces {
    let (mut found, mut missing, mut not_checked) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for text in produces {
        let told = spans(text);
        if told.is_empty() {
            not_checked.insert(text.clone());
        }
        for span in told {
            match span.name.map(|name| (name.own, names(name.own))) {
                Some((name, Known::Found)) => found.insert(name.to_owned()),
                Some((name, Known::Missing)) => missing.insert(name.to_owned()),
                Some((_, Known::Unknown)) | None => not_checked.insert(span.code.to_owned()),
            };
        }
    }
    let listed = |names: BTreeSet<String>| names.into_iter().collect();
    Interfaces { found: listed(found), missing: listed(missing), not_checked: listed(not_checked) }
}

struct Span<'a> {
    code: &'a str,
    name: Option<Named<'a>>,
}

/// A name in code, as it is written and without what it belongs to: `Store::append` and `append`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    pub whole: &'a str,
    pub own: &'a str,
}

/// The names that a text is about, as far as it says them in code.
pub fn named(text: &str) -> impl Iterator<Item = Named<'_>> {
    spans(text).into_iter().filter_map(|span| span.name)
}

/// Words before code that names what something takes, gives or rests on, not what is produced.
const ASIDES: &str = " accepting accepts as by calling calls from in into like of on raises raising returning \
    returns return takes taking throwing throws to using uses via with ";

/// What stands between backticks, one or more on either side.
fn spans(text: &str) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, code) = rest.split_at(start);
        let ticks = code.len() - code.trim_start_matches('`').len();
        let code = &code[ticks..];
        let Some(end) = code.find('`') else { break };
        let (code, behind) = code.split_at(end);
        let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        let aside = has(ASIDES, &word.to_lowercase());
        let name = if aside { None } else { name(code) };
        spans.push(Span { code: code.trim(), name });
        rest = behind.trim_start_matches('`');
    }
    spans
}

/// Words of languages before a name.
const KEYWORDS: &str = " abstract async class const data def default enum export final fn fun func function \
    impl interface internal let mod module object override private protected pub public record sealed static \
    struct trait type unsafe var ";

/// What languages bring themselves: no outline of a project has it.
const BUILT_IN: &str = " Array Boolean Box Date Dict Err Error Exception HashMap Integer List Map None Ok \
    Optional Option Path Promise Record Result Set Some String True False Vec any bool boolean bytes char dict \
    double error false float i32 i64 int list long nil null number object self set str string true u32 u64 \
    undefined void ";

/// The name that a piece of code is about: `parse` of `pub fn parse(text: &str) -> Plan`, `append` of `Store::append`.
fn name(code: &str) -> Option<Named<'_>> {
    let code = code.trim();
    let (head, called) = head(code);
    let mut words = head.split_whitespace().filter(|word| !has(KEYWORDS, word));
    let (first, last) = (words.next()?, words.next_back());
    let whole = match last {
        None => first,
        // `int add(int a)` names a type before; `npm run build` is no declaration at all.
        Some(last) => called.then_some(last)?,
    };
    let own = whole.rsplit([':', '.', '#']).next()?;
    let begins = own.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
    let is_name = own.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let is_path = whole.contains('/') || (whole.contains('.') && is_file(own));
    (begins && is_name && !is_path && !has(BUILT_IN, own)).then_some(Named { whole, own })
}

/// What stands before arguments, types and values, and whether arguments follow. A receiver, as Go has it, is passed over.
fn head(code: &str) -> (&str, bool) {
    let cut = |code: &str| {
        let ends = code.char_indices().find(|(at, c)| match c {
            '(' | '<' | '{' | '=' | '[' | ';' | ',' => true,
            ':' => !code[at + 1..].starts_with(':') && !code[..*at].ends_with(':'),
            _ => false,
        });
        ends.map_or(code.len(), |(at, _)| at)
    };
    let end = cut(code);
    let receiver = code[..end].trim() == "func" && code[end..].starts_with('(');
    let code = match code.split_once(')').filter(|_| receiver) {
        Some((_, behind)) => behind.trim_start(),
        None => code,
    };
    let end = cut(code);
    (&code[..end], code[end..].starts_with(['(', '<']))
}

/// Whether a list between blanks has a word.
fn has(list: &str, word: &str) -> bool {
    !word.is_empty() && list.contains(&format!(" {word} "))
}

/// Whether what follows a dot is the ending of a file.
fn is_file(ending: &str) -> bool {
    const ENDINGS: &str = " c cc cpp cs css go h html java js json jsx kt md mjs \
        php py rb rs sh sql swift toml ts tsx txt vue xml yaml yml ";
    has(ENDINGS, ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_from_code_and_not_from_what_it_rests_on() {
        for (text, wanted) in [
            ("`parse(text: &str) -> Plan`", "parse"),
            ("`pub async fn parse<T>(text: T)` returns `Option<Plan>`", "parse"),
            ("`Store::append`, `Cart.add()` and ``Plan``", "append add Plan"),
            ("class `Cart` with `total`", "Cart"),
            ("`func (s *Store) Append(x int) error`", "Append"),
            ("`export const LIMIT = 5`", "LIMIT"),
            ("`int add(int a, int b)`", "add"),
            ("`type Id: string`", "Id"),
            ("`$scope` and `_x`", "$scope _x"),
            ("`GET /users`, `npm run build`, `src/a.rs`, `a.py`, `None`, `5`, ``, `a b`", ""),
            ("a parser for plans", ""),
            ("an open `tick", ""),
        ] {
            let told: Vec<&str> = named(text).map(|name| name.own).collect();
            assert_eq!(told.join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn prose_and_what_has_no_outline_is_shown_as_not_checked() {
        let names = |name: &str| match name {
            "add" => Known::Found,
            "total" => Known::Missing,
            _ => Known::Unknown,
        };
        let produces =
            ["`add(a, b)`, `total()`", "a table of `prices`", "words"].map(str::to_owned);
        let seen = look(&produces, &names);
        assert_eq!((seen.found, seen.missing), (vec!["add".to_owned()], vec!["total".to_owned()]));
        assert_eq!(seen.not_checked, ["prices", "words"]);
    }
}
