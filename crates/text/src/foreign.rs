//! Folders whose files say nothing of the project itself: others' code, what is made, samples.

/// The folder on this path that holds others' or made files, and the word for it.
pub fn foreign(path: &str) -> Option<(&str, &'static str)> {
    const VENDORED: [&str; 11] = [
        "node_modules",
        "vendor",
        "vendored",
        "third_party",
        "third-party",
        "thirdparty",
        "bower_components",
        "Pods",
        "Carthage",
        ".yarn",
        "site-packages",
    ];
    const GENERATED: [&str; 6] =
        ["dist", "generated", "__generated__", "__pycache__", "__snapshots__", ".next"];
    let mut at = 0;
    for (slash, _) in path.match_indices('/') {
        let part = &path[at..slash];
        if VENDORED.contains(&part) {
            return Some((&path[..slash], "vendored"));
        }
        if GENERATED.contains(&part) {
            return Some((&path[..slash], "generated"));
        }
        at = slash + 1;
    }
    None
}

/// Whether the path lies among samples and test data, whose manifests say nothing of the project.
pub fn is_sample(path: &str) -> bool {
    const SAMPLES: [&str; 18] = [
        "test",
        "tests",
        "__tests__",
        "spec",
        "fixtures",
        "__fixtures__",
        "fixture",
        "testdata",
        "test-data",
        "examples",
        "example",
        "samples",
        "playground",
        "playgrounds",
        "templates",
        "demo",
        "demos",
        "e2e",
    ];
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').any(|part| SAMPLES.contains(&part) || part.starts_with("template-"))
}
