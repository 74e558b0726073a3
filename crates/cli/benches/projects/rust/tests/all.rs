#[test]
fn counts() {
    let rows = warm::count("a b a");
    assert_eq!(
        serde_json::to_string(&rows).unwrap(),
        r#"[{"name":"a","count":2},{"name":"b","count":1}]"#
    );
}
#[test]
fn works() {
    assert_ne!(warm::work(1), warm::work(2));
}
