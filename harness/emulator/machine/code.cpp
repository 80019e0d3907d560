// Decoded functions: their memory, and how messages name them.
#include "harness/emulator/machine/code.h"

#include <cxxabi.h>

#include <cstdlib>
#include <new>

#include "harness/emulator/ptx/source_lines.h"

namespace warpgauge::emulator::machine {

AlignedBytes::AlignedBytes(std::size_t size, std::size_t alignment) : size_(size) {
  if (size == 0) return;
  const std::size_t whole = round_up(size, alignment);
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
  if (data_ == nullptr) throw std::bad_alloc();
}

void AlignedBytes::Free::operator()(std::byte* data) const { std::free(data); }

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "f" would be float
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return name;
  std::string result = text.get();
  // Templates come with the type they return in front and the types of their parameters behind.
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t n = 0; n < result.size(); ++n) {
    const char c = result[n];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth != 0) continue;
    if (c == ' ') begin = n + 1;
    const bool anonymous = result.compare(n, 21, "(anonymous namespace)") == 0;
    if (c == '(' && anonymous) {
      n += 20;
    } else if (c == '(') {
      return result.substr(begin, n - begin);
    }
  }
  return result;
}

metrics::SourceLine source_line(const Code& code, std::uint32_t instruction) {
  return ptx::line_of(code.function->body.at(instruction), *code.module);
}

std::string source_place(const Code& code, std::uint32_t instruction) {
  const metrics::SourceLine line = source_line(code, instruction);
  if (line.line > 0) return line.file + ":" + std::to_string(line.line);
  return demangled(code.function->name) + ", PTX line " +
         std::to_string(code.function->body[instruction].text_line);
}

}  // namespace warpgauge::emulator::machine
