// Registers a family of kernels: problems, variants, sizes. Kept light: nvcc reads it once for each
// architecture, and <string> and <string_view> would double the time of that.
#pragma once

#include <cstddef>
#include <source_location>
#include <utility>
#include <vector>

#include "warpgauge/problem.h"

namespace warpgauge {

/// A name or another text from a literal, a std::string or a std::string_view. For arguments: it
/// does not own the characters.
class Text {
 public:
  Text(const char* text);  ///< up to its '\0'
  /// Refers to all of `string`.
  template <typename String>
  Text(const String& string) : data_(string.data()), size_(string.size()) {}
  const char* data() const { return data_; }  ///< not ended by '\0'
  std::size_t size() const { return size_; }  ///< characters

 private:
  const char* data_;
  std::size_t size_;
};

/// Makes and launches the problem of a case, whatever its type.
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

/// The properties that the variants of one problem type share. Sets live as long as the program.
struct VariantSet;

/// The set of a problem of a family at some sizes.
const VariantSet& variant_set(Text family, Text type, std::vector<Size> sizes);

/// A copy of `set` that is relative_to() a yardstick.
const VariantSet& relative_to(Text yardstick, const VariantSet& set);

/// A copy of `set` that is gpu_only(). Throws std::invalid_argument, with the place, for a blank
/// reason.
const VariantSet& gpu_only(Text reason, const VariantSet& set, const std::source_location& where);

/// A copy of `set` that needs() an architecture. Throws std::invalid_argument, with the place, for
/// a name that is none.
const VariantSet& needs(Text arch, const VariantSet& set, const std::source_location& where);

/// A copy of `set` with sizes_between(). Throws std::invalid_argument, with the place, where the
/// sizes of the set are not among them.
const VariantSet& sizes_between(const Size& lowest, const Size& highest, const Size& multiples_of,
                                const VariantSet& set, const std::source_location& where);

/// Registers a case for each size of `set`. Takes over `recipe`.
void register_variant(const VariantSet& set, Text variant, const Recipe* recipe, bool counted,
                      const std::source_location& where);

/// The variants of one problem type at some sizes. Each size of each variant is a case, with the id
/// "family.variant.type@size".
template <typename P>
class Variants {
 public:
  explicit Variants(const VariantSet& set) : set_(&set) {}  ///< by Family::problem()

  /// Registers a variant. `launch(P&)` launches its kernels, on the default stream or on others: a
  /// time is that of the default stream and of streams that wait for it, all but those made with
  /// cudaStreamNonBlocking. It must not wait for the kernels, and must be repeatable once the
  /// problem has been reset.
  template <typename Launch>
  void variant(Text name, Launch launch,
               std::source_location where = std::source_location::current()) const {
    register_variant(*set_, name, new RecipeOf<P, Launch>(std::move(launch)), true, where);
  }

  /// Registers a variant whose work is done by a library or by copies instead of kernels of this
  /// program. Its result is checked and its time measured, and nothing is counted.
  template <typename Launch>
  void uncounted(Text name, Launch launch,
                 std::source_location where = std::source_location::current()) const {
    register_variant(*set_, name, new RecipeOf<P, Launch>(std::move(launch)), false, where);
  }

  /// A copy whose variants have their times compared with that of the variant `yardstick` of the
  /// same type and size (time.relative_to).
  Variants relative_to(Text yardstick) const {
    return Variants(warpgauge::relative_to(yardstick, *set_));
  }

  /// A copy whose variants run on GPUs only. Without a GPU their results and counts are listed as
  /// unmeasured, with this reason; compile-time values are judged as usual.
  Variants gpu_only(Text reason,
                    std::source_location where = std::source_location::current()) const {
    return Variants(warpgauge::gpu_only(reason, *set_, where));
  }

  /// A copy whose variants exist only on `arch` ("sm_90") and later ones, or, if its name ends in a
  /// letter ("sm_90a"), on `arch` alone. Their kernels are compiled for `arch` alone. On other
  /// architectures they are left out, and the gate says so.
  Variants needs(Text arch, std::source_location where = std::source_location::current()) const {
    return Variants(warpgauge::needs(arch, *set_, where));
  }

  /// A copy whose problem may have all sizes from `lowest` to `highest`, extent by extent, in
  /// multiples of `multiples_of` where that is given: `gate --fuzz` runs its variants at some.
  Variants sizes_between(const Size& lowest, const Size& highest,
                         const Size& multiples_of = Size(std::vector<std::int64_t>()),
                         std::source_location where = std::source_location::current()) const {
    return Variants(warpgauge::sizes_between(lowest, highest, multiples_of, *set_, where));
  }

 private:
  const VariantSet* set_;
};

/// A family: problems that answer one question. Its budgets lie beside its source file.
class Family {
 public:
  explicit Family(const char* name) : name_(name) {}  ///< by WARPGAUGE_FAMILY
  /// The variants that solve `P`, a Problem with a constructor from a Size, for elements of `type`
  /// ("f32") at `sizes`. A set without sizes, and a name that an id cannot have, are errors when
  /// the variant is registered.
  template <typename P>
  Variants<P> problem(Text type, std::vector<Size> sizes) const {
    return Variants<P>(variant_set(name_, type, std::move(sizes)));
  }

 private:
  const char* name_;
};

/// An entry of the list of families, which is filled before main, where errors cannot be reported.
/// main registers the families.
class Announcement {
 public:
  /// Announces the family, which `register_it` registers. Both must outlive main.
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
