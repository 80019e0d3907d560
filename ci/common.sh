# shellcheck shell=bash
# Functions that the scripts of this folder share. The caller sets `script` to its name.

unset CDPATH # cd would go elsewhere, and print where
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
logs=$build/logs

say() { # progress, on stderr: stdout is for results
  printf '[%s] %s\n' "${script:?}" "$*" >&2
}

fault() { # exit code 2 is a fault, never a verdict
  say "$@"
  exit 2
}

# Shows the progress of a command: on a terminal the last line of its log, elsewhere a line each 30 s.
tick() { # TITLE LOG
  local seconds=0 line width parent
  width=$(tput cols 2>/dev/null || echo 80)
  [[ -z ${lock-} ]] || exec {lock}>&- # or the last sleep would keep it after the script
  # Until the script is killed: another process is then the parent of this one.
  while sleep 1 && read -r _ _ _ parent _ </proc/self/stat && ((parent == $$)); do
    seconds=$((seconds + 1))
    line="[$script] $1: $seconds s  $(tail -n 1 "$2" 2>/dev/null | tr -cd '[:print:]')"
    if [[ -t 2 ]]; then
      printf '\r\033[K%s' "${line:0:width-1}" >&2
    elif ((seconds % 30 == 0)); then
      printf '%s\n' "${line:0:160}" >&2
    fi
  done
}

# Runs COMMAND and returns its status. SIGINT, SIGTERM and SIGHUP end COMMAND, by SIGTERM, and then
# this script. COMMAND gets SIGTERM as well if this script is killed: it must not go on alone, with
# its locks.
attended() { # COMMAND...
  local signal='' status=0 child name
  setpriv --pdeathsig TERM -- "$@" <&0 &
  child=$!
  for name in INT TERM HUP; do
    # shellcheck disable=SC2064  # the number of this child, now
    trap "signal=$name; kill -TERM $child 2>/dev/null || :" "$name"
  done
  wait "$child" || status=$?
  while [[ $signal ]] && kill -0 "$child" 2>/dev/null; do # the signal ended `wait` only
    wait "$child" || :
  done
  trap - INT TERM HUP
  [[ ! $signal ]] || exit $((128 + $(kill -l "$signal")))
  return "$status"
}

# As attended(), for a COMMAND that starts others: what ends it ends them all, by force if they take
# longer than 10 s. Without a time limit `timeout` only makes a process group, and passes signals to
# all in it.
attended_group() { # COMMAND...
  attended timeout --kill-after=10 0 "$@"
}

# Runs COMMAND with its output in a log; when it fails, shows the end of the log and returns its
# status. The log is LOGS/NAME.log.
logged() { # NAME TITLE COMMAND...
  local log=$logs/$1.log title=$2 status=0 ticker
  shift 2
  mkdir -p "$logs"
  say "$title ..."
  : >"$log"
  tick "$title" "$log" &
  ticker=$!
  # shellcheck disable=SC2064  # the number of this ticker, now
  trap "kill $ticker 2>/dev/null || :" EXIT
  attended_group "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$ticker" 2>/dev/null || :
  wait "$ticker" 2>/dev/null || :
  trap - EXIT
  if [[ -t 2 ]]; then
    printf '\r\033[K' >&2
  fi
  if ((status != 0)); then
    tail -n 40 "$log" | sed 's/^/    /' >&2
    say "$title: failed with status $status; all of its output is in $log"
  fi
  return "$status"
}

