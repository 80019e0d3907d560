// Pairs the kernels of two runs. It compares whole names first, then names without the parts that
// change between builds, and at last the words of names.
#include "harness/diff/same_kernels.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "harness/diff/kernel_names.h"
#include "metrics/base/demangled.h"

namespace warpgauge::diff {
namespace {

using metrics::Fact;

struct Kernel {
  metrics::CaseId id;
  std::string arch, name;  ///< mangled
  bool has_pair = false;
};

/// The kernels of inspected cases, each once.
std::vector<Kernel> kernels_of(const std::vector<Fact>& cases) {
  std::set<CaseKey> seen;
  std::vector<Kernel> kernels;
  for (const Fact& fact : cases) {
    const metrics::CaseContext& context = *fact.context;
    if (context.kind != metrics::CaseKind::inspected || context.kernels.empty()) continue;
    if (!seen.insert(case_of(fact)).second) continue;
    kernels.push_back({fact.id, fact.arch, context.kernels.front().name});
  }
  return kernels;
}

using KeyOf = std::function<std::string(const Kernel&)>;

std::string plain_name(const Kernel& kernel) {
  return metrics::plain_name(metrics::demangled(kernel.name));
}

std::vector<Words> words_of_each(const std::vector<Kernel*>& kernels) {
  std::vector<Words> words;
  for (const Kernel* kernel : kernels) words.push_back(words_of(kernel->name));
  return words;
}

/// For each of `from` the index of the most similar words in `to`; nothing if several are.
std::vector<std::optional<std::size_t>> most_alike(const std::vector<Words>& from,
                                                   const std::vector<Words>& to) {
  std::vector<std::optional<std::size_t>> best;
  for (const Words& words : from) {
    double most = 0;
    best.emplace_back();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double like = likeness(words, to[i]);
      if (like < most) continue;
      best.back() = like == most ? std::nullopt : std::optional(i);
      most = like;
    }
  }
  return best;
}

using Pair = std::pair<const Kernel*, const Kernel*>;

/// Finds pairs of equal kernels in two runs. Each kernel is in one pair at most.
class Matching {
 public:
  Matching(std::vector<Kernel> a, std::vector<Kernel> b) : a_(std::move(a)), b_(std::move(b)) {}

  /// Pairs kernels with the same key, if no other kernel of their run has it.
  void match_by(const KeyOf& key_of) {
    for (const auto& [key, group] : groups(key_of)) {
      if (group.a.size() == 1 && group.b.size() == 1) add_pair(group.a.front(), group.b.front());
    }
  }

  /// Pairs kernels with the same plain name, if each is the most similar one to the other.
  void match_alike() {
    constexpr std::size_t kMostPairs = 250'000;  // these take a second
    for (const auto& [name, group] : groups(plain_name)) {
      if (group.a.size() * group.b.size() > kMostPairs) continue;
      const std::vector<Words> words_a = words_of_each(group.a), words_b = words_of_each(group.b);
      const auto to_b = most_alike(words_a, words_b), to_a = most_alike(words_b, words_a);
      for (std::size_t i = 0; i < to_b.size(); ++i) {
        if (to_b[i] && to_a[*to_b[i]] == i) add_pair(group.a[i], group.b[*to_b[i]]);
      }
    }
  }

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  /// Kernels with the same key and architecture.
  struct Group {
    std::vector<Kernel*> a, b;
  };

  /// The kernels that have no pair yet, by key and architecture.
  std::map<CaseKey, Group> groups(const KeyOf& key_of) {
    std::map<CaseKey, Group> groups;
    for (Kernel& kernel : a_) {
      if (!kernel.has_pair) groups[{key_of(kernel), kernel.arch}].a.push_back(&kernel);
    }
    for (Kernel& kernel : b_) {
      if (!kernel.has_pair) groups[{key_of(kernel), kernel.arch}].b.push_back(&kernel);
    }
    return groups;
  }

  void add_pair(Kernel* a, Kernel* b) {
    a->has_pair = b->has_pair = true;
    pairs_.emplace_back(a, b);
  }

  std::vector<Kernel> a_, b_;
  std::vector<Pair> pairs_;
};

/// The context with the kernel's name in A, which causes and lines are looked up by.
std::shared_ptr<const metrics::CaseContext> renamed(const metrics::CaseContext& context,
                                                    const std::string& name) {
  metrics::CaseContext other = context;
  other.kernels.front().name = name;
  return std::make_shared<const metrics::CaseContext>(std::move(other));
}

}  // namespace

SameKernels::SameKernels(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  // The keys that tell most come first. Each step looks only at the kernels without a pair.
  const KeyOf keys[] = {
      [](const Kernel& kernel) { return kernel.id.str(); },
      [](const Kernel& kernel) { return without_version(kernel.id.family) + ' ' + kernel.name; },
      [](const Kernel& kernel) { return kernel.name; },
      [](const Kernel& kernel) { return without_hashes(kernel.name); },
      [](const Kernel& kernel) { return without_parameters(kernel.name); },
  };
  Matching matching(kernels_of(a), kernels_of(b));
  for (const KeyOf& key_of : keys) matching.match_by(key_of);
  matching.match_alike();
  for (const auto& [in_a, in_b] : matching.pairs()) {
    names_[{in_a->id.str(), in_a->arch}] = {in_a->name, in_b->name};
    if (in_a->id != in_b->id) renamed_[{in_b->id.str(), in_b->arch}] = {in_a->id, in_a->name};
  }
}

CaseKey SameKernels::case_in_a(const CaseKey& in_b) const {
  const auto found = renamed_.find(in_b);
  return found == renamed_.end() ? in_b : CaseKey(found->second.id.str(), in_b.second);
}

void SameKernels::rename(std::vector<metrics::StoredRun>& runs) const {
  // From old contexts to new ones. The map keeps the old ones alive: a new context at the address
  // of an old one would be taken for it.
  using Context = std::shared_ptr<const metrics::CaseContext>;
  std::map<Context, Context> contexts;
  for (metrics::StoredRun& run : runs) {
    for (Fact& fact : run.facts) {
      const auto found = renamed_.find(case_of(fact));
      if (found == renamed_.end()) continue;
      const auto& [id, kernel] = found->second;
      fact.id = id;
      if (!fact.kernel.empty()) fact.kernel = kernel;
      Context& context = contexts[fact.context];
      if (!context) context = renamed(*fact.context, kernel);
      fact.context = context;
    }
  }
}

}  // namespace warpgauge::diff
