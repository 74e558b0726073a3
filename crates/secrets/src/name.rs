//! Files that are secret by their name, whatever they hold.

use std::sync::LazyLock;

use crate::fs_name;

/// The rule that makes the file at `path` a secret one, if any does: as it is written but for its case, or as some file system takes it.
pub fn is_secret_name(path: &str) -> Option<&'static str> {
    if is_plain(path) {
        return find(path);
    }
    let written = path.replace('\\', "/").to_ascii_lowercase();
    let taken = fs_name::parts(path).collect::<Vec<_>>().join("/");
    find(&written).or_else(|| (taken != written).then(|| find(&taken)).flatten())
}

/// Whether every file system takes it as it is written.
fn is_plain(path: &str) -> bool {
    let is_plain = |byte: u8| {
        byte.is_ascii() && !byte.is_ascii_uppercase() && !matches!(byte, b'\\' | b':' | b' ')
    };
    path.bytes().all(is_plain) && !path.ends_with('.') && !path.contains("./")
}

fn find(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if HARMLESS_BY_LAST_BYTE.find(path, name).is_some() {
        return None;
    }
    SECRET_BY_LAST_BYTE.find(path, name).or_else(|| {
        let original = original(name)?;
        let above = &path[..path.len() - name.len()];
        SECRET_BY_LAST_BYTE.find(&format!("{above}{original}"), original)
    })
}

/// Patterns and their rules by the last byte of the names that they fit, in the order of the rules. Every start of a jail looks at
/// hundreds of names, and few patterns fit the end of one.
struct ByLastByte(Vec<Vec<(&'static Pattern, &'static str)>>);

static HARMLESS_BY_LAST_BYTE: LazyLock<ByLastByte> =
    LazyLock::new(|| ByLastByte::new(&[("harmless", HARMLESS)]));
static SECRET_BY_LAST_BYTE: LazyLock<ByLastByte> = LazyLock::new(|| ByLastByte::new(SECRET));

impl ByLastByte {
    fn new(rules: &[(&'static str, &'static [Pattern])]) -> ByLastByte {
        let mut lists = vec![Vec::new(); 1 + usize::from(u8::MAX)];
        for (rule, patterns) in rules {
            for pattern in *patterns {
                match pattern.last_byte() {
                    Some(last) => lists[usize::from(last)].push((pattern, *rule)),
                    None => lists.iter_mut().for_each(|list| list.push((pattern, *rule))),
                }
            }
        }
        ByLastByte(lists)
    }

    fn find(&self, path: &str, name: &str) -> Option<&'static str> {
        let last = usize::from(*path.as_bytes().last()?);
        self.0[last].iter().find(|(pattern, _)| pattern.fits(path, name)).map(|(_, rule)| *rule)
    }
}

/// Endings of copies that editors, tools and people leave beside a file.
const COPIES: [&str; 15] = [
    "~", " (copy)", ".bak", ".backup", ".bk", ".copy", ".old", ".orig", ".prev", ".save", ".saved",
    ".swo", ".swp", ".tmp", ".1",
];

/// The name of the file that this one is a copy of, by its name.
fn original(name: &str) -> Option<&str> {
    if let Some(saved) = name.strip_prefix('#').and_then(|name| name.strip_suffix('#')) {
        return Some(saved);
    }
    if let Some(locked) = name.strip_prefix(".#") {
        return Some(locked);
    }
    let copied = COPIES.iter().find_map(|ending| name.strip_suffix(ending))?;
    // Vim puts a dot before the name.
    let is_vims = matches!(name.rsplit_once('.'), Some((_, "swp" | "swo")));
    let plain = copied.strip_prefix('.').filter(|plain| is_vims && !plain.starts_with("env"));
    Some(plain.unwrap_or(copied)).filter(|original| !original.is_empty())
}

