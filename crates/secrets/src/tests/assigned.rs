//! Secrets behind telling names, in the syntaxes of configuration and code.

use super::super::redact;

/// Made of two halves, so that no whole secret stands in the source.
fn values() -> Vec<String> {
    let halves = [
        ("kV7mQ2zX", "p9Lr4TnB"),
        ("Gx7&kp", "Q2-vTz4"),
        ("mR4#vz", "!8Ktq?"),
        ("9wT$k4", "Lx%2pZ"),
        ("zQ8*n^", "v5~Hj+"),
        ("\u{f6}Kl7pq", "\u{df}9xV2t"),
    ];
    halves.iter().map(|(one, other)| format!("{one}{other}")).collect()
}

/// `@@` is the secret. Every line is tried with every value.
const FOUND: &str = r#"DB_PASS=@@
DB_PASSWD=@@
DB_PASSWORD=@@
DB_PW=@@
DBPASS=@@
MYSQL_PWD=@@
SMTP_PASS: "@@"
SMTP_PASS: @@
SMTP_PASS: '@@'
export DB_PASS=@@
export DB_PASS="@@"
export DB_PASS='@@'
set DB_PASS=@@
setx DB_PASS @@
setx DB_PASS "@@"
SET "DB_PASS=@@"
$env:DB_PASS = "@@"
$env:API_TOKEN='@@'
PGPASSWORD=@@ psql -h db
PGPASSWORD='@@' pg_dump app > out.sql
env DB_PASS=@@ ./server
docker run -e MYSQL_ROOT_PASSWORD=@@ mysql:8
docker build --build-arg NPM_SECRET=@@ .
helm upgrade app ./chart --set db.password=@@
java -Dspring.datasource.password=@@ -jar app.jar
auth: {user: 'x', pass: '@@'}
auth: { user: "x", pass: "@@" },
auth: {user: x, pass: "@@"}
{"user":"x","pass":"@@"}
SECRET_KEY_BASE=@@
SECRET_KEY_BASE: "@@"
secret_key_base: @@
secretKeyBase: '@@',
spring.datasource.password=@@
spring.datasource.password = @@
spring.rabbitmq.password: @@
app.jwt.secret=@@
jwt-secret: @@
db-password: @@
db.password=@@
dbPassword=@@
dbPassword: "@@",
ENV API_SECRET @@
ENV API_SECRET=@@
ENV API_SECRET="@@"
ENV A=b SECRET=@@
ENV a=b secret=@@
ARG TOKEN=@@
ARG DB_PASS=@@
LABEL admin_password="@@"
LABEL db.password=@@
<password>@@</password>
<Password>@@</Password>
<db:password>@@</db:password>
<password encrypted="false">@@</password>
<password><![CDATA[@@]]></password>
<clientSecret>@@</clientSecret>
<datasource user="sa" password="@@"/>
<add key="ApiSecret" value="@@"/>
<add key="DbPassword" value='@@' />
<property name="password" value="@@"/>
<property name="db.password">@@</property>
<entry key="db.password">@@</entry>
<Parameter Name="DB_PASS" Value="@@" />
--password @@
tool --user x --password @@ --verbose
tool --password=@@
tool --password "@@"
tool --db-pass '@@' run
tool --client-secret=@@
mysql -u root -p@@ app
mysqldump --user=x -p'@@' app
sshpass -p @@ ssh host
docker login -u x -p @@
redis-cli -h db -a @@ ping
ConvertTo-SecureString "@@" -AsPlainText -Force
db_password = @@ ; changed last week
sshpass -p '@@' ssh host
openssl rsa -in k.pem -passin pass:@@
Server=db;User Id=sa;Password=@@;Encrypt=true
Server=db;Database=x;Uid=sa;Pwd=@@
"Server=db;Uid=sa;Pwd=@@"
machine h.net login deploy password @@
const password = '@@';
const password = "@@"
let dbPassword = `@@`;
var pass = "@@"
password := "@@"
password: str = "@@"
let password: &str = "@@";
let password: String = String::from("@@");
private static final String PASSWORD = "@@";
let token: Option<String> = Some("@@".into());
val passphrase = "@@"
passphrase: "@@"
passphrase = '@@'
my $password = '@@';
$db_pass = '@@';
$config['db_password'] = '@@';
self.password = "@@"
this.pass = '@@';
password => '@@'
:password => "@@"
"password" => "@@",
password: '@@'
'password': '@@',
"db_password": "@@",
connect(user="x", password="@@")
connect(user='x', passwd='@@', db='y')
setPassword("@@")
user.setPassword('@@');
.password("@@")
builder.withPassword("@@").build()
os.environ["X_TOKEN"]="@@"
os.environ['DB_PASS'] = '@@'
ENV["SECRET_TOKEN"] = "@@"
process.env.DB_PASS = "@@"
process.env.DB_PASS || "@@"
os.getenv("DB_PASS", "@@")
${DB_PASS:-@@}
System.setProperty("db.password", "@@");
props.put("password", "@@");
define('DB_PASSWORD', '@@');
#define WIFI_PASSWORD "@@"
{"name":"DB_PASS","value":"@@"}
{ "name": "DB_PASS", "value": "@@" },
{ name: 'DB_PASS', value: '@@' }
ParameterKey=DbPassword,ParameterValue=@@
password = "@@"
password="@@"
database = { user = "x", password = "@@" }
admin_password = "@@"  # changed last week
password: "@@" # changed last week
password: @@ # changed last week
DB_PASS="@@" # changed last week
DB_PASS = @@
DB_PASS := @@
DB_PASS ?= @@
password=@@
requirepass @@
# DB_PASS=@@
#password = @@
- DB_PASS=@@
- "DB_PASS=@@"
      - DB_PASS=@@
