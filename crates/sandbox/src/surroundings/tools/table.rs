//! The tables. Folders are relative to the home, parts and credentials to the folder.

use super::Use::{self, Layered, Read};

/// One tool's folder.
pub(super) struct Tool {
    /// Says where the folder is.
    pub(super) variable: &'static str,
    /// Where it is otherwise.
    pub(super) folder: &'static str,
    /// What is shown of it; an empty name is all of it.
    pub(super) parts: &'static [(&'static str, Use)],
    /// What is in it and never shown.
    pub(super) credentials: &'static [&'static str],
    /// Whether links in its parts lead to what belongs to it.
    pub(super) linked: bool,
}

const fn tool(
    variable: &'static str,
    folder: &'static str,
    parts: &'static [(&'static str, Use)],
) -> Tool {
    Tool { variable, folder, parts, credentials: &[], linked: false }
}

impl Tool {
    const fn without(self, credentials: &'static [&'static str]) -> Self {
        Self { credentials, ..self }
    }

    const fn linked(self) -> Self {
        Self { linked: true, ..self }
    }
}

const ALL: &[(&str, Use)] = &[("", Read)];
const CACHE: &[(&str, Use)] = &[("", Layered)];

#[rustfmt::skip]
pub(super) const TOOLS: &[Tool] = &[
    // Rust
    tool("CARGO_HOME", ".cargo", &[("bin", Read), ("registry", Layered), ("git", Layered)]).without(&["credentials", "credentials.toml"]),
    tool("RUSTUP_HOME", ".rustup", &[("toolchains", Read), ("settings.toml", Read)]).linked(),
    tool("SCCACHE_DIR", ".cache/sccache", CACHE),
    // JavaScript
    tool("NVM_DIR", ".nvm", ALL),
    tool("FNM_DIR", ".local/share/fnm", ALL),
    tool("VOLTA_HOME", ".volta", ALL),
    tool("NODENV_ROOT", ".nodenv", ALL),
    tool("npm_config_cache", ".npm", &[("_cacache", Layered)]),
    tool("PNPM_HOME", ".local/share/pnpm", &[("", Read), ("store", Layered)]),
    tool("", ".cache/pnpm", CACHE),
    tool("YARN_CACHE_FOLDER", ".cache/yarn", CACHE),
    tool("", ".yarn/berry", &[("cache", Layered)]),
    tool("COREPACK_HOME", ".cache/node/corepack", CACHE),
    tool("", ".cache/node-gyp", ALL),
    tool("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", ALL),
    tool("PUPPETEER_CACHE_DIR", ".cache/puppeteer", ALL),
    tool("CYPRESS_CACHE_FOLDER", ".cache/Cypress", ALL),
    tool("DENO_INSTALL", ".deno", &[("bin", Read)]),
    tool("DENO_DIR", ".cache/deno", CACHE),
    tool("BUN_INSTALL", ".bun", &[("bin", Read), ("install", Layered)]),
    // Python
    tool("PYENV_ROOT", ".pyenv", ALL),
    tool("", ".local/lib", ALL),
    tool("PIP_CACHE_DIR", ".cache/pip", CACHE),
    tool("UV_CACHE_DIR", ".cache/uv", CACHE),
    tool("", ".local/share/uv", &[("python", Read), ("tools", Read)]).without(&["credentials"]),
    tool("PIPX_HOME", ".local/share/pipx", ALL),
    tool("", ".local/pipx", ALL),
    tool("WORKON_HOME", ".local/share/virtualenvs", CACHE),
    tool("", ".cache/pypoetry", CACHE),
    tool("", ".local/share/pypoetry", ALL),
    tool("", ".local/share/hatch", ALL),
    tool("", ".cache/pre-commit", CACHE),
    // Go
    tool("GOPATH", "go", &[("bin", Read), ("pkg/mod", Layered), ("pkg/sumdb", Read)]).without(&["pkg/mod/cache/vcs"]),
    tool("GOMODCACHE", "", CACHE).without(&["cache/vcs"]),
    tool("GOCACHE", ".cache/go-build", CACHE),
    tool("GOENV_ROOT", ".goenv", ALL),
    // Java and its kin
    tool("", ".m2", &[("repository", Layered), ("wrapper", Read)]).without(&["settings.xml", "settings-security.xml"]),
    tool("GRADLE_USER_HOME", ".gradle", &[("caches", Layered), ("native", Layered), ("wrapper", Read), ("jdks", Read)]).without(&["gradle.properties"]),
    tool("SDKMAN_DIR", ".sdkman", &[("candidates", Read)]),
    tool("", ".jenv", ALL),
    tool("", ".ivy2", &[("cache", Layered), ("local", Read)]).without(&[".credentials"]),
    tool("COURSIER_CACHE", ".cache/coursier", CACHE),
    // Ruby, PHP, .NET, Dart, Haskell, Elixir
    tool("RBENV_ROOT", ".rbenv", ALL),
    tool("", ".rvm", ALL),
    tool("", ".gem", &[("ruby", Read)]).without(&["credentials"]),
    tool("", ".local/share/gem", ALL).without(&["credentials"]),
    tool("", ".cache/composer", CACHE),
    tool("DOTNET_ROOT", ".dotnet", ALL),
    tool("NUGET_PACKAGES", ".nuget/packages", CACHE),
    tool("PUB_CACHE", ".pub-cache", &[("bin", Read), ("hosted", Layered), ("git", Layered)]).without(&["credentials.json"]),
    tool("", ".ghcup", ALL),
    tool("CABAL_DIR", ".cabal", &[("bin", Read), ("packages", Layered), ("store", Layered)]),
    tool("MIX_HOME", ".mix", CACHE),
    tool("HEX_HOME", ".hex", &[("packages", Layered)]).without(&["hex.config"]),
    // Any language
    tool("ASDF_DATA_DIR", ".asdf", ALL),
    tool("MISE_DATA_DIR", ".local/share/mise", ALL),
    tool("CCACHE_DIR", ".cache/ccache", CACHE),
    tool("ZIG_GLOBAL_CACHE_DIR", ".cache/zig", CACHE),
];

