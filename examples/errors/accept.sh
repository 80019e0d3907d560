# What `warpgauge accept` refuses: each time, no budget file is written.
# shellcheck shell=bash disable=SC2154

# A checkout of a commit, with one family.
project() {
  mkdir -p project/.git/objects project/.git/refs project/kernels/transpose
  printf '3b1f0c7%033d\n' 0 >project/.git/HEAD
  printf '["tiled"]\n%s\n' "$1" >project/kernels/transpose/budgets.toml
}
accept="warpgauge accept facts.jsonl --root project"
head='"3b1f0c7'$(printf '%033d' 0)'"'
# Refuses a fact that differs so from one that would be accepted.
refuse() { # OPTIONS [KEY=JSON...]
  fact facts.jsonl "commit=$head" "${@:2}"
  (($# < 2)) || printf '# %s\n' "${@:2}"
  try "$accept $1"
}
why="--reason 'wider tiles'"
registers=('metric="registers"' 'unit="registers/thread"' 'value=22' 'budget="<= 20"' 'budget_reason=null')
timed=('metric="time.median_us"' 'unit="us"' 'value=8' 'verdict="better"' 'budget="<= 10 ± 5%"'
  'budget_reason=null' 'confidence="estimate"' 'confidence_reason="± 1 % after 20 runs"')
machine='{"sm_clock_mhz": [1980, 1980], "memory_clock_mhz": [2619, 2619], "temperature_c": [40, 41],
  "throttling": [], "other_processes": 0, "disturbance": null}'
project 'registers = 20
"time.median_us" = { max = 10, tolerance = "5%" }'

about "Options of accept"
fact facts.jsonl "commit=$head"
try "CI=true $accept"
try "$accept --metric registers"
try "$accept --baseline --metric registres"
try "$accept --baseline --code"
try "$accept --tighten $why"
try "$accept --reason ''"
try "$accept --filter 'transpoze.*'"
try "$accept $why --budgets missing"
printf 'not facts\n' >text.jsonl
: >empty.jsonl
for file in missing text empty; do
  try "warpgauge accept $file.jsonl --root project"
done

about "Values that must not become budgets"
refuse ""
refuse "$why" dirty=true
refuse "$why" 'commit="ffff"'
refuse "$why" commit=null
refuse "$why" 'confidence="estimate"' 'confidence_reason="spills are not in PTX"'
refuse "$why" value=1e17
refuse "$why" 'verdict="unbudgeted"' budget=null budget_reason=null
refuse "$why" "${registers[@]}" 'budget="<= 21"'
refuse "$why" 'metric="result.correct"' 'unit="bool"' value=0 'budget="= 1"'
refuse "" "${timed[@]}"
refuse "" "${timed[@]}" "machine=${machine/null/\"another process\"}"
refuse "" "${timed[@]}" "machine=$machine" 'interval=[7, 9]'
refuse "" "${timed[@]}" "machine=$machine" 'confidence_reason="± 9 % after 50 runs, not stable"'
refuse "" "${timed[@]}" device=null
fact there.jsonl "commit=$head" "${timed[@]}" 'run="another"' \
  'device={"name": "NVIDIA H100", "chip": "GH100", "compute_capability": "9.0", "driver": "580",
    "uuid_hash": "another", "sm_clock_mhz": 1980, "memory_clock_mhz": 2619}'
fact here.jsonl "commit=$head" "${timed[@]}" 'time="2026-01-01T00:00:00Z"'
try "warpgauge accept here.jsonl there.jsonl --root project"
fact error.jsonl "commit=$head" 'verdict="error"' value=null confidence=null \
  'reason="illegal memory access"' 'metric="result.correct"' 'unit="bool"' budget=null
fact facts.jsonl "commit=$head"
try "warpgauge accept facts.jsonl error.jsonl --root project $why"
rm -rf project/.git
# Or git would look for a checkout around it.
try "GIT_CEILING_DIRECTORIES=\$PWD $accept $why"

about "Budget files that accept cannot rewrite"
project 'registers = = 20'
refuse "$why"
project 'registers = { most = 20 }'
refuse "$why"
project 'registers = { max = 20, tolerance = "much" }'
refuse "$why"
project 'registers = 20'
fact old.jsonl "commit=$head" "${registers[@]}" 'arch="sm_9-0"'
fact new.jsonl "commit=$head" "${registers[@]}" 'value=23'
cat old.jsonl new.jsonl >facts.jsonl
try "$accept $why"
fact facts.jsonl "commit=$head" "${registers[@]}"
printf '"tiled.f32@1024x1024".registers = 20\n' >project/kernels/transpose/budgets.toml
try "$accept $why"
rm project/kernels/transpose/budgets.toml
mkdir project/kernels/transpose/budgets.toml
try "$accept $why"
refuse "$why" 'family="unknown"' 'file=null'
refuse "$why" 'family="unknown"' 'file="kernels/unknown/family.cu"'
refuse "$why --budgets ." 'family=".."'
