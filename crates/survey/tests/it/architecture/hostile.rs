//! Manifests made to stall the survey. Each is of a size at which anything but a near-linear reading takes minutes.

use super::{lines, survey};

fn written(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// The paths of files of one name in many folders.
fn everywhere(folders: usize, name: &str) -> Vec<String> {
    (0..folders).map(|at| format!("m{at:03}/{name}")).collect()
}

#[test]
fn endless_attributes_and_namespaces_are_refused() {
    let attributes = written(25_000, |at| format!(" a{at:x}='>'"));
    let wide = format!("<project{attributes}><module>jar</module><rule ref=\"PSR12\"/></project>");
    let names = written(6_000, |at| format!("<a xmlns:n{at:x}=\"u{at:x}\">"));
    let deep = format!("{names}{}", "</a>".repeat(6_000));
    for text in [&wide, &deep] {
        let paths: Vec<String> =
            ["pom.xml", "app.csproj"].iter().flat_map(|name| everywhere(40, name)).collect();
        let mut files: Vec<(&str, &str)> =
            paths.iter().map(|path| (path.as_str(), text.as_str())).collect();
        files.extend([("phpcs.xml", text.as_str()), ("pom.xml", text.as_str())]);
        files.sort_unstable();
        let context = survey(&files);
        assert_eq!(lines(&context.dependencies), "");
        assert_eq!(lines(&context.conventions), "");
    }
}
