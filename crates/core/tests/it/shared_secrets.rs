//! A secret that one fragment of a context gives away is hidden in all of them.

use sequester_core::agent;
use sequester_core::architecture::Piece;
use sequester_core::context::{IsolatedContext, Part, Row, Shelf, single};
use sequester_core::limits::Limits;
use sequester_core::plan;
use sequester_core::secret::MARK;
use sequester_testkit::{LineOutliner, MemoryRepository, WordRanker};

use crate::desk::options;

fn secret() -> String {
    ["kq7&", "Vz2!m"].concat()
}

/// The plan names a file that assigns `DB_PASS`; text, architecture and another file hold its value without a name.
fn context(value: &str, limit: usize) -> IsolatedContext {
    let text = format!(
        "# Plan\n\n## Task 1: Log in\n\nThe old login was {value} once.\n\n**Files:**\n- Modify: `src/a.py`\n- Modify: `src/b.conf`\n"
    );
    let plan = plan::parse(text.as_bytes(), &options()).plan;
    assert_eq!(plan.tasks.len(), 1);
    let login = format!("login(\"{value}\", user)\n").repeat(80);
    let files = [("src/a.py", login), ("src/b.conf", format!("DB_PASS={value}\nPORT=1\n"))];
    let repository = MemoryRepository::new(files);
    let limits = Limits { context: limit, ..Limits::default() };
    let shelf = Shelf::new(&repository, &LineOutliner, &limits);
    let ranker = WordRanker(&repository);
    let architecture = [Piece { text: format!("Starts with {value}.\n"), source: "src".into() }];
    let role = agent::find("writer").unwrap();
    single(&plan, role, &architecture, &shelf, &ranker, &limits).unwrap()
}

fn bytes<'c>(context: &'c IsolatedContext, row: &Row) -> &'c str {
    let part = if row.part == Part::System { &*context.system } else { &context.prompt };
    &part[row.start..row.end]
}

#[test]
fn a_secret_is_hidden_in_every_fragment() {
    let context = context(&secret(), 100_000);
    let shown = context.to_prompt();
    assert!(!shown.contains(&secret()), "{shown}");
    let handoff = serde_json::to_string(context.handoff.as_ref().unwrap()).unwrap();
    assert!(!handoff.contains(&secret()) && handoff.contains(MARK), "{handoff}");
    let written = serde_json::to_string(&context).unwrap() + &format!("{context:?}");
    assert!(!written.contains(&secret()), "the set of secrets is never written down");
    for row in &context.manifest.fragments {
        assert_eq!(bytes(&context, row).contains(MARK), !row.redacted.is_empty(), "{row:?}");
    }
    assert!(context.manifest.whole_files().is_empty(), "neither file was shown as it is");
}

#[test]
fn rows_cover_all_bytes_and_count_them_where_secrets_are_hidden() {
    let context = context(&secret(), 100_000);
    for (part, text) in [(Part::System, &*context.system), (Part::Prompt, &context.prompt)] {
        let mut end = 0;
        for row in context.manifest.fragments.iter().filter(|row| row.part == part) {
            assert_eq!(row.start, end);
            end = row.end;
        }
        assert_eq!(end, text.len());
    }
    let tokens: usize = context.manifest.fragments.iter().map(|row| row.tokens).sum();
    assert_eq!(context.tokens, tokens);
    let digest = IsolatedContext::digest_of(&context.system, &context.prompt);
    assert_eq!(context.digest, digest);
    assert_eq!(context, self::context(&secret(), 100_000), "the same input gives the same bytes");
}

#[test]
fn marks_that_are_longer_than_the_secret_take_no_context_over_its_limit() {
    let whole = context(&secret(), 100_000).tokens;
    for limit in (whole - 350..whole + 300).step_by(11) {
        assert!(context(&secret(), limit).tokens <= limit);
    }
}

#[test]
fn a_plain_word_is_hidden_at_its_place_only() {
    let context = context("swordfish", 100_000);
    assert!(context.prompt.contains("login(\"swordfish\", user)"));
    assert!(context.prompt.contains("DB_PASS=[redacted: assigned-password]"));
}
