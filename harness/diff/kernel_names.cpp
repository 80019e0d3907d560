// Takes away from the names of kernels what changes between builds, and compares what is left.
#include "harness/diff/kernel_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/base/demangled.h"

namespace warpgauge::diff {

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

std::string without_version(std::string family) {
  std::erase_if(family, [](unsigned char c) { return std::isdigit(c) != 0 || c == '_'; });
  return family;
}

std::string without_parameters(const std::string& name) {
  return metrics::without_types(metrics::without_anonymous(metrics::demangled(name)));
}

std::string template_of(const std::string& name) {
  return metrics::outside_of_angles(without_parameters(name));
}

Words words_of(const std::string& name) {
  Words words;
  std::string word;
  for (const unsigned char c : metrics::demangled(name) + ' ') {
    if (std::isalnum(c) != 0 || c == '_') {
      word += static_cast<char>(c);
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

double likeness(const Words& a, const Words& b) {
  std::vector<std::string> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return 2.0 * static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size());
}

}  // namespace warpgauge::diff
