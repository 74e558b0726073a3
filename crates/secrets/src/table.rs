//! The rule table: data, no code. A rule that stands earlier names a secret that several rules find.

use super::rule::Piece::{Alnum, Base64, Digits, Hex, Lower, Text, Upper};
use super::rule::{Example, Kind, Piece, Rule};

type Names = &'static [&'static str];

/// A secret that is known by its own look.
const fn token(
    name: &'static str,
    keywords: Names,
    shape: &'static str,
    entropy: f64,
    secret: &'static [Piece],
) -> Rule {
    let example = Example { before: "", secret, after: "" };
    Rule { name, keywords, shape, kind: Kind::Token, entropy, turns: 0, example }
}

/// A secret that is known by what stands around it.
const fn value(
    name: &'static str,
    keywords: Names,
    shape: &'static str,
    entropy: f64,
    turns: usize,
    example: Example,
) -> Rule {
    Rule { name, keywords, shape, kind: Kind::Value, entropy, turns, example }
}

const fn block(name: &'static str, keywords: Names, shape: &'static str, example: Example) -> Rule {
    Rule { name, keywords, shape, kind: Kind::Block, entropy: 0.0, turns: 0, example }
}

/// A secret behind a name with one of the parts in it.
const fn named(name: &'static str, keywords: Names, shape: &'static str, example: Example) -> Rule {
    Rule { name, keywords, shape, kind: Kind::Name, entropy: 0.0, turns: 0, example }
}

/// The rule for values behind names of passwords.
pub(super) const PASSWORD: &str = "assigned-password";

const fn within(before: &'static str, secret: &'static [Piece], after: &'static str) -> Example {
    Example { before, secret, after }
}

/// `VENDOR_ANYTHING = "secret"`, in the ways of shells, JSON, YAML and programming languages.
macro_rules! assigned {
    ($vendor:literal, $secret:literal) => {
        concat!(
            "(?i:", $vendor, r#")[0-9A-Za-z_.\-]{0,30}(?:\\?["'`]\]?)?[ \t]{0,8}(?:=>|:=|={1,3}|:|,)[ \t]{0,8}\\?["'`]?"#,
            "(", $secret, r")(?-u:\b)"
        )
    };
}

/// A secret that could be a piece of base64, and stands alone.
macro_rules! alone {
    ($secret:literal) => {
        concat!(r"(?m:^|[^0-9A-Za-z+/_-]|\\[nrt])(", $secret, r")(?:[^0-9A-Za-z+/_-]|$)")
    };
}

/// A quoted secret behind a telling name, which may have a type.
macro_rules! quoted {
    ($names:literal, $least:literal) => {
        concat!(
            "(?i:",
            $names,
            r#")(?i:[_-]?(?:base64|b64|hex|key|val|value|prod|dev|[0-9]{1,2}))?(?:\\?["'`]\]?)?"#,
            r#"(?:[ \t]{0,2}:[ \t]{0,2}[&'A-Za-z<>?:\[\]]{1,24}(?: str| String)?)?"#,
            r#"[ \t]{0,8}(?:=>|:=|={1,3}|!==?|:)[ \t]{0,8}\\?["'`]((?:[^\s"'`\\]|\\[^\s"'`]){"#,
            $least,
            r#",200})\\?["'`]"#
        )
    };
}

/// A bare secret, as in `.env`, YAML and INI files and in queries of URLs.
macro_rules! bare {
    ($names:literal, $least:literal) => {
        concat!(
            "(?i:",
            $names,
            r#")(?i:_?[0-9]{1,2})?[ \t]{0,4}[=:][ \t]{0,4}([^\s"'`\\&,;:()\[\]{}<>|]{"#,
            $least,
            r#",200})(?:[\s"'`\\&]|$)"#
        )
    };
}

/// A password in the authority of a URL.
macro_rules! url {
    ($scheme:literal) => {
        concat!(
            $scheme,
            r#"://[^\s:/?#@\[\]"'`<>{}$]{0,100}:([^\s/?#@\[\]"'`<>{}$]{3,200})@[0-9A-Za-z_\[]"#
        )
    };
}

