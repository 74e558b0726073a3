//! The project tree, cut to folders that matter.

use std::collections::BTreeMap;

use sequester_core::architecture::Stated;

use super::line::{clean, counted, some};
use super::scan::{Scan, foreign, name};

/// Lines of the tree.
const MOST_FOLDERS: usize = 160;
/// A folder with more folders than this is shown closed.
const MOST_CHILDREN: usize = 30;
const DEEPEST: usize = 5;

/// A folder and the run of entries below it.
struct Folder<'a> {
    path: &'a str,
    parent: Option<usize>,
    first: usize,
    end: usize,
    /// Files directly in it.
    own: usize,
    children: Vec<usize>,
}

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    if scan.entries.is_empty() {
        return Vec::new();
    }
    let folders = folders(scan);
    let mut shown: Vec<(usize, usize)> = Vec::new();
    let mut level: Vec<usize> =
        folders.first().map(|root| root.children.clone()).unwrap_or_default();
    for depth in 1..=DEEPEST {
        let mut next = Vec::new();
        for at in level {
            let at = unchained(&folders, at);
            shown.push((depth, at));
            let folder = &folders[at];
            let open =
                folder.children.len() <= MOST_CHILDREN && foreign_folder(folder.path).is_none();
            if open && depth < DEEPEST {
                next.extend(
                    folder.children.iter().filter(|child| matters(scan, &folders[**child], depth)),
                );
            }
        }
        level = next;
    }
    shown.sort_by_key(|(depth, at)| (*depth, std::cmp::Reverse(size(&folders[*at])), *at));
    shown.truncate(MOST_FOLDERS);
    shown.sort_by_key(|(_, at)| *at);
    let mut lines: Vec<Stated> = root(scan).into_iter().collect();
    let mut above: Vec<&str> = Vec::new();
    for (_, at) in shown {
        let folder = &folders[at];
        while above.last().is_some_and(|outer| !folder.path.starts_with(&format!("{outer}/"))) {
            above.pop();
        }
        let outer = above.last().map_or(0, |outer| outer.len() + 1);
        lines.push(Stated::new(describe(scan, &folders, folder, outer), folder.path));
        above.push(folder.path);
    }
    lines
}

fn size(folder: &Folder<'_>) -> usize {
    folder.end - folder.first
}

/// Folders from the third level on must hold a fair part of the files.
fn matters(scan: &Scan<'_>, folder: &Folder<'_>, depth: usize) -> bool {
    let fair = match depth {
        1 => 1,
        2 => (scan.entries.len() / 400).max(2),
        _ => (scan.entries.len() / 100).max(3),
    };
    let data = matches!(name(folder.path), "locale" | "locales" | "translations" | "i18n");
    size(folder) >= fair && !(data && depth > 1)
}

/// Entries are sorted by path, so each folder's entries are one run.
fn folders<'a>(scan: &Scan<'a>) -> Vec<Folder<'a>> {
    let new = |path, parent, first| Folder {
        path,
        parent,
        first,
        end: first,
        own: 0,
        children: Vec::new(),
    };
    let mut folders = vec![new("", None, 0)];
    let mut open = 0;
    for (at, entry) in scan.entries.iter().enumerate() {
        let path = entry.path.as_str();
        let holds = |folder: &str| {
            folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        while !holds(folders[open].path) {
            folders[open].end = at;
            open = folders[open].parent.unwrap_or(0);
        }
        let from = if open == 0 { 0 } else { folders[open].path.len() + 1 };
        for (slash, _) in path[from..].match_indices('/') {
            folders.push(new(&path[..from + slash], Some(open), at));
            let child = folders.len() - 1;
            folders[open].children.push(child);
            open = child;
        }
        folders[open].own += 1;
    }
    loop {
        folders[open].end = scan.entries.len();
        match folders[open].parent {
            Some(parent) => open = parent,
            None => return folders,
        }
    }
}

/// Follows folders that hold nothing but one folder.
fn unchained(folders: &[Folder<'_>], mut at: usize) -> usize {
    while folders[at].own == 0
        && folders[at].children.len() == 1
        && foreign_folder(folders[at].path).is_none()
    {
        at = folders[at].children[0];
    }
    at
}

fn foreign_folder(path: &str) -> Option<&'static str> {
    foreign(&format!("{path}/")).map(|(_, word)| word)
}

fn describe(scan: &Scan<'_>, folders: &[Folder<'_>], folder: &Folder<'_>, outer: usize) -> String {
    let shown = clean(&folder.path[outer..], 100);
    let files = counted(size(folder), "file");
    if let Some(word) = foreign_folder(folder.path) {
        return format!("{shown}/ {files}, {word}");
    }
    let kind =
        extension(scan, folder).map(|extension| format!(" (.{extension})")).unwrap_or_default();
    if folder.children.len() > MOST_CHILDREN {
        let mut children: Vec<&Folder<'_>> =
            folder.children.iter().map(|child| &folders[*child]).collect();
        children.sort_by_key(|child| (std::cmp::Reverse(size(child)), child.path));
        let names: Vec<String> = children.iter().map(|child| clean(name(child.path), 60)).collect();
        return format!("{shown}/ {files}{kind} in {} folders: {}", names.len(), some(&names, 4));
    }
    format!("{shown}/ {files}{kind}")
}

/// The extension of most of a folder's files.
fn extension<'a>(scan: &Scan<'a>, folder: &Folder<'_>) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &scan.entries[folder.first..folder.end] {
        *counts.entry(entry.path.extension().unwrap_or("")).or_default() += 1;
    }
    let (extension, count) = counts
        .into_iter()
        .max_by_key(|(extension, count)| (*count, std::cmp::Reverse(*extension)))?;
    (count * 2 > size(folder) && !extension.is_empty() && extension.len() <= 12)
        .then_some(extension)
}

/// The files at the top.
fn root(scan: &Scan<'_>) -> Option<Stated> {
    let names: Vec<String> = scan
        .entries
        .iter()
        .map(|entry| entry.path.as_str())
        .filter(|path| !path.contains('/'))
        .map(|path| clean(path, 60))
        .collect();
    (!names.is_empty()).then(|| {
        Stated::new(format!("./ {}: {}", counted(names.len(), "file"), some(&names, 30)), ".")
    })
}
