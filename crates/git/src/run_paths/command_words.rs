//! The words of a shell command that may name a file.

/// A word with what the words before it say about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandWord<'t> {
    pub(super) text: &'t str,
    /// The name of the program, or the option, right before it.
    pub(super) before: &'t str,
    /// The argument of the `cd` before it.
    pub(super) directory: Option<&'t str>,
    /// `a.b` in `python3 -m a.b`.
    pub(super) is_module: bool,
}

impl CommandWord<'_> {
    /// The paths that the word spells: a module is a file or a package.
    pub(super) fn places(&self) -> Vec<String> {
        if !self.is_module {
            return vec![self.text.to_owned()];
        }
        module_places(self.text)
    }
}

/// The files that Python takes a module from.
pub(super) fn module_places(module: &str) -> Vec<String> {
    let path = module.replace('.', "/");
    let mut places = vec![format!("{path}.py"), format!("{path}/__main__.py")];
    let packages = path.match_indices('/').map(|(end, _)| &path[..end]).chain([path.as_str()]);
    places.extend(packages.map(|package| format!("{package}/__init__.py")));
    places
}

/// The words of a command, and the directory that it leaves the next command in.
///
/// It splits where a shell does, and takes off what stands before an equals sign.
pub(super) fn read<'t>(
    text: &'t str,
    mut directory: Option<&'t str>,
) -> (Vec<CommandWord<'t>>, Option<&'t str>) {
    let mut words = Vec::new();
    for command in text.split([';', '&', '|', '\n']) {
        let parts = command.split(|c: char| c.is_whitespace() || "'\"`(){}<>$!".contains(c));
        let parts = parts.map(|word| word.rsplit('=').next().unwrap_or(word));
        let (first, mut before, mut runs_python) = (words.len(), "", false);
        for text in parts.filter(|word| !word.is_empty()) {
            let is_module = runs_python && before == "-m";
            words.push(CommandWord { text, before, directory, is_module });
            before = text.rsplit('/').next().unwrap_or(text);
            runs_python |= before.starts_with("python");
        }
        // `cd "$(git rev-parse --show-toplevel)/x"` ends with the part that tells.
        if let [cd, .., last] = &words[first..]
            && cd.text == "cd"
        {
            directory = Some(last.text);
        }
    }
    (words, directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_directory_holds_for_the_words_behind_it() {
        let (words, after) = read("!cd tools && ./z.sh; cd \"$(x)/other\"; x", None);
        let seen: Vec<_> = words.iter().map(|word| (word.text, word.directory)).collect();
        assert_eq!(after, Some("/other"));
        let (one, two) = (Some("tools"), Some("/other"));
        let wanted = [
            ("cd", None),
            ("tools", None),
            ("./z.sh", one),
            ("cd", one),
            ("x", one),
            ("/other", one),
            ("x", two),
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn a_module_is_a_file_or_a_package() {
        let last = |text| read(text, None).0.last().unwrap().places();
        let package = ["a/b.py", "a/b/__main__.py", "a/__init__.py", "a/b/__init__.py"];
        assert_eq!(last("/usr/bin/python3.12 -m a.b"), package);
        assert_eq!(last("tool -m a.b"), ["a.b"]);
    }
}
