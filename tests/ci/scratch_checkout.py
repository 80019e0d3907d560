"""A checkout with the scripts of ci/ as they are, and programs that have been built already."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
# Options of a gate, by name: one case that passes; of warpgauge-faulty, one that fails.
ONE_PASSES = {"device": "emulated", "arch": "sm_90", "filter": "transpose.padded.f32@1024x1024"}
ONE_FAILS = {"device": "emulated", "arch": "sm_90", "filter": "canaries.padding_removed.*"}


def scratch_checkout(folder, program="warpgauge"):
    """Makes FOLDER a checkout whose ci/gate runs PROGRAM, without setting up and building."""
    shutil.copytree(ROOT / "ci", folder / "ci", ignore=shutil.ignore_patterns("__pycache__"))
    bootstrap = folder / "ci/bootstrap"
    bootstrap.write_text("#!/usr/bin/env bash\nexit 0\n")
    with (folder / "ci/common.sh").open("a") as common:
        common.write("\nbuild_preset() { :; }\n")
    for name in ("cmake", "reports"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build/ci/bin").mkdir(parents=True)
    (folder / "build/venv").symlink_to(ROOT / "build/venv")
    for built in BIN.iterdir():
        (folder / "build/ci/bin" / built.name).symlink_to(built)
    gauge = folder / "build/ci/bin/warpgauge"
    gauge.unlink()
    gauge.symlink_to(BIN / program)
    return folder


# Stand-ins of the programs on a machine whose GPUs are $MODELS: the emulator does the work. What
# they were started with is kept in $CALLS.
GAUGE = """#!/usr/bin/env bash
case $* in
  'devices --models') printf '%s' "$MODELS"; exit "${DEVICES_CODE:-0}" ;;
esac
printf '%s|%s\\n' "${CUDA_VISIBLE_DEVICES:-none}" "$*" >>"$CALLS"
words=()
for word; do
  [[ $word != --device=gpu ]] || word=--device=emulated
  [[ $word != --require=cupti ]] || word=--require=cubin
  words+=("$word")
done
exec PROGRAM "${words[@]}"
"""
BENCH = """#!/usr/bin/env bash
printf '%s|%s\\n' "${CUDA_VISIBLE_DEVICES:-none}" "bench $*" >>"$CALLS"
[[ -z ${BENCH_CODE-} ]] || exit "$BENCH_CODE"
exec BIN/warpgauge-bench-emulated --samples 6 "$@" 2>/dev/null
"""
# Stand-ins of the page (PAGE), and of the history as well (REPORT), which take seconds, for tests
# of other things.
_DIGEST = """for word; do
  page=${word#--out=}
  [[ $word != "$page" ]] || continue
  mkdir -p "$page" && echo "a digest" >"$page/digest.md" && echo "a page" >"$page/index.html"
done
"""
PAGE = f"""#!/usr/bin/env bash
[[ "$1 $2" == "report html" ]] || exec {BIN}/warpgauge-python "$@"
{_DIGEST}"""
REPORT = f"""#!/usr/bin/env bash
[[ $1 == report ]] || exec {BIN}/warpgauge-python "$@"
printf '%s\\n' "$*" >>"$CALLS"
[[ $2 != html ]] || {_DIGEST}"""


def stand_in(checkout, name, text):
    """Puts the script TEXT in the place of the program NAME."""
    path = checkout / "build/ci/bin" / name
    path.unlink()
    path.write_text(text)
    path.chmod(0o755)


def pretend_gpus(checkout, program="warpgauge"):
    """Makes the programs of CHECKOUT, PROGRAM being its gauge, find the GPUs that $MODELS names."""
    stand_in(checkout, "warpgauge", GAUGE.replace("PROGRAM", str(BIN / program)))
    stand_in(checkout, "warpgauge-bench", BENCH.replace("BIN", str(BIN)))
