//! The ranking: what in a text leads to which file. `docs/file-ranking.md` says what was measured.

mod query;
mod score;

use sequester_core::ranker::Ranked;

use crate::index::Index;
use query::Query;
use score::Scores;

/// The best `top` files for `text`, best first; ties go by path.
pub(crate) fn rank(index: &Index, text: &str, top: usize) -> Vec<Ranked> {
    let query = Query::parse(text);
    let mut scores = Scores::new(index, &query);
    scores.match_words();
    scores.match_scopes();
    scores.weigh_kinds();
    scores.match_symbols();
    scores.match_names();
    scores.normalise();
    scores.count_votes();
    scores.follow_companions();
    scores.best(top).into_iter().map(|document| scores.explain(document)).collect()
}
