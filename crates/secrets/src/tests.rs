mod assigned;
mod places;

use std::collections::BTreeSet;

use proptest::prelude::*;
use regex::Regex;

use super::*;

/// Every rule with its example in surroundings that people and tools make.
fn surroundings(example: &str) -> Vec<String> {
    let long = "let filler = compute(alpha, beta); ".repeat(200);
    let mut made: Vec<String> = [
        ("", ""),
        ("first line\n", "\nlast line\n"),
        ("first line\r\n", "\r\nlast line\r\n"),
        ("# ", ""),
        ("const X = '", "';"),
        ("call(`", "`)\n"),
        ("{\"key\": \"", "\"}"),
        ("https://host.net/path?a=b&key=", "\n"),
        ("12:", "\n"),
        ("\u{e9}\u{4e16}(", "\n)\u{1f511}"),
    ]
    .iter()
    .map(|(before, after)| [before, example, after].concat())
    .collect();
    made.push([&long, " ", example, "\n", &long].concat());
    made.push(serde_json::to_string(&format!("one\n{example}\ntwo")).unwrap());
    made
}

#[test]
fn every_rule_finds_its_example_in_all_surroundings() {
    for rule in RULES {
        let secret = rule.example.secret_text();
        for text in surroundings(&rule.example.text()) {
            let redacted = redact(&text);
            let lines: Vec<&str> = secret.lines().collect();
            assert!(
                lines.iter().all(|line| !redacted.text.contains(line)),
                "{}: {}\n{}",
                rule.name,
                text,
                redacted.text
            );
            assert_eq!(redact(&redacted.text).text, redacted.text, "{}", rule.name);
        }
    }
}

#[test]
fn every_example_is_named_by_its_own_rule() {
    for rule in RULES {
        let text = rule.example.text();
        let names: Vec<&str> = redact(&text).found.iter().map(|found| found.rule).collect();
        assert_eq!(names, [rule.name], "{text}");
    }
}

#[test]
fn values_are_found_behind_words_anchors_and_brackets() {
    for text in [
        "setenv MYSQL_PWD Kq7vZ2pLm9x!",
        "set -x DB_PASSWORD Kq7vZ2pLm9x!",
        "DB_PASSWORD: &pw Kq7vZ2pLm9x!",
        "\"db_secret\": [\"Kq7vZ2pLm9x!\"]",
        "password <- \"Kq7vZ2pLm9x!\"",
    ] {
        assert!(!redact(text).text.contains("Kq7vZ2pLm9x"), "{text}");
    }
}

#[test]
fn rules_are_well_formed() {
    let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), RULES.len(), "names are unique");
    assert!(RULES.len() >= 60, "{}", RULES.len());
    for rule in RULES {
        let shape = Regex::new(rule.shape).unwrap();
        assert!(shape.captures_len() > rule.group(), "{}", rule.name);
        assert!(!rule.keywords.is_empty(), "{}", rule.name);
        assert!(!unbounded(rule.shape), "{} repeats without a bound", rule.name);
    }
}

/// Whether a repetition outside of a class has no upper bound.
fn unbounded(shape: &str) -> bool {
    let outside = Regex::new(r"\\.|\[(?:\\.|[^\]\\])*\]").unwrap().replace_all(shape, "c");
    outside.contains(['*', '+']) || outside.contains(",}")
}

#[test]
fn harmless_text_is_left_alone() {
    for text in HARMLESS.lines() {
        let redacted = redact(text);
        assert_eq!((&*redacted.text, redacted.found), (text, Vec::new()));
    }
    assert!(redact(HARMLESS).found.is_empty());
}

