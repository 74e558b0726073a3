//! Names of passwords and other secrets, by their parts: `DB_PASS`, `dbPassword`, `spring.datasource.password`.

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass {
    /// People choose passwords: a plain word can be one.
    Password,
    Secret,
    /// Programs make tokens and keys: a plain word is none. Code has many other things of these names.
    Token,
}

/// The class of a name, and whether the word that tells stands at its end. Nothing for a name that speaks of something else,
/// such as `token_count`.
pub(super) fn classify(name: &str) -> Option<(NameClass, bool)> {
    let parts = parts(name);
    let kept = parts.iter().rposition(|part| !is_suffix(part))?;
    let parts = &parts[..=kept];
    if let Some(class) = class_at(parts, kept) {
        return Some((class, true));
    }
    if OTHER_ENDS.contains(&parts[kept].as_str()) {
        return None;
    }
    let class = (0..kept).rev().find_map(|at| class_at(parts, at))?;
    Some((class, false))
}

/// Whether the word before it makes `key` a secret one.
fn class_at(parts: &[String], at: usize) -> Option<NameClass> {
    let part = parts[at].as_str();
    let before = at.checked_sub(1).map_or("", |before| parts[before].as_str());
    let is_other = match part {
        "token" => OTHER_TOKENS.contains(&before),
        "pass" => OTHER_PASSES.contains(&before),
        "auth" | "pat" => before.is_empty() || OTHER_AUTHS.contains(&before),
        "passe" => before != "de",
        "seed" => before != "otp",
        _ => false,
    };
    if is_other {
        return None;
    }
    if matches!(part, "key" | "keybase") {
        return KEY_OWNERS.contains(&before).then_some(NameClass::Token);
    }
    class_of(part)
}

fn class_of(part: &str) -> Option<NameClass> {
    if PASSWORDS.contains(&part) || PASSWORD_ENDS.iter().any(|end| part.ends_with(end)) {
        return Some(NameClass::Password);
    }
    let owner = ["pass", "pwd", "pw"].iter().find_map(|end| part.strip_suffix(end));
    if let Some(owner) = owner {
        return OWNERS.contains(&owner).then_some(NameClass::Password);
    }
    if part.ends_with("secret") || matches!(part, "seed" | "otpseed") {
        return Some(NameClass::Secret);
    }
    let owner = part.strip_suffix("keybase").or_else(|| part.strip_suffix("key"));
    let is_token = part.ends_with("token")
        || matches!(part, "credential" | "credentials" | "cred" | "creds" | "auth" | "pat")
        || owner.is_some_and(|owner| KEY_OWNERS.contains(&owner));
    is_token.then_some(NameClass::Token)
}

