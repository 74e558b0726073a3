//! The sentences that are carried out. This table is the whole grammar: what matches no row is not an instruction.

use super::pattern::{self, Caught, Token};
use super::sentence::Sentence;

/// What a sentence asks for, by itself or of the fence right after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The fence is a new file.
    Create,
    /// The fence is a new test file, or the code that makes the test pass: the list of files may name it.
    CreateTest,
    CreateCode,
    /// The fence is all of a file that may be there.
    Overwrite,
    /// A new file without a line.
    Empty,
    /// The fence goes to the end of a file.
    Append,
    /// The fence is lines to be found; the next fence stands in their place.
    Find,
    With,
    /// The fence goes after, or before, a line.
    After,
    Before,
    /// The fence is a diff.
    Patch,
    /// Exact text for exact text.
    Swap,
    Delete,
    DeleteFolder,
    Rename,
    /// Commands in the sentence, or the fence.
    Run,
    RunToPass,
    RunToFail,
    Commit,
    /// The fence is what the sentence before or the title speaks of.
    Caption,
}

use Form::{
    After, Append, Before, Caption, Commit, Create, CreateCode, CreateTest, Delete, DeleteFolder,
    Empty, Find, Overwrite, Patch, Rename, Run, RunToFail, RunToPass, Swap, With,
};

