# Runs the steps of ./quickstart and ./check: each has a name, a log and, when
# it fails, a hint. To be sourced by a script that has set `root`, `script` and
# `step_count`.

set -euo pipefail
shopt -s checkwinsize && (:) # sets COLUMNS
cd "$root"
log_dir="$root/build/log"
mkdir -p "$log_dir"
step_number=0

# Shows the last line read; every half minute where the output is not a terminal.
show_progress() {
  local line last=$SECONDS
  while IFS= read -r line; do
    if [[ -t 1 ]]; then
      printf '\r\033[K      %.*s' "$((${COLUMNS:-80} - 8))" "$line"
    elif ((SECONDS - last >= 30)); then
      printf '      %s\n' "$line"
      last=$SECONDS
    fi
  done
  if [[ -t 1 ]]; then printf '\r\033[K'; fi
}

# step NAME HINT COMMAND...
step() {
  local name=$1 hint=$2 start=$SECONDS
  shift 2
  step_number=$((step_number + 1))
  local log="$log_dir/$script-$step_number-${name// /-}.log"
  printf '[%d/%d] %s\n' "$step_number" "$step_count" "$name"
  local status=0
  "$@" 2>&1 | tee "$log" | show_progress || status=$?
  if ((status == 0)); then
    # What ctest says at its end is worth keeping in any log.
    grep -E '^[0-9]+% tests passed|^Total Test time' "$log" | sed 's/^/      /' ||
      true
    printf '      done in %d s\n' "$((SECONDS - start))"
    return
  fi
  printf '\nLast lines of %s:\n\n' "${log#"$root"/}"
  tail -n 40 "$log" | sed 's/^/  | /'
  printf '\n%s failed in step %d of %d: %s\n' \
    "./$script" "$step_number" "$step_count" "$name"
  printf 'What to do: %s\n' "$hint"
  exit 1
}

# install_packages [PACKAGE...]
# Installs those of tools/packages.txt and the named packages that are missing.
# Uses neither the network nor apt if none is missing.
install_packages() {
  local wanted missing=() package as_root=()
  mapfile -t wanted < <(sed 's/#.*//' tools/packages.txt | xargs -n1)
  wanted+=("$@")
  if ! command -v apt-get >/dev/null; then
    echo "This is not a Debian system; install these packages yourself: ${wanted[*]}"
    return 1
  fi
  for package in "${wanted[@]}"; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null |
      grep -q '^ii' || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo "all packages are there"
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages: ${missing[*]}"
      echo "They can be installed by root, or with sudo, which is not here."
      return 1
    fi
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  "${apt[@]}" update || return
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# configure PRESET
configure() {
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake --preset "$1" "${launcher[@]}"
}

# Compilers at once: as many as processors, while each has 2 GB of memory.
job_count() {
  local processors memory_kb
  processors=$(nproc)
  memory_kb=$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)
  local fitting=$((memory_kb / 2000000))
  if ((fitting < 1)); then fitting=1; fi
  echo $((fitting < processors ? fitting : processors))
}

# build PRESET [OPTIONS...]
build() {
  cmake --build --preset "$1" --parallel "$(job_count)" "${@:2}"
}

hint_packages="check the network and that /etc/apt/sources.list names a Debian
  mirror, or run as root (or with sudo) once; then start this script again."
hint_configure="a library was not found or has another version than Debian 12's;
  the message above names it. \"rm -r build\" starts again from nothing."
hint_build="if the compiler was killed, memory ran out: close programs and start
  again to resume. Otherwise see the first error above."
