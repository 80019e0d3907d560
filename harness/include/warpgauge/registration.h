// Registers a family of kernels: problems, variants, sizes. Kept light: nvcc reads it once for each
// architecture.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "warpgauge/problem.h"

namespace warpgauge {

/// How a case is made and launched, independent of the type of its problem.
class Recipe {
 public:
  virtual ~Recipe() = default;
  virtual Problem* make(const Size& size) const = 0;  ///< the caller owns it
  /// Launches the variant's kernels on a problem that make() has made.
  virtual void launch(Problem& problem) const = 0;
};

/// The recipe of a variant of the problem P, which `Launch` launches.
template <typename P, typename Launch>
class RecipeOf : public Recipe {
 public:
  explicit RecipeOf(Launch launch) : launch_(std::move(launch)) {}  ///< launch(P&)
  Problem* make(const Size& size) const override { return new P(size); }
  /// `problem` must be a P.
  void launch(Problem& problem) const override { launch_(static_cast<P&>(problem)); }

 private:
  Launch launch_;
};

/// The common properties of the variants of one problem type.
struct VariantSet {
  std::string family;       ///< the first part of the id, "transpose"
  std::string type;         ///< the third, "f32"
  std::vector<Size> sizes;  ///< each makes a case of each variant
  std::string yardstick;    ///< variant that their times are compared with; empty: none
  std::string gpu_only;     ///< why they are not run without a GPU; empty: they are
  std::string needs;        ///< the architecture that they need, "sm_90"; empty: none
};

/// Throws std::invalid_argument, with the place, for a reason that is blank.
void need_reason(std::string_view reason, const std::source_location& where);

/// Throws std::invalid_argument, with the place, for what is not the name of an architecture.
void need_arch_name(std::string_view arch, const std::source_location& where);

/// Registers a case for each size of `set`. Takes over `recipe`.
void register_variant(const VariantSet& set, std::string_view variant, const Recipe* recipe,
                      bool counted, const std::source_location& where);

/// The variants of one problem type at some sizes.
template <typename P>
class Variants {
 public:
  explicit Variants(VariantSet set) : set_(std::move(set)) {}  ///< by Family::problem()

  /// Registers a variant. `launch(P&)` launches its kernels on the default stream; it must not
  /// wait for them and must be repeatable once the problem has been reset.
  template <typename Launch>
  void variant(std::string_view name, Launch launch,
               std::source_location where = std::source_location::current()) const {
    register_variant(set_, name, new RecipeOf<P, Launch>(std::move(launch)), true, where);
  }

  /// A variant whose work is not done by kernels of this program: calls of a library, or copies.
  /// Its result is checked and its time measured, and nothing is counted.
  template <typename Launch>
  void uncounted(std::string_view name, Launch launch,
                 std::source_location where = std::source_location::current()) const {
    register_variant(set_, name, new RecipeOf<P, Launch>(std::move(launch)), false, where);
  }

  /// The same, but the times of variants registered with the result are compared with that of the
  /// variant `yardstick` of the same type and size (time.relative_to).
  Variants relative_to(std::string_view yardstick) const {
    VariantSet set = set_;
    set.yardstick = yardstick;
    return Variants(std::move(set));
  }

  /// The same, but variants registered with the result run on GPUs only. Without a GPU their
  /// results and counts are listed as unmeasured, for this reason; compile-time values are judged
  /// as ever.
  Variants gpu_only(std::string_view reason,
                    std::source_location where = std::source_location::current()) const {
    need_reason(reason, where);
    VariantSet set = set_;
    set.gpu_only = reason;
    return Variants(std::move(set));
  }

  /// The same, but variants registered with the result exist on `arch` ("sm_90") and on later ones
  /// alone, or if its name ends in a letter ("sm_90a"), on it alone. The code of their kernels
  /// is compiled for it alone. On other architectures they are left out, and the gate says so.
  Variants needs(std::string_view arch,
                 std::source_location where = std::source_location::current()) const {
    need_arch_name(arch, where);
    VariantSet set = set_;
    set.needs = arch;
    return Variants(std::move(set));
  }

 private:
  VariantSet set_;
};

/// A family: problems that answer one question. Its budgets lie beside its source file.
class Family {
 public:
  explicit Family(std::string_view name) : name_(name) {}  ///< by WARPGAUGE_FAMILY
  /// Variants registered with the result solve `P` for elements of `type` ("f32") at `sizes`.
  template <typename P>
  Variants<P> problem(std::string_view type, std::vector<Size> sizes) const {
    return Variants<P>({name_, std::string(type), std::move(sizes), "", "", ""});
  }

 private:
  std::string name_;
};

/// A family in a list that is filled before main, where errors cannot be reported; main registers
/// it.
class Announcement {
 public:
  /// Of the family of that name, which `register_it` registers. Both must outlive main.
  Announcement(const char* family, void (*register_it)(const Family&));
  /// Registers the families that are announced and not yet registered.
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