/// One row per form of a sentence, with an example; the first that matches counts.
#[rustfmt::skip]
pub(super) const FORMS: &[(&str, Form, &str)] = &[
    ("create|add [an|the] empty [file] {f}", Empty, "Create an empty file `pkg/__init__.py`"),
    ("create|add [the] [file] {p} as an empty file", Empty, "Create `pkg/__init__.py` as an empty file"),
    ("create|add|write [a|the|this] [new] {p} [with|containing] [the] [following|this|exact|exactly|full|complete] [content|contents|code]", Create, "Create `src/a.ts` with the following content:"),
    ("create|add|write [a|the|this] [new] [test|source|config] file [at|called|named] {f} [with|containing] [the] [following|this|exact|exactly] [content|contents|code]", Create, "Create a new file `justfile`:"),
    ("create|write [the|a] [new] [barrel|module|component|test|page|script|config|stub|types|index|hook|service|route|layout] {p} [stub|component|module|page|test|tests|file|script] [with|for {*}]", Create, "Create the barrel `src/index.ts` for the parts"),
    ("create|write [the|a|new] {*} at {p}", Create, "Create the skill at `skills/a.md`"),
    ("write|save [this|it] [the] [following] [code] to|as|in {p}", Create, "Save the following as `src/a.ts`:"),
    ("implement {p}", Create, "Implement `src/a.ts`"),
    ("implement {*} in {p}", Create, "Implement `count()` in `src/a.ts`"),
    ("write [the|a] [failing|new] [unit] test|tests [for {*}] in|to {p}", Create, "Write the failing test in `tests/a.rs`:"),
    ("[new] file [:] {f}", Create, "File: `src/a.ts`"),
    ("{p}", Create, "`src/a.ts`:"),
    ("in [the] [file] {p}", Create, "In `src/a.ts`:"),
    ("write|add|create [the|a|some] failing|new|first|unit|integration [unit|integration] test|tests [for|of|that {*}]", CreateTest, "Write the failing test"),
    ("write|add|create [the|a] test|tests [for {*}]", CreateTest, "Write tests for the parser"),
    ("write|add [the|a] [minimal|simplest] implementation [of|for {*}]", CreateCode, "Write minimal implementation"),
    ("write|add [the] minimal|implementation code [to make the|it test|tests pass] [to pass]", CreateCode, "Write minimal code to make the test pass"),
    ("implement [the] [minimal|simplest] [code|solution|implementation] [to make] [the|it] [test|tests] [pass]", CreateCode, "Implement the minimal code"),
    ("implement {*}", CreateCode, "Implement the parser"),
    ("create|write [the|a|an] {*}", CreateCode, "Create the parser"),
    ("overwrite {p} [with] [exactly] [this|the] [following] [content|contents|code]", Overwrite, "Overwrite `a.txt` with exactly:"),
    ("replace [the|all] [of] [the] [entire|whole|full|complete|current|existing] [content|contents] [of] [the] [file] {p} [with|by] [exactly] [this|the] [following] [content|contents|code]", Overwrite, "Replace the entire contents of `a.txt` with:"),
    ("replace everything in {p} with [this|the] [following]", Overwrite, "Replace everything in `a.txt` with:"),
    ("replace the entire|whole|full|complete file [content|contents] [with] [this|the] [following]", Overwrite, "Replace the whole file with:"),
    ("replace the [entire|whole|full] contents [of the file] [with] [this|the] [following]", Overwrite, "Replace the contents with:"),
    ("append [this|these|the] [following] [lines|line|code|text|tests|test|section] to [the end|bottom of] [the] [file] {p}", Append, "Append to `a.txt`:"),
    ("add [this|these|the] [following] [lines|line|code|text|tests|test|section] to|at the end|bottom of [the] [file] {p}", Append, "Add this to the end of `a.txt`:"),
    ("at the end|bottom of {p} , add|append [this|the] [following]", Append, "At the end of `a.txt`, add:"),
    ("in {p} , append [this|the] [following]", Append, "In `a.txt`, append:"),
    ("in {p} , add [this|the] [following] at|to the end|bottom [of the file]", Append, "In `a.txt`, add this at the bottom:"),
    ("append [this|the] [following] [to the file]", Append, "Append:"),
    ("in|open {p} [,|:] [and] replace|change|find|locate [this|the|these] [following] [line|lines|block|code|text|section] [{n}] [from]", Find, "In `a.txt`, replace:"),
    ("[in {p} [,|:]] find|locate|replace|change the {*} [in {p}] [from|:]", Find, "In `a.txt`, find the old greeting:"),
    ("replace|change|find|locate [this|the|these] [following] [line|lines|block|code|text|section] in {p}", Find, "Find this line in `a.txt`:"),
    ("find|replace|change|before|old|from|current [line|lines|this|the] [following|text|code] [{n}] [from|( exact )]", Find, "Find:"),
    ("old text|code|lines [( exact )] of|in {p}", Find, "Old text (exact) of `a.txt`:"),
    ("[replace|change] [it|this|that|them] with|by|to [this|the] [following] [code|lines|line|text]", With, "Replace it with:"),
    ("after|new|replacement [text|code|line|lines] [( exact )]", With, "After:"),
    ("[in {p} ,] after the line {c} [in {p}] [,] add|insert [this|the] [following] [line|lines|code]", After, "In `a.txt`, after the line `b`, add:"),
    ("[in {p} ,] add|insert [this|the] [following] [line|lines|code|import] after the line {c} [in {p}]", After, "Add this line after the line `b` in `a.txt`:"),
    ("[in {p} ,] before the line {c} [in {p}] [,] add|insert [this|the] [following] [line|lines|code]", Before, "In `a.txt`, before the line `b`, insert:"),
    ("[in {p} ,] add|insert [this|the] [following] [line|lines|code|import] before the line {c} [in {p}]", Before, "Insert the following before the line `b` in `a.txt`:"),
    ("apply [this|the] [following] [diff|patch|change|changes] [to {p}]", Patch, "Apply this diff to `a.txt`:"),
    ("[in {p} [,|:]] change|replace [the] [line|text|string|value|word|call|import|version] [from] {c} to|with|by|→|-> {c}", Swap, "In `a.txt`, change `b` to `c`."),
    ("change|replace [the] [line|text|string|value|word|call|import|version] [from] {c} to|with|by|→|-> {c} in {p}", Swap, "Change `b` to `c` in `a.txt`."),
    ("delete|remove [the] [old|unused|obsolete|stale|dead] {p+}", Delete, "Delete `logo.png` and `b.txt`."),
    ("delete|remove [the] [old|unused|obsolete|stale|dead] file|files {f+}", Delete, "Remove the file `bin/tool`."),
    ("delete|remove [the] [old|unused|obsolete|stale|dead] [empty] folder|directory {f}", DeleteFolder, "Delete the folder `old`."),
    ("rename|move [the] [file] {p} to|→|-> {p}", Rename, "Rename `a.txt` to `c.txt`."),
    ("rename|move the file {f} to|→|-> {f}", Rename, "Move the file `LICENCE` to `LICENSE`."),
    ("run|execute|re-run|rerun [:] {c+}", Run, "Run: `make`"),
    ("run|execute [this|the] [following] [command|commands]", Run, "Run the following commands:"),
    ("run|execute [the|all|both] [new|full|whole|same|unit|following|this] [test|tests|command|commands|suite|script] [suite] [again] [:] [{c+}]", Run, "Run the tests: `make test`"),
    ("from|at|in the [repo|repository|project|workspace] root [,|:] [run] [:] [{c+}]", Run, "From the repository root, run `make`."),
    ("[verify|command|check|test|verification] : {c+}", Run, "Verify: `make check`"),
    ("run|execute|re-run [:] {c} [again] [,] [and|to] verify|confirm|check|see|ensure|watch [that] [it|they|the|all] [test|tests] pass|passes|succeeds|succeed", RunToPass, "Run `make` and verify it passes."),
    ("run|execute|re-run [:] {c} ; expected [result] [is] [:] pass", RunToPass, "Run `make`; expected result is pass."),
    ("run|execute|re-run [:] {c} [again] [,] [and|to] verify|confirm|check|see|ensure|watch [that] [it|they|the|all] [test|tests] fail|fails", RunToFail, "Run `make` to see it fail."),
    ("run|execute|re-run [:] {c} ; expected [result] [is] [:] fail", RunToFail, "Run `make`; expected result is fail."),
    ("commit [all|the|your|these] [change|changes|work] [:] [{c}]", Commit, "Commit: `feat: a`"),
    ("commit with [the] message [:] {c}", Commit, "Commit with the message `feat: a`."),
    ("stage and commit [the] [changes]", Commit, "Stage and commit the changes."),
    ("[file|full|complete|with] content|contents|code|implementation|source", Caption, "Full content:"),
];

