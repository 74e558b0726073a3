//! Files that are secret by their name, whatever they hold.

use crate::fold;

/// The rule that makes the file at `path` a secret one, if any does: as it is written but for its case, or as some file system takes it.
pub fn is_secret_name(path: &str) -> Option<&'static str> {
    let written = path.replace('\\', "/").to_ascii_lowercase();
    let taken = fold::parts(path).collect::<Vec<_>>().join("/");
    find(&written).or_else(|| (taken != written).then(|| find(&taken)).flatten())
}

fn find(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if HARMLESS.iter().any(|pattern| pattern.fits(path, name)) {
        return None;
    }
    SECRET
        .iter()
        .find(|(_, patterns)| patterns.iter().any(|pattern| pattern.fits(path, name)))
        .map(|(rule, _)| *rule)
}

enum Pattern {
    /// The whole name.
    Is(&'static str),
    /// How the name starts and ends.
    Between(&'static str, &'static str),
    /// The last parts of the path.
    Path(&'static str),
    /// A folder that it lies in, however deep.
    In(&'static str),
}

use Pattern::{Between, In, Is, Path};

impl Pattern {
    fn fits(&self, path: &str, name: &str) -> bool {
        match *self {
            Is(whole) => name == whole,
            Between(start, end) => {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
            }
            In(folder) => path.split('/').rev().skip(1).any(|part| part == folder),
            Path(parts) => {
                path.strip_suffix(parts).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            }
        }
    }
}

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
    ("environment-file", &[Is(".env"), Between(".env.", ""), Between("", ".env"), Is(".env~"), Between(".env-", ""), Is(".envrc"), Is(".renviron"), Is(".flaskenv"), Is(".dev.vars")]),
    ("ssh-key", &[
        Is("id_rsa"), Is("id_dsa"), Is("id_ecdsa"), Is("id_ed25519"), Is("id_ecdsa_sk"), Is("id_ed25519_sk"),
        Between("id_rsa", ""), Between("id_ed25519", ""), Between("ssh_host_", "_key"), Between("", ".ppk"), In(".ssh"),
    ]),
    ("private-key", &[
        Between("", ".key"), Between("", ".pem"), Between("", ".p8"), Between("", ".p12"), Between("", ".pfx"), Between("", ".pkcs12"),
        Between("", ".jks"), Between("", ".keystore"), Between("", ".bks"), Is("secring.gpg"), In(".gnupg"), Between("", ".mobileprovision"), Between("", ".ovpn"),
    ]),
    ("password-store", &[Between("", ".kdbx"), Between("", ".kdb"), Between("", ".psafe3"), Between("", ".agilekeychain"), Between("", ".keychain"), Between("", ".opvault")]),
    ("registry-credentials", &[
        Is(".npmrc"), Is(".pypirc"), Path(".gem/credentials"), Path(".cargo/credentials"),
        Path(".cargo/credentials.toml"), Path(".m2/settings.xml"), Path(".m2/settings-security.xml"), Path(".composer/auth.json"), Is(".htpasswd"),
    ]),
    ("login-file", &[Is(".netrc"), Is("_netrc"), Is(".pgpass"), Is("pgpass.conf"), Is(".my.cnf"), Is(".mylogin.cnf"), Is(".git-credentials"), Is(".s3cfg"), Is(".boto"), Is(".smbcredentials")]),
    ("cloud-credentials", &[
        Is("credentials.json"), Is("firebase-adminsdk.json"), Is("local.settings.json"), Is("application_default_credentials.json"), Between("service-account", ".json"), Between("service_account", ".json"),
        Between("serviceaccount", ".json"), Between("client_secret", ".json"), Is("service-account.json"), Is("service_account.json"), Is("serviceaccount.json"),
        Is("client_secret.json"), Path(".aws/credentials"), Path(".aws/config"), Path(".azure/accesstokens.json"), Path(".azure/msal_token_cache.json"),
        Path(".oci/config"), Path(".config/gcloud/credentials.db"), Path(".config/doctl/config.yaml"), Is("gcloud-credentials.json"), Is(".publishsettings"), Between("", ".publishsettings"),
    ]),
    ("container-credentials", &[Path(".docker/config.json"), Is(".dockercfg"), Is(".dockerconfigjson"), Path("containers/auth.json"), Is("kubeconfig"), Between("kubeconfig.", ""), Between("", ".kubeconfig"), Path(".kube/config")]),
    ("infrastructure-state", &[
        Is("terraform.tfstate"), Between("terraform.tfstate", ""), Between("", ".tfstate"), Between("", ".tfstate.backup"), Between("", ".tfvars"),
        Between("", ".tfvars.json"), Is(".terraformrc"), Is("terraform.rc"), Is("credentials.tfrc.json"), Is(".vault-token"), Is(".vault_pass"), Is(".vault_password"), Is("vault_pass.txt"),
    ]),
    ("secrets-file", &[
        Is("secrets.yml"), Is("secrets.yaml"), Is("secrets.json"), Is("secrets.toml"), Is("secrets.env"), Is("secret.yml"), Is("secret.yaml"), Is("secret.json"), Is("secret.toml"), Is(".secrets"), Is("secrets.ini"),
        Is("credentials.yml"), Is("credentials.yaml"), Is("credentials.xml"), Is("credentials.ini"), Is("master.key"), Is("wp-config.php"), Is("local.secrets.json"), Is("secrets.properties"),
    ]),
    ("history-file", &[Is(".bash_history"), Is(".zsh_history"), Is(".python_history"), Is(".psql_history"), Is(".mysql_history"), Is(".rediscli_history"), Is(".node_repl_history"), Is(".irb_history")]),
    ("tool-token", &[Path(".config/gh/hosts.yml"), Path(".config/hub"), Is(".claude.json"), Path(".claude/.credentials.json"), Path(".codex/auth.json"), Is(".wakatime.cfg"), Is("rclone.conf"), Is(".rclone.conf"), Is("sftp-config.json"), Is("filezilla.xml"), Is("recentservers.xml")]),
];
