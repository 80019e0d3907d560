// The parts of the names of kernels that stay the same in another build or version of a library.
#pragma once

#include <set>
#include <string>

namespace warpgauge::diff {

/// A mangled name without the hashes that name a file or a build: those of anonymous namespaces,
/// too.
std::string without_hashes(const std::string& name);

/// A family without its digits: "libcurand_so_10" is "libcurand_so_11" of another version.
std::string without_version(std::string family);

/// The demangled name with its template arguments, without parameters and anonymous
/// namespaces.
std::string without_parameters(const std::string& name);

/// "add" for every instance of the template add<T>, with its namespaces.
std::string template_of(const std::string& name);

/// The words of what a mangled name stands for, with those of template arguments and parameters.
using Words = std::multiset<std::string>;
Words words_of(const std::string& name);

/// Twice the number of words in common, as a share of all words of both.
double likeness(const Words& a, const Words& b);

}  // namespace warpgauge::diff
