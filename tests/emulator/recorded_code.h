// Recorded PTX and the machine code of the same compilation, for tests of the oracle.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/counting/oracle.h"
#include "harness/emulator/counting/ptx_accesses.h"
#include "harness/emulator/ptx/module.h"
#include "metrics/machine_code/line_table.h"
#include "tests/emulator/retarget.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::emulator::counting {

using metrics::recorded_text;

/// The PTX of oracle.cu. (That for sm_90 is that for sm_75 but for `.target`.)
inline std::string oracle_ptx(const std::string& arch) {
  return arch == "sm_90" ? retarget(recorded_text("oracle/oracle.sm_75.ptx"), arch)
                         : recorded_text("oracle/oracle." + arch + ".ptx");
}

/// PTX and machine code of one compilation.
struct Recorded {
  explicit Recorded(const std::string& arch)
      : ptx(oracle_ptx(arch)),
        cubin(recorded_text("oracle/oracle." + arch + ".cubin")),
        module(ptx::parse(ptx, "oracle.ptx")) {}
  /// A cubin that holds its PTX.
  static Recorded with_ptx(const std::string& file) {
    const std::string cubin = recorded_text(file);
    return {metrics::PtxLines(metrics::Cubin(std::as_bytes(std::span(cubin)))).text(), cubin};
  }

  OracleAnswer about(const char* kernel) const {
    return Oracle(module, ptx, std::as_bytes(std::span(cubin))).about(kernel);
  }
  /// The line of the text, without indentation.
  std::string line(int number) const {
    std::istringstream lines(ptx);
    std::string out;
    for (int i = 0; i < number; ++i) std::getline(lines, out);
    return out.substr(std::min(out.find_first_not_of('\t'), out.size()));
  }
  /// Lines of the accesses of `kernel` that begin with `text`.
  std::vector<int> lines(const char* kernel, const std::string& text) const {
    std::vector<int> found;
    for (const PtxAccess& access : accesses_of(module, kernel)) {
      if (line(access.text_line).starts_with(text)) found.push_back(access.text_line);
    }
    return found;
  }

  std::string ptx, cubin;
  ptx::Module module;

 private:
  Recorded(std::string text, std::string image)
      : ptx(std::move(text)), cubin(std::move(image)), module(ptx::parse(ptx, "recorded.ptx")) {}
};

}  // namespace warpgauge::emulator::counting
