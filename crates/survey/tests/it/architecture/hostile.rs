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
fn a_name_locked_in_endless_versions_is_borne() {
    let lock = written(150_000, |at| format!("x@{at}:\n version {at}\n"));
    let context =
        survey(&[("package.json", r#"{"dependencies": {"x": "^7"}}"#), ("yarn.lock", &lock)]);
    assert_eq!(lines(&context.dependencies), "x ^7 (package.json)\n");
}

#[test]
fn endless_demands_of_a_name_in_endless_versions_are_borne() {
    let lock = written(200_000, |at| format!("    x ({at})\n"));
    let demands = "gem 'x', '9z'\n".repeat(15_000);
    let paths = everywhere(5, "Gemfile");
    let mut files = vec![("Gemfile.lock", lock.as_str())];
    files.extend(paths.iter().map(|path| (path.as_str(), demands.as_str())));
    assert!(lines(&survey(&files).dependencies).starts_with("x 9z (m000/Gemfile"));
}

#[test]
fn a_long_version_is_not_copied_for_each_demand() {
    let version = " ".repeat(4_000_000);
    let lock = format!("[[package]]\nname = \"x\"\nversion = \"1{version}2\"\nsource = \"r\"\n");
    let demands = written(6_000, |at| format!("a{at}={{package=\"x\"}}\n"));
    let context =
        survey(&[("Cargo.lock", &lock), ("Cargo.toml", &format!("[dependencies]\n{demands}"))]);
    assert!(lines(&context.dependencies).starts_with("x 1 2 (Cargo.toml"));
}

#[test]
fn a_lock_is_read_once_for_all_its_manifests() {
    let lock = written(80_000, |at| format!("[[package]]\nname = \"p{at}\"\nversion = \"1\"\n"));
    let paths = everywhere(290, "pyproject.toml");
    let mut files: Vec<(&str, &str)> =
        paths.iter().map(|path| (path.as_str(), "[project]\ndependencies = [\"p1\"]\n")).collect();
    files.push(("uv.lock", &lock));
    let shown = lines(&survey(&files).dependencies);
    assert!(shown.starts_with("p1 1 (m000/pyproject.toml, versions from uv.lock)\n"), "{shown}");
}

#[test]
fn endless_dependencies_of_one_kind_are_counted() {
    let paths = everywhere(12, "build.gradle");
    let texts: Vec<String> = (0..paths.len())
        .map(|part| written(10_000, |at| format!("api 'io.ktor:{}'\n", part * 10_000 + at)))
        .collect();
    let files: Vec<(&str, &str)> =
        paths.iter().zip(&texts).map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let context = survey(&files);
    let shown = lines(&context.dependencies);
    assert!(shown.contains("and 9936 more in m000/build.gradle"), "{shown}");
    let patterns = lines(&context.key_patterns);
    assert!(patterns.contains("io.ktor:0, ") && patterns.contains(" and 11 more)"), "{patterns}");
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
