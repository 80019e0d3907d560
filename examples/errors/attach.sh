# Programs that are attached, which needs CUPTI in the build. No GPU: what stands for the program
# hands on what was counted on one.
# shellcheck shell=bash disable=SC2154

about "Programs that are attached"
played=$root/tests/data/attach/arrays.py
printf '["*by_rows*"]\nregisters = 255\n' >unused.toml
try "warpgauge attach"
try "warpgauge attach -- ./missing"
try "warpgauge attach --kernels '(' -- true"
try "CUDA_INJECTION64_PATH=other.so warpgauge attach -- true"
try "warpgauge attach -- true"
try "warpgauge attach -- false"
try "warpgauge attach -- sh -c 'kill -KILL \$\$'"
try "warpgauge attach --kernels by_rows -- python3 '$played'"
try "warpgauge attach --skip '*' -- python3 '$played'"
try "warpgauge attach --kernels cupy_copy --budgets unused.toml -- python3 '$played'"

# changed.py CHANGE: as arrays.py, with the change made to what was counted.
cat >changed.py <<END
import json, lzma, os, sys
from pathlib import Path

text = lzma.decompress(Path("$root/tests/data/attach/arrays.json.xz").read_bytes())
process, launches = json.loads(text), 64
process["pid"] = os.getpid()  # that of the recording may be somebody's here
copy = next(one for one in process["kernels"] if one["name"].startswith("cupy_copy"))
counts = process["records"]["0"]
exec(sys.argv[1])
own = Path(os.environ["WARPGAUGE_ATTACH_FOLDER"], str(os.getpid()))
own.with_suffix(".json").write_text(json.dumps(process))
own.with_suffix(".launches").write_bytes(launches.to_bytes(8, "little"))
END

about "Counts that are not whole"
attach="warpgauge attach --kernels cupy_copy -- python3 changed.py"
try "$attach 'process = {}'"
try "$attach 'process[\"schema\"] = \"warpgauge.attached/0\"'"
try "$attach 'counts[0][\"rows\"][0].pop()'"
try "$attach 'process[\"kernels\"] = []; process[\"records\"] = {}; launches = 0'"
try "$attach 'launches = 70'"
try "$attach 'process[\"warnings\"] = [\"a graph that the driver launched\"]'"
try "$attach 'process[\"pid\"] = os.getppid()'"
try "$attach 'copy[\"launches\"] += 2'"
try "$attach 'copy[\"counted\"][0][0][0] += 1'"

about "Chips"
try "warpgauge metrics --chip GH1000"
