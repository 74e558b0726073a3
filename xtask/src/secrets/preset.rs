//! Our rules and those of secretlint's recommended preset on the examples of both.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use sequester_core::secret::Piece::{self, Alnum, Base64, Digits, Hex, Text, Upper};
use sequester_core::secret::{self, Example};
use serde_json::json;

use super::output;

/// A table of who finds what, and the cases that only secretlint finds.
pub(super) fn compare(root: &Path, folder: &Path) -> Result<(String, Vec<String>)> {
    let ours = secret::RULES.iter().map(|rule| (format!("ours: {}", rule.name), rule.example));
    let theirs = PRESET.iter().map(|(rule, case, example)| (format!("{rule}: {case}"), *example));
    let cases: Vec<(String, Example)> = ours.chain(theirs).collect();
    let answers = ask(root, folder, &cases)?;
    let mut missed = Vec::new();
    let mut heard = BTreeSet::new();
    let mut table = String::from("| example | we find | they find |\n|---|---|---|\n");
    for ((name, example), they) in cases.iter().zip(answers) {
        let we = find(example);
        writeln!(table, "| {name} | {} | {} |", we.join(", "), they.join(", "))?;
        if we.is_empty() && !they.is_empty() {
            missed.push(format!("`{name}`"));
        }
        heard.extend(they);
    }
    for (rule, _, _) in PRESET {
        ensure!(
            heard.contains(*rule),
            "secretlint's rule `{rule}` finds none of its examples. Renew them in `preset.rs`."
        );
    }
    Ok((table, missed))
}

/// The rules of ours that find the example's secret; none, if any line of it is left over.
fn find(example: &Example) -> Vec<&'static str> {
    let text = example.text();
    let redacted = secret::redact(&text);
    if example.secret_text().lines().any(|line| redacted.text.contains(line)) {
        return Vec::new();
    }
    redacted.found.iter().map(|found| found.rule).collect()
}

/// The secretlint rules that speak up, for each case.
fn ask(root: &Path, folder: &Path, cases: &[(String, Example)]) -> Result<Vec<Vec<String>>> {
    fs::create_dir_all(folder)?;
    for file in ["package.json", "package-lock.json", "check.mjs"] {
        fs::copy(root.join("secretlint").join(file), folder.join(file))?;
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]);
    output(install.current_dir(folder))?;
    let texts: Vec<_> = cases
        .iter()
        .map(|(name, example)| json!({ "name": name, "text": example.text() }))
        .collect();
    let mut node = Command::new("node")
        .arg("check.mjs")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("`node` cannot be started. Install Node.js 20 or newer and try again.")?;
    let mut input = node.stdin.take().context("`node` has no standard input.")?;
    input.write_all(&serde_json::to_vec(&texts)?)?;
    drop(input);
    let answer = node.wait_with_output()?;
    ensure!(answer.status.success(), "`node check.mjs` failed: {}.", answer.status);
    let answers: Vec<Vec<String>> = serde_json::from_slice(&answer.stdout)?;
    ensure!(
        answers.len() == cases.len(),
        "secretlint answered {} of {} cases.",
        answers.len(),
        cases.len()
    );
    Ok(answers)
}

const fn case(before: &'static str, secret: &'static [Piece], after: &'static str) -> Example {
    Example { before, secret, after }
}

