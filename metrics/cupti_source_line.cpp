// From the address of an instruction to the line of source it was compiled from.
#include <cupti_pcsampling.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "metrics/cupti.h"

namespace warpgauge::metrics {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }  // CUPTI hands out malloc'ed strings
};
using CuptiString = std::unique_ptr<char, Free>;

}  // namespace

std::optional<SourceLine> source_line(std::span<const std::byte> cubin, const std::string& kernel,
                                      std::uint64_t pc) {
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = cubin.data();
  params.cubinSize = cubin.size();
  params.functionName = kernel.c_str();
  params.pcOffset = pc;
  const CUptiResult result = cuptiGetSassToSourceCorrelation(&params);
  const CuptiString file(params.fileName);
  const CuptiString folder(params.dirName);
  // An unknown function and a cubin without lines are errors to CUPTI; here they are one answer.
  if (result != CUPTI_SUCCESS || !file || !*file || params.lineNumber == 0) return std::nullopt;

  std::filesystem::path path = folder ? folder.get() : "";
  path /= file.get();  // keeps an absolute file as it is
  return SourceLine{path.lexically_normal().string(), static_cast<int>(params.lineNumber)};
}

}  // namespace warpgauge::metrics