/// In lower case, split at everything but letters and digits and where a capital follows a small letter.
fn parts(name: &str) -> Vec<String> {
    if !name.is_ascii() {
        let lower = name.to_lowercase();
        return match FOREIGN.iter().find(|word| lower.ends_with(**word)) {
            Some(_) => vec!["password".to_owned()],
            None => Vec::new(),
        };
    }
    let bytes = name.as_bytes();
    let mut parts = vec![String::new()];
    for (at, byte) in bytes.iter().enumerate() {
        let after_lower =
            at > 0 && (bytes[at - 1].is_ascii_lowercase() || bytes[at - 1].is_ascii_digit());
        let before_lower = at > 0
            && bytes[at - 1].is_ascii_uppercase()
            && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        if byte.is_ascii_uppercase() && (after_lower || before_lower) {
            parts.push(String::new());
        }
        match parts.last_mut() {
            Some(part) if byte.is_ascii_alphanumeric() => {
                part.push(char::from(byte.to_ascii_lowercase()));
            }
            _ => parts.push(String::new()),
        }
    }
    for part in &mut parts {
        let length = part.trim_end_matches(|last: char| last.is_ascii_digit()).len();
        if length > 0 {
            part.truncate(length);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Says which one it is, not that it is something else: `_2`, `_prod`, `_base64`.
fn is_suffix(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit()) || SUFFIXES.contains(&part)
}

#[rustfmt::skip]
const SUFFIXES: &[&str] = &[
    "b", "base", "current", "default", "dev", "development", "hex", "live", "new", "old", "plain", "plaintext", "primary",
    "prod", "production", "raw", "secondary", "staging", "test", "text", "val", "value",
];

/// A name that ends so names something about a secret.
#[rustfmt::skip]
const OTHER_ENDS: &[&str] = &[
    "age", "algorithm", "at", "alg", "arn", "attribute", "button", "callback", "cache", "changed", "char", "chars", "class", "code", "color", "column",
    "confirmation", "count", "counter", "created", "date", "description", "dir", "directory", "digest", "enabled", "encoder", "encoding",
    "endpoint", "env", "error", "exp", "expiration", "expired", "expires", "expiry", "field", "fields", "file", "filename", "filter", "folder", "form",
    "format", "function", "generator", "getter", "handler", "hash", "hashed", "hasher", "header", "help", "hint", "history", "icon", "id", "ids", "in", "index",
    "input", "invalid", "issuer", "key", "keys", "kind", "label", "len", "length", "lifetime", "limit", "list", "location", "manager", "map", "matcher", "max",
    "message", "min", "mode", "model", "module", "msg", "name", "names", "method", "ok", "option", "options", "page", "param", "params", "parser", "path", "pattern",
    "placeholder", "plugin", "policy", "position", "prefix", "property", "provider", "prompt", "reader", "ref", "regex", "regexp", "request", "required",
    "reset", "resource", "response", "role", "route", "rule", "rules", "salt", "scheme", "schema", "scope", "selector", "server", "service", "set", "size",
    "source", "status", "store", "storage", "strategy", "strength", "string", "style", "suffix", "template", "through", "time", "timeout", "timestamp", "title",
    "tooltip", "ttl", "type", "types", "uri", "url", "urls", "usage", "used", "user", "username", "valid", "validation", "validator", "validity", "version", "view", "widget", "worker",
];

#[rustfmt::skip]
const PASSWORDS: &[&str] = &[
    "clave", "contrasena", "contrasenia", "masterauth", "motdepasse", "pass", "passe", "passw", "psk", "pswd", "psw", "pw", "pwd", "requirepass", "senha",
    "wachtwoord",
];

/// Words for a password that are not written in ASCII.
const FOREIGN: &[&str] = &["contrase\u{f1}a", "пароль"];

const PASSWORD_ENDS: &[&str] =
    &["password", "passwd", "passwort", "passphrase", "passcode", "kennwort"];

/// What may stand before `pass` without a mark between: `bypass` and `compass` are other words.
#[rustfmt::skip]
const OWNERS: &[&str] = &[
    "admin", "app", "auth", "bind", "cert", "client", "database", "db", "default", "ftp", "http", "imap", "jdbc", "key", "keystore", "ldap", "login", "mail", "maria",
    "master", "mongo", "mq", "my", "mysql", "pg", "pop", "postgres", "proxy", "rabbit", "redis", "require", "root", "sa", "sftp", "smtp", "sql", "ssh", "ssl", "store", "sudo",
    "svn", "tls", "trust", "truststore", "usr", "user", "vault", "vnc", "vpn", "wifi", "wlan",
];

/// Tokens that give no access: pages of a list, versions, words of a language.
#[rustfmt::skip]
const OTHER_TOKENS: &[&str] = &[
    "backward", "bos", "change", "cls", "continuation", "cursor", "end", "eos", "first", "forward", "idempotency", "last", "lock", "mask", "next", "pad", "page",
    "pagination", "prev", "previous", "purchase", "sep", "special", "start", "stop", "sync", "unk",
];

/// Whether or how somebody signs in.
#[rustfmt::skip]
const OTHER_AUTHS: &[&str] = &[
    "allow", "default", "disable", "enable", "force", "has", "is", "needs", "no", "optional", "require", "skip", "ssh", "ssl", "uri", "url", "use", "with",
];

/// Passes of a compiler, a renderer, a road or a game.
#[rustfmt::skip]
const OTHER_PASSES: &[&str] = &[
    "all", "analysis", "battle", "blur", "boarding", "compute", "depth", "first", "forward", "function", "gbuffer", "hall", "high", "light", "lighting", "low", "module",
    "multi", "optimization", "parser", "post", "prepass", "render", "rewrite", "season", "second", "shader", "shadow", "single", "test", "transform", "two",
];

/// What makes a key a secret one.
#[rustfmt::skip]
const KEY_OWNERS: &[&str] = &[
    "access", "account", "api", "apis", "app", "application", "auth", "client", "cookie", "crypt", "crypto", "decryption", "deploy", "encrypt", "encryption", "hmac", "jwt",
    "license", "licence", "master", "priv", "private", "secret", "service", "session", "sharedaccess", "shared", "sign", "signing", "storage", "subscription", "webhook",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_parts() {
        use NameClass::{Password, Secret, Token};
        for (name, class) in [
            ("DB_PASS", Password),
            ("dbPassword", Password),
            ("PGPASSWORD", Password),
            ("smtppass", Password),
            ("MYSQL_PWD", Password),
            ("PASSWORD_2", Password),
            ("password.value", Password),
            ("SECRET_KEY_BASE", Token),
            ("secretKeyBase", Token),
            ("AccountKey", Token),
            ("SharedAccessKey", Token),
            ("APIKey", Token),
            ("apikey", Token),
            ("ApiSecret", Secret),
            ("GITHUB_TOKEN", Token),
            ("creds", Token),
            ("ROOTPW", Password),
            ("GH_PAT", Token),
            ("REDIS_AUTH", Token),
            ("COOKIE_KEY", Token),
            ("WIFI_PSK", Password),
            ("OTP_SEED", Secret),
            ("mot_de_passe", Password),
            ("contrase\u{f1}a", Password),
            ("пароль", Password),
        ] {
            assert_eq!(classify(name), Some((class, true)), "{name}");
        }
        assert_eq!(classify("TOKEN_GITHUB"), Some((Token, false)));
        for name in [
            "bypass",
            "compass",
            "renderPass",
            "depth_pass",
            "passenger",
            "tokens",
            "tokenizer",
            "token_type",
            "primary_key",
            "key",
            "key_base_path",
            "secretary",
            "passed",
            "keyboard",
            "ENABLE_AUTH",
            "enclave",
            "passe",
            "seed",
            "пароли",
        ] {
            assert_eq!(classify(name), None, "{name}");
        }
    }
}