/// For every rule of the preset: its id, the variant, an example of our own making.
#[rustfmt::skip]
const PRESET: &[(&str, &str, Example)] = &[
    ("1password", "service account", case("", &[Text("ops_"), Text("eyJzaWduSW5BZGRyZXNzIjoiYS4xcGFzc3dvcmQuY29tIiwidXNlckF1dGgiOnsibWV0aG9kIjoiU1JQZy00MDk2In0sImVtYWlsIjoi"), Text("YUBiLmMiLCJzcnBYIjoiMTIifQ")], "")),
    ("anthropic", "api key", case("", &[Text("sk-"), Text("ant-api03-"), Alnum(93), Text("AA")], "")),
    ("aws", "secret access key", case("AWS_SECRET_ACCESS_KEY=", &[Base64(39), Text("k")], "")),
    ("aws", "secret access key in JSON", case("{\"SecretAccessKey\": \"", &[Base64(39), Text("k")], "\"}")),
    ("aws", "access key id", case("", &[Text("AK"), Text("IA"), Upper(16)], "")),
    ("basicauth", "https", case("https://deploy:", &[Alnum(16)], "@git.internal.net/")),
    ("basicauth", "ftp", case("ftp://deploy:", &[Alnum(12)], "@files.internal.net/")),
    ("database-connection-string", "postgres", case("postgresql://app:", &[Alnum(16)], "@db.internal:5432/app")),
    ("database-connection-string", "mysql", case("jdbc:mysql://app:", &[Alnum(16)], "@db.internal:3306/app")),
    ("database-connection-string", "mongodb", case("mongodb+srv://app:", &[Alnum(16)], "@cluster0.internal.net/app")),
    ("gcp", "service account", case("{\"type\":\"service_account\",\"project_id\":\"p\",\"private_key_id\":\"0a1b\",\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n", &[Base64(64), Text("\\n"), Base64(64), Text("\\n")], "-----END PRIVATE KEY-----\\n\",\"client_email\":\"a@p.iam.gserviceaccount.com\",\"client_id\":\"1\",\"auth_uri\":\"https://accounts.google.com/o/oauth2/auth\",\"token_uri\":\"https://oauth2.googleapis.com/token\"}")),
    ("github", "personal", case("", &[Text("gh"), Text("p_"), Alnum(36)], "")),
    ("github", "oauth", case("", &[Text("gh"), Text("o_"), Alnum(36)], "")),
    ("github", "user to server", case("", &[Text("gh"), Text("u_"), Alnum(36)], "")),
    ("github", "server to server", case("", &[Text("gh"), Text("s_"), Alnum(36)], "")),
    ("github", "refresh", case("", &[Text("gh"), Text("r_"), Alnum(36)], "")),
    ("github", "fine-grained", case("", &[Text("github"), Text("_pat_"), Alnum(22), Text("_"), Alnum(59)], "")),
    ("linear", "api key", case("", &[Text("lin"), Text("_api_"), Alnum(40)], "")),
    ("npm", "access token", case("", &[Text("np"), Text("m_"), Alnum(36)], "")),
    ("npm", "auth token in .npmrc", case("//registry.internal/:_authToken=", &[Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)], "\n")),
    ("npm", "x-oauth-basic", case("\"a\": \"git+https://", &[Hex(40)], ":x-oauth-basic@github.com/a/b.git\"")),
    ("openai", "project key", case("", &[Text("sk-"), Text("proj-"), Alnum(74), Text("T3Blbk"), Text("FJ"), Alnum(74)], "")),
    ("openai", "service account key", case("", &[Text("sk-"), Text("svcacct-"), Alnum(58), Text("T3Blbk"), Text("FJ"), Alnum(58)], "")),
    ("openai", "old key", case("", &[Text("sk"), Text("-"), Alnum(20), Text("T3Blbk"), Text("FJ"), Alnum(20)], "")),
    ("privatekey", "RSA", case("-----BEGIN RSA PRIVATE KEY-----\n", &[Text("MIIEpAIBAAKCAQEA"), Base64(48), Text("\n"), Base64(64), Text("\n"), Base64(64), Text("\n")], "-----END RSA PRIVATE KEY-----\n")),
    ("privatekey", "OpenSSH", case("-----BEGIN OPENSSH PRIVATE KEY-----\n", &[Text("b3BlbnNzaC1rZXktdjEA"), Base64(50), Text("\n"), Base64(70), Text("\n"), Base64(68), Text("\n")], "-----END OPENSSH PRIVATE KEY-----\n")),
    ("privatekey", "PKCS 8", case("-----BEGIN PRIVATE KEY-----\n", &[Text("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"), Base64(32), Text("\n"), Base64(64), Text("\n"), Base64(64), Text("\n")], "-----END PRIVATE KEY-----\n")),
    ("privatekey", "PGP", case("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n", &[Text("lQOYBF"), Base64(58), Text("\n"), Base64(64), Text("\n"), Base64(64), Text("\n=abcd\n")], "-----END PGP PRIVATE KEY BLOCK-----\n")),
    ("sendgrid", "api key", case("", &[Text("S"), Text("G."), Alnum(22), Text("."), Alnum(43)], "")),
    ("shopify", "admin token", case("", &[Text("shp"), Text("at_"), Hex(32)], "")),
    ("shopify", "private app", case("", &[Text("shp"), Text("pa_"), Hex(32)], "")),
    ("shopify", "custom app", case("", &[Text("shp"), Text("ca_"), Hex(32)], "")),
    ("shopify", "shared secret", case("", &[Text("shp"), Text("ss_"), Hex(32)], "")),
    ("slack", "bot", case("", &[Text("xox"), Text("b-"), Digits(12), Text("-"), Digits(12), Text("-"), Alnum(24)], "")),
    ("slack", "user", case("", &[Text("xox"), Text("p-"), Digits(12), Text("-"), Digits(12), Text("-"), Digits(13), Text("-"), Hex(32)], "")),
    ("slack", "app", case("", &[Text("xa"), Text("pp-1-A"), Upper(10), Text("-"), Digits(13), Text("-"), Alnum(36)], "")),
    ("slack", "webhook", case("", &[Text("https://hooks.slack"), Text(".com/services/T"), Upper(8), Text("/B"), Upper(8), Text("/"), Alnum(24)], "")),
];
