# shellcheck shell=bash
# Functions that the scripts of this folder share. Sourced after ci/common.sh.

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
