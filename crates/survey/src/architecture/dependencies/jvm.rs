//! pom.xml, Gradle build files and version catalogs.

use std::collections::BTreeMap;

use roxmltree::Node;
use serde_json::Value;

use super::{Dependency, Manifest, Role};
use crate::architecture::manifest::{pairs, toml, xml};
use crate::architecture::scan::Scan;

pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let own = |path: &str, dependencies| Manifest::new(path, None, dependencies);
    let poms = scan
        .named(&["pom.xml"])
        .into_iter()
        .map(|(path, text)| own(path, pom(text).unwrap_or_default()));
    let gradle = scan.named(&["build.gradle", "build.gradle.kts"]);
    let gradle = gradle.into_iter().map(|(path, text)| own(path, gradle_lines(text)));
    let catalogs = scan.named(&["libs.versions.toml"]);
    let catalogs =
        catalogs.into_iter().map(|(path, text)| own(path, catalog(text).unwrap_or_default()));
    poms.chain(gradle).chain(catalogs).collect()
}

fn pom(text: &str) -> Option<Vec<Dependency>> {
    let document = xml(text)?;
    let project = document.root_element();
    let child = |node: Node<'_, '_>, name: &str| {
        let found = node.children().find(|child| child.tag_name().name() == name)?;
        Some(found.text().unwrap_or("").trim().to_owned())
    };
    let properties: BTreeMap<String, String> = project
        .children()
        .filter(|node| node.tag_name().name() == "properties")
        .flat_map(|node| node.children().filter(Node::is_element).collect::<Vec<_>>())
        .map(|node| {
            (node.tag_name().name().to_owned(), node.text().unwrap_or("").trim().to_owned())
        })
        .collect();
    let resolve = |version: String| {
        let key = version.strip_prefix("${").and_then(|key| key.strip_suffix('}'));
        key.and_then(|key| properties.get(key)).cloned().unwrap_or(version)
    };
    let in_plugin =
        |node: Node<'_, '_>| node.ancestors().any(|outer| outer.tag_name().name() == "plugin");
    let mut dependencies = Vec::new();
    for node in project
        .descendants()
        .filter(|node| node.tag_name().name() == "dependency" && !in_plugin(*node))
    {
        if let (Some(group), Some(artifact)) = (child(node, "groupId"), child(node, "artifactId")) {
            let version = resolve(child(node, "version").unwrap_or_default());
            let test = child(node, "scope").as_deref() == Some("test");
            let role = if test { Role::Development } else { Role::Normal };
            dependencies.push(Dependency::new(&format!("{group}:{artifact}"), &version, role));
        }
    }
    Some(dependencies)
}

/// Lines such as `implementation("group:name:version")`; `project(":name")` is the project's own.
fn gradle_lines(text: &str) -> Vec<Dependency> {
    const WORDS: [&str; 8] = [
        "implementation",
        "api",
        "compileOnly",
        "runtimeOnly",
        "testImplementation",
        "testRuntimeOnly",
        "androidTestImplementation",
        "kapt",
    ];
    let read = |line: &str| {
        let line = line.trim();
        let word = WORDS.iter().find(|word| {
            line.strip_prefix(**word).is_some_and(|rest| rest.starts_with(['(', ' ', '\'', '"']))
        })?;
        let quote = line.find(['"', '\''])?;
        let rest = &line[quote + 1..];
        let coordinate = &rest[..rest.find(['"', '\''])?];
        let mut parts = coordinate.split(':');
        let (group, name) = (parts.next()?, parts.next()?);
        if line[..quote].contains("project(") || group.is_empty() || name.is_empty() {
            return None;
        }
        let test = word.to_ascii_lowercase().contains("test");
        let role = if test { Role::Development } else { Role::Normal };
        Some(Dependency::new(&format!("{group}:{name}"), parts.next().unwrap_or(""), role))
    };
    text.lines().filter_map(read).collect()
}

fn catalog(text: &str) -> Option<Vec<Dependency>> {
    let value = toml(text)?;
    let version = |library: &Value| {
        let version = library.get("version")?;
        let by_name = version.get("ref").and_then(Value::as_str);
        by_name
            .and_then(|name| value.get("versions")?.get(name)?.as_str())
            .or_else(|| version.as_str())
            .map(str::to_owned)
    };
    let read = |(_, library): (&str, &Value)| {
        if let Some(coordinate) = library.as_str() {
            let (module, version) = coordinate.rsplit_once(':')?;
            return Some(Dependency::new(module, version, Role::Normal));
        }
        let text = |key: &str| library.get(key).and_then(Value::as_str);
        let module = text("module")
            .map(str::to_owned)
            .or_else(|| Some(format!("{}:{}", text("group")?, text("name")?)))?;
        Some(Dependency::new(&module, &version(library).unwrap_or_default(), Role::Normal))
    };
    Some(pairs(value.get("libraries")).into_iter().filter_map(read).collect())
}
