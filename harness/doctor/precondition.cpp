// Writes the result of a check of the doctor.
#include "harness/doctor/precondition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/build_info.h"
#include "harness/files/printable.h"

namespace warpgauge::doctor {
namespace {

struct Look {
  std::string_view word, colour;
};
constexpr std::array<Look, 4> kLooks = {{// as Health
                                         {"ok", "\033[32m"},
                                         {"warn", "\033[33m"},
                                         {"fail", "\033[1;31m"},
                                         {"unknown", "\033[36m"}}};

const Look& look_of(Health health) { return kLooks.at(static_cast<std::size_t>(health)); }

std::string coloured(std::string_view text, std::string_view colour, bool on) {
  return on ? fmt::format("{}{}\033[0m", colour, text) : std::string(text);
}

std::string outcome(const Diagnosis& diagnosis) {
  if (diagnosis.ready()) {
    return fmt::format("ready: the gate runs and counts kernels on the {}",
                       diagnosis.counts_on == "gpu" ? "GPU" : "emulator");
  }
  std::vector<std::string_view> failed;
  for (const Precondition& finding : diagnosis.findings) {
    if (finding.needed && finding.health == Health::fail) failed.push_back(finding.id);
  }
  return fmt::format("not ready: {}", fmt::join(failed, ", "));
}

}  // namespace

std::string_view to_string(Health health) { return look_of(health).word; }

Precondition failed_finding(std::string_view id, std::string_view message) {
  constexpr std::string_view kStop = ". ";
  Precondition finding{.id = std::string(id), .health = Health::fail};
  const std::size_t stop = message.find(kStop);
  finding.text = message.substr(0, stop);
  if (stop != message.npos) finding.remedy = message.substr(stop + kStop.size());
  return finding;
}

nlohmann::ordered_json json_of(const Precondition& finding) {
  return {{"id", finding.id},
          {"health", to_string(finding.health)},
          {"text", finding.text},
          {"remedy", finding.remedy.empty() ? nlohmann::ordered_json()
                                            : nlohmann::ordered_json(finding.remedy)},
          {"needed", finding.needed}};
}

Precondition finding_from(const nlohmann::json& object) {
  const auto word = object.at("health").get<std::string>();
  const auto* const look = std::ranges::find(kLooks, word, &Look::word);
  if (look == kLooks.end()) throw std::invalid_argument("'" + word + "' is not a health");
  const nlohmann::json& remedy = object.at("remedy");
  return {.id = object.at("id").get<std::string>(),
          .health = static_cast<Health>(look - kLooks.begin()),
          .text = object.at("text").get<std::string>(),
          .remedy = remedy.is_null() ? "" : remedy.get<std::string>(),
          .needed = object.at("needed").get<bool>()};
}

bool Diagnosis::ready() const {
  return std::ranges::none_of(findings, [](const Precondition& finding) {
    return finding.needed && finding.health == Health::fail;
  });
}

const Precondition& finding_called(std::string_view id, const std::vector<Precondition>& findings) {
  const auto found = std::ranges::find(findings, id, &Precondition::id);
  if (found == findings.end()) throw std::out_of_range(fmt::format("there is no finding '{}'", id));
  return *found;
}

void settle(const std::vector<std::string_view>& needed, std::vector<Precondition>& findings) {
  for (Precondition& finding : findings) {
    finding.needed = std::ranges::find(needed, finding.id) != needed.end();
    if (finding.needed && finding.health == Health::unknown) finding.health = Health::fail;
    if (!finding.needed && finding.health == Health::fail) finding.health = Health::warn;
  }
  for (const std::string_view id : needed) finding_called(id, findings);
}

std::string diagnosis_text(const Diagnosis& diagnosis, bool colour) {
  constexpr std::size_t kWordWidth = 7;  // as wide as "unknown"
  std::size_t width = 0;
  for (const Precondition& finding : diagnosis.findings) width = std::max(width, finding.id.size());
  std::string text;
  for (const Precondition& finding : diagnosis.findings) {
    const Look& look = look_of(finding.health);
    // Padded before it is coloured, or the colour would count as text.
    const std::string word = fmt::format("{:<{}}", look.word, kWordWidth);
    text += fmt::format("{}  {:<{}}  {}\n", coloured(word, look.colour, colour), finding.id, width,
                        files::printable(finding.text));
    if (finding.remedy.empty()) continue;
    text +=
        fmt::format("{:{}}  > {}\n", "", kWordWidth + 2 + width, files::printable(finding.remedy));
  }
  const std::string_view on = diagnosis.ready() ? "\033[1;32m" : "\033[1;31m";
  text += fmt::format("\n{}\n", coloured(outcome(diagnosis), on, colour));
  return text;
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  for (const Precondition& finding : diagnosis.findings) checks.push_back(json_of(finding));
  const nlohmann::ordered_json object = {{"schema", 1},
                                         {"version", kBuildInfo.version},
                                         {"ready", diagnosis.ready()},
                                         {"counts_on", diagnosis.counts_on},
                                         {"checks", std::move(checks)}};
  // A path or a variable may hold bytes that are no UTF-8.
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace warpgauge::doctor
