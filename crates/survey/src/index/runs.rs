//! Postings sorted outside of any table: collected as they come, sorted part by part, merged at the end.

use super::blob::Terms;
use super::postings::{List, Posting};

/// Records are kept apart by the first bits of their term, so that each part is sorted within the processor's cache.
const PARTS: usize = 256;
const PART_SHIFT: u32 = 128 - PARTS.ilog2();
/// A part is sorted group by group, by the bits after those.
const GROUPS: usize = 2048;
const GROUP_SHIFT: u32 = PART_SHIFT - GROUPS.ilog2();
/// Records that are held before they are sorted and encoded: 64 MB.
const MOST_RECORDS: usize = 4 << 20;
/// More distinct words than any real repository has; past it documents have none, so that memory stays bounded.
const MOST_TERMS: usize = 16 << 20;

const COUNT_BITS: u32 = 28;
const MARK_BITS: u32 = 4;

/// Documents in ascending order; one document's records may come in any order and more than once for a term.
pub(crate) struct Runs {
    /// A record is term, document, count and marks, the highest bits first.
    parts: Vec<Vec<u128>>,
    length: usize,
    /// What was sorted and encoded, each of later documents than the one before.
    sorted: Vec<Run>,
}

/// Terms in ascending order with their postings, one list after the other.
#[derive(Default)]
struct Run {
    rows: Vec<Row>,
    postings: Vec<u8>,
}

struct Row {
    term: u64,
    /// Where its postings end.
    end: usize,
    length: u32,
    last: u32,
}

impl Default for Runs {
    fn default() -> Self {
        Self { parts: vec![Vec::new(); PARTS], length: 0, sorted: Vec::new() }
    }
}

impl Runs {
    /// To be called between documents. The answer is false if there is no room for another.
    pub(crate) fn make_room(&mut self) -> bool {
        if self.length > MOST_RECORDS {
            self.sort();
        }
        self.sorted.iter().map(|run| run.rows.len()).sum::<usize>() <= MOST_TERMS
    }

    #[inline]
    pub(crate) fn push(&mut self, term: u64, posting: Posting) {
        let count = posting.count.min((1 << COUNT_BITS) - 1);
        let detail = u64::from(count << MARK_BITS | u32::from(posting.marks));
        let rest = u64::from(posting.document) << 32 | detail;
        let record = u128::from(term) << 64 | u128::from(rest);
        self.parts[(record >> PART_SHIFT) as usize].push(record);
        self.length += 1;
    }

    fn sort(&mut self) {
        let mut run = Run::default();
        let mut list = List::default();
        let mut sorted = Vec::new();
        for part in &mut self.parts {
            sort_part(part, &mut sorted);
            for records in sorted.chunk_by(|left, right| left >> 64 == right >> 64) {
                list.clear();
                for of_document in records.chunk_by(|left, right| left >> 32 == right >> 32) {
                    list.push(combine(of_document));
                }
                run.postings.extend_from_slice(&list.bytes);
                let term = (records[0] >> 64) as u64;
                let (end, length, last) = (run.postings.len(), list.length, list.last);
                run.rows.push(Row { term, end, length, last });
            }
            part.clear();
        }
        self.length = 0;
        self.sorted.push(run);
    }

    pub(crate) fn finish(mut self) -> Terms {
        self.sort();
        drop(self.parts);
        merge(&self.sorted)
    }
}

/// Sorts the records of one part. The next bits of their terms tell nearly all terms apart, and records come in the order
/// of their documents, so there is little left to compare.
fn sort_part(part: &[u128], into: &mut Vec<u128>) {
    into.clear();
    if part.len() < GROUPS {
        into.extend_from_slice(part);
        into.sort_unstable();
        return;
    }
    let group = |record: &u128| (record >> GROUP_SHIFT) as usize % GROUPS;
    let mut ends = [0; GROUPS];
    for record in part {
        ends[group(record)] += 1;
    }
    // Sizes become starts, and starts become ends as the groups are filled.
    let mut next = 0;
    for size in &mut ends {
        next += std::mem::replace(size, next);
    }
    into.resize(part.len(), 0);
    for record in part {
        let at = &mut ends[group(record)];
        into[*at] = *record;
        *at += 1;
    }
    let mut start = 0;
    for end in ends {
        let records = &mut into[start..end];
        if !records.is_sorted_by_key(|record| record >> 32) {
            records.sort_unstable();
        }
        start = end;
    }
}

/// Records of one term and document as one posting.
fn combine(records: &[u128]) -> Posting {
    let mut posting = Posting { document: (records[0] >> 32) as u32, count: 0, marks: 0 };
    for record in records {
        let detail = *record as u32;
        posting.count = posting.count.saturating_add(detail >> MARK_BITS);
        posting.marks |= (detail & ((1 << MARK_BITS) - 1)) as u8;
    }
    posting
}

/// Later runs hold later documents, so the lists of a term follow each other.
fn merge(runs: &[Run]) -> Terms {
    let mut terms = Terms::default();
    let mut list = List::default();
    let mut heads = vec![0; runs.len()];
    loop {
        let rows = runs.iter().zip(&heads).filter_map(|(run, at)| run.rows.get(*at));
        let Some(term) = rows.map(|row| row.term).min() else {
            return terms;
        };
        list.clear();
        for (run, at) in runs.iter().zip(&mut heads) {
            if let Some(row) = run.rows.get(*at).filter(|row| row.term == term) {
                let start = at.checked_sub(1).map_or(0, |before| run.rows[before].end);
                list.append(&run.postings[start..row.end], row.length, row.last);
                *at += 1;
            }
        }
        terms.push(term, &list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> impl Iterator<Item = (u64, Posting)> {
        // Terms of one group that differ in their last bits only, and terms all over.
        (0..3_000u32).flat_map(|document| {
            let posting = Posting { document, count: document % 3, marks: 0 };
            let wide = u64::from(document % 70).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            [(7, posting), (5, posting), (7, Posting { marks: 8, ..posting }), (wide, posting)]
        })
    }

    fn encoded(terms: &Terms) -> Vec<(u64, Vec<Posting>)> {
        let view = terms.view();
        (0..view.len()).map(|at| (view.term(at).unwrap(), view.postings(at).collect())).collect()
    }

    #[test]
    fn records_become_sorted_lists_with_one_posting_a_document() {
        let mut expected = std::collections::BTreeMap::<u64, Vec<Posting>>::new();
        let mut runs = Runs::default();
        for (term, posting) in records() {
            runs.push(term, posting);
            let list = expected.entry(term).or_default();
            match list.last_mut().filter(|last| last.document == posting.document) {
                Some(last) => {
                    last.count += posting.count;
                    last.marks |= posting.marks;
                }
                None => list.push(posting),
            }
        }
        assert_eq!(encoded(&runs.finish()), expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn runs_are_merged_into_what_one_run_would_be() {
        let (mut whole, mut pieces) = (Runs::default(), Runs::default());
        for (number, (term, posting)) in records().enumerate() {
            if number % 2_000 == 0 {
                pieces.sort();
            }
            whole.push(term, posting);
            pieces.push(term, posting);
        }
        assert_eq!(encoded(&pieces.finish()), encoded(&whole.finish()));
    }
}