#[rustfmt::skip]
const KEYS: Names = &[
    "secret", "token", "api_key", "api-key", "apikey", "credential", "access_key", "access-key", "accesskey", "auth_key", "auth-key", "authkey", "client_key", "client-key", "clientkey", "encryption_key", "encryption-key", "encryptionkey", "master_key", "master-key", "masterkey", "private_key", "private-key", "privatekey", "service_key", "service-key", "servicekey", "signing_key", "signing-key", "signingkey", "session_key", "session-key", "sessionkey", "storage_key", "storage-key", "storagekey", "account_key", "account-key", "accountkey", "license_key", "license-key", "licensekey"
];

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    // Private keys.
    block("private-key", &["PRIVATE KEY"],
        r"-{4,5} ?(?:BEGIN|END) (?:[0-9A-Z]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        within("-----BEGIN RSA PRIVATE KEY-----\n", &[Base64(64), Text("\n"), Base64(64), Text("\n"), Base64(42), Text("==")], "\n-----END RSA PRIVATE KEY-----")),
    block("putty-private-key", &["Private-Lines:"], r"Private-Lines: [0-9]{1,4}",
        within("Private-Lines: 2\n", &[Base64(64), Text("\n"), Base64(40)], "\nPrivate-MAC: 0")),
    token("age-secret-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,200}", 3.5, &[Text("AGE-SECRET"), Text("-KEY-1"), Upper(58)]),
    value("jwk-private-key", &["\"d\"", "\"d\\\""], r#"\\?"d\\?"[ \t]{0,4}:[ \t]{0,4}\\?"([0-9A-Za-z_-]{42,700})\\?""#, 4.0, 3, within("{\"kty\":\"EC\",\"d\":\"", &[Alnum(43)], "\"}")),

    // Clouds.
    token("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"], r"(?:A3T[0-9A-Z]|AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?-u:\b)", 3.0, &[Text("AK"), Text("IA"), Upper(16)]),
    value("aws-secret-access-key", &["secret", "aws"], assigned!("secret_?(?:access)?_?key|aws_?secret", "[0-9A-Za-z/+]{40}"), 3.5, 2, within("aws_secret_access_key = ", &[Base64(39), Text("k")], "")),
    value("aws-session-token", &["session"], assigned!("session_?token", "[0-9A-Za-z/+=]{100,1200}"), 4.0, 3, within("aws_session_token = ", &[Base64(159), Text("k")], "")),
    token("aws-bedrock-key", &["ABSK"], r"ABSK[0-9A-Za-z+/]{109,269}={0,2}", 4.0, &[Text("AB"), Text("SK"), Base64(128)]),
    token("google-api-key", &["AIza"], r"AIza[0-9A-Za-z_-]{35}", 3.5, &[Text("AI"), Text("za"), Alnum(35)]),
    token("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-[0-9A-Za-z_-]{28}", 3.0, &[Text("GOC"), Text("SPX-"), Alnum(28)]),
    token("google-oauth-token", &["ya29."], r"ya29\.[0-9A-Za-z_-]{20,1000}", 3.5, &[Text("ya"), Text("29."), Alnum(60)]),
    token("google-refresh-token", &["1//0"], r"1//0[0-9A-Za-z_-]{60,200}", 3.5, &[Text("1/"), Text("/0"), Alnum(80)]),
    value("azure-storage-key", &["AccountKey", "SharedAccessKey"], r"(?i:AccountKey|SharedAccessKey)=([0-9A-Za-z+/]{42,86}={1,2})", 4.0, 2, within("AccountName=a;AccountKey=", &[Base64(86), Text("==")], ";")),
    value("azure-sas-signature", &["sig="], r"[?&;]sig=([0-9A-Za-z%+/=]{40,120})", 3.5, 2, within("https://a.blob.core.windows.net/c?sv=2024-01-01&sig=", &[Alnum(43), Text("%3D")], "")),
    token("azure-client-secret", &["Q~"], r"[0-9A-Za-z_~.-]{3}[0-9]Q~[0-9A-Za-z_~.-]{31,34}", 3.5, &[Alnum(3), Text("8Q"), Text("~"), Alnum(34)]),
    token("azure-devops-token", &["AZDO"], r"[0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4}", 4.0, &[Alnum(76), Text("AZ"), Text("DO"), Alnum(4)]),
    token("alibaba-access-key", &["LTAI"], r"LTAI[0-9A-Za-z]{12,26}(?-u:\b)", 3.5, &[Text("LT"), Text("AI"), Alnum(20)]),
    token("tencent-secret-id", &["AKID"], r"AKID[0-9A-Za-z]{32}(?-u:\b)", 3.5, &[Text("AK"), Text("ID"), Alnum(32)]),
    token("digitalocean-token", &["doo_v1_", "dop_v1_", "dor_v1_"], r"do[opr]_v1_[0-9a-f]{64}", 3.0, &[Text("do"), Text("p_v1_"), Hex(64)]),
    value("heroku-key", &["heroku"], assigned!("heroku", "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"), 2.8, 2, within("HEROKU_API_KEY=", &[Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)], "")),
    token("heroku-token", &["HRKU-"], r"HRKU-[0-9A-Za-z_-]{36,100}", 3.0, &[Text("HR"), Text("KU-AA"), Alnum(58)]),
    value("cloudflare-token", &["cloudflare"], assigned!("cloudflare", "[0-9A-Za-z_-]{37,40}"), 3.5, 2, within("CLOUDFLARE_API_TOKEN=", &[Alnum(40)], "")),
    token("cloudflare-origin-key", &["v1.0-"], r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}", 3.0, &[Text("v1"), Text(".0-"), Hex(24), Text("-"), Hex(146)]),
    value("fastly-token", &["fastly"], assigned!("fastly", "[0-9A-Za-z_-]{32}"), 3.5, 2, within("fastly_api_key: ", &[Alnum(32)], "")),
    token("flyio-token", &["fm1", "fm2_", "fo1_"], r"(?:fm1[ar]_|fm2_|fo1_)[0-9A-Za-z+/_-]{40,1000}={0,3}", 3.5, &[Text("fm"), Text("2_"), Base64(100)]),
    token("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[0-9A-Za-z=._-]{32,64}", 3.0, &[Text("pscale"), Text("_tkn_"), Alnum(43)]),
    token("supabase-token", &["sbp_", "sb_secret_"], r"(?:sbp_[0-9a-f]{40}|sb_secret_[0-9A-Za-z_-]{20,60})", 3.0, &[Text("sb"), Text("p_"), Hex(40)]),
    token("tailscale-key", &["tskey-"], r"tskey-[a-z]{2,20}-[0-9A-Za-z]{6,30}(?:-[0-9A-Za-z]{10,64})?", 3.0, &[Text("ts"), Text("key-auth-"), Alnum(17), Text("-"), Alnum(32)]),
    token("scaleway-key", &["SCW"], r"SCW[0-9A-Z]{17}(?-u:\b)", 3.5, &[Text("SC"), Text("W"), Upper(17)]),
    token("yandex-cloud-token", &["AQVN", "t1."], r"(?:AQVN[0-9A-Za-z_-]{35,38}|t1\.[0-9A-Z]{1}[0-9A-Za-z_-]{5,200}=?={0,2}\.[0-9A-Za-z_-]{86}={0,2})", 3.5, &[Text("AQ"), Text("VN"), Alnum(36)]),
    value("snowflake-password", &["snowflake", "snowsql"], assigned!("(?:snowflake|snowsql)[0-9a-z_.]{0,12}(?:password|pwd|token)", "[!-&*-Z^-~]{8,200}"), 3.0, 1, within("SNOWFLAKE_PASSWORD=", &[Alnum(16)], "")),

    // Forges, registries, delivery.
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[oprsu]_[0-9A-Za-z_]{36,255}", 3.0, &[Text("gh"), Text("p_"), Alnum(36)]),
    token("github-fine-grained-token", &["github_pat_"], r"github_pat_[0-9A-Za-z_]{82,255}", 3.5, &[Text("github"), Text("_pat_"), Alnum(22), Text("_"), Alnum(59)]),
    value("github-url-token", &["x-oauth-basic", "x-access-token"], r"https?://(?:x-access-token:)?([0-9A-Za-z_]{8,255})(?::x-oauth-basic)?@github\.", 3.0, 1, within("https://", &[Hex(40)], ":x-oauth-basic@github.com/a/b")),
    token("gitlab-token", &["glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"], r"gl(?:pat|dt|rt|rtr|ptt|cbt|ft|imt|agent|oas|soat|ffct)-[0-9A-Za-z_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?", 3.0, &[Text("gl"), Text("pat-"), Alnum(20)]),
    token("gitlab-runner-token", &["GR1348941"], r"GR1348941[0-9A-Za-z_-]{20,50}", 3.0, &[Text("GR134"), Text("8941"), Alnum(20)]),
    token("bitbucket-token", &["ATBB", "ATCTT3"], r"(?:ATBB[0-9A-Za-z]{28,40}|ATCTT3[0-9A-Za-z_=-]{50,300})", 3.0, &[Text("AT"), Text("BB"), Alnum(32)]),
    token("atlassian-token", &["ATATT3", "ATSTT3"], r"AT[AS]TT3[0-9A-Za-z_=-]{50,300}", 3.5, &[Text("ATA"), Text("TT3"), Alnum(180)]),
    token("npm-token", &["npm_"], r"npm_[0-9A-Za-z]{36,100}", 3.0, &[Text("np"), Text("m_"), Alnum(36)]),
    value("npm-auth", &["_auth", "_password"], r#"(?m:^|[:\s"'`/]|\\[nr])_(?:authToken|auth|password)[ \t]{0,4}=[ \t]{0,4}["']?([0-9A-Za-z_+/.=-]{8,500})"#, 2.5, 1, within("//registry.example.org/:_authToken=", &[Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)], "")),
    token("pypi-token", &["pypi-AgE"], r"pypi-AgE[0-9A-Za-z_-]{50,1000}", 3.5, &[Text("pypi"), Text("-AgEIcHlwaS5vcmc"), Alnum(120)]),
    token("crates-io-token", &["cio"], r"cio[0-9A-Za-z]{32}(?-u:\b)", 3.5, &[Text("ci"), Text("o"), Alnum(32)]),
    token("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{48}", 3.0, &[Text("ruby"), Text("gems_"), Hex(48)]),
    token("nuget-key", &["oy2"], r"oy2[0-9a-z]{43}(?-u:\b)", 3.5, &[Text("oy"), Text("2"), Lower(43)]),
    token("docker-hub-token", &["dckr_"], r"dckr_(?:pat|oat)_[0-9A-Za-z_-]{27,100}", 3.0, &[Text("dckr"), Text("_pat_"), Alnum(27)]),
    value("docker-registry-auth", &["auth"], r#"\\?"(?:auth|identitytoken)\\?"[ \t]{0,4}:[ \t]{0,4}\\?"([0-9A-Za-z+/]{16,800}={0,2})\\?""#, 3.2, 2, within("{\"auths\":{\"r\":{\"auth\":\"", &[Base64(40)], "\"}}}")),
    token("artifactory-token", &["AKCp", "cmVmdGtu"], r"(?:AKCp[0-9A-Za-z]{60,90}|cmVmdGtu[0-9A-Za-z]{50,60})(?-u:\b)", 3.5, &[Text("AK"), Text("Cp"), Alnum(69)]),
    token("clojars-token", &["CLOJARS_"], r"CLOJARS_[0-9a-z]{60}", 3.5, &[Text("CLO"), Text("JARS_"), Lower(60)]),
    token("sonarqube-token", &["sqa_", "sqp_", "squ_"], r"sq[apu]_[0-9a-f]{40}(?-u:\b)", 3.0, &[Text("sq"), Text("p_"), Hex(40)]),
    token("buildkite-token", &["bkua_", "bkat_", "bkct_", "bkaj_", "bkagt_"], r"bk(?:ua|at|ct|aj|agt)_[0-9A-Za-z]{36,80}", 3.0, &[Text("bk"), Text("ua_"), Hex(40)]),
    token("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"CCIP(?:AT|RJ)_[0-9A-Za-z]{20,24}_[0-9a-f]{40}", 3.0, &[Text("CCI"), Text("PAT_"), Alnum(22), Text("_"), Hex(40)]),
    value("codecov-token", &["codecov"], assigned!("codecov", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), 2.8, 2, within("CODECOV_TOKEN: ", &[Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)], "")),
    value("snyk-token", &["snyk"], assigned!("snyk", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), 2.8, 2, within("SNYK_TOKEN=", &[Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)], "")),
    token("openshift-token", &["sha256~"], r"sha256~[0-9A-Za-z_-]{43}", 3.5, &[Text("sha"), Text("256~"), Alnum(43)]),
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[bsr]\.[0-9A-Za-z_-]{24,300}", 3.0, &[Text("hv"), Text("s."), Alnum(95)]),
    token("terraform-token", &[".atlasv1."], r"[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,80}", 3.5, &[Alnum(14), Text(".atlas"), Text("v1."), Alnum(67)]),
    token("pulumi-token", &["pul-"], r"pul-[0-9a-f]{40}(?-u:\b)", 3.0, &[Text("pu"), Text("l-"), Hex(40)]),
    token("doppler-token", &["dp."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40,44}", 3.5, &[Text("dp"), Text(".pt."), Alnum(43)]),
    token("onepassword-token", &["ops_ey"], r"ops_ey[0-9A-Za-z+/]{100,1500}={0,3}", 3.5, &[Text("ops"), Text("_eyJ"), Alnum(200)]),
    token("onepassword-secret-key", &["A3-"], r"A3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})-[0-9A-Z]{5}-[0-9A-Z]{5}-[0-9A-Z]{5}", 3.5, &[Text("A"), Text("3-"), Upper(6), Text("-"), Upper(6), Text("-"), Upper(5), Text("-"), Upper(5), Text("-"), Upper(5), Text("-"), Upper(5)]),
    token("infracost-key", &["ico-"], r"ico-[0-9A-Za-z]{32}(?-u:\b)", 3.5, &[Text("ic"), Text("o-"), Alnum(32)]),
    token("postman-key", &["PMAK-"], r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", 3.0, &[Text("PM"), Text("AK-"), Hex(24), Text("-"), Hex(34)]),
    token("prefect-key", &["pnu_", "pnb_"], r"pn[bu]_[0-9A-Za-z]{36}(?-u:\b)", 3.5, &[Text("pn"), Text("u_"), Alnum(36)]),

    // Models.
    token("anthropic-key", &["sk-ant-"], r"sk-ant-[0-9a-z]{2,12}-[0-9A-Za-z_-]{40,200}", 3.5, &[Text("sk-"), Text("ant-api03-"), Alnum(93), Text("AA")]),
    token("openrouter-key", &["sk-or-"], r"sk-or-(?:v1-)?[0-9a-f]{48,80}", 3.0, &[Text("sk-"), Text("or-v1-"), Hex(64)]),
    token("openai-key", &["T3BlbkFJ", "sk-proj-", "sk-svcacct-", "sk-admin-"], r"sk-(?:(?:proj|svcacct|admin)-[0-9A-Za-z_-]{40,200}|[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20})", 3.5, &[Text("sk-"), Text("proj-"), Alnum(74), Text("T3Blbk"), Text("FJ"), Alnum(74)]),
    token("sk-key", &["sk-"], r"sk-[0-9A-Za-z]{32,64}(?-u:\b)", 3.5, &[Text("sk"), Text("-"), Hex(32)]),
    token("huggingface-token", &["hf_", "api_org_"], r"(?:hf|api_org)_[0-9A-Za-z]{34}(?-u:\b)", 3.5, &[Text("hf"), Text("_"), Alnum(34)]),
    token("replicate-token", &["r8_"], r"r8_[0-9A-Za-z]{37}(?-u:\b)", 3.5, &[Text("r"), Text("8_"), Alnum(37)]),
    token("groq-key", &["gsk_"], r"gsk_[0-9A-Za-z]{40,64}", 3.5, &[Text("gs"), Text("k_"), Alnum(52)]),
    token("xai-key", &["xai-"], r"xai-[0-9A-Za-z_]{60,100}", 3.5, &[Text("xa"), Text("i-"), Alnum(80)]),
    token("perplexity-key", &["pplx-"], r"pplx-[0-9A-Za-z]{40,64}", 3.5, &[Text("ppl"), Text("x-"), Alnum(48)]),
    token("nvidia-key", &["nvapi-"], r"nvapi-[0-9A-Za-z_-]{60,80}", 3.5, &[Text("nv"), Text("api-"), Alnum(64)]),
    value("fireworks-key", &["fireworks"], assigned!("fireworks", "(?:fw_)?[0-9A-Za-z]{22,48}"), 3.5, 2, within("FIREWORKS_API_KEY=", &[Text("fw"), Text("_"), Alnum(24)], "")),
    token("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", 3.0, &[Text("lsv2"), Text("_pt_"), Hex(32), Text("_"), Hex(10)]),
    token("tavily-key", &["tvly-"], r"tvly-(?:dev-|prod-)?[0-9A-Za-z]{32,40}", 3.5, &[Text("tv"), Text("ly-"), Alnum(32)]),
    token("cerebras-key", &["csk-"], r"csk-[0-9a-z]{48}(?-u:\b)", 3.5, &[Text("cs"), Text("k-"), Lower(48)]),
    token("elevenlabs-key", &["sk_"], r"sk_[0-9a-f]{48}(?-u:\b)", 3.0, &[Text("sk"), Text("_"), Hex(48)]),
    token("databricks-token", &["dapi", "dose", "dkea"], r"d(?:api|ose|kea)[0-9a-f]{32}(?:-[0-9])?(?-u:\b)", 3.0, &[Text("da"), Text("pi"), Hex(32)]),
    token("wandb-key", &["wandb_v1_"], r"wandb_v1_[0-9A-Za-z_]{60,100}", 3.5, &[Text("wandb"), Text("_v1_"), Alnum(77)]),

    // Watching.
    value("datadog-key", &["datadog", "dd_api", "dd_app"], assigned!("datadog|dd_(?:api|app)", "[0-9a-f]{40}|[0-9a-f]{32}"), 3.0, 2, within("DD_API_KEY=", &[Hex(32)], "")),
    token("newrelic-key", &["NRAK-", "NRJS-", "NRII-", "NRRA-"], r"NR(?:AK-[0-9A-Z]{27}|JS-[0-9a-f]{19}|II-[0-9A-Za-z_-]{32}|RA-[0-9a-f]{42})", 3.0, &[Text("NR"), Text("AK-"), Upper(27)]),
    token("newrelic-license-key", &["NRAL"], r"[0-9a-f]{36}NRAL(?-u:\b)", 3.0, &[Hex(36), Text("NR"), Text("AL")]),
    token("sentry-token", &["sntrys_", "sntryu_"], r"sntry(?:s_[0-9A-Za-z+/=_]{60,800}|u_[0-9a-f]{64})", 3.0, &[Text("sntr"), Text("yu_"), Hex(64)]),
    value("sentry-dsn-secret", &["sentry.io"], r"https://[0-9a-f]{32}:([0-9a-f]{32})@[0-9a-z.-]{0,60}sentry\.io", 3.0, 2, within("https://0a1b2c3d4e5f60718293a4b5c6d7e8f9:", &[Hex(32)], "@o1.ingest.sentry.io/2")),
    token("grafana-token", &["glc_", "glsa_"], r"(?:glc_[0-9A-Za-z+/]{32,400}={0,2}|glsa_[0-9A-Za-z]{32}_[0-9a-fA-F]{8})", 3.0, &[Text("gl"), Text("sa_"), Alnum(32), Text("_"), Hex(8)]),
    token("grafana-api-key", &["eyJrIjoi"], r"eyJrIjoi[0-9A-Za-z+/_-]{60,400}={0,2}", 3.5, &[Text("eyJr"), Text("Ijoi"), Alnum(70)]),
    value("pagerduty-key", &["pagerduty", "Token token="], r#"(?i:pagerduty[0-9a-z_.-]{0,20}["']?[ \t]{0,4}[=:][ \t]{0,4}["']?|Token token=)((?:u\+|y_NbAkKc|[0-9A-Za-z_+-])[0-9A-Za-z_+-]{17,31})(?-u:\b)"#, 3.2, 2, within("PAGERDUTY_TOKEN=", &[Alnum(20)], "")),
    token("dynatrace-token", &["dt0"], r"dt0[a-z][0-9]{2}\.[0-9A-Z]{24}\.[0-9A-Z]{64}", 3.5, &[Text("dt0"), Text("c01."), Upper(24), Text("."), Upper(64)]),
    value("honeycomb-key", &["honeycomb"], assigned!("honeycomb", "(?:hc[abx][a-z]{2}_[0-9a-z]{58}|[0-9A-Za-z]{22}|[0-9a-f]{32})"), 3.2, 2, within("HONEYCOMB_API_KEY=", &[Alnum(22)], "")),
    token("posthog-key", &["phx_", "phs_"], r"ph[xs]_[0-9A-Za-z]{32,60}", 3.5, &[Text("ph"), Text("x_"), Alnum(43)]),

    // Messages and people.
    token("slack-token", &["xox"], r"xox[abeoprs](?:\.xox[bp])?-(?:[0-9A-Za-z]{1,256}-){1,5}[0-9A-Za-z]{8,256}", 3.0, &[Text("xox"), Text("b-"), Digits(12), Text("-"), Digits(12), Text("-"), Alnum(24)]),
    token("slack-app-token", &["xapp-"], r"xapp-(?:[0-9A-Za-z]{1,40}-){1,4}[0-9A-Za-z]{8,80}", 3.0, &[Text("xa"), Text("pp-1-A"), Upper(10), Text("-"), Digits(13), Text("-"), Hex(64)]),
    token("slack-webhook", &["hooks.slack.com"], r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[0-9A-Za-z]{1,40}/[0-9A-Za-z]{1,40}(?:/[0-9A-Za-z]{1,60}){1,2}", 3.0, &[Text("https://hooks.slack"), Text(".com/services/T"), Upper(8), Text("/B"), Upper(8), Text("/"), Alnum(24)]),
    token("discord-webhook", &["/api/webhooks/"], r"https://(?:[a-z]{2,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{16,20}/[0-9A-Za-z_-]{60,80}", 3.5, &[Text("https://discord"), Text(".com/api/webhooks/"), Digits(18), Text("/"), Alnum(68)]),
    token("discord-bot-token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"], r"[MNO][DTjz][AEIMQUYcgk][0-5w-z][0-9A-Za-z_-]{20,24}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,38}(?-u:\b)", 4.0, &[Text("MT"), Text("A4"), Alnum(22), Text("."), Alnum(6), Text("."), Alnum(38)]),
    token("teams-webhook", &[".webhook.office.com"], r"https://[0-9a-z-]{1,60}\.webhook\.office\.com/webhookb2/[0-9A-Za-z@-]{40,100}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}", 3.0, &[Text("https://a.webhook"), Text(".office.com/webhookb2/"), Hex(36), Text("@"), Hex(36), Text("/IncomingWebhook/"), Hex(32), Text("/"), Hex(36)]),
    token("telegram-bot-token", &[":AA"], r"[0-9]{8,10}:AA[0-9A-Za-z_-]{33}(?-u:\b)", 3.5, &[Text("1"), Digits(9), Text(":A"), Text("A"), Alnum(33)]),
    token("twilio-key", &["SK", "AC"], r"(?:SK|AC)[0-9a-f]{32}(?-u:\b)", 3.0, &[Text("S"), Text("K"), Hex(32)]),
    value("twilio-auth-token", &["twilio"], assigned!("twilio[0-9a-z_]{0,20}(?:token|secret)", "[0-9a-f]{32}"), 3.0, 2, within("TWILIO_AUTH_TOKEN=", &[Hex(32)], "")),
    token("sendgrid-key", &["SG."], r"SG\.[0-9A-Za-z_-]{16,32}\.[0-9A-Za-z_-]{16,64}", 3.5, &[Text("S"), Text("G."), Alnum(22), Text("."), Alnum(43)]),
    token("mailgun-key", &["key-"], r"key-[0-9a-f]{32}(?-u:\b)", 3.0, &[Text("ke"), Text("y-"), Hex(32)]),
    value("mailgun-private-key", &["mailgun"], assigned!("mailgun", "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"), 3.0, 2, within("MAILGUN_API_KEY=", &[Hex(32), Text("-"), Hex(8), Text("-"), Hex(8)], "")),
    token("mailchimp-key", &["-us"], r"[0-9a-f]{32}-us[0-9]{1,2}(?-u:\b)", 3.0, &[Hex(32), Text("-u"), Text("s12")]),
    token("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[0-9a-f]{64}-[0-9A-Za-z]{16}", 3.0, &[Text("xkey"), Text("sib-"), Hex(64), Text("-"), Alnum(16)]),
    token("resend-key", &["re_"], r"re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24}(?-u:\b)", 3.5, &[Text("re"), Text("_"), Alnum(8), Text("_"), Alnum(24)]),
    value("facebook-token", &["EAA"], alone!("EAA[0-9A-Za-z]{80,300}"), 3.5, 2, within("", &[Text("EA"), Text("A"), Alnum(160)], "")),
    value("facebook-secret", &["facebook", "fb_app_secret"], assigned!("facebook[0-9a-z_]{0,12}(?:secret|key)|fb_app_secret", "[0-9a-f]{32}"), 3.0, 2, within("FACEBOOK_APP_SECRET=", &[Hex(32)], "")),
    value("twitter-bearer-token", &["AAAAAAAAAAAAAAAAAAAA"], alone!("A{20}[0-9A-Za-z%]{60,150}"), 3.5, 2, within("", &[Text("AAAAAAAAAA"), Text("AAAAAAAAAAAA"), Alnum(90)], "")),
    value("twitter-secret", &["twitter"], assigned!("twitter[0-9a-z_]{0,20}(?:secret|token|key)", "[0-9]{6,20}-[0-9A-Za-z]{40}|[0-9A-Za-z]{45,50}"), 3.5, 2, within("TWITTER_API_SECRET=", &[Alnum(50)], "")),
    value("linkedin-secret", &["linkedin"], assigned!("linkedin[0-9a-z_]{0,12}secret", "(?:WPL_AP1\\.)?[0-9A-Za-z]{16}(?:\\.[0-9A-Za-z+/=]{8})?"), 3.0, 2, within("LINKEDIN_CLIENT_SECRET=", &[Alnum(16)], "")),
    token("twitch-stream-key", &["live_"], r"live_[0-9]{6,12}_[0-9A-Za-z]{30}(?-u:\b)", 3.5, &[Text("li"), Text("ve_"), Digits(9), Text("_"), Alnum(30)]),

    // Work and shops.
    token("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[0-9A-Za-z_]{32,128}", 3.0, &[Text("lin"), Text("_api_"), Alnum(40)]),
    token("notion-token", &["ntn_", "secret_"], r"(?:ntn_[0-9]{9,12}[0-9A-Za-z]{34,40}|secret_[0-9A-Za-z]{43})(?-u:\b)", 3.5, &[Text("nt"), Text("n_"), Digits(11), Alnum(35)]),
    token("airtable-token", &["pat"], r"pat[0-9A-Za-z]{14}\.[0-9a-f]{64}(?-u:\b)", 3.0, &[Text("pa"), Text("t"), Alnum(14), Text("."), Hex(64)]),
    token("asana-token", &["/1"], r"[012]/1[0-9]{12,18}(?:/[0-9]{10,18})?:[0-9a-f]{32}(?-u:\b)", 3.0, &[Text("1/"), Text("1"), Digits(15), Text(":"), Hex(32)]),
    token("figma-token", &["figd_", "figo_"], r"fig[do]_[0-9A-Za-z_-]{38,60}", 3.5, &[Text("fi"), Text("gd_"), Alnum(40)]),
    token("dropbox-token", &["sl."], r"sl\.(?:u\.)?[0-9A-Za-z_-]{100,1500}", 4.0, &[Text("s"), Text("l."), Alnum(136)]),
    token("contentful-token", &["CFPAT-"], r"CFPAT-[0-9A-Za-z_-]{43}", 3.5, &[Text("CF"), Text("PAT-"), Alnum(43)]),
    token("typeform-token", &["tfp_"], r"tfp_[0-9A-Za-z_.=-]{40,70}", 3.5, &[Text("tf"), Text("p_"), Alnum(59)]),
    token("hubspot-token", &["pat-na1-", "pat-eu1-"], r"pat-(?:na|eu|ap)[12]-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", 3.0, &[Text("pat"), Text("-na1-"), Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)]),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shpit_"], r"shp(?:at|ca|pa|ss|ua|it)_[0-9A-Za-z]{32,64}", 3.0, &[Text("shp"), Text("at_"), Hex(32)]),
    token("stripe-key", &["k_live_", "k_test_"], r"[rs]k_(?:live|test)_[0-9A-Za-z]{16,250}", 3.0, &[Text("sk"), Text("_live_"), Alnum(24)]),
    token("stripe-webhook-secret", &["whsec_"], r"whsec_[0-9A-Za-z+/]{32,64}=?", 3.5, &[Text("wh"), Text("sec_"), Alnum(32)]),
    token("square-token", &["sq0"], r"sq0[a-z]{3}-[0-9A-Za-z_-]{22,50}", 3.5, &[Text("sq0"), Text("atp-"), Alnum(22)]),
    value("square-access-token", &["EAAA"], alone!("EAAA[0-9A-Za-z_-]{60}"), 3.5, 2, within("", &[Text("EA"), Text("AA"), Alnum(60)], "")),
    token("braintree-token", &["access_token$"], r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", 3.0, &[Text("access"), Text("_token$production$"), Lower(16), Text("$"), Hex(32)]),
    value("paypal-secret", &["paypal", "braintree"], assigned!("(?:paypal|braintree)[0-9a-z_]{0,20}(?:secret|key)", "E[0-9A-Za-z_-]{79}|[0-9a-f]{32}"), 3.0, 2, within("PAYPAL_CLIENT_SECRET=", &[Text("E"), Alnum(79)], "")),
    token("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", 3.0, &[Text("access"), Text("-production-"), Hex(8), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(4), Text("-"), Hex(12)]),
    token("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K[0-9A-Za-z]{54}(?-u:\b)", 3.5, &[Text("EZ"), Text("AK"), Alnum(54)]),
    token("flutterwave-key", &["FLWSECK"], r"FLWSECK(?:_TEST)?-[0-9A-Za-z]{12,36}-X", 3.0, &[Text("FLW"), Text("SECK-"), Hex(32), Text("-X")]),
    value("algolia-key", &["algolia"], assigned!("algolia[0-9a-z_]{0,20}key", "[0-9a-f]{32}"), 3.0, 2, within("ALGOLIA_ADMIN_KEY=", &[Hex(32)], "")),
    value("okta-token", &["okta", "SSWS"], r#"(?i:okta[0-9a-z_.-]{0,24}["']?[ \t]{0,4}[=:][ \t]{0,4}["']?|SSWS[ \t]{1,4})(00[0-9A-Za-z_-]{40})(?-u:\b)"#, 3.5, 2, within("OKTA_API_TOKEN=", &[Text("0"), Text("0"), Alnum(40)], "")),
    token("frameio-token", &["fio-u-"], r"fio-u-[0-9A-Za-z_=-]{64}", 3.5, &[Text("fio"), Text("-u-"), Alnum(64)]),
    token("adafruit-key", &["aio_"], r"aio_[0-9A-Za-z]{28}(?-u:\b)", 3.5, &[Text("ai"), Text("o_"), Alnum(28)]),

    // Known by their form.
    token("jwt", &["eyJ"], r"eyJ[0-9A-Za-z_-]{10,2000}\.eyJ[0-9A-Za-z_-]{10,4000}\.[0-9A-Za-z_-]{10,1000}", 3.5, &[Text("ey"), Text("J"), Alnum(33), Text(".ey"), Text("J"), Alnum(70), Text("."), Alnum(43)]),
    value("authorization-header", &["authorization"], r#"(?i:authorization)(?:\\?["'`]\]?)?[ \t]{0,4}[:=,][ \t]{0,4}(?:f|b|rb?)?\\?["'`]?(?i:bearer|basic|token|apikey|digest|bot)[ \t]{1,4}([0-9A-Za-z_.~+/=-]{8,1000})"#, 3.0, 1, within("Authorization: Bearer ", &[Alnum(32)], "")),
    value("bearer-token", &["bearer "], r"(?i:bearer) ([0-9A-Za-z_.~+/=-]{20,1000})", 3.5, 3, within("-H 'X-Auth: Bearer ", &[Alnum(32)], "'")),
    value("database-url", &["postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "sqlserver", "mssql", "clickhouse", "cockroach", "oracle", "db2"],
        url!(r"(?i:postgres(?:ql)?|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|sqlserver|mssql|clickhouse|cockroachdb|oracle|db2)(?:\+[0-9a-z_]{1,20})?"), 2.5, 0, within("postgres://app:", &[Alnum(16)], "@db.internal:5432/app")),
    value("url-password", &["://"], url!("(?i:https?|ftps?|sftp|ssh|git|wss?|smtps?|imaps?|ldaps?|mqtts?|socks5h?|nats|svn|rsync|s3)"), 2.5, 0, within("https://deploy:", &[Alnum(16)], "@git.internal.net/a.git")),
    value("connection-string", &["password=", "pwd="], r#"(?i:password|pwd)=([^\s"'`;(){}<>$&]{6,128});"#, 2.5, 1, within("Server=db;User Id=app;Password=", &[Alnum(16)], ";")),
    value("curl-user", &["-u ", "--user"], r#"(?:[ \t]-u|--user)(?:[ \t]|=)["']?[0-9A-Za-z_.@-]{1,64}:([^\s"'`$<>{}()]{6,128})"#, 2.5, 1, within("curl -u deploy:", &[Alnum(16)], " https://ci.internal")),

    // Known by their names only.
    value("password", &["passw", "passphrase", "pwd"], quoted!("passw(?:or)?d|passwort|passphrase|pwd", "8"), 2.8, 1, within("password = \"", &[Alnum(14)], "\"")),
    value("secret", KEYS,
        quoted!("secret|token|api[_-]?key|(?:access|auth|account|client|encryption|license|master|private|secret|service|session|signing|storage)[_-]?key|credentials?", "16"), 3.3, 3, within("api_key: \"", &[Alnum(24)], "\"")),
    value("bare-password", &["passw", "passphrase", "pwd"], bare!("passw(?:or)?d|passphrase|pwd", "8"), 3.0, 2, within("DB_PASSWORD=", &[Alnum(16)], "")),
    value("bare-secret", KEYS,
        bare!("secret|token|api[_-]?key|(?:access|auth|client|encryption|master|private|secret|service|signing)[_-]?key", "16"), 3.5, 4, within("SERVICE_TOKEN=", &[Alnum(32)], "")),

    // Known by the parts of their names.
    value("mysql-password", &["mysql", "mariadb"], r#"(?:mysql|mariadb)[a-z]{0,8}[ \t][^\n|;]{0,160}?[ \t]-p["']?([^\s"'`<>{}()-][^\s"'`<>{}()]{3,128})"#, 2.0, 0, within("mysql -u root -p", &[Alnum(12)], " app")),
    value("command-password", &["sshpass", "login", "redis-cli"], r#"(?:sshpass|(?:docker|podman|az|oc)[ \t]login[^\n|;]{0,120}?|redis-cli[^\n|;]{0,120}?)[ \t]{1,4}-[ap][ \t]{1,4}["']?([^\s"'`<>{}()]{4,128})"#, 2.0, 0, within("sshpass -p ", &[Alnum(12)], " ssh host")),
    value("powershell-password", &["ConvertTo-SecureString"], r#"(?i:ConvertTo-SecureString)[ \t]{1,4}(?:-[Ss]tring[ \t]{1,4})?\\?["']([^\n"'()\\]{4,128})\\?["']"#, 2.0, 0, within("ConvertTo-SecureString \"", &[Alnum(12)], "\" -AsPlainText")),
    value("directory-password", &["sqlcmd", "ldap"], r#"(?:sqlcmd(?:[ \t][^\n|;]{0,160}?)?[ \t]-P|ldap(?:search|add|modify|delete|compare|whoami|passwd)(?:[ \t][^\n|;]{0,160}?)?[ \t]-w)[ \t]{1,4}["']?([^\s"'`<>{}()$-][^\s"'`<>{}()]{3,127})"#, 2.0, 0, within("sqlcmd -S db -U sa -P ", &[Alnum(12)], " -Q q")),
    value("mongo-password", &["mongo"], r#"mongo(?:sh|dump|restore|import|export)?(?:[ \t][^\n|;]{0,160}?)?[ \t]-p[ \t]{1,4}["']?([^\s"'`<>{}()$-][^\s"'`<>{}()]{3,127})"#, 2.0, 1, within("mongosh -u app -p ", &[Alnum(12)], " db")),
    value("htpasswd-password", &["htpasswd"], r#"htpasswd[ \t]{1,4}(?:-[0-9A-Za-z]{1,8}[ \t]{1,4}){0,4}-[0-9A-Za-z]{0,6}b[0-9A-Za-z]{0,6}[ \t]{1,4}(?:-[0-9A-Za-z]{1,8}[ \t]{1,4}){0,4}(?:[^\s|;&-][^\s|;&]{0,127}[ \t]{1,4}){1,2}["']?([^\s"'`<>{}()|;&$-][^\s"'`<>{}()|;&]{3,127})["']?[ \t]{0,4}(?:[\r\n|;&>#)\\"'`]|$)"#, 2.0, 0, within("htpasswd -b users app ", &[Alnum(12)], "")),
    value("piped-password", &["chpasswd", "password-stdin", "passwd --stdin", "sudo -S", "--with-token"], r#"(?:echo|printf)[ \t]{1,4}(?:-[en]{1,2}[ \t]{1,4})?["']?(?:[0-9A-Za-z_.-]{1,64}:)?([^\s"'`<>{}()|;&$:-][^\s"'`<>{}()|;&]{3,127})["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?(?:chpasswd|passwd[ \t]{1,4}--stdin|sudo[ \t]{1,4}-S|(?:docker|podman|buildah|helm|oras|gh|crane|aws)[ \t][^\n|;]{0,160}?--(?:password-stdin|with-token))"#, 2.0, 0, within("echo ", &[Alnum(12)], " | docker login -u app --password-stdin")),
    value("auth-pair", &["auth"], r#"(?:auth[ \t]{0,4}=[ \t]{0,4}|BasicAuth)\([ \t]{0,4}\\?["'][^\n"'\\]{1,64}\\?["'][ \t]{0,4},[ \t]{0,4}\\?["']([^\s"'`<>{}()\\]{6,128})\\?["'][ \t]{0,4}\)"#, 2.5, 1, within("get(url, auth=(\"app\", \"", &[Alnum(12)], "\"))")),
    value("pgpass-line", &[":5432:", ":*:"], r#"(?:[0-9A-Za-z.*-]:5432|(?m:^)[0-9A-Za-z.*-]{1,100}:\*):[^\s:"'`]{1,64}:[^\s:"'`]{1,64}:([^\s:"'`\\<>{}()$]{4,128})(?:[\s"'`\\)}]|$)"#, 2.0, 1, within("db.internal:5432:app:app:", &[Alnum(12)], "")),
    value("oracle-url", &["jdbc:oracle"], r#"(?i:jdbc:oracle):[a-z0-9]{3,4}:[^\s/@"'`<>{}$]{1,64}/([^\s/@"'`<>{}$]{4,128})@"#, 2.5, 0, within("jdbc:oracle:thin:app/", &[Alnum(12)], "@db:1521:x")),
    value("sql-password", &["identified", "set password"], r#"(?:(?i:identified[ \t]{1,4}(?:with[ \t]{1,4}[0-9a-z_"'`]{1,40}[ \t]{1,4})?by)[ \t]{1,4}(?i:password[ \t]{1,4})?|(?i:set[ \t]{1,4}password(?:[ \t]{1,4}for[ \t]{1,4}[^\s=]{1,80})?[ \t]{0,4}=[ \t]{0,4}(?:password\()?))["']([^\n"'()]{4,128})["']"#, 2.0, 0, within("CREATE USER app IDENTIFIED BY '", &[Alnum(12)], "'")),
    named(PASSWORD, &["pass", "pwd", "psw", "pw", "psk", "kennwort", "wachtwoord", "masterauth", "senha", "clave", "contrase", "пароль"],
        "(?i:pass|psw|pwd?|psk|kennwort|wachtwoord|masterauth|senha|clave|contrase(?:\u{f1}|n)i?a|пароль)", within("DB_PASS=", &[Text("w"), Lower(6), Text("&k")], "")),
    named("assigned-secret", &["secret", "token", "cred", "key", "_auth", "_pat", "otp_seed", "otpseed"],
        r"(?i:secret|token|cred|key|otp_?seed)|_(?:AUTH|PAT)(?-u:\b)", within("SERVICE_SECRET=", &[Lower(7), Text("&k")], "")),
];
