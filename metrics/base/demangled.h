// Names of kernels and types as people write them.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace warpgauge::metrics {

/// "void add<float>(float*)" for "_Z3addIfEvPT_". Returns other names unchanged, also mangled ones
/// of more than 16,384 characters and those that demangle to more than 262,144.
std::string demangled(const std::string& name);

/// demangled(), cut short for texts: names of CUTLASS can fill many screens.
std::string shown_name(const std::string& name);

/// "std::invalid_argument".
std::string type_name(const std::type_info& type);

/// "add<float>(float*)" for "void add<float>(float*)": kernels return nothing.
std::string without_void(const std::string& demangled);

/// The name without the parts "(anonymous namespace)::".
std::string without_anonymous(std::string demangled);

/// "add<float>": the name of a function without the types that it returns and takes.
std::string without_types(const std::string& demangled);

/// The text without what stands between < and >, and without these.
std::string outside_of_angles(std::string_view text);
/// "my::add" for "void my::add<float>(float*)": the name without template arguments either.
std::string without_arguments(const std::string& demangled);

/// "add": the name of a function without return type, namespaces, template arguments and
/// parameters.
std::string plain_name(const std::string& demangled);

/// The names that match a kernel: its demangled name with and without `void `, and its plain name.
std::vector<std::string> names_of(const std::string& demangled);

}  // namespace warpgauge::metrics
