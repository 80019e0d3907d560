// Compiles PTX with ptxas.
#include "harness/inspect/readable.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "harness/files/printable.h"
#include "harness/process/child_program.h"
#include "harness/process/found_program.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/machine_code/byte_text.h"

namespace warpgauge::inspect {

namespace fs = std::filesystem;

bool is_ptx(const fs::path& file) { return file.extension() == ".ptx"; }

std::string target_of(std::span<const std::byte> ptx) {
  const std::string_view text = metrics::text_of(ptx);
  constexpr std::string_view kDirective = "\n.target ";
  const std::size_t directive = text.find(kDirective);
  if (directive == text.npos) throw NotReadable("it is no PTX: it has no .target");
  const std::string_view rest = text.substr(directive + kDirective.size());
  const std::string_view target = rest.substr(0, rest.find_first_of(", \t\r\n"));
  if (!metrics::ArchName::parse(target)) {
    constexpr std::size_t kShown = 40;
    throw NotReadable(fmt::format("its .target, '{}', is no architecture such as sm_90",
                                  files::printable(target.substr(0, kShown))));
  }
  return std::string(target);
}

void compile_ptx(const fs::path& ptx, const std::string& arch, std::chrono::seconds time_limit,
                 const fs::path& cubin) {
  const fs::path ptxas = process::found_in_toolkit("ptxas");
  if (ptxas.empty()) {
    throw NoReader(
        "neither PATH nor $CUDA_HOME/bin has ptxas, which compiles it; install a CUDA toolkit");
  }
  const fs::path messages = fs::path(cubin).replace_extension(".txt");
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  const process::Ending ending = process::run_supervised(
      {ptxas, "-arch", arch, "-lineinfo", "-o", cubin, process::file_argument(ptx)}, {},
      {.output = messages, .messages = messages},
      {.time_limit = time_limit, .most_output_bytes = kMostBytes, .made = cubin});
  constexpr int kMostLines = 1000;
  constexpr std::size_t kLongest = 1000;
  std::ifstream said(messages);
  std::string line;
  for (int i = 0; i < kMostLines && std::getline(said, line); ++i) {
    fmt::print(stderr, "{}\n", files::printable(line.substr(0, kLongest)));
  }
  if (ending.exit_code() != 0) {
    throw NotReadable(
        fmt::format("{} -arch {} {}; see its messages", ptxas.string(), arch, ending.str()));
  }
}

}  // namespace warpgauge::inspect
