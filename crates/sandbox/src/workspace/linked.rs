//! Where the links of a base lead.

use std::path::Path;

use super::walk::Folder;

/// The kernel follows no more either.
const HOPS: usize = 40;

/// All that `path` stands for in the tree `root`, where links are on its way: the links behind the first one, and the place where they
/// end, which need not exist. The root itself is the empty path. Nothing where no link is met, or where they leave the tree.
pub fn follow(root: &Path, path: &str) -> std::io::Result<Vec<String>> {
    let tree = Folder::open(root)?;
    let mut met = Vec::new();
    let mut ahead: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
    let mut here: Vec<String> = Vec::new();
    let mut hops = 0;
    while let Some(part) = ahead.pop() {
        match part.as_str() {
            ".." if here.pop().is_none() => return Ok(met),
            "" | "." | ".." => continue,
            _ => here.push(part),
        }
        let Ok(target) = tree.read_link(&here.join("/")) else { continue };
        hops += 1;
        let Some(target) = String::from_utf8(target).ok().filter(|to| !to.starts_with('/')) else {
            return Ok(met);
        };
        if hops > HOPS {
            return Ok(met);
        }
        met.push(here.join("/"));
        here.pop();
        ahead.extend(target.rsplit('/').map(str::to_owned));
    }
    if hops > 0 {
        met.push(here.join("/"));
    }
    met.retain(|one| one != path);
    Ok(met)
}
