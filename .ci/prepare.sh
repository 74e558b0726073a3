# Sourced by ./test and ./demo: finds cargo, git, a C compiler and Python. What is missing is installed where that needs no
# more than we have (root and apt-get), else named. Running it again changes nothing.

if ! command -v cargo >/dev/null && [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
  PATH=$HOME/.cargo/bin:$PATH
fi

lacking() {
  for program in git cc cargo python3; do
    command -v "$program" >/dev/null || printf ' %s' "$program"
  done
}
if [ -n "$(lacking)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || true
  # One call each: a package that this release does not have must not keep the others away.
  for package in git gcc libc6-dev ca-certificates python3 rustup; do
    apt-get install -y -qq --no-install-recommends "$package" || true
  done
fi
lacking=$(lacking)
if [ -n "$lacking" ]; then
  echo "Missing on this machine:$lacking." >&2
  echo "Install git, a C compiler and Python 3 with your system's packages (Debian: apt-get install git gcc libc6-dev python3)," >&2
  echo "and Rust from https://rustup.rs; then run this again." >&2
  exit 1
fi

# With another HOME than the one Rust was installed for, rustup's cargo does not know where its toolchains are:
# they lie beside it. The downloads there are used too, if we may write to them.
cargo_home=$(dirname "$(dirname "$(command -v cargo)")")
for rustup_home in "${cargo_home%/*}/.rustup" "${cargo_home%/*}/rustup"; do
  if [ -z "${RUSTUP_HOME:-}" ] && [ ! -d "${HOME:-}/.rustup" ] && [ -d "$rustup_home" ]; then
    export RUSTUP_HOME="$rustup_home"
    if [ -z "${CARGO_HOME:-}" ] && [ ! -d "${HOME:-}/.cargo" ] && [ -w "$cargo_home" ]; then
      export CARGO_HOME="$cargo_home"
    fi
  fi
done
export PATH

# Called from a hook, git would work on the repository that the hook belongs to.
unset $(git rev-parse --local-env-vars)
