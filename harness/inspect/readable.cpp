// Unpacks wheels with Python, and compiles PTX with ptxas.
#include "harness/inspect/readable.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/files/mapped_file.h"
#include "harness/process/child_program.h"
#include "harness/process/found_program.h"
#include "harness/process/output_of.h"

namespace warpgauge::inspect {

namespace fs = std::filesystem;

bool is_wheel(const fs::path& file) { return file.extension() == ".whl"; }

bool is_ptx(const fs::path& file) { return file.extension() == ".ptx"; }

void unpack_wheel(const fs::path& wheel, const fs::path& folder) {
  if (process::found_program("python3").empty()) {
    throw NotReadable("there is no python3 in PATH, which unpacks it");
  }
  if (!process::output_of({"python3", "-m", "zipfile", "-e", wheel, folder})) {
    throw NotReadable(
        fmt::format("it cannot be unpacked: it is damaged, or {} is full; "
                    "`python3 -m zipfile -t` tests it",
                    folder.parent_path().string()));
  }
}

std::string target_of(const fs::path& ptx) {
  const files::MappedFile mapped(ptx);
  const std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()),
                              mapped.bytes().size());
  constexpr std::string_view kDirective = "\n.target ";
  const std::size_t directive = text.find(kDirective);
  if (directive == text.npos) throw NotReadable("it is no PTX: it has no .target");
  const std::string_view rest = text.substr(directive + kDirective.size());
  return std::string(rest.substr(0, rest.find_first_of(", \t\r\n")));
}

void compile_ptx(const fs::path& ptx, const std::string& arch, const fs::path& cubin) {
  const fs::path ptxas = process::found_in_toolkit("ptxas");
  if (ptxas.empty()) {
    throw NotReadable(
        "neither PATH nor $CUDA_HOME/bin has ptxas, which compiles it; install a CUDA toolkit");
  }
  const process::Ending ending =
      process::run_to_its_end({ptxas, "-arch", arch, "-lineinfo", "-o", cubin, ptx}, {});
  if (ending.exit_code() != 0) {
    throw NotReadable(
        fmt::format("{} -arch {} {}; see its messages", ptxas.string(), arch, ending.str()));
  }
}

}  // namespace warpgauge::inspect