const HARMLESS: &str = r#"password = get_password()
let password = prompt("Password: ")?;
password: string;
password: String,
password = "password123"
"password": "changeme-please-123"
PASSWORD=${DB_PASSWORD}
password: {{ vault.password_1 }}
password = os.environ["DB_PASSWORD_2"]
if password == other.password1 { return; }
token: string
token = tokenizer.next_token()
let token = Token::Identifier("name2");
token_url = "https://login.example.com/oauth2/v2.0/token"
API_KEY = os.environ["API_KEY"]
api_key: <your-api-key-1a2b3c>
api_key = "your-api-key-goes-here-123"
api_key = "YOUR_API_KEY_1234567"
apiKey: process.env.OPENAI_API_KEY,
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
secret = "a-secret-that-reads-like-words"
secretName: my-tls-secret-v2
secret_key_base: <%= ENV["SECRET_KEY_BASE"] %>
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
headers["Authorization"] = "Bearer " + token1
"Authorization": f"Bearer {token}"
https://user:pass@example.com/path
https://user:password@example.com
https://username:password@host.net/x
postgres://postgres:postgres@localhost:5432/app
postgres://user:${DB_PASSWORD}@db/app
redis://localhost:6379/0
redis://sentinel_user:sentinel_pass@host.net
let client_auth = emit_certificate_req_tls13(&mut flight);
mongodb://localhost:27017,localhost:27018/db?replicaSet=rs0
https://host.net:8080/a@b
git@github.com:owner/name.git
"AKIAIOSFODNN7EXAMPLE"
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
ghp_abcdefghijklmnopqrstuvwxyz0123456789
id: 3f2504e0-4f89-41d3-9a0c-0305e82c3301
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
checksum = "e2d8ff1d5b4f5b8c7bf3b6fa17d27ba1d4c1a6ed2fc0c8d6b27a5a5f4c6b8d91"
"integrity": "sha512-z2n1kq5hPz8mQ0yJv4bXwUeR3tYc7sLdFgAoNiVxBpKjHrTuQwMeZlCa9S6D0f5G8h1J3k2L4m7N9b0V1c2X3z=="
"resolved": "https://registry.npmjs.org/@babel/core/-/core-7.24.0.tgz",
background: url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)
fn this_is_a_very_long_identifier_that_goes_on_and_on_with_numbers_123_and_456() {}
let key = map.get(&key2).copied().unwrap_or_default();
public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq3m0n1p2q4r5s6t7u8v9w0x1y2z3a4b5c6d7e8f9g0"
const HEADER: &str = "-----BEGIN RSA PRIVATE KEY-----";
text.starts_with("-----BEGIN PRIVATE KEY-----") && text.ends_with("-----END PRIVATE KEY-----")
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n"
max_tokens: 4096
password_hash = hash(password, salt16)
pwd = os.getcwd()
cd "$(pwd)"
PWD=/x7y8/k9a1/b2c3d4
OLDPWD=/x7y8/k9a1/b2c3d4
declare -x PWD="/x7y8/k9a1/b2c3d4"
{"OLDPWD": "/x7y8/k9a1/b2c3d4", "PWD":"/x7y8/k9a1/b2c3d4"}
DB_PASSWORD=/run/secrets/db1/pw2x/k9
PGPASSFILE=/home/a1/b2c3/d4e5f6
VAULT_TOKEN=/var/run/x1y2z3/k8s9/t0k1n2/aB3dE5
GIT_ASKPASS_TOKEN=~/a1b2/c3d4/e5f6/g7h8/i9
secret_key: ./deploy/k1/k2/k3/k4/k5/k6
KEYBOARD_LAYOUT=de-nodeadkeys-105x2
SSH_AUTH_SOCK=/tmp/ssh-XX1a2b3c/agent.12
curl -u user:$PASSWORD https://host.net
<input type="password" name="password" id="password1">
passwordField.placeholder = "Enter your password"
keyword = "task-disk-risk"
version = "v1.0-beta"
"d": "M10 10 L20 20 C 30 30 40 40 50 50 Z M10 10 L20 20 C 30 30"
[redacted: github-token]
password = "[redacted: password]"
"#;

#[test]
fn a_private_key_leaves_its_lines() {
    let key = RULES[0].example.text();
    let text = format!("a\r\n{}\r\nb\r\n", key.replace('\n', "\r\n"));
    let breaks = "\r\n".repeat(key.lines().count() - 1);
    assert_eq!(redact(&text).text, format!("a\r\n[redacted: private-key]{breaks}\r\nb\r\n"));
}

