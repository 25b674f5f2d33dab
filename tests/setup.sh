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

kBuildPackages="build-essential meson ninja-build pkg-config zlib1g-dev doctest-dev nlohmann-json3-dev libcli11-dev libdw-dev libclang-14-dev libclang-cpp14 llvm-14-dev"

packages_of() {
  case $1 in
    openmpi) say "libopenmpi-dev openmpi-bin" ;;
    mpich) say "libmpich-dev mpich" ;;
    lam) say "lam4-dev lam-runtime" ;;
  esac
}

# build_of MPI: the build directory for one of this machine's.
build_of() {
  case $1 in
    openmpi) say "$top/build" ;;
    *) say "$top/build-$1" ;;
  esac
}

# options_of MPI: elc-cc, which is the same for all, is not built and tried with each.
options_of() {
  [ "$1" != openmpi ] || return 0
  built=$(build_of openmpi)/src/cc/elc-cc
  if [ "$1" = mpich ] && [ -x "$built" ]; then say "-Dcc_program=$built"; else say -Dcc=disabled; fi
}

# build_in DIRECTORY MPI [TARGET...]: configures if that has not been done, builds; says more only if it fails. Debug information of
# C++ takes a third of the time; programs in C have it, which elc doctor reads.
build_in() {
  directory=$1 mpi=$2
  shift 2
  log=$(mktemp)
  if { if [ -f "$directory/build.ninja" ]; then meson configure "$directory" -Dtests=true;
       else meson setup "$directory" "$top" "-Dmpi=$mpi" -Dtests=true -Ddebug=false -Dc_args=-g $(options_of "$mpi"); fi; } >"$log" 2>&1 &&
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
# (tests/with_lam boots and halts it), and use tests/foreign/inside.
kNobody="setpriv --reuid=nobody --regid=nogroup --clear-groups"
kRights=+dac_override,+dac_read_search,+fowner,+kill,+setuid,+setgid,+sys_chroot
as_user() {
  if [ "$(id -u)" -ne 0 ]; then
    "$@"
    return
  fi
  # shellcheck disable=SC2086
  set -- $kNobody --inh-caps="$kRights" --ambient-caps="$kRights" "$@"
  closed=$(closed_to_others "$top")
  if [ -z "$closed" ]; then "$@"; else in_open_place "$closed" "$@"; fi
}

# as_user_if_possible COMMAND...: or as root, where the machine does not allow that: with_lam makes a user of its own then.
as_user_if_possible() {
  if as_user true 2>/dev/null; then as_user "$@"; else "$@"; fi
}

# closed_to_others PATH: the first directory on the way there that only its owner may enter. LAM asks whether the user
# could, and is told of no other rights.
closed_to_others() {
  way=
  rest=${1#/}/
  while [ -n "$rest" ]; do
    way=$way/${rest%%/*}
    rest=${rest#*/}
    # shellcheck disable=SC2086
    if ! $kNobody test -x "$way"; then
      say "$way"
      return
    fi
  done
}

# in_open_place DIRECTORY COMMAND...: for the command alone (in a mount namespace of its own) DIRECTORY is open, and has
# nothing but the clone.
in_open_place() {
  closed=$1
  shift
  if [ "$closed" = "$top" ]; then
    say "$top is open to its owner alone, and LAM refuses root: chmod o+rx $top, please." >&2
    return 1
  fi
  place=$(mktemp -d)
  chmod 755 "$place"
  mkdir -p "$place${top#"$closed"}"
  # shellcheck disable=SC2016
  unshare --mount sh -c '
    place=$1 closed=$2 top=$3 here=$PWD
    shift 3
    mount --bind "$top" "$place${top#"$closed"}" && mount --rbind "$place" "$closed" && cd "$here" && exec "$@"' \
    sh "$place" "$closed" "$top" "$@"
  code=$?
  find "$place" -depth -type d -empty -delete
  return $code
}
