#include "harness/diff/same_kernels.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "metrics/base/demangled.h"

namespace warpgauge::diff {
namespace {

using metrics::Fact;

struct Kernel {
  metrics::CaseId id;
  std::string arch, name;  ///< mangled
};

/// The inspected cases.
std::map<CaseKey, Kernel> kernels_of(const std::vector<Fact>& cases) {
  std::map<CaseKey, Kernel> kernels;
  for (const Fact& fact : cases) {
    const metrics::CaseContext& context = *fact.context;
    if (context.kind != metrics::CaseKind::inspected || context.kernels.empty()) continue;
    kernels.try_emplace(case_of(fact), Kernel{fact.id, fact.arch, context.kernels.front().name});
  }
  return kernels;
}

/// Without the hashes that name a file or a build, and so the parts of anonymous namespaces.
std::string without_hashes(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789", kHexDigits = "0123456789abcdef",
                             kAnonymous = "_GLOBAL__N__";
  constexpr std::size_t kShortest = 8;
  const auto digits_at = [&](std::size_t i) {
    return std::min(name.find_first_not_of(kHexDigits, i), name.size()) - i;
  };
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    if (name.compare(i, kAnonymous.size(), kAnonymous) == 0) {
      text.erase(text.find_last_not_of(kDigits) + 1);  // the length of what follows
      i += kAnonymous.size() + digits_at(i + kAnonymous.size());
      text += '#';
      continue;
    }
    const std::size_t digits = digits_at(i);
    text += digits >= kShortest ? "#" : name.substr(i, std::max<std::size_t>(digits, 1));
    i += std::max<std::size_t>(digits, 1);
  }
  return text;
}

/// Without digits: "libcurand_so_10" is "libcurand_so_11" of another version.
std::string without_version(std::string family) {
  std::erase_if(family, [](unsigned char c) { return std::isdigit(c) != 0 || c == '_'; });
  return family;
}

/// With its template arguments, and without parameters and anonymous namespaces.
std::string without_parameters(const Kernel& kernel) {
  const std::string name =
      metrics::without_anonymous(metrics::without_void(metrics::demangled(kernel.name)));
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

/// The words of a name: its template arguments and parameters among them.
std::multiset<std::string> words_of(const Kernel& kernel) {
  std::multiset<std::string> words;
  std::string word;
  for (const unsigned char c : metrics::demangled(kernel.name) + ' ') {
    if (std::isalnum(c) != 0 || c == '_') {
      word += static_cast<char>(c);
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

/// Twice the words in common, as a share of all words of both.
double likeness(const std::multiset<std::string>& a, const std::multiset<std::string>& b) {
  std::vector<std::string> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return 2.0 * static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size());
}

class Matching {
 public:
  Matching(std::map<CaseKey, Kernel> a, std::map<CaseKey, Kernel> b) {
    for (auto& [key, kernel] : a) {
      const auto same = b.find(key);
      if (same == b.end()) {
        a_.push_back(std::move(kernel));
      } else {
        pairs.emplace_back(std::move(kernel), std::move(same->second));
        b.erase(same);
      }
    }
    for (auto& [key, kernel] : b) b_.push_back(std::move(kernel));
  }

  /// Those of one key that each side has once.
  void match_by(const std::function<std::string(const Kernel&)>& key_of) {
    const auto by_key = [&](const std::vector<Kernel>& kernels) {
      std::map<CaseKey, std::vector<std::size_t>> found;
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        found[{key_of(kernels[i]), kernels[i].arch}].push_back(i);
      }
      return found;
    };
    const auto in_b = by_key(b_);
    std::vector<std::pair<std::size_t, std::size_t>> matched;
    for (const auto& [key, of_a] : by_key(a_)) {
      const auto of_b = in_b.find(key);
      if (of_b == in_b.end() || of_a.size() != 1 || of_b->second.size() != 1) continue;
      matched.emplace_back(of_a.front(), of_b->second.front());
    }
    take(matched);
  }

  /// Those of one plain name whose other words are most alike.
  void match_alike() {
    using Words = std::vector<std::pair<std::size_t, std::multiset<std::string>>>;
    const auto by_name = [](const std::vector<Kernel>& kernels) {
      std::map<CaseKey, Words> found;
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::string plain = metrics::plain_name(metrics::demangled(kernels[i].name));
        found[{plain, kernels[i].arch}].emplace_back(i, words_of(kernels[i]));
      }
      return found;
    };
    constexpr std::size_t kMostPairs = 250'000;  // in a second
    const auto in_b = by_name(b_);
    std::vector<std::pair<std::size_t, std::size_t>> matched;
    for (const auto& [name, of_a] : by_name(a_)) {
      const auto of_b = in_b.find(name);
      if (of_b == in_b.end() || of_a.size() * of_b->second.size() > kMostPairs) continue;
      const std::vector<std::size_t> to_b = most_alike(of_a, of_b->second);
      const std::vector<std::size_t> to_a = most_alike(of_b->second, of_a);
      for (std::size_t i = 0; i < of_a.size(); ++i) {
        if (to_b[i] == kNone || to_a[to_b[i]] != i) continue;
        matched.emplace_back(of_a[i].first, of_b->second[to_b[i]].first);
      }
    }
    take(matched);
  }

  std::vector<std::pair<Kernel, Kernel>> pairs;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Of each of `from` the one of `to` that is most alike; none where several are.
  template <typename Words>
  static std::vector<std::size_t> most_alike(const Words& from, const Words& to) {
    std::vector<std::size_t> best;
    for (const auto& [number, words] : from) {
      double most = 0;
      best.push_back(kNone);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const double like = likeness(words, to[i].second);
        if (like < most) continue;
        best.back() = like == most ? kNone : i;
        most = like;
      }
    }
    return best;
  }

  void take(const std::vector<std::pair<std::size_t, std::size_t>>& matched) {
    std::set<std::size_t> of_a, of_b;
    for (const auto& [i, j] : matched) {
      pairs.emplace_back(a_[i], b_[j]);
      of_a.insert(i), of_b.insert(j);
    }
    const auto leave = [](std::vector<Kernel>& kernels, const std::set<std::size_t>& taken) {
      std::vector<Kernel> left;
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (!taken.contains(i)) left.push_back(std::move(kernels[i]));
      }
      kernels = std::move(left);
    };
    leave(a_, of_a);
    leave(b_, of_b);
  }