enum Pattern {
    /// The whole name.
    Is(&'static str),
    /// The whole name, unless it is a page of translations.
    Own(&'static str),
    /// How the name starts and ends.
    Between(&'static str, &'static str),
    /// What the name holds somewhere, and how it ends.
    With(&'static str, &'static str),
    /// The last parts of the path.
    Path(&'static str),
    /// A folder that it lies in, however deep.
    In(&'static str),
}

use Pattern::{Between, In, Is, Own, Path, With};

impl Pattern {
    /// Of each name that it fits. `None` where it may be any.
    fn last_byte(&self) -> Option<u8> {
        match *self {
            Is(end) | Own(end) | Between(_, end) | With(_, end) | Path(end) => {
                end.as_bytes().last().copied()
            }
            In(_) => None,
        }
    }

    fn fits(&self, path: &str, name: &str) -> bool {
        match *self {
            Is(whole) => name == whole,
            Own(whole) => {
                let is_translation = |part: &str| TRANSLATIONS.contains(&part);
                name == whole && !path.split('/').any(is_translation)
            }
            Between(start, end) => {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
            }
            With(part, end) => name.strip_suffix(end).is_some_and(|start| start.contains(part)),
            In(folder) => path.split('/').rev().skip(1).any(|part| part == folder),
            Path(parts) => {
                path.strip_suffix(parts).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            }
        }
    }
}

/// Folders of texts in other languages, which have one file for each part of a program.
const TRANSLATIONS: [&str; 9] =
    ["i18n", "intl", "l10n", "lang", "langs", "languages", "locale", "locales", "translations"];

/// Templates that stand in for the real file, and public halves.
#[rustfmt::skip]
const HARMLESS: &[Pattern] = &[
    Between("", ".example"), Between("", ".sample"), Between("", ".template"), Between("", ".tmpl"), Between("", ".dist"),
    Between("", ".tpl"), Between(".env.example", ""), Between(".env.sample", ""), Between(".env.template", ""), Is(".env.defaults"),
    Between("", ".example.env"), Between("", ".sample.env"), Is("example.env"), Is("sample.env"), Is("template.env"),
    Between("", "example.tfvars"), Between("", "sample.tfvars"), Between("", ".pub"), Is("cacert.pem"), Is("ca-bundle.pem"),
    Between("", ".pub.pem"), Between("public", ".pem"), Between("", "public.pem"), Between("", "public_key.pem"), Between("", ".pub.key"),
];

#[rustfmt::skip]
const SECRET: &[(&str, &[Pattern])] = &[
    ("environment-file", &[Is(".env"), Between(".env.", ""), Between("", ".env"), Is(".env~"), Between(".env-", ""), Between(".env_", ""), Between("", ".env.local"), Is(".envrc"), Between(".envrc.", ""), Is(".renviron"), Is(".flaskenv"), Between(".dev.vars", ""), In(".envs")]),
    ("ssh-key", &[
        Is("id_rsa"), Is("id_dsa"), Is("id_ecdsa"), Is("id_ed25519"), Is("id_ecdsa_sk"), Is("id_ed25519_sk"),
        Between("id_rsa", ""), Between("id_ed25519", ""), Between("id_ecdsa", ""), Between("id_dsa", ""), Between("", "_rsa"), Between("", "_ed25519"), Between("", "deploy_key"), Between("ssh_host_", "_key"), Between("", ".ppk"), In(".ssh"),
    ]),
    ("private-key", &[
        Between("", ".key"), Between("", ".pem"), Between("", ".p8"), Between("", ".p12"), Between("", ".pfx"), Between("", ".pkcs12"),
        Between("", ".jks"), Between("", ".keystore"), Between("", ".bks"), Is("secring.gpg"), In(".gnupg"), Between("", ".mobileprovision"), Between("", ".ovpn"),
        Is("private_key"), Is("privatekey"), Is("private-key"), Between("", ".private"), Between("", ".key.txt"), Between("", ".pem.txt"), Between("", ".jceks"), Path("age/keys.txt"), Is("key4.db"), Between("wg", ".conf"),
    ]),
    ("password-store", &[In(".password-store"), Is("wallet.dat"), Is("passwords.txt"), Is("password.txt"), Is(".password"), Is(".pass"), Between("", ".kdbx"), Between("", ".kdb"), Between("", ".psafe3"), Between("", ".agilekeychain"), Between("", ".keychain"), Between("", ".opvault")]),
    ("registry-credentials", &[
        Is(".npmrc"), Is(".pypirc"), Path(".gem/credentials"), Path(".cargo/credentials"),
        Path(".cargo/credentials.toml"), Path(".m2/settings.xml"), Path(".m2/settings-security.xml"), Path(".composer/auth.json"), Is(".htpasswd"),
        Is("htpasswd"), Is(".htdigest"), Is(".sentryclirc"), Is(".clasprc.json"), Is("keystore.properties"), Is("key.properties"), Path(".gradle/gradle.properties"),
    ]),
    ("login-file", &[Is(".netrc"), Is("_netrc"), Is(".pgpass"), Is("pgpass.conf"), Is(".my.cnf"), Is(".mylogin.cnf"), Is(".git-credentials"), Path(".git/credentials"), Is(".authinfo"), Is(".authinfo.gpg"), Own("auth.json"), Own("token.json"), Is("token.pickle"), Is("token.txt"), Is(".token"), Is(".s3cfg"), Is(".boto"), Is(".smbcredentials"), Is(".msmtprc"), Is(".fetchmailrc"), Between(".passwd-", ""), Is(".ftppass"), Is("ftppass"), Between("", "oauth_token.json"), Between("", "oauth_creds.json"), Is("storagestate.json"), Path("huggingface/token")]),
    ("cloud-credentials", &[
        Between("", "credentials.json"), With("firebase-adminsdk", ".json"), Between("", "sa-key.json"), Is("gcp-key.json"), Is("keyfile.json"), Is("aws-credentials"), Is("aws_credentials"),
        Is("credentials.csv"), Is("rootkey.csv"), Between("", "_credentials.csv"), Is("kaggle.json"), Path(".snowflake/connections.toml"), Between("", "accesskeys.csv"), Is(".databrickscfg"), Path(".snowsql/config"), Is("local.settings.json"), Is("application_default_credentials.json"), Between("service-account", ".json"), Between("service_account", ".json"),
        Between("serviceaccount", ".json"), Between("client_secret", ".json"), Is("service-account.json"), Is("service_account.json"), Is("serviceaccount.json"),
        Is("client_secret.json"), Path(".aws/credentials"), Path(".aws/config"), Path(".azure/accesstokens.json"), Path(".azure/msal_token_cache.json"),
        Path(".oci/config"), Path(".config/gcloud/credentials.db"), Path(".config/doctl/config.yaml"), Is(".publishsettings"), Between("", ".publishsettings"),
    ]),
    ("container-credentials", &[Path(".docker/config.json"), Is(".dockercfg"), Is(".dockerconfigjson"), Path("containers/auth.json"), Is("kubeconfig"), Between("kubeconfig.", ""), Between("", ".kubeconfig"), Path(".kube/config")]),
    ("infrastructure-state", &[
        Is("terraform.tfstate"), Between("terraform.tfstate", ""), Between("", ".tfstate"), Between("", ".tfstate.backup"), Between("", ".tfvars"),
        Between("", ".tfvars.json"), Is(".terraformrc"), Is("terraform.rc"), Is("credentials.tfrc.json"), Is(".vault-token"), Is(".vault_pass"), Is(".vault_password"), Is("vault_pass.txt"), Is("vault-password.txt"), Is("vault_password.txt"), Is("vault-pass.txt"), Is(".vault-pass"), Is(".vault-password"),
    ]),
    ("secrets-file", &[
        Is("secrets.yml"), Is("secrets.yaml"), Is("secrets.json"), Is("secrets.toml"), Is("secrets.env"), Is("secret.yml"), Is("secret.yaml"), Is("secret.json"), Is("secret.toml"), Is(".secrets"), Is("secrets.ini"),
        Is(".credentials"), Is("credentials.yml"), Is("credentials.yaml"), Is("credentials.xml"), Is("credentials.ini"), Is("credentials.toml"), Is("credentials.txt"), Is("credentials.properties"), Is("credentials.db"), Is("secrets.txt"), Is("secret.txt"), Is(".secret"),
        Between("secrets.", ".yml"), Between("secrets.", ".yaml"), Between("secrets.", ".json"), Between("secrets.", ".toml"), Between("", ".secret.exs"), Is("secret_token.rb"),
        Is("api_key.txt"), Is("api-key.txt"), Is("apikey.txt"), Is(".api_key"), Is(".apikey"), Is("master.key"), Is("wp-config.php"), Is("local.secrets.json"), Is("secrets.properties"),
    ]),
    ("history-file", &[Is(".bash_history"), Is(".zsh_history"), Is(".python_history"), Is(".psql_history"), Is(".mysql_history"), Is(".rediscli_history"), Is(".node_repl_history"), Is(".irb_history"), Is(".sqlite_history"), Is("fish_history"), Is(".lesshst")]),
    ("tool-token", &[Path(".config/gh/hosts.yml"), Path(".config/hub"), Path(".fly/config.yml"), Path(".netlify/config.json"), Path(".config/netlify/config.json"), Path(".railway/config.json"), Is("ngrok.yml"), Path("configstore/firebase-tools.json"), Is(".claude.json"), Path(".claude/.credentials.json"), Path(".codex/auth.json"), Is(".wakatime.cfg"), Is("rclone.conf"), Is(".rclone.conf"), Is("sftp-config.json"), Path(".vscode/sftp.json"), Is("datasources.local.xml"), Is("filezilla.xml"), Is("recentservers.xml")]),
];
