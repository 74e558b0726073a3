//! Expected texts as files: what is not there is written and fails, so that somebody looks at it.

use std::fs;
use std::path::Path;

pub(crate) fn assert(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let actual = format!("{}\n", actual.trim_end());
    let Ok(expected) = fs::read_to_string(&path) else {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
        panic!("`{name}` was not there and is now: look at it, then run this again");
    };
    for (number, (actual, expected)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(
            actual,
            expected,
            "`{name}`, line {}; delete the file to have it written anew",
            number + 1
        );
    }
    assert_eq!(actual, expected, "`{name}`; delete the file to have it written anew");
}
