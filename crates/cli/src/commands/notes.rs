//! `sequester notes`: what people and subagents wrote down for later work.

use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::notes::{Notebook as _, Notes, PATH};

use crate::Outcome;
use crate::args::{Args, NotesArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::{notes as view, terminal};
use crate::wire::find_root;
use crate::wire::notes::Book;
use crate::wire::runs;

pub(crate) fn run(args: &Args, notes: &NotesArgs) -> Outcome {
    let root = find_root(args)?;
    let book = Book::of(&root);
    let refuse = |message: String| {
        let hint =
            "The file is Markdown with a heading `## Name` for each section; edit it as you like.";
        Failure::input(Code::Unreadable, root.join(PATH).display(), message, hint)
    };
    if notes.init {
        if !book.init().map_err(refuse)? {
            let hint = "Edit that file; `sequester notes` shows what is in it.";
            let message = "There are notes already.";
            return Err(Failure::input(Code::BadArguments, PATH, message, hint));
        }
        runs::ignore_all(&root)?;
    }
    let entries = Notes::parse(&book.read().map_err(refuse)?).entries();
    if args.json {
        output::print_json(&entries)?;
    } else if notes.init {
        output::print(&view::made())?;
    } else if entries.is_empty() {
        output::print("Nobody has written notes yet.\n")?;
    } else {
        output::print(&view::render(&entries, terminal::width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