/// Words of order that mean nothing at the start of a sentence.
const FILLERS: &str = ",then,now,next,first,finally,and,please,also,lastly,";
/// What a trailing parenthesis may say without changing what is asked.
const REMARKS: &str = ",new,new file,create,unused,full content,full contents,full file,complete,exact,verbatim,whole file,\
    complete file,complete content,entire file,";

pub(super) fn read(sentence: &Sentence) -> Option<(Form, Caught)> {
    let tokens = pattern::tokens(sentence)?;
    let core = core(&tokens);
    FORMS.iter().find_map(|(pattern, form, _)| Some((*form, pattern::find(pattern, core)?)))
}

/// Without numbers and words of order before it, and without what ends it.
pub(super) fn core<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let mut core = tokens;
    loop {
        core = match core {
            [Token::Word(word, _), rest @ ..] if is_number(word) => rest,
            [Token::Word(word, _), Token::Word(",", _), rest @ ..] if is_filler(word) => rest,
            [Token::Word(word, _), rest @ ..] if is_filler(word) && !rest.is_empty() => rest,
            [rest @ .., Token::Word(":" | "：" | "." | "—" | "–" | "!", _)] => rest,
            [..] => match remark(core) {
                Some(rest) => rest,
                None => return core,
            },
        };
    }
}

/// What stands before a last parenthesis that is one of [`REMARKS`].
fn remark<'t, 's>(core: &'t [Token<'s>]) -> Option<&'t [Token<'s>]> {
    let [inner @ .., Token::Word(")", _)] = core else { return None };
    let open = inner.iter().rposition(|token| matches!(token, Token::Word("(", _)))?;
    let said: Vec<&str> = inner[open + 1..]
        .iter()
        .map(|token| if let Token::Word(word, _) = token { word } else { "" })
        .collect();
    (open > 0 && REMARKS.contains(&format!(",{},", said.join(" ")))).then(|| &core[..open])
}

fn is_filler(word: &str) -> bool {
    word.len() > 1 && FILLERS.contains(&format!(",{word},"))
}

/// `1.`, `2)`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(['.', ')']);
    digits.len() < word.len()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}