# Prints the names of the files that ci/gate writes: those of the gauge, and one for each format.
result_files() {
  printf '%s\n' facts.jsonl results.json summary.md
  sed -n 's/^FILE = "\(.*\)"$/\1/p' "$root"/reports/warpgauge/outputs/*.py
}

# A pipe of that name would be waited for.
can_be_locked() { # FILE
  [[ ! -e $1 || -f $1 ]] || fault "$1: is not a file; remove it, or choose another --out"
}

# Opens FILE as descriptor `lock` and waits until no other process holds it.
wait_for_lock() { # FILE WHAT
  exec {lock}>>"$1" || fault "$1: cannot be written"
  if ! flock -n "$lock"; then
    say "waiting for $2: process $(<"$1") holds $1"
    attended flock "$lock"
  fi
  printf '%s\n' "$$" >"$1"
}

# Removes the results of an earlier run, before anything of this one can fail.
remove_results() { # DIR
  local file lock
  [[ -d $1 ]] || return 0
  # The gauge locks this file while it runs.
  can_be_locked "$1/.lock"
  exec {lock}>>"$1/.lock" || fault "$1: cannot be written; see --out"
  flock -n "$lock" || fault "$1: another run is writing to it; wait, or choose another --out"
  for file in $(result_files); do
    rm -f -- "$1/$file" || fault "$1/$file is of an earlier run, and cannot be removed"
  done
  exec {lock}>&-
}

# Prints the usage: the comment at the head of the calling script.
usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" || fault "the help could not be printed"
}

# What a configuration of CMake depends on, beside the files that the build itself looks at.
circumstances() { # COMMAND...
  printf '%s\n' "$@"
  env | grep -E '^(AR|CC|CFLAGS|CPPFLAGS|CXX|CXXFLAGS|LDFLAGS|PATH|(CMAKE|CUDA|WARPGAUGE)[A-Z_]*)=' | sort
  grep -m 1 -i -E '^(flags|features)' /proc/cpuinfo || : # the emulator is built for this CPU
  # The architectures of GPUs may be asked for, and tests share GPUs out.
  ls /dev/nvidia* 2>/dev/null || :
  cat /proc/driver/nvidia/gpus/*/information 2>/dev/null || :
  stat --format '%n %Y' CMakePresets.json CMakeUserPresets.json "$CUDACXX" \
    /var/lib/dpkg/status /var/lib/rpm 2>/dev/null || :
}

architectures() { # NAME: all of them, or the few that tests are built for
  sed -n "s/^set(WARPGAUGE_${1^^}_ARCHITECTURES \([0-9 ]*\)).*/\1/p" "$root/cmake/Architectures.cmake" ||
    fault "the checkout is not whole; get cmake/Architectures.cmake back"
}

# Has build/ci built for these architectures ("all", "few" or "sm_80,sm_90") and those that it has
# already, so that the gate and the tests share one build.
build_for() { # ARCHITECTURES
  local cache=$build/ci/CMakeCache.txt built='' all few words word
  all=$(architectures all) few=$(architectures few)
  [[ ! -f $cache ]] || built=$(sed -n 's/^WARPGAUGE_ARCHITECTURES:[A-Z]*=//p' "$cache")
  words="${1//,/ } ${built//;/ }" words=${words//sm_/} words=${words//few/$few}
  for word in $words; do
    [[ " $all " == *" $word "* ]] || words=$all # it is "all", or one that the gauge refuses by name
  done
  # shellcheck disable=SC2086  # split at the spaces
  words=$(printf '%s\n' $words | sort -nu | paste -sd ';')
  [[ $words != "${all// /;}" ]] || words=all
  configure_options=(-D "WARPGAUGE_ARCHITECTURES=$words")
}

# Brings the machine and build/PRESET up to date; any failure is a fault. Builds all without TARGETS.
# CMake gets `configure_options`, too.
configure_options=()
build_preset() { # PRESET [TARGET...]
  local preset=$1 directory=$build/$1 targets=() lock configured now
  local configure=(cmake --preset "$1" ${configure_options[@]+"${configure_options[@]}"})
  shift
  (($# == 0)) || targets=(--target "$@")
  attended "$root/ci/bootstrap" || fault "ci/bootstrap failed"
  # shellcheck source=/dev/null
  source "$build/env.sh"
  cd "$root" || fault "there is no $root"
  # Two builds in one folder would overwrite each other's files.
  wait_for_lock "$build/.$preset.lock" "another build of build/$preset"
  configured=$directory/.configured now=$(circumstances "${configure[@]}")
  # CMake keeps the compiler it first saw, even if CUDACXX changes later.
  if [[ -f $directory/CMakeCache.txt && $(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' \
    "$directory/CMakeCache.txt") != "$CUDACXX" ]]; then
    configure+=(--fresh)
  fi
  if [[ ! -f $directory/build.ninja || ! -f $configured || $(<"$configured") != "$now" ]]; then
    rm -f -- "$configured"
    logged "configure-$preset" "configuring build/$preset" "${configure[@]}" || exit 2
    printf '%s\n' "$now" >"$configured"
  fi
  logged "build-$preset" "building build/$preset" cmake --build --preset "$preset" "${targets[@]}" ||
    exit 2
  exec {lock}>&-
}
