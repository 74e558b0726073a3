//! Secrets in places that look neither like an assignment nor like a secret.

use super::super::{MARK, redact};

/// Made of halves, so that no whole secret stands in the source.
fn values() -> [String; 2] {
    [["qrst12", "WXYZ34"].concat(), ["kV7mQ2zX", "p9Lr4TnB"].concat()]
}

/// `@@` is the secret; `\n` is a line break.
const FOUND: &str = r#"hibernate.connection.password @@
masterauth @@
requirepass @@
account work\nuser app\npassword @@
password @@
export DB_PASS ?= @@
export DB_PASS := @@
override DB_PASS := @@
token = """\n@@"""
token = """\n@@\n"""
password = '''\n@@'''
password = [[@@]]
password = ''@@'';
<add value="@@" key="DbPassword"/>
{"value":"@@","name":"DB_PASS"}
{ "value": "@@",\n "name": "DB_PASS" }
{"key":"password","val":"@@"}
<key>apiSecret</key><string>@@</string>
<key>apiSecret</key>\n\t<string>@@</string>
@Value("${db.password:@@}")
process.env.DB_PASS ?? "@@"
process.env.DB_PASS || "@@"
env('DB_PASSWORD','@@')
ENV.fetch("PASSWORD","@@")
ENV.fetch("PASSWORD") { "@@" }
os.getenv("DB_PASSWORD", "@@")
add_argument("--password", default="@@")
parser.add_argument('--db-password', type=str,\n    default='@@')
aws configure set aws_secret_access_key @@
aws configure set aws_secret_access_key @@ --profile work
npm config set //h/:_authToken @@
keytool -list -storepass @@
keytool -list -keystore a.jks -storepass @@ -alias b
ROOTPW=@@
GH_PAT=@@
BASIC_AUTH=@@
REDIS_AUTH=@@
COOKIE_KEY=@@
PSK=@@
psk="@@"
OTP_SEED=@@
htpasswd -b f u @@
htpasswd -nbB u @@
htpasswd -c -b users app '@@'
echo "u:@@" | chpasswd
echo 'root:@@' | sudo chpasswd
echo @@ | docker login --password-stdin
echo "@@" | docker login -u app --password-stdin registry.net
sqlcmd -P @@
sqlcmd -S db -U sa -P '@@' -Q "select 1"
mongosh -p @@
mongosh "mongodb://db" -u app -p @@ --quiet
ldapsearch -w @@
ldapsearch -x -D cn=app -w @@ -b dc=x
SET PASSWORD FOR a = '@@'
SET PASSWORD FOR 'a'@'%' = PASSWORD('@@');
CREATE USER a IDENTIFIED BY '@@'
CREATE USER a IDENTIFIED WITH caching_sha2_password BY '@@';
| password | @@ |
| DB password | `@@` |
- **DB password**: @@
- **DB password:** `@@`
get(url, auth=("app","@@"))
HTTPBasicAuth('app', '@@')
senha=@@
clave: @@
contraseña = "@@"
motdepasse=@@
mot_de_passe: @@
passwort = @@
kennwort: @@
пароль: @@
"пароль": "@@"
db.net:5432:app:app:@@
*:*:*:app:@@
jdbc:oracle:thin:u/@@@h
"#;

