//! The word for task in the languages plans are written in, and the shapes of ids.

const TASK: [&str; 29] = [
    "task",
    "aufgabe",
    "tarea",
    "tâche",
    "tache",
    "tarefa",
    "compito",
    "attività",
    "taak",
    "uppgift",
    "opgave",
    "oppgave",
    "zadanie",
    "úkol",
    "feladat",
    "tehtävä",
    "görev",
    "tugas",
    "задача",
    "задание",
    "завдання",
    "任务",
    "任務",
    "タスク",
    "작업",
    "태스크",
    "과제",
    "مهمة",
    "משימה",
];

pub(super) fn is_task(word: &str) -> bool {
    let lower = word.to_lowercase();
    TASK.contains(&lower.as_str())
}

/// The words for a phase: what stands under one is done before what stands under the next.
const PHASE: [&str; 9] =
    ["phase", "fase", "阶段", "階段", "フェーズ", "단계", "этап", "stage", "milestone"];

pub(super) fn is_phase(word: &str) -> bool {
    PHASE.contains(&word.to_lowercase().as_str())
}

/// Whether a title speaks of a phase anywhere.
pub(super) fn names_phase(title: &str) -> bool {
    let lower = title.to_lowercase();
    PHASE.iter().any(|word| lower.contains(word))
}

/// `1`, `12`, `2.1`, `3a`.
pub(super) fn is_number(word: &str) -> bool {
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    let parts = || digits.split('.');
    parts().count() <= 6
        && parts()
            .all(|part| (1..=6).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// What may follow the word for task: a number, `B`, or `B2`.
pub(super) fn is_task_number(word: &str) -> bool {
    let rest = word.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(word);
    is_number(rest) || rest.is_empty() && !word.is_empty()
}

/// A task word with its number in one: `任务3`.
pub(super) fn glued(word: &str) -> Option<&str> {
    let name = word.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '.');
    let number = &word[name.len()..];
    (!name.is_ascii() && is_task(name) && is_number(number)).then_some(number)
}

/// `T001` and its like, `T001.2` of an added task; with hyphens `T-001` and `T-M1-001`.
pub(super) fn is_spec_kit(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('T') else { return false };
    let (group, digits) = match rest.strip_prefix('-') {
        None => ("", rest),
        Some(rest) if rest.starts_with('-') => return false,
        Some(rest) => rest.rsplit_once('-').unwrap_or(("", rest)),
    };
    let (digits, added) = digits.split_once('.').unwrap_or((digits, "1"));
    let digits = digits.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(digits);
    let is_group = |group: &str| {
        group.len() <= 8
            && group.starts_with(|c: char| c.is_ascii_alphabetic())
            && group.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    (2..=6).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (1..=3).contains(&added.len())
        && added.bytes().all(|b| b.is_ascii_digit())
        && (group.is_empty() || is_group(group))
}

/// `A.9.1`, `BE.2.1.3`: a track in capitals, then at least two numbers; `A.1` names a section.
pub(super) fn is_track(word: &str) -> bool {
    is_track_part(word) && word.split('.').count() >= 3
}

/// A track id of any depth from the section on.
pub(super) fn is_track_part(word: &str) -> bool {
    let mut parts = word.split('.');
    let track = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    (1..=4).contains(&track.len())
        && track.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=5).contains(&rest.len())
        && rest
            .iter()
            .all(|part| (1..=5).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// `1.2`, `10.3.1`: at least two numbers.
pub(super) fn is_dotted(word: &str) -> bool {
    is_number(word) && word.contains('.')
}

/// A number with more digits counts nothing.
const DIGITS: usize = 10;

/// What stands before the last number of an id, that number, and how many digits it has.
pub(super) fn split_number(id: &str) -> Option<(&str, u32, usize)> {
    let start = id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let width = id.len() - start;
    let number = id[start..].parse().ok().filter(|_| width <= DIGITS)?;
    Some((&id[..start], number, width))
}

/// Whether the second id has the next number, as `T002` after `T001`.
pub(super) fn follows(from: &str, to: &str) -> bool {
    let (from, to) = (split_number(from), split_number(to));
    from.zip(to).is_some_and(|((a, one, _), (b, two, _))| a == b && one.checked_add(1) == Some(two))
}

/// The ids strictly between `T001` and `T004`; none where the two do not count up.
pub(super) fn between(from: &str, to: &str) -> Vec<String> {
    match (split_number(from), split_number(to)) {
        (Some((a, first, width)), Some((b, last, _)))
            if a == b && last > first && last - first <= 500 =>
        {
            (first + 1..last).map(|number| format!("{a}{number:0width$}")).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_other_words() {
        assert!(is_spec_kit("T001") && !is_spec_kit("T1x9") && !is_spec_kit("Total"));
        assert!(is_spec_kit("T-001") && is_spec_kit("T-M1-001") && is_spec_kit("T090.12"));
        assert!(!is_spec_kit("T090.") && !is_spec_kit("T090.x") && !is_spec_kit("T090.1.2"));
        assert!(!is_spec_kit("T-1") && !is_spec_kit("T-001-003") && !is_spec_kit("T--001"));
        assert!(
            is_track("A.9.1.3") && is_track("BE.2.1") && !is_track("A.9") && !is_track("E.g.1")
        );
        assert!(is_dotted("1.2") && !is_dotted("1") && !is_dotted("v1.2"));
        assert!(is_number("3a") && !is_number("B2") && !is_number("React") && !is_number(""));
        assert!(
            is_task_number("B2")
                && is_task_number("B")
                && !is_task_number("CH2")
                && !is_task_number("")
        );
        assert_eq!(glued("任务3"), Some("3"));
        assert_eq!(between("T001", "T004"), ["T002", "T003"]);
    }
}
