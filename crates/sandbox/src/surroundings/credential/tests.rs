use super::*;

#[test]
fn lines_that_set_credentials_are_gone_and_the_others_stay() {
    let npm = "registry=https://npm.example.org/\n//npm.example.org/:_authToken=abc\n//npm.example.org/:_password=YWJj\n\
               //npm.example.org/:username=dev\n@own:registry=https://own.example.org/\nfund=false\nkey=x\n";
    assert_eq!(
        strip(npm),
        "registry=https://npm.example.org/\n@own:registry=https://own.example.org/\nfund=false\n"
    );
    let cargo = "[source.crates-io]\nreplace-with = \"near\"\n[registries.own]\nindex = \"sparse+https://u:p@own.example.org/\"\n\
                 token = \"t\"\n[net]\noffline = true\n";
    assert_eq!(
        strip(cargo),
        "[source.crates-io]\nreplace-with = \"near\"\n[registries.own]\nindex = \"sparse+https://own.example.org/\"\n\
         [net]\noffline = true\n"
    );
    let git = "[remote \"origin\"]\n\turl = https://dev:pw@git.example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
               [http \"https://git.example.org/\"]\n\textraheader = AUTHORIZATION: basic YTpi\n";
    assert_eq!(
        strip(git),
        "[remote \"origin\"]\n\turl = https://git.example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
         [http \"https://git.example.org/\"]\n"
    );
    assert_eq!(strip("npmAuthToken: x\nnodeLinker: node-modules\n"), "nodeLinker: node-modules\n");
}

#[test]
fn users_are_taken_from_every_address_of_a_line() {
    let line = "extra-index-url = https://a:b@one.example.org/simple, http://tok@two.example.org http://three.example.org/@x\n";
    let clean = "extra-index-url = https://one.example.org/simple, http://two.example.org http://three.example.org/@x\n";
    assert_eq!(strip(line), clean);
    assert_eq!(strip("url = https://a@b:c@host.example.org/x"), "url = https://host.example.org/x");
}

#[test]
fn secrets_under_harmless_names_are_redacted() {
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let clean = strip(&format!("note = {token}\n"));
    assert!(!clean.contains(&token) && clean.contains(secret::MARK), "{clean}");
    let pip = "[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n";
    assert_eq!(strip(pip), pip);
}

#[test]
fn a_file_is_covered_only_where_it_gives_something_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    assert_eq!(cover(&path), None);
    fs::write(&path, "[core]\n\tbare = false\n").unwrap();
    assert_eq!(cover(&path), None);
    fs::write(&path, "[remote \"a\"]\n\turl = https://t@h.example.org/\n").unwrap();
    assert_eq!(cover(&path).as_deref(), Some("[remote \"a\"]\n\turl = https://h.example.org/\n"));
    fs::write(&path, vec![b'#'; 300 << 10]).unwrap();
    assert_eq!(cover(&path).as_deref(), Some(""));
    assert_eq!(read_stripped(&path), None);
}

#[test]
fn elements_lose_their_text_whatever_their_attributes() {
    let text = "<servers><password xml:space=\"preserve\">a&amp;b</password><passwords>x</passwords>\
        <name>Private-Token</name><value>glpat-1</value><password/></servers>";
    let clean = ELEMENTS.iter().fold(text.to_owned(), |text, element| emptied(&text, element));
    let wanted = "<servers><password xml:space=\"preserve\"></password><passwords>x</passwords>\
        <name>Private-Token</name><value></value><password/></servers>";
    assert_eq!(clean, wanted);
}