#[test]
fn a_private_key_is_found_in_every_dress() {
    let body = RULES[0].example.secret_text();
    for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "SSH2 ENCRYPTED "] {
        let (open, close) = (
            format!("-----BEGIN {kind}PRIVATE KEY-----"),
            format!("-----END {kind}PRIVATE KEY-----"),
        );
        let whole = format!("{open}\n{body}\n{close}\n");
        let numbered: Vec<String> =
            whole.lines().enumerate().map(|(at, line)| format!("{at:>6}\t{line}")).collect();
        let concatenated: Vec<String> =
            whole.lines().map(|line| format!("    \"{line}\\n\" +")).collect();
        for text in [
            whole.clone(),
            format!("{open}\n{body}\n"),
            format!("{body}\n{close}\n"),
            format!("{open}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n{body}\n{close}"),
            serde_json::json!({ "private_key": whole }).to_string(),
            format!("key: |\n  {}", whole.replace('\n', "\n  ")),
            format!("/*\n * {}", whole.replace('\n', "\n * ")),
            numbered.join("\n"),
            concatenated.join("\n"),
            format!("{whole}{whole}fn main() {{}}\n"),
        ] {
            let clean = redact(&text).text;
            assert!(body.lines().all(|line| !clean.contains(line)), "{text}\n{clean}");
            let breaks = |text: &str| text.matches('\n').count();
            assert_eq!(breaks(&clean), breaks(&text), "{text}\n{clean}");
        }
    }
}

#[test]
fn found_ranges_are_the_secrets_of_the_original() {
    let github = rule("github-token").example.text();
    let slack = rule("slack-token").example.text();
    let text = format!("\u{e9} {github}, {slack}.");
    let found = redact(&text).found;
    let cut: Vec<(&str, &str)> =
        found.iter().map(|found| (found.rule, &text[found.start..found.end])).collect();
    assert_eq!(cut, [("github-token", &*github), ("slack-token", &*slack)]);
}

#[test]
fn a_secret_that_several_rules_find_is_named_by_the_first() {
    let github = rule("github-token").example.text();
    let text = format!("password = \"{github}\"");
    assert_eq!(redact(&text).text, "password = \"[redacted: github-token]\"");
}

#[test]
fn no_rest_of_a_secret_is_left_behind_it() {
    let key = rule("google-api-key").example.text();
    let text = format!("{key}tail {key}{key} end");
    assert_eq!(redact(&text).text, "[redacted: google-api-key] [redacted: google-api-key] end");
}

#[test]
fn a_secret_is_taken_away_wherever_it_stands_again() {
    let secret = rule("password").example.secret_text();
    let text = format!("password = \"{secret}\"\nlogin({secret:?})\necho {secret}\n");
    assert_eq!(
        redact(&text).text,
        "password = \"[redacted: password]\"\nlogin(\"[redacted: password]\")\necho [redacted: password]\n"
    );
}

#[test]
fn a_password_that_is_a_plain_word_is_taken_away_at_its_place_only() {
    let text = "redis://app:blackforest@cache.net\nrun blackforest now\n";
    assert_eq!(
        redact(text).text,
        "redis://app:[redacted: database-url]@cache.net\nrun blackforest now\n"
    );
}

fn rule(name: &str) -> &'static Rule {
    RULES.iter().find(|rule| rule.name == name).unwrap()
}

#[test]
fn a_password_may_look_like_a_folder_where_no_shell_says_so() {
    for (before, secret) in [
        ("DB_PWD=", "/aB3xY9/kQ2"),
        ("pwd=", "/aB3xY9/kQ2"),
        ("PWD=", "aB3xY9/kQ2"),
        ("NOT_OLDPWD=", "/aB3xY9/kQ2"),
        ("MYSQL_PASSWORD=", "/aB3xY9/kQ2"),
    ] {
        let text = format!("{before}{secret}");
        assert_eq!(redact(&text).text, format!("{before}[redacted: bare-password]"));
    }
}

#[test]
fn names_that_another_file_system_takes_for_a_secret_one_are_secret() {
    for path in [".env.", ".env::$DATA", ".\u{200d}env", "id_r\u{17f}a", "host:443.pem"] {
        assert!(is_secret_name(path).is_some(), "{path}");
    }
}

#[test]
fn every_file_of_direnv_is_an_environment_file() {
    for path in [".envrc", ".envrc.private", "web/.envrc.local"] {
        assert_eq!(is_secret_name(path), Some("environment-file"), "{path}");
    }
}

