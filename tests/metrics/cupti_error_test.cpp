// Every CUPTI error has a name, a text and, where something helps, a remedy. Needs no GPU.
#include "metrics/cupti/cupti_error.h"

#include <gmock/gmock.h>

#include <cctype>
#include <string>

#include "metrics/cupti/cupti.h"

namespace warpgauge::metrics::cupti_error_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The codes of cupti_result.h.
constexpr int kFirst = 1;
constexpr int kLast = 46;
constexpr int kUnknown = 999;
constexpr int kInsufficientPrivileges = 35;

class CuptiError : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!built_with_cupti()) GTEST_SKIP() << "this build has no CUPTI";
    if (!cupti_answers()) GTEST_SKIP() << "this CUPTI needs an NVIDIA driver";
  }
};

TEST_F(CuptiError, ABusyGpuIsAskedAgainUntilItIsFree) {
  constexpr int kSuccess = 0, kHardwareBusy = 26;
  int asked = 0;
  EXPECT_EQ(take_turns([&] { return ++asked < 4 ? kHardwareBusy : kSuccess; }), kSuccess);
  EXPECT_EQ(asked, 4);
  asked = 0;  // other errors do not go away
  EXPECT_EQ(take_turns([&] { return ++asked, kInsufficientPrivileges; }), kInsufficientPrivileges);
  EXPECT_EQ(asked, 1);
}

std::string message_of(int code) {
  try {
    check_cupti(code, "cuptiCall");
  } catch (const Unmeasured& error) {
    return error.what();
  }
  return "";
}

TEST_F(CuptiError, SuccessThrowsNothing) { EXPECT_NO_THROW(check_cupti(0, "cuptiCall")); }

TEST_F(CuptiError, NeverABareCode) {
  for (int code = kFirst; code <= kLast; ++code) {
    const std::string message = message_of(code);
    const std::string number = " (" + std::to_string(code) + ")";
    EXPECT_THAT(message,
                AnyOf(AllOf(HasSubstr("cuptiCall failed: CUPTI_ERROR_"), HasSubstr(number)),
                      HasSubstr("CUPTI has no name for" + number)));
    EXPECT_THAT(message, Not(AnyOf(HasSubstr(".."), HasSubstr("\n"))));
    // A remedy follows, if only to report it.
    EXPECT_THAT(message, AnyOf(HasSubstr(std::string(cupti_remedy(code))), HasSubstr("report it")));
    EXPECT_GT(message.size(), 80u) << message;
  }
  EXPECT_THAT(message_of(kUnknown), HasSubstr("CUPTI_ERROR_UNKNOWN (999)"));
  EXPECT_THAT(message_of(12345), HasSubstr("12345"));
}

TEST_F(CuptiError, RemediesAreSentencesAndEndTheMessage) {
  int found = 0;
  for (int code = kFirst; code <= kLast; ++code) {
    const std::string_view remedy = cupti_remedy(code);
    if (remedy.empty()) continue;
    ++found;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(remedy.front()))) << remedy;
    EXPECT_FALSE(remedy.ends_with('.')) << remedy;
    EXPECT_TRUE(message_of(code).ends_with(". " + std::string(remedy))) << message_of(code);
  }
  EXPECT_GE(found, 25);
}

TEST_F(CuptiError, WhatUsersMeetHasARemedy) {
  struct Expected {
    int code;
    const char* text;
  };
  for (const Expected& expected : {
           Expected{7, "MPS"},            // INVALID_OPERATION
           Expected{8, "memory"},         // OUT_OF_MEMORY
           Expected{15, "580"},           // NOT_INITIALIZED
           Expected{26, "dcgmi"},         // HARDWARE_BUSY
           Expected{27, "7.5"},           // NOT_SUPPORTED
           Expected{31, "MPS"},           // UM_PROFILING_NOT_SUPPORTED_WITH_MPS
           Expected{33, "virtual"},       // VIRTUALIZED_DEVICE_NOT_SUPPORTED
           Expected{39, "Nsight"},        // MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
           Expected{40, "hypervisor"},    // VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
           Expected{41, "confidential"},  // CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
           Expected{43, "MIG"},           // MIG_DEVICE_NOT_SUPPORTED
           Expected{45, "Windows"},       // WSL_DEVICE_NOT_SUPPORTED
       }) {
    EXPECT_THAT(std::string(cupti_remedy(expected.code)), HasSubstr(expected.text));
  }
}

TEST_F(CuptiError, PermissionNamesEveryWayOut) {
  const std::string message = message_of(kInsufficientPrivileges);
  for (const char* part : {"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "ERR_NVGPUCTRPERM",
                           "NVreg_RestrictProfilingToAdminUsers=0", "/etc/modprobe.d", "root",
                           "--cap-add=SYS_ADMIN", "CAP_PERFMON"}) {
    EXPECT_THAT(message, HasSubstr(part));
  }
}

}  // namespace
}  // namespace warpgauge::metrics::cupti_error_test
