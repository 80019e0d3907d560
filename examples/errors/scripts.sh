# The scripts of ci/, and the functions for CMake.
# shellcheck shell=bash disable=SC2154

about "Nights"
nightly="'$root/ci/nightly'"
try "$nightly --fliter x"
try "$nightly --filter"
try "$nightly transpose"
try "$nightly --device gup"
try "$nightly --out ''"
try "$nightly --db="
try "$nightly --facts missing.jsonl"
try "$nightly --gather="
try "$nightly --device=none"
try "$nightly --device=none --gather=other --no-report"
: >taken
mkdir -p locked none/.lock
exec {lock}>locked/.lock
flock "$lock"
try_lines '/nightly\]/p' "$nightly --out taken"
try_lines '/nightly\]/p' "$nightly --out none"
try "$nightly --out locked"

about "A cluster"
submit="WARPGAUGE_GPUS=gpus.txt '$root/ci/slurm/submit'"
gpus() { # TEXT
  printf '%b' "$1" >gpus.txt
  try "cat gpus.txt; $submit"
}
try "$submit"
gpus 'h100\n'
gpus '-h100 gpus\n'
gpus 'report gpus\n'
gpus 'h100 gpus\nh100 gpus\n'
gpus '# none\n'
printf 'h100 gpus\n' >gpus.txt
try "$submit --out out"
try "$submit --facts facts.jsonl"
try "$submit --device"
# Where there is a cluster, it would be submitted.
mkdir tools
for tool in bash env dirname realpath; do
  ln -s "$(command -v $tool)" tools
done
try "PATH=tools $submit"
try "'$root/ci/slurm/nightly.sbatch'"
try "'$root/ci/slurm/gather.sbatch'"
mkdir -p out/7
printf 'gpus out/7/h100\n' >out/7/0.task
try "SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=0 SLURM_JOB_PARTITION=cpus '$root/ci/slurm/nightly.sbatch'"
: >out/7/0.task
try "SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=0 '$root/ci/slurm/nightly.sbatch'"

about "GitHub's action"
step() { # VARIABLE=VALUE
  try "DEVICE=auto STRICT=false UPLOAD_SARIF=true FILTER= ARCH= REQUIRE= OUT=out GITHUB_OUTPUT=outputs.txt \\
  $1 '$root/ci/github/gate'; exit \$(sed s/exit-code=// outputs.txt)"
  rm outputs.txt
}
step DEVICE=gup
step "FILTER=\$'a\\nb'"
step OUT=
step OUT=none
step OUT=locked
mkdir -p kept/facts.jsonl
step OUT=kept
exec {lock}>&-
try "'$root/ci/github/nightly' --device=auto"
try "'$root/ci/github/verdict' 4"

about "Setting up"
try "'$root/ci/test' --fliter"
try "'$root/ci/test' --preset ''"
try_lines /fliter/p "'$root/ci/bootstrap' --fliter"

about "The build"
misuse() { # CALL
  printf 'include("%s/cmake/WarpgaugeKernels.cmake")\n%s\n' "$root" "$1" >misuse.cmake
  try "cmake -P misuse.cmake"
}
misuse 'warpgauge_add_kernels(SOURCES a.cu)'
misuse 'warpgauge_add_gtest(NAME a BUDGETS)'
misuse 'warpgauge_kernels(SOURCES a.cu)'
