use super::{lines, survey};

#[track_caller]
fn assert_dependencies(files: &[(&str, &str)], expected: &str) {
    assert_eq!(lines(&survey(files).dependencies), expected);
}

const PACKAGE: &str = r#"{"dependencies": {"left": "^1.0.0", "own": "workspace:*", "@a/b": "~2"},
    "peerDependencies": {"react": ">=18"}, "devDependencies": {"vitest": "^3"}}"#;

#[test]
fn npm_versions_come_from_whichever_lock_is_there() {
    let npm = r#"{"packages": {"": {}, "node_modules/left": {"version": "1.4.0"}, "node_modules/@a/b": {"version": "2.0.9"},
        "node_modules/left/node_modules/vitest": {"version": "9.9.9"}}}"#;
    let yarn = "# yarn lockfile v1\n\nleft@^1.0.0:\n  version \"1.4.0\"\n\n\"@a/b@~2\", \"@a/b@^2\":\n  version \"2.0.9\"\n";
    let pnpm = "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      '@a/b':\n        specifier: ~2\n        version: 2.0.9(left@1.4.0)\n      left:\n        specifier: ^1.0.0\n        version: 1.4.0\n\npackages:\n";
    for (lock, text) in [("package-lock.json", npm), ("yarn.lock", yarn), ("pnpm-lock.yaml", pnpm)]
    {
        let source = format!("package.json, versions from {lock}");
        let expected = format!(
            "@a/b 2.0.9, left 1.4.0 ({source})\npeer: react >=18 ({source})\ndev: vitest ^3 ({source})\n"
        );
        assert_dependencies(&[("package.json", PACKAGE), (lock, text)], &expected);
    }
}

#[test]
fn a_name_locked_twice_keeps_the_version_that_was_demanded() {
    let lock = "[[package]]\nname = \"toml\"\nversion = \"0.9.1\"\nsource = \"r\"\n[[package]]\nname = \"toml\"\nversion = \"1.0.2\"\nsource = \"r\"\n";
    let manifest = "[dependencies]\ntoml = \"1.0\"\n";
    assert_dependencies(
        &[("Cargo.lock", lock), ("Cargo.toml", manifest)],
        "toml 1.0.2 (Cargo.toml, versions from Cargo.lock)\n",
    );
}

#[test]
fn python_manifests_of_all_kinds_are_read() {
    let modern = "[project]\ndependencies = [\"httpx[http2]>=0.27 ; python_version > '3'\", \"attrs\"]\n[project.optional-dependencies]\nfast = [\"uvloop\"]\n[dependency-groups]\ndev = [\"pytest>=8\"]\n";
    let poetry = "[tool.poetry.dependencies]\npython = \"^3.12\"\nrich = { version = \"^13\", optional = true }\n[tool.poetry.group.dev.dependencies]\nmypy = \"^1\"\n";
    let lock = "[[package]]\nname = \"attrs\"\nversion = \"24.2.0\"\n";
    assert_dependencies(
        &[("pyproject.toml", modern), ("uv.lock", lock)],
        "httpx >=0.27, attrs 24.2.0 (pyproject.toml, versions from uv.lock)\n\
         optional: uvloop (pyproject.toml, versions from uv.lock)\n\
         dev: pytest >=8 (pyproject.toml, versions from uv.lock)\n",
    );
    assert_dependencies(
        &[
            ("Pipfile", "[packages]\nflask = \"*\"\n"),
            ("pyproject.toml", poetry),
            ("requirements-dev.txt", "# c\n-r requirements.txt\nblack==24.1 # pin\n"),
            ("requirements.txt", "requests==2.32.0\n"),
            ("setup.cfg", "[options]\ninstall_requires =\n    click>=8\n    rich\n\n[flake8]\n"),
        ],
        "flask (Pipfile)\n\
         python ^3.12, rich ^13 (pyproject.toml)\n\
         dev: mypy ^1 (pyproject.toml)\n\
         dev: black 24.1 (requirements-dev.txt)\n\
         requests 2.32.0 (requirements.txt)\n\
         click >=8, rich (setup.cfg)\n",
    );
}

#[test]
fn go_takes_the_direct_ones_only() {
    let manifest = "module example.com/jar\n\ngo 1.23\n\nrequire github.com/a/b v1.2.3\nrequire (\n\tgithub.com/c/d v0.1.0\n\tgithub.com/e/f v2.0.0 // indirect\n)\n";
    assert_dependencies(
        &[("go.mod", manifest)],
        "github.com/a/b v1.2.3, github.com/c/d v0.1.0 (go.mod)\n",
    );
}

