// A family of cases that are only names, whose source and budgets lie in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "harness/files/temporary_path.h"

namespace warpgauge {

class OwnFamily {
 public:
  /// Cases own.VARIANT.f32@64, and their budgets.
  explicit OwnFamily(const std::vector<std::string>& variants, std::string_view budgets = "")
      : folder_(files::TemporaryPath::folder_in(testing::TempDir(), "own-family-")) {
    std::ofstream(folder() / "family.cu") << "// source\n";
    if (!budgets.empty()) std::ofstream(folder() / "budgets.toml") << budgets;
    for (const std::string& variant : variants) add({.id = {"own", variant, "f32", "64"}});
  }

  void add(Case more) {
    more.file = (folder() / "family.cu").string();
    more.line = 1;
    registry_.add(std::move(more));
  }
  const std::filesystem::path& folder() const { return folder_.path(); }
  const Case* at(const std::string& variant) const {
    return &registry_.at("own." + variant + ".f32@64");
  }
  Cases all() const { return registry_.select({}); }
  FamilyBudgets budgets() const { return FamilyBudgets(registry_); }

 private:
  const files::TemporaryPath folder_;
  Registry registry_;
};

}  // namespace warpgauge
