// Decoded functions: their memory, and how messages name them.
#include "harness/emulator/machine/core/code.h"

#include <cstdlib>
#include <new>

#include "harness/emulator/ptx/source_lines.h"
#include "metrics/base/demangled.h"

namespace warpgauge::emulator::machine {

AlignedBytes::AlignedBytes(std::size_t size, std::size_t alignment) : size_(size) {
  if (size == 0) return;
  const std::size_t whole = round_up(size, alignment);
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
  if (data_ == nullptr) throw std::bad_alloc();
}

void AlignedBytes::Free::operator()(std::byte* data) const { std::free(data); }

std::string display_name(const std::string& name) {
  return metrics::without_types(metrics::demangled(name));
}

metrics::SourceLine source_line(const Code& code, std::uint32_t instruction) {
  return ptx::line_of(code.function->body.at(instruction), *code.module);
}

std::string source_place(const Code& code, std::uint32_t instruction) {
  const metrics::SourceLine line = source_line(code, instruction);
  if (line.line > 0) return line.file + ":" + std::to_string(line.line);
  return display_name(code.function->name) + ", PTX line " +
         std::to_string(code.function->body[instruction].text_line);
}

std::string variable_name(const std::string& name) {
  const std::string whole = metrics::demangled(name);
  const std::size_t scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

}  // namespace warpgauge::emulator::machine
