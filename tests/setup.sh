# shellcheck shell=sh disable=SC2034,SC2154
# setup.sh - sourced by tests/run and bench/demo: installs what is missing, builds, makes MPI usable.
# The one who sources it has set `top` to the root of the clone.

# say LINE...
say() { printf '%s\n' "$@"; }

# need_packages PACKAGE...: installs those that are missing (as root, with apt-get), or says what to install.
need_packages() {
  command -v dpkg-query >/dev/null || return 0 # not Debian: the build will tell what it misses
  missing=
  for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "These packages are missing. Please install them as root, then start this again:" >&2
    say "    apt-get install$missing" >&2
    exit 1
  fi
  say "Installing:$missing"
  log=$(mktemp)
  # shellcheck disable=SC2086
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    say "apt-get could not install them (its last words are above)." >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

kBuildPackages="build-essential meson ninja-build pkg-config zlib1g-dev doctest-dev nlohmann-json3-dev libcli11-dev"

packages_of() {
  case $1 in
    openmpi) say "libopenmpi-dev openmpi-bin" ;;
    mpich) say "libmpich-dev mpich" ;;
    lam) say "lam4-dev lam-runtime" ;;
  esac
}

# build_in DIRECTORY MPI [TARGET...]: configures if that has not been done, builds; says more only if it fails.
build_in() {
  directory=$1 mpi=$2
  shift 2
  log=$(mktemp)
  if { [ -f "$directory/build.ninja" ] || meson setup "$directory" "$top" "-Dmpi=$mpi"; } >"$log" 2>&1 &&
    ninja -C "$directory" "$@" >>"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 60 "$log" >&2
  rm -f "$log"
  return 1
}

# Open MPI refuses root, more ranks than processors, and (in most containers) to read a neighbour's memory,
# unless told otherwise; ranks that wait should let others run.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none

# as_user COMMAND...: LAM refuses root. What uses it runs as nobody, who may here read and write what root may
# (tests/with_lam boots and halts it).
as_user() {
  if [ "$(id -u)" -ne 0 ]; then
    "$@"
  else
    rights=+dac_override,+dac_read_search,+fowner,+kill
    setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps="$rights" --ambient-caps="$rights" "$@"
  fi
}
