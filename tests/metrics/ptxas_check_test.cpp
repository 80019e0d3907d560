// Contradictions between a text of ptxas and machine code, on recorded cubins (tests/data/cubin).
#include "metrics/machine_code/ptxas_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {
namespace {

using ::testing::IsEmpty;

struct Recorded {
  explicit Recorded(const std::string& name, const std::string& of) : kernel(of) {
    std::ifstream file(WARPGAUGE_TEST_DATA "/cubin/" + name + ".cubin", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::string against(const PtxasKernel& text, bool is_linked = false) const {
    const auto image = std::as_bytes(std::span(bytes));
    return contradiction(text, Cubin(image), resources_of_kernels(image).at(kernel), is_linked);
  }
  std::string kernel;
  std::string bytes;
};

/// As ptxas -v said of it.
PtxasKernel spills() {
  PtxasKernel kernel{.name = "_Z6spillsPfPKf", .arch = "sm_75", .registers = 24, .frame_bytes = 64};
  kernel.cumulative_stack_bytes = 64;
  kernel.constant_bytes = {{0, 368}};
  return kernel;
}

TEST(Contradiction, ThereIsNoneInTheTextOfTheSameCompilation) {
  const Recorded code("spills.sm_75", "_Z6spillsPfPKf");
  EXPECT_THAT(code.against(spills()), IsEmpty());
  PtxasKernel text = spills();
  text.cumulative_stack_bytes = 0;  // as before CUDA 12.8
  text.constant_bytes.clear();      // as from sm_90 on
  EXPECT_THAT(code.against(text), IsEmpty());
}

TEST(Contradiction, NamesAllThatDiffers) {
  const Recorded code("spills.sm_75", "_Z6spillsPfPKf");
  PtxasKernel text = spills();
  text.registers = 40;
  EXPECT_EQ(code.against(text), "40 registers, but 24 in the machine code");
  text.registers = 24;
  text.barriers = 1;
  text.frame_bytes = 0;
  text.shared_static_bytes = 16;
  text.constant_bytes[0] = 360;
  EXPECT_EQ(code.against(text),
            "1 barriers, but 0 in the machine code; 0 bytes of stack frame, but 64 in the machine "
            "code; 16 bytes of shared memory, but 0 in the machine code; 360 bytes of constant "
            "banks, but 368 in the machine code");
  text = spills();
  text.cumulative_stack_bytes = 72;
  EXPECT_EQ(code.against(text), "72 bytes of cumulative stack, but 64 in the machine code");
}

TEST(Contradiction, TheFrameOfAKernelThatCallsFunctionsIsNotItsOwn) {
  const Recorded code("spills.sm_75", "_Z6spillsPfPKf");
  PtxasKernel text = spills();
  text.frame_bytes = 40;
  EXPECT_EQ(code.against(text), "40 bytes of stack frame, but 64 in the machine code");
  text.called = {{"called", 24}};
  EXPECT_THAT(code.against(text), IsEmpty());
}

TEST(Contradiction, TheLinkerAddsWhatIsCalled) {
  const Recorded code("linked.sm_90", "_ZN6sample5chainEPi");
  PtxasKernel text{.name = code.kernel, .arch = "sm_90", .registers = 24};
  EXPECT_THAT(code.against(text, true), IsEmpty());
  EXPECT_EQ(code.against(text, false), "24 registers, but 46 in the machine code");
  text.registers = 47;
  EXPECT_EQ(code.against(text, true), "47 registers, but 46 in the machine code");
  text.registers = 46;
  text.frame_bytes = 8;
  EXPECT_EQ(code.against(text, true), "8 bytes of stack frame, but 0 in the machine code");
}

TEST(Contradiction, OfWhatTheCubinDoesNotSayThereIsNone) {
  const Recorded code("spills.sm_75", "_Z6spillsPfPKf");
  PtxasKernel text = spills();
  text.registers = 40;
  text.frame_bytes = text.cumulative_stack_bytes = 8;
  EXPECT_THAT(contradiction(text, Cubin(std::as_bytes(std::span(code.bytes))), {}, false),
              IsEmpty());
}

}  // namespace
}  // namespace warpgauge::metrics