+DB_PASS=@@
config/app.env:3:DB_PASS=@@
     3	DB_PASS=@@
CREATE USER app IDENTIFIED BY '@@';
ALTER USER app WITH PASSWORD '@@';
if password == "@@":
{\"password\": \"@@\"}
"env": "{\"DB_PASS\":\"@@\"}"
userPassword: "@@"
KEYSTORE_PASS=@@
keystorePass="@@"
ldap.bind.credentials=@@
aws.credential: "@@"
AUTH_TOKEN: "@@"
slack_token=@@
signing.keyPassword=@@
storePassword '@@'
echo "DB_PASS=@@" >> .env
"#;

#[test]
fn every_syntax_hides_every_value() {
    let mut left = Vec::new();
    for line in FOUND.lines() {
        for value in values() {
            let text = line.replace("@@", &value);
            for text in
                [text.clone(), format!("a\n{text}\nb = 1\n"), format!("a\r\n{text}\r\nb\r\n")]
            {
                let clean = redact(&text).text;
                if clean.contains(&value) || clean.contains(&value[value.len() / 2 + 2..]) {
                    left.push(clean.into_owned());
                    break;
                }
            }
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}

/// `@@` is a plain word, which is a password only where nothing else can stand.
const PLAIN: &str = r#"DB_PASS=@@
export DB_PASS=@@
ENV DB_PASSWORD @@
ENV DB_PASSWORD=@@
spring.datasource.password=@@
db_password: @@
SMTP_PASS: "@@"
<password>@@</password>
auth: {user: 'x', pass: '@@'}
tool --password @@
tool --password=@@ --verbose
Server=db;Password=@@;
machine h login u password @@
define('DB_PASSWORD', '@@');
"db_password": "@@"
- name: DB_PASS\n  value: @@
password: |\n  @@
[db]\nuser = x\npassword = @@\n
"#;

#[test]
fn a_plain_word_is_a_password_where_nothing_else_can_stand() {
    for line in PLAIN.lines() {
        let value = ["sword", "fishes"].concat();
        let text = line.replace("@@", &value).replace("\\n", "\n");
        let clean = redact(&text).text;
        assert!(!clean.contains(&value), "{clean}");
    }
}

/// `@@` is the secret; `\n` is a line break.
const LINES: &str = r#"- name: DB_PASS\n  value: @@
- name: DB_PASS\n  value: "@@"
env:\n  - name: API_TOKEN\n    value: '@@'\n  - name: X\n    value: y
{"name": "DB_PASS",\n "value": "@@"}
machine h\n  login u\n  password @@\n
variable "db_password" {\n  type = string\n  default = "@@"\n}
password: |\n  @@\nnext: 1
password: >-\n    @@
db:\n  user: x\n  pass: @@\n  port: 1
[client]\nuser = x\npassword = @@
[client]\npassword=@@\nhost=x
<setting name="DbPassword">\n  <value>@@</value>\n</setting>
"#;

#[test]
fn secrets_over_several_lines_are_hidden() {
    for line in LINES.lines() {
        for value in values() {
            let text = line.replace("@@", &value).replace("\\n", "\n");
            let clean = redact(&text).text;
            assert!(!clean.contains(&value), "{clean}");
        }
    }
}

#[test]
fn short_values_and_phrases_are_hidden_where_nothing_else_can_stand() {
    for value in ["a&b", "hunter2", "hunter2!", "winter horse battery staple", "x!y#z"] {
        let text = format!("spring.datasource.password={value}\nDB_PASS=\"{value}\"\n");
        let clean = redact(&text).text;
        assert!(!clean.contains(value), "{clean}");
    }
}

#[test]
fn the_whole_value_is_hidden_and_nothing_else() {
    for (text, clean) in [
        ("DB_PASS={} next", "DB_PASS=[redacted: assigned-password] next"),
        ("DB_PASS='{}' next", "DB_PASS='[redacted: assigned-password]' next"),
        ("<pass>{}</pass>", "<pass>[redacted: assigned-password]</pass>"),
        ("ENV API_SECRET {}\nRUN x", "ENV API_SECRET [redacted: assigned-secret]\nRUN x"),
        ("--pass {} --quiet", "--pass [redacted: assigned-password] --quiet"),
        ("{\"pass\":\"{}\",\"a\":1}", "{\"pass\":\"[redacted: assigned-password]\",\"a\":1}"),
        ("pass: {} # why\nb: 1", "pass: [redacted: assigned-password] # why\nb: 1"),
        ("x=1;Pwd={};y=2", "x=1;Pwd=[redacted: assigned-password];y=2"),
        ("pass = 'a \u{e4} {} b'", "pass = '[redacted: assigned-password]'"),
    ] {
        let value = ["a&b#7", "!$kq"].concat();
        assert_eq!(redact(&text.replacen("{}", &value, 1)).text, clean);
    }
}

#[test]
fn what_only_looks_like_an_assignment_is_left_alone() {
    let clean = |text: &str| redact(text).text.into_owned();
    let hidden: Vec<String> =
        HARMLESS.lines().filter(|line| clean(line) != *line).map(clean).collect();
    assert_eq!(hidden, Vec::<String>::new());
    assert_eq!(redact(HARMLESS).found, []);
}

const HARMLESS: &str = r#"DB_PASS=changeme
DB_PASS=
DB_PASS=""
DB_PASS=${DB_PASS}
DB_PASS=$DB_PASS
DB_PASS="$DB_PASS"
DB_PASS=$(cat /run/secrets/db)
DB_PASS=`cat /run/secrets/db`
DB_PASS=<password>
DB_PASS=xxx
DB_PASS=xxxxxxxx
DB_PASS=***
DB_PASS=********
DB_PASS=...
DB_PASS=your-password-here
DB_PASS=your_db_password
DB_PASS=my-secret-password
DB_PASS=password
DB_PASS=null
DB_PASS=%DB_PASS%
DB_PASS=@DB_PASS@
DB_PASS=/run/secrets/db_pass
DB_PASSWORD_FILE=/run/secrets/db-pass1
password: {{ password }}
password: {{ .Values.db.password1 }}
password: "{{ db_password_1 }}"
password: ${DB_PASSWORD:-}
password: %s
password: "%s"
password: process.env.X
password: process.env.DB_PASS1,
password = os.environ["X"]
password = os.environ['DB_PASS1']
password = os.getenv("DB_PASS1")
password: null
password: ~
password: true
password: false
password: None
password:
password: ""
password: string
password: string;
password: String,
password: str
password: "string"
password: required
password: 'required|min:8'
password: Optional[str] = None
password: z.string().min(8)
password: Type.String({ minLength: 8 })
token: Option<String>
token: Option<String>,
pass: &str
pass: &'a str,
pw: *const u8
token = get_token()
token = await getToken(user1);
token := r.Header.Get("X-Token1")
password = self.password
password = args.password1
password = user.password2;
token: token
token: token,
token: self.token1,
pass = passes + 1
pass = pass1 if ok else pass2
let pass = pass2;
pass: 12 fail: 0
pass: 12, fail: 0
bypass = "always-1"
bypass: cache-v2
compass: north-42x
compass = "n0rth-42"
passenger: "A1-seat-22"
passengers=12abc34
passed: 12
passed = "2024-01-02"
passing: 3f
tokenizer: "bpe-50k-v2"
tokenizer = "cl100k_base"
keyboard: "de-105-x2"
keyboard = "us-intl-104"
secretary: "J. Smith 2nd"
secretary=a1b2c3d4e5
password_field = "password"
password_field = "user_password_1"
PASSWORD_FIELD = 'pw-field-7'
token_count: 4096
token_count = 4096
max_tokens=1000
maxTokens: 4096,
tokens: 12
tokens = [1, 2, 3]
password_min_length: 8
passwordMinLength: 12,
token_type: bearer
token_type: "Bearer-v1"
token_url: https://login.host.net/oauth2/v2/token
tokenUrl = "https://login.host.net/oauth2/v2/token"
token_endpoint: "/oauth2/v2.0/token"
secretName: my-secret
secretName: my-tls-secret-v2
secret_name = "prod/db/v2"
secretRef: db-secret-1
key_base_path: /srv/a1
key_base_path = "data/k1/b2"
password_hash = "$2b$12$abcdefghijklmnopqrstuv"
password_reset_url = "/reset/v2"
passwordResetToken: String
passwordPolicy: "strong-v2"
secret_id: "projects-1-x"
token_expires_in: 3600s1
token_ttl=15m30s
the password is checked by the server 2 times
The token: it is read once
Note on pass: see above
Enter your password: 
Password: 
password: Enter your password
"password": "Enter your password",
"password": "Passwort",
"forgotPassword": "Forgot password?",
password.label=Your password
error.password=Wrong password
--password <PASSWORD>
--password PASSWORD
--password=PASSWORD
--password "$DB_PASS"
--password ${DB_PASS1}
--password $PASS
--token <TOKEN>   The token to use
--password flag
the `--password` option takes a value
use --password or --token to log in
<input type="password" name="password">
<input type="password" name="password" placeholder="Password1">
<password/>
<password></password>
<password>${db.password}</password>
<label for="password">Password</label>
<string name="password">Passwort</string>
<Password>Enter it</Password>
Vec<Token>
HashMap<Token, String>
const TOKEN: Token = Token::new(b'x1');
Token("==")
expect(token).toBe("ident1")
lexer.token("foo1")
["username", "password", "email1"]
("password", "username1")
self.assertEqual(token, "abc")
password: !vault |
password: !secret db_password_1
password: *db_password_1
password: &db_password_1
password: vault:secret/data/db#pw1
password: arn:aws:secretsmanager:eu-1:1:secret:a1b2
secret: file:secret-1.txt
token_file = "token1.json"
password: password.txt
{ name: 'DB_PASS', valueFrom: { secretKeyRef: { name: 'db-1', key: 'pw-1' } } }
{"name":"DB_PASS","valueFrom":"arn:aws:ssm:eu-1:1:parameter/db1"}
secrets.GITHUB_TOKEN
token: ${{ secrets.GITHUB_TOKEN }}
with token = "if"
pass
    pass  # nothing
pass: bool = False
pass_through: "a-1"
passthrough=a1b2c3d4
password?: string
password!: string
password: Field(..., min_length=8)
password: this.state.password1,
password = Column(String(128))
Password: userPassword1,
pwd=$(pwd)
PWD=/x7y8/k9a1/b2c3d4
cwd: "/a1/b2"
row.key = "a1-b2"
keys: "a1 b2 c3"
cache_key = "user-1-b2c3"
primary_key: "id_1"
public_key: "a1b2c3d4"
foreign_key = "user_id1"
partition-key: a1b2
key: value1
token = "x"
"secret": "s",
this.secret = secret1;
if (token === TOKEN_1) {
case Token.Pass2:
secret = Secret { data: x1 }
"#;

/// What the search looks for, again and again: a search that is not linear would not come to an end here.
#[test]
fn hostile_text_is_read_to_its_end() {
    for piece in [
        "pw=",
        "pass: ",
        "<password>",
        "\"token\",",
        "--pass ",
        "pass_",
        "key.",
        "${pw:-",
        "name: pw\n",
        "[a]\npw = ",
        "pass: |\n  ",
        "'pw', '",
        "pw \\\"",
    ] {
        let text = piece.repeat((1 << 17) / piece.len());
        let clean = redact(&text).text;
        assert_eq!(redact(&clean).text, clean);
    }
}