#[test]
fn values_are_hidden_in_every_place() {
    let mut left = Vec::new();
    for line in FOUND.lines() {
        for value in values() {
            let text = line.replace("@@", &value).replace("\\n", "\n").replace("\\t", "\t");
            for text in [text.clone(), format!("a\n{text}\nb\n"), format!("a\r\n{text}\r\nb\r\n")] {
                let clean = redact(&text).text;
                assert_eq!(redact(&clean).text, clean);
                if clean.contains(&value) {
                    left.push(clean.into_owned());
                }
            }
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}

#[test]
fn only_the_value_is_hidden() {
    for line in FOUND.lines() {
        let value = &values()[1];
        let text = line.replace("@@", value).replace("\\n", "\n").replace("\\t", "\t");
        let parts: Vec<&str> = text.split(value.as_str()).collect();
        let clean = redact(&text).text;
        assert!(clean.starts_with(parts[0]) && clean.ends_with(parts[1]), "{clean}");
        assert_eq!(clean.matches(MARK).count(), 1, "{clean}");
    }
}

#[test]
fn ordinary_text_in_the_same_places_is_left_alone() {
    let clean = |text: &str| redact(text).text.into_owned();
    let hidden: Vec<String> =
        HARMLESS.lines().filter(|line| clean(line) != *line).map(clean).collect();
    assert_eq!(hidden, Vec::<String>::new());
    assert_eq!(redact(HARMLESS).found, []);
}

const HARMLESS: &str = r#"password authentication
password sha256
password md5-v2
token oauth2
user_password string
the password is checked
password hashing with PBKDF2-HMAC-SHA256
| password | string | required |
| password | sha256 |
| `password` | The password, at least 8 characters |
| token | UUID v4 |
| Option | password | Default |
- **password**: string
- **password**: the password, hashed with bcrypt2
- **Token**: a JWT that lasts 24h
**Password:** required
password = ""
password = ''
password: '', user: 'a1b2c3'
token = """
    Reads the token of 3 parts.
    """
password = [[ "$PASSWORD" ]]
keys = [["a1", "b2"]]
<add value="enabled" key="PasswordReset"/>
{"value": "string", "name": "password"}
{"value": "${DB_PASS}", "name": "DB_PASS"}
{"name": "a1b2c3d4e5f6", "key": "password"}
<key>passwordLabel</key><string>Password1</string>
<key>password</key><string>Enter your password</string>
@Value("${db.password}")
@Value("${db.password:}")
${db.password:#{null}}
${TOKEN:0:8}
${PASSWORD:?set the password first}
${pass:i++:1}
process.env.DB_PASS ?? ""
process.env.DB_PASS ?? defaults.password1
env('DB_PASSWORD', '')
env('DB_PASSWORD', null)
os.getenv("DB_PASSWORD", "changeme")
add_argument("--password", default=None)
add_argument("--password", help="the password", default="")
add_argument("--password-file"), add_argument("--name", default="a1b2c3d4x9")
aws configure set region eu-west-1
aws configure set aws_secret_access_key $SECRET
npm config set //h/:_authToken ${NPM_TOKEN}
keytool -list -storepass $STOREPASS
keytool -storepass password
-password string
auth: true
auth = true
ENABLE_AUTH=true
URL_AUTH = '/api/oauth/authorize?response_type=token&scope=all1&client_id='
BASIC_AUTH=true
SMTP_AUTH=login
USE_PAT=1
FILE_PAT="*.rs"
psk: bool
psk = None
PSK_LENGTH = 32
TLS_PSK_WITH_AES_128_CBC_SHA256
seed = 12345678
random_seed=42a17
clave: valor
enclave: sgx-v2.17a
senha: string
"contraseña": "Contraseña"
"пароль": "Введите пароль"
htpasswd -c /etc/nginx/.htpasswd user1
htpasswd -b file user $PASSWORD
htpasswd -b passwordfile username password
echo "$USER:$PASS" | chpasswd
echo $TOKEN | docker login -u x --password-stdin
echo "${TOKEN}" | docker login -u x --password-stdin
cat token1.txt | docker login --password-stdin
docker run --name mongo -p 27017:27017 mongo
docker run -d -p 5432:5432 --name mongo -v a1:/b2
mongosh -p
ldapsearch -x -w $LDAP_PW
ldapsearch -x -W -D cn=a1
sqlcmd -S db -U sa -P $SA_PASSWORD
SET PASSWORD FOR a = 'password'
identified by 'id'
identified by the serial A1-22b3
auth=("user", "pass")
auth=(user1, password1)
auth=("user", get_password2("x"))
root:*:0:0:System Administrator:/var/root:/bin/sh
nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false
localhost:5432:db:user:password
jdbc:oracle:thin:@localhost:1521:orcl19c
jdbc:oracle:thin:${user}/${password}@host
let id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
token: string
password = form.password
"#;

/// Each is repeated to a megabyte: a search that is not linear would not come to an end here.
#[test]
fn hostile_text_of_the_same_shapes_is_read_to_its_end() {
    for piece in [
        "psk [[",
        "{\"value\": \"name\": \"pw\"",
        "htpasswd -b -b a ",
        "ldapsearch -w ",
        "echo a | docker ",
        "auth=(\"a\", ",
        "\"--pw\", default",
        "config set pw ",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        assert!(redact(&text).text.len() > text.len() / 2, "{piece}");
    }
}
