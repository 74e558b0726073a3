//! What a kernel says of itself, and what a person can do where it lacks something. Nothing is decided by it: that takes trying.

use std::fs;
use std::path::Path;

use sequester_sandbox::Capability;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kernel {
    /// As in `6.12.1`.
    pub(super) release: String,
    /// The system it is from; empty where it does not say.
    pub(super) system: String,
    /// Who keeps user namespaces from users.
    obstacle: Option<Obstacle>,
    /// Landlock is in it and not switched on.
    landlock_off: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    Filter,
    Count,
    Switch,
    AppArmor,
}

impl Kernel {
    pub(super) fn look() -> Self {
        Self::look_in(Path::new("/"))
    }

    fn look_in(root: &Path) -> Self {
        let read = |path: &str| -> String {
            let text = fs::read_to_string(root.join(path)).unwrap_or_default();
            text.trim().to_owned()
        };
        let system = read("etc/os-release");
        let system = system.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        let status = read("proc/self/status");
        let filtered = status
            .lines()
            .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
        let is = |path: &str, value: &str| read(&format!("proc/sys/{path}")) == value;
        let obstacle = if is("user/max_user_namespaces", "0") {
            Some(Obstacle::Count)
        } else if is("kernel/unprivileged_userns_clone", "0") {
            Some(Obstacle::Switch)
        } else if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
            Some(Obstacle::AppArmor)
        } else {
            filtered.then_some(Obstacle::Filter)
        };
        let modules = read("sys/kernel/security/lsm");
        Self {
            release: read("proc/sys/kernel/osrelease"),
            system: system.unwrap_or_default().trim_matches('"').to_owned(),
            obstacle,
            landlock_off: !modules.is_empty() && !modules.split(',').any(|one| one == "landlock"),
        }
    }

    /// What a person can do to have it.
    pub(super) fn advise(&self, capability: Capability) -> &'static str {
        match capability {
            Capability::UserNamespaces => match self.obstacle {
                Some(Obstacle::Count) => {
                    "Run `sysctl user.max_user_namespaces=15000` as root, and put it into `/etc/sysctl.d`."
                }
                Some(Obstacle::Switch) => {
                    "Run `sysctl kernel.unprivileged_userns_clone=1` as root, and put it into `/etc/sysctl.d`."
                }
                Some(Obstacle::AppArmor) => {
                    "Give `sequester` an AppArmor profile with `userns,`, or run \
                     `sysctl kernel.apparmor_restrict_unprivileged_userns=0` as root."
                }
                Some(Obstacle::Filter) => {
                    "A seccomp filter is around this process, as in a container: start that with one that allows \
                     `clone3`, `unshare` and `mount` (Docker: `--security-opt seccomp=...`)."
                }
                None => "Take Linux 5.12 or newer with `CONFIG_USER_NS`.",
            },
            Capability::MountApi => {
                "Take Linux 5.12 or newer; in a container, let its seccomp filter allow `fsopen`, `open_tree`, \
                 `move_mount` and `mount_setattr`."
            }
            Capability::ProcMount => {
                "Something is mounted over a part of `/proc`, as containers do: start that without \
                 (Docker: `--security-opt systempaths=unconfined`)."
            }
            Capability::Overlay => {
                "Take Linux 5.11 or newer, and let `XDG_STATE_HOME` name a folder on a disk of its own: no layer \
                 stands on another layer, as in a container, nor on a network disk."
            }
            Capability::IdmappedMounts => {
                "Start it as an ordinary user, who needs none; or keep state and workspace on ext4, xfs, btrfs or \
                 tmpfs under Linux 5.19 or newer."
            }
            Capability::Landlock if self.landlock_off => {
                "Put `landlock` into the list of `lsm=` on the kernel's command line."
            }
            Capability::Landlock => "Take Linux 6.12 or newer with `CONFIG_SECURITY_LANDLOCK`.",
            Capability::Seccomp => "Take a kernel with `CONFIG_SECCOMP_FILTER`.",
            Capability::Pidfd => "Take Linux 5.4 or newer.",
            Capability::ContainedCores => {
                "The kernel sends the memory of crashed programs to a socket, past every limit. Set `sysctl kernel.core_pattern=core`."
            }
        }
    }

    /// What a person can do to have the kernel itself limit the memory.
    pub(super) fn advise_groups() -> &'static str {
        "As an ordinary user, start it by `systemd-run --user --scope -p Delegate=yes`, so that it may make control groups \
         of its own."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(files: &[(&str, &str)]) -> Kernel {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Kernel::look_in(root.path())
    }

    #[test]
    fn the_switch_that_is_in_the_way_is_named() {
        for (file, text, named) in [
            ("proc/sys/user/max_user_namespaces", "0\n", "user.max_user_namespaces"),
            ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "unprivileged_userns_clone=1"),
            ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "AppArmor"),
            ("proc/self/status", "Name:\tx\nSeccomp:\t2\n", "seccomp filter"),
            ("proc/self/status", "Name:\tx\nSeccomp:\t0\n", "CONFIG_USER_NS"),
        ] {
            let advice = kernel(&[(file, text)]).advise(Capability::UserNamespaces);
            assert!(advice.contains(named), "{file}: {advice}");
        }
    }

    #[test]
    fn landlock_that_is_only_off_can_be_switched_on() {
        let off = kernel(&[("sys/kernel/security/lsm", "capability,yama\n")]);
        assert!(off.advise(Capability::Landlock).contains("lsm="));
        let old = kernel(&[("sys/kernel/security/lsm", "capability,landlock\n")]);
        assert!(old.advise(Capability::Landlock).contains("Linux 6.12"));
    }

    #[test]
    fn it_tells_what_it_is() {
        let told = kernel(&[
            ("proc/sys/kernel/osrelease", "6.12.1\n"),
            ("etc/os-release", "ID=x\nPRETTY_NAME=\"A System 12\"\n"),
        ]);
        assert_eq!((told.release.as_str(), told.system.as_str()), ("6.12.1", "A System 12"));
    }
}