#[test]
fn the_jvm_has_three_kinds_of_manifests() {
    let pom = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><properties><jar.version>3.1</jar.version></properties><dependencies><dependency><groupId>org.a</groupId><artifactId>jar</artifactId><version>${jar.version}</version></dependency><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13</version><scope>test</scope></dependency></dependencies></project>";
    let gradle = "dependencies {\n  implementation(\"org.a:jar:3.1\")\n  testImplementation 'junit:junit:4.13'\n  implementation(libs.lid)\n}\n";
    let catalog = "[versions]\nlid = \"2.2\"\n[libraries]\nlid = { module = \"org.a:lid\", version.ref = \"lid\" }\ncork = \"org.a:cork:1.0\"\n";
    assert_dependencies(
        &[("build.gradle.kts", gradle), ("gradle/libs.versions.toml", catalog), ("pom.xml", pom)],
        "org.a:jar 3.1 (build.gradle.kts)\n\
         dev: junit:junit 4.13 (build.gradle.kts)\n\
         org.a:jar 3.1 (pom.xml)\n\
         dev: junit:junit 4.13 (pom.xml)\n\
         org.a:cork 1.0, org.a:lid 2.2 (gradle/libs.versions.toml)\n",
    );
}

#[test]
fn parts_of_a_gradle_build_are_not_its_dependencies() {
    let gradle = "dependencies {\n  implementation(project(\":core\"))\n  api project(path: 'lib:jar')\n  api(\":lid\")\n  api(platform(\"org.a:bom:1.0\"))\n}\n";
    assert_dependencies(&[("build.gradle", gradle)], "org.a:bom 1.0 (build.gradle)\n");
}

#[test]
fn an_address_is_a_requirement_only_under_a_name() {
    let addresses = "https://example.com/jar-1.0.whl\ngit+https://example.com/a/lid.git@v2\n\
        git+ssh://git@example.com/a/cork.git#egg=cork[dry]&subdirectory=x\nshelf @ https://example.com/shelf.zip\n";
    assert_dependencies(&[("requirements.txt", addresses)], "cork, shelf (requirements.txt)\n");
}

#[test]
fn other_package_managers_are_read_too() {
    let files = [
        (
            "Gemfile",
            "source 'https://rubygems.org'\ngem \"rails\", \"~> 8.0\"\ngroup :test do\n  gem 'rspec'\nend\n",
        ),
        (
            "Gemfile.lock",
            "GEM\n  specs:\n    rails (8.0.1)\n      rack (>= 2)\n    rspec (3.13.0)\n",
        ),
        (
            "Package.swift",
            "let package = Package(dependencies: [\n  .package(url: \"https://example.com/apple/swift-log.git\", from: \"1.5.0\"),\n])\n",
        ),
        (
            "app.csproj",
            "<Project><ItemGroup><PackageReference Include=\"Serilog\" Version=\"4.0.0\" /></ItemGroup></Project>",
        ),
        (
            "composer.json",
            "{\"require\": {\"php\": \">=8.2\", \"a/b\": \"^1\"}, \"require-dev\": {\"c/d\": \"^2\"}}",
        ),
        ("composer.lock", "{\"packages\": [{\"name\": \"a/b\", \"version\": \"v1.9.0\"}]}"),
        (
            "mix.exs",
            "defp deps do\n  [\n    {:phoenix, \"~> 1.7\"},\n    {:credo, \"~> 1.7\", only: :dev}\n  ]\nend\n",
        ),
        (
            "pubspec.yaml",
            "dependencies:\n  http: ^1.2.0\n  flutter:\n    sdk: flutter\ndev_dependencies:\n  lints: ^4.0.0\n",
        ),
    ];
    assert_dependencies(
        &files,
        "rails 8.0.1 (Gemfile, versions from Gemfile.lock)\n\
         dev: rspec 3.13.0 (Gemfile, versions from Gemfile.lock)\n\
         swift-log 1.5.0 (Package.swift)\n\
         Serilog 4.0.0 (app.csproj)\n\
         a/b v1.9.0, php >=8.2 (composer.json, versions from composer.lock)\n\
         dev: c/d ^2 (composer.json, versions from composer.lock)\n\
         phoenix ~> 1.7 (mix.exs)\n\
         dev: credo ~> 1.7 (mix.exs)\n\
         flutter, http ^1.2.0 (pubspec.yaml)\n\
         dev: lints ^4.0.0 (pubspec.yaml)\n",
    );
}

#[test]
fn long_lists_are_capped_and_say_so_and_samples_do_not_count() {
    let many: Vec<String> = (0..100).map(|at| format!("p{at:03}==1")).collect();
    let many = many.join("\n");
    let shown = lines(
        &survey(&[("requirements.txt", &many), ("tests/fixtures/requirements.txt", "bad==1\n")])
            .dependencies,
    );
    assert!(shown.contains("and 36 more in requirements.txt (requirements.txt)\n"), "{shown}");
    assert!(!shown.contains("bad"), "{shown}");
}