/// Variables that name one installation.
#[rustfmt::skip]
pub(super) const FOLDERS: &[&str] = &[
    "ANDROID_HOME", "ANDROID_SDK_ROOT", "CONDA_PREFIX", "GOROOT", "GRADLE_HOME", "JAVA_HOME", "M2_HOME", "MAVEN_HOME", "VIRTUAL_ENV",
];

/// Variables that name certificates; they count where those are shown anyway.
#[rustfmt::skip]
pub(super) const CERTIFICATES: &[&str] = &[
    "CARGO_HTTP_CAINFO", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "PIP_CERT",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
];

/// Variables that builds depend on: with other values everything would be built anew, or by another compiler.
#[rustfmt::skip]
pub(super) const SETTINGS: &[&str] = &[
    "CARGO_BUILD_TARGET", "CC", "CFLAGS", "CGO_CFLAGS", "CGO_ENABLED", "CGO_LDFLAGS", "CXX", "CXXFLAGS", "GOARCH", "GOFLAGS", "GOOS",
    "GOTOOLCHAIN", "LDFLAGS", "PKG_CONFIG_PATH", "PYENV_VERSION", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTUP_TOOLCHAIN",
];

/// Files that say where packages come from, shown without their credentials.
#[rustfmt::skip]
pub(super) const CONFIGURATION: &[&str] = &[
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".pip/pip.conf", ".config/pip/pip.conf", ".config/uv/uv.toml", ".config/go/env",
    ".config/mise/config.toml", ".tool-versions", "/etc/npmrc", "/etc/pip.conf", "/usr/etc/npmrc", "/usr/local/etc/npmrc",
];
