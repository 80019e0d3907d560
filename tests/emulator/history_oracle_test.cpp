// The history of accesses against a slow reference, with small random programs: each race that is
// found is one, and each that docs/checks.md promises is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/race_program.h"
#include "tests/emulator/race_reference.h"

namespace warpgauge::emulator::machine::history_oracle_test {
namespace {

/// What the machine does with a program.
struct Found {
  std::vector<Finding> findings;
  std::vector<std::uint8_t> memory;  ///< the global region in the end
};

Found run(const RaceProgram& program) {
  Options options = limited();
  options.threads = 1;
  options.checks = checks_called(program.has_lanes ? "races,lanes" : "races");
  options.checks.uninitialised = program.has_uninitialised;
  Machine machine(Architecture{}, options);
  Program& loaded = machine.load(ptx::parse(ptx_of(program), "test.ptx"));
  memory::Memory& memory = machine.memory();
  std::byte* const region = memory.allocate(kRegionBytes, memory::Memory::Kind::device, "region");
  std::memset(region, 0, kRegionBytes);
  if (!program.is_unwritten) memory.note_written(region, kRegionBytes);
  Found found;
  for (std::size_t n = 0; n < program.launches.size(); ++n) {
    const std::size_t threads = std::size_t{program.blocks} * program.threads;
    std::byte* const output =
        memory.allocate(sizeof(std::uint32_t) * threads, memory::Memory::Kind::device, "output");
    const std::array<const std::byte*, 2> parameters = {region, output};
    std::vector<Finding> findings;
    Launch launch{.grid = {program.blocks, 1, 1},
                  .block = {program.threads, 1, 1},
                  .parameters = std::as_bytes(std::span(parameters)),
                  .findings = &findings,
                  .number = n + 1};
    for (const std::size_t other : program.launches[n].concurrent) {
      launch.concurrent.push_back(
          {.number = other + 1, .until_wait = program.launches[n].until_wait});
    }
    machine.run(*machine.find_kernel(loaded, "k" + std::to_string(n)), launch);
    found.findings.insert(found.findings.end(), findings.begin(), findings.end());
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(region);
  found.memory.assign(bytes, bytes + kRegionBytes);
  return found;
}

/// Takes numbers out of the text of a finding, one behind the other.
class Text {
 public:
  explicit Text(std::string_view text) : left_(text) {}
  std::uint32_t number_behind(std::string_view words) {
    left_.remove_prefix(left_.find(words) + words.size());
    return static_cast<std::uint32_t>(std::strtoul(left_.data(), nullptr, 10));
  }
  bool has(std::string_view words) const { return left_.find(words) != left_.npos; }

 private:
  std::string_view left_;
};

Verdicts::Race race_of(const Finding& finding) {
  Verdicts::Race race;
  Text text(finding.text);
  race.later.block = text.number_behind("block (");
  race.later.thread = text.number_behind("thread (");
  race.later.line = static_cast<int>(text.number_behind("f.cu:"));
  race.is_global = text.has(": global ");
  text.number_behind(" at ");
  race.offset = text.number_behind("byte ");
  race.earlier.thread = text.number_behind("which thread (");
  race.earlier.block = race.is_global ? text.number_behind("of block (") : race.later.block;
  race.wrote = text.has(" has written at ");
  race.earlier.line = static_cast<int>(text.number_behind("f.cu:"));
  return race;
}

/// The line of the access, and the other one.
std::array<int, 2> lines_of(const Finding& finding) {
  Text text(finding.text);
  const auto later = static_cast<int>(text.number_behind("f.cu:"));
  return {static_cast<int>(text.number_behind("f.cu:")), later};
}

std::string lines_text(const std::set<int>& lines) {
  std::string text;
  for (const int line : lines) text += " " + std::to_string(line);
  return text;
}

/// What is wrong with the findings on a program; nothing if they are right.
std::string fault_in(const RaceProgram& program) {
  const Verdicts verdicts = verdicts_on(program);
  const Found found = run(program);
  std::set<std::array<int, 2>> pairs;
  std::set<int> unwritten, read_only;
  for (const Finding& finding : found.findings) {
    if (finding.rule == "race" || finding.rule == "lane race") {
      const Verdicts::Race race = race_of(finding);
      if (!verdicts.races.contains(race)) return "this is no race: " + finding.text;
      pairs.insert({race.earlier.line, race.later.line});
    } else if (finding.rule == "read-only load") {
      const std::array<int, 2> lines = lines_of(finding);
      if (!verdicts.read_only.contains(lines)) return "it reads something else: " + finding.text;
      read_only.insert(lines[1]);
      pairs.insert(lines);  // instead of the race
    } else if (finding.rule == "uninitialised") {
      unwritten.insert(static_cast<int>(Text(finding.text).number_behind("f.cu:")));
    } else {
      return "no check asks for this: " + finding.text;
    }
  }
  for (const Verdicts::Promise& promise : verdicts.promises) {
    if (std::ranges::none_of(promise.earlier, [&](int earlier) {
          return pairs.contains({earlier, promise.later});
        })) {
      return "a race of line " + std::to_string(promise.later) + " with one of" +
             lines_text(promise.earlier) + " is missed";
    }
  }
  if (!std::ranges::includes(read_only, verdicts.promised_read_only)) {
    return "read-only loads of what the launch writes are missed";
  }
  const std::set<int> expected = program.has_uninitialised ? verdicts.unwritten : std::set<int>();
  if (unwritten != expected) {
    return "lines that read what nothing has written:" + lines_text(expected) +
           "; found:" + lines_text(unwritten);
  }
  if (found.memory != verdicts.memory) return "the reference leaves something else in memory";
  return "";
}

class HistoryOracle : public testing::TestWithParam<int> {};

TEST_P(HistoryOracle, FindsTheRacesOfTheReferenceAndNoOthers) {
  constexpr int kPrograms = 60;
  for (int n = 0; n < kPrograms; ++n) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * kPrograms + n);
    const RaceProgram program = random_program(seed);
    const std::string fault = fault_in(program);
    ASSERT_EQ(fault, "") << "seed " << seed << ": " << program.blocks << " blocks of "
                         << program.threads << " threads" << (program.has_lanes ? ", lanes" : "")
                         << "\n"
                         << ptx_of(program);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HistoryOracle, testing::Range(0, 4));

}  // namespace
}  // namespace warpgauge::emulator::machine::history_oracle_test
