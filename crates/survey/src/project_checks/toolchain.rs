//! Manifests that make certain how a project is built and tested.

/// A tool that owns a folder, with its commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// The file that it is known by.
    pub(crate) manifest: String,
    pub(crate) build: Vec<String>,
    /// What compiles everything, tests too, and makes nothing else.
    pub(crate) types: Option<String>,
    pub(crate) lint: Option<String>,
    pub(crate) tests: Option<String>,
}

/// Those of one folder, by the names in it.
pub(crate) fn toolchains(names: &[&str]) -> Vec<Toolchain> {
    let has = |name: &str| names.contains(&name);
    let maven = if has("mvnw") { "./mvnw" } else { "mvn" };
    let gradle = if has("gradlew") { "./gradlew" } else { "gradle" };
    let is_solution = |name: &&&str| matches!(name.rsplit_once('.'), Some((_, "sln" | "slnx")));
    let solution = names.iter().find(is_solution);
    // Manifest, build, types, lint, tests.
    let known: [(&str, &[&str], &str, &str, &str); 12] = [
        ("Cargo.toml", &["cargo build"], "cargo check --all-targets", "", "cargo test"),
        ("go.mod", &["go build ./..."], "go build ./...", "go vet ./...", "go test ./..."),
        ("pom.xml", &["MVN package"], "MVN test-compile", "", "MVN test"),
        ("build.gradle", &["GRADLE build"], "GRADLE testClasses", "", "GRADLE test"),
        ("build.gradle.kts", &["GRADLE build"], "GRADLE testClasses", "", "GRADLE test"),
        ("mix.exs", &["mix compile"], "mix compile", "", "mix test"),
        ("Package.swift", &["swift build"], "swift build", "", "swift test"),
        ("configure.ac", &["autoreconf -fi", "./configure", "make"], "", "", "make check"),
        ("CMakeLists.txt", &["cmake -S . -B build", "cmake --build build"], "", "", ""),
        ("meson.build", &["meson setup build"], "", "", "meson test -C build"),
        ("deno.json", &[], "", "deno lint", "deno test"),
        (solution.unwrap_or(&""), &["dotnet build"], "dotnet build", "", "dotnet test"),
    ];
    let filled = |text: &str| text.replace("MVN", maven).replace("GRADLE", gradle);
    let some = |text: &str| Some(filled(text)).filter(|text| !text.is_empty());
    let present = known.iter().filter(|(manifest, ..)| has(manifest));
    present
        .map(|(manifest, build, types, lint, tests)| Toolchain {
            manifest: (*manifest).to_owned(),
            build: build.iter().map(|command| filled(command)).collect(),
            types: some(types),
            lint: some(lint),
            tests: some(tests),
        })
        .collect()
}
