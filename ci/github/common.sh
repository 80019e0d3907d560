# shellcheck shell=bash
# Functions that the scripts of this folder share. Sourced after ci/common.sh.

set -E            # also in functions
trap 'exit 2' ERR # a command that fails is a fault, never a verdict

# Runs COMMAND, whose kernels and compilers may print anything: GitHub obeys no workflow command in its output, and it
# does not get the files for the results of a step.
without_commands() { # COMMAND...
  local token code=0
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
  attended env -u GITHUB_ACTIONS -u GITHUB_OUTPUT -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_STEP_SUMMARY \
    "$@" || code=$?
  printf '\n::%s::\n' "$token"
  return "$code"
}

output() { # NAME VALUE: an output of this step
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# Prints TEXT with nothing that would end a workflow command or begin another.
in_a_command() { # TEXT
  printf '%s' "$1" | tr -c '[:print:]' ' ' | sed 's/%/%25/g'
}

fault() { # TEXT...: annotates the job
  printf '::error title=warpgauge::%s\n' "$(in_a_command "$*")"
  exit 2
}

gauge_is_program() { # or else it is a build target
  [[ -f $GAUGE && -x $GAUGE ]]
}

build_needs_configuring() {
  [[ ! -f $BUILD_DIR/CMakeCache.txt && -f $SOURCE_DIR/CMakeLists.txt ]]
}
