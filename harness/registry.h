// The registry: every family, variant and case of a program, collected before main.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "harness/problem.h"
#include "metrics/fact.h"

namespace warpgauge {

/// One variant at one size: what is run, measured and judged.
struct Case {
  metrics::CaseId id;
  std::string file;  ///< of the registration
  int line = 0;
  std::function<std::unique_ptr<Problem>()> make_problem;
  std::function<void(Problem&)> launch;
};

class Family;

/// All cases, sorted by family in order of registration. Names are checked as they register.
class Registry {
 public:
  /// The registry of this program. Families announced before main are registered by the first
  /// call from main on, so that what is wrong with one can be reported.
  static Registry& instance();

  void add(Case new_case);  ///< throws std::invalid_argument for a bad or taken name
  const std::vector<Case>& cases() const { return cases_; }
  /// The cases whose id matches `pattern` (* and ? as in the shell; empty means all).
  std::vector<const Case*> select(std::string_view pattern) const;

 private:
  std::vector<Case> cases_;
};

/// The variants of one problem type at some sizes.
template <typename P>
class Variants {
 public:
  Variants(std::string family, std::string type, std::vector<Size> sizes)
      : family_(std::move(family)), type_(std::move(type)), sizes_(std::move(sizes)) {}

  /// Registers a variant. `launch(P&)` launches its kernels on the default stream; it must not
  /// wait for them and must be repeatable once the problem has been reset.
  template <typename Launch>
  void variant(std::string_view name, Launch launch,
               std::source_location where = std::source_location::current()) const {
    for (const Size& size : sizes_) {
      Registry::instance().add(
          {.id = {family_, std::string(name), type_, size.str()},
           .file = where.file_name(),
           .line = static_cast<int>(where.line()),
           .make_problem = [size] { return std::make_unique<P>(size); },
           .launch = [launch](Problem& problem) { launch(static_cast<P&>(problem)); }});
    }
  }

 private:
  std::string family_, type_;
  std::vector<Size> sizes_;
};

/// A family: problems that answer one question. Its budgets lie beside its source file.
class Family {
 public:
  explicit Family(std::string_view name) : name_(name) {}
  /// Variants registered with the result solve `P` for elements of `type` ("f32") at `sizes`.
  template <typename P>
  Variants<P> problem(std::string_view type, std::vector<Size> sizes) const {
    return {name_, std::string(type), std::move(sizes)};
  }

 private:
  std::string name_;
};

/// A family that waits to be registered: linked into a list before main, where an error could not
/// be reported, and registered from main on.
class Announcement {
 public:
  Announcement(const char* family, void (*register_it)(const Family&));
  /// Registers what has been announced and has not been registered yet.
  static void register_all();

 private:
  static inline Announcement* first_ = nullptr;
  const char* family_;
  void (*register_it_)(const Family&);
  Announcement* next_;
};

/// Opens the registration of a family; a block follows in which `family` is the Family.
#define WARPGAUGE_FAMILY(name)                                                                   \
  static void warpgauge_register_##name(const ::warpgauge::Family& family);                      \
  static ::warpgauge::Announcement warpgauge_announced_##name(#name, warpgauge_register_##name); \
  static void warpgauge_register_##name([[maybe_unused]] const ::warpgauge::Family& family)

}  // namespace warpgauge
