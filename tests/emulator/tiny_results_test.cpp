// Flushing of results next to the smallest normal number.
#include "tests/support/tiny_results.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::tiny_results_test {
namespace {

std::uint64_t bits_of(double value, const std::string& type) {
  if (type == "f64") return to_bits(value);
  if (type == "f32") return to_bits(static_cast<float>(value));
  return rounded(kF16, value, Mode::rn);
}

TEST(TinyResults, AreFlushedAsOnAnH100) {
  for (const support::TinyResult& tiny : support::kTinyResults) {
    const std::string form(tiny.form), from = form.substr(form.rfind('.') + 1);
    const bool converts = form.starts_with("cvt");
    const std::string to = converts ? "f32" : from;
    const std::string reg_to = to == "f16" ? "b16" : to, reg_from = from == "f16" ? "b16" : from;
    const std::string operands = converts                  ? "%a"
                                 : form.starts_with("mul") ? "%a, %b"
                                                           : "%a, %b, %c";
    for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
      SCOPED_TRACE(std::string(isa->name) + ": " + form);
      AluBench bench(*isa, ".reg ." + reg_to + " %d; .reg ." + reg_from + " %a, %b, %c;",
                     form + " %d, " + operands + ";");
      for (int lane = 0; lane < kLanes; ++lane) {
        bench.set("%a", lane, bits_of(tiny.a, from));
        if (!converts) bench.set("%b", lane, bits_of(tiny.b, from));
        if (form.starts_with("fma")) bench.set("%c", lane, bits_of(tiny.c, from));
      }
      bench.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        EXPECT_EQ(bench.get("%d", lane), bits_of(tiny.result, to))
            << "of " << tiny.a << ", " << tiny.b << ", " << tiny.c;
      }
    }
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::tiny_results_test
