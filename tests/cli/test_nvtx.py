"""An NVTX tool such as Nsight receives the ranges of a program that measures unchanged, although
warpgauge reads them too."""

import os
import subprocess
from pathlib import Path

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
TOOL = r"""
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
static int push(const char* name) { return fprintf(stderr, "the tool heard %s\n", name) > 0; }
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks* table = get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable core;
  unsigned int size;
  table->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size);
  *core[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  return 1;
}
"""


def nvtx_headers():
    key = "WARPGAUGE_nvtx_INCLUDE_DIR:PATH="
    lines = (BUILD / "CMakeCache.txt").read_text().splitlines()
    return next(line.removeprefix(key) for line in lines if line.startswith(key))


def ranges_test(**environment):
    return subprocess.run(
        [
            BUILD / "bin/warpgauge_measure_tests-emulated",
            "--gtest_filter=Measure.NvtxRangesNameWhatIsMeasured",
        ],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_tool_receives_the_ranges_of_a_program_that_measures(tmp_path):
    source, tool = tmp_path / "tool.c", tmp_path / "tool.so"
    source.write_text(TOOL)
    compiler = ["cc", "-shared", "-fPIC", "-isystem", nvtx_headers(), "-o", tool, source]
    subprocess.run(compiler, check=True, timeout=60)
    heard = ranges_test(NVTX_INJECTION64_PATH=str(tool))
    assert heard.stderr.count("the tool heard outer\n") == 1
    assert heard.returncode == 1  # for what the tool takes has no name here
    assert ranges_test().returncode == 0
