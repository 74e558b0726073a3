//! Who started this, and whom root's jails run as.

use std::fs;

use crate::blueprint::Ids;

/// An id that belongs to nobody: systemd's table of ids leaves `0x7fff0000` to `0x7fffffff` free, no distribution hands
/// them out, and they stay positive where a program keeps an id in 32 signed bits. `nobody` is no such id: daemons run
/// under it.
const STRANGER: u32 = 0x7fff_5e01;

/// The same where only 16 bits of ids are mapped, as in most containers: Debian keeps 65000 to 65533 free.
const SHORT_STRANGER: u32 = 65_409;

pub(crate) fn look() -> (Ids, Option<Ids>) {
    let owner = Ids {
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
    };
    if owner.user != 0 {
        return (owner, None);
    }
    let map = |name| fs::read_to_string(format!("/proc/self/{name}_map")).unwrap_or_default();
    let (users, groups) = (map("uid"), map("gid"));
    let free = |id: &u32| is_mapped(&users, *id) && is_mapped(&groups, *id);
    let stranger = [STRANGER, SHORT_STRANGER].into_iter().find(free);
    (owner, stranger.map(|id| Ids { user: id, group: id }))
}

/// Whether an id of this user namespace is one of the machine's, by the lines `inside outside count`.
fn is_mapped(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().ok());
        let (Some(Some(first)), Some(Some(_)), Some(Some(count))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        u64::from(id).checked_sub(first).is_some_and(|offset| offset < count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_mapped_where_a_line_reaches_it() {
        let whole = "         0          0 4294967295\n";
        assert!(is_mapped(whole, STRANGER));
        let container = "0 1000 1\n1 100000 65535\n";
        assert!(is_mapped(container, SHORT_STRANGER) && !is_mapped(container, STRANGER));
        assert!(!is_mapped("0 1000 1\n", SHORT_STRANGER));
        assert!(!is_mapped("", 0) && !is_mapped("x y z\n", 0));
    }
}