#[test]
fn copies_and_folders_of_secrets_are_known_by_name() {
    for path in [
        ".env~",
        ".env-local",
        ".env_prod",
        "#.env#",
        ".#.env",
        "config/.secrets.yml.swp",
        ".env.swp",
        "id_rsa.old",
        "credentials.json.bak",
        "deploy/.ssh/config",
        ".gnupg/a/b",
        ".password-store/a/b.gpg",
        "a.ovpn",
        "google-credentials.json",
        "shop-firebase-adminsdk-x1y2-0123.json",
        "sa-key.json",
        "auth.json",
        "app/token.json",
        ".authinfo",
        ".databrickscfg",
        ".dev.vars.production",
        ".fly/config.yml",
        ".vercel/auth.json",
        "wallet.dat",
        ".git/credentials",
        "github_rsa",
        "secrets.prod.yaml",
    ] {
        assert!(is_secret_name(path).is_some(), "{path}");
    }
    for path in [
        "locales/auth.json",
        "public/locales/en/auth.json",
        "ssh/config",
        ".ssh",
        "credentials",
        ".environment",
        "main.rs.bak",
        "#notes#",
        "README.md~",
        ".env.example.bak",
        "token.rs",
    ] {
        assert_eq!(is_secret_name(path), None, "{path}");
    }
}

#[test]
fn secret_files_are_known_by_name() {
    for path in [
        ".env",
        "app/.env.local",
        ".env.production",
        "prod.env",
        ".ssh/id_rsa",
        "keys/id_ed25519",
        "id_ecdsa",
        "tls/server.key",
        "cert.PEM",
        "a.p12",
        "a.pfx",
        "a.jks",
        "debug.keystore",
        "vault.kdbx",
        ".npmrc",
        ".pypirc",
        ".netrc",
        "_netrc",
        ".pgpass",
        "credentials.json",
        "service-account-prod.json",
        "service_account.json",
        "home/.aws/credentials",
        ".docker/config.json",
        "kubeconfig",
        ".kube/config",
        ".git-credentials",
        ".htpasswd",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "prod.tfvars",
        "config/secrets.yml",
        "secrets.yaml",
        ".dockercfg",
        "wp-config.php",
        "C:\\Users\\a\\.aws\\credentials",
        "client_secret_1.json",
        ".cargo/credentials.toml",
    ] {
        assert!(is_secret_name(path).is_some(), "{path}");
    }
    for path in [
        ".env.example",
        ".env.sample",
        ".env.template",
        "example.env",
        "secret.rs",
        "credentials.py",
        "key.ts",
        "pem.go",
        "env.rs",
        "src/env",
        "id_rsa.pub",
        "id_ed25519.pub",
        "keys.json",
        "config.json",
        "src/config",
        "tokens.rs",
        "docker/config.json",
        "aws/credentials.rs",
        "example.tfvars",
        "terraform.tfvars.example",
        "secrets.md",
        "environment.ts",
        "keystore.rs",
        "npmrc.md",
        "password.rs",
        "credentials/mod.rs",
        "kubeconfig.go.rs.md/x",
        "main.tf",
        "",
        "/",
    ] {
        assert_eq!(is_secret_name(path), None, "{path}");
    }
}

/// Text made of what the rules look for, so that they really meet each other.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        (0..RULES.len()).prop_map(|index| RULES[index].example.text()),
        (0..RULES.len(), 0..60_usize).prop_map(|(index, keep)| RULES[index]
            .example
            .text()
            .chars()
            .take(keep)
            .collect()),
        (0..RULES.len()).prop_map(|index| RULES[index].keywords[0].to_owned()),
        "[ =:\"'\\\\\n\r_a-z0-9@/%\\[\\]-]{0,6}",
        "\\PC{0,4}",
        Just("[redacted: password]".to_owned()),
        Just("\u{4e16}".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let once = redact(text);
    let again = redact(&once.text);
    prop_assert_eq!(&*again.text, &*once.text);
    prop_assert!(again.found.is_empty(), "{:?}", again.found);
    prop_assert_eq!(once.text.matches('\n').count(), text.matches('\n').count());
    let mut last = 0;
    for found in &once.found {
        prop_assert!(last <= found.start && found.start < found.end);
        prop_assert!(text.is_char_boundary(found.start) && text.is_char_boundary(found.end));
        last = found.end;
    }
    prop_assert_eq!(once.found.is_empty(), matches!(once.text, Cow::Borrowed(_)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn redaction_holds_its_promises_on_hostile_text(text in hostile()) {
        check(&text)?;
    }

    #[test]
    fn redaction_holds_its_promises_on_any_text(text in any::<String>()) {
        check(&text)?;
    }
}
