# shellcheck shell=bash
# Functions that the scripts of this folder share. Sourced after ci/common.sh.

trap 'exit 2' ERR # a command that fails is a fault, never a verdict

# Runs COMMAND so that what kernels and compilers print is no workflow command, and that they do not
# reach the files in which a step hands on its results.
without_commands() { # COMMAND...
  local token code=0
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
  attended env -u GITHUB_ACTIONS -u GITHUB_OUTPUT -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_STEP_SUMMARY \
    "$@" || code=$?
  printf '\n::%s::\n' "$token"
  return "$code"
}

output() { # NAME VALUE: hands it on to later steps
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# TEXT without what would end a workflow command or begin another.
in_a_command() { # TEXT
  printf '%s' "$1" | tr -c '[:print:]' ' ' | sed 's/%/%25/g'
}

fault() { # shown as an annotation
  printf '::error title=warpgauge::%s\n' "$(in_a_command "$*")"
  exit 2
}

is_there() { # is the gauge a program, rather than a target?
  [[ -f $GAUGE && -x $GAUGE ]]
}

is_to_be_configured() { # has the build folder of the target yet to be configured?
  [[ ! -f $BUILD_DIR/CMakeCache.txt && -f $SOURCE_DIR/CMakeLists.txt ]]
}