  std::vector<Kernel> a_, b_;  ///< that are not matched yet
};

/// The context with the name of the kernel in A, so that causes and lines are found.
std::shared_ptr<const metrics::CaseContext> renamed(const metrics::CaseContext& context,
                                                    const std::string& name) {
  metrics::CaseContext other = context;
  other.kernels.front().name = name;
  return std::make_shared<const metrics::CaseContext>(std::move(other));
}

}  // namespace

SameKernels::SameKernels(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  Matching matching(kernels_of(a), kernels_of(b));
  matching.match_by(
      [](const Kernel& one) { return without_version(one.id.family) + ' ' + one.name; });
  matching.match_by([](const Kernel& one) { return one.name; });
  matching.match_by([](const Kernel& one) { return without_hashes(one.name); });
  matching.match_by(without_parameters);
  matching.match_alike();
  for (const auto& [of_a, of_b] : matching.pairs) {
    names_[{of_a.id.str(), of_a.arch}] = {of_a.name, of_b.name};
    if (of_a.id != of_b.id) renamed_[{of_b.id.str(), of_b.arch}] = {of_a.id, of_a.name};
  }
}

CaseKey SameKernels::case_in_a(const CaseKey& in_b) const {
  const auto found = renamed_.find(in_b);
  return found == renamed_.end() ? in_b : CaseKey(found->second.id.str(), in_b.second);
}

void SameKernels::rename(std::vector<metrics::StoredRun>& runs) const {
  // By the context before, which the map keeps, so that no other gets its address.
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
