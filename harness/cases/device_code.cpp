// Keeps the registered fat binaries, and reads and indexes them on first use.
#include "harness/cases/device_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "metrics/base/hash.h"
#include "metrics/base/source_line.h"
#include "metrics/machine_code/byte_text.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/fat_binary.h"
#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge {
namespace {

struct Registered {
  std::vector<const void*> wrappers;  // of fat binaries
  std::size_t read = 0;               // how many of them have been read
  std::deque<EmbeddedCubin> cubins;
  std::deque<EmbeddedPtx> ptx;
  std::deque<std::vector<std::byte>> unpacked;  // the unpacked images of compressed cubins
  std::map<const void*, std::string> kernels;
};

Registered& registered() {
  static Registered instance;  // filled by static initialisers of other files
  return instance;
}

void read_fat_binary(const void* wrapper, Registered& code) {
  using metrics::FatBinaryEntry;
  const auto objects = metrics::linked_fat_binaries(wrapper);
  for (const auto& entry : metrics::read_fat_binary(metrics::registered_fat_binary(wrapper))) {
    if (entry.kind == FatBinaryEntry::Kind::ptx) {
      code.ptx.push_back({entry.arch, entry.unpack_text()});
    } else if (entry.kind == FatBinaryEntry::Kind::cubin) {
      const bool compressed = entry.compression != FatBinaryEntry::Compression::none;
      code.cubins.push_back({entry.arch,
                             compressed ? code.unpacked.emplace_back(entry.unpack()) : entry.stored,
                             !objects.empty()});
    }
  }
  // Linked code has no PTX: its objects do. The machine code of the objects never runs.
  for (const auto& object : objects) {
    for (const auto& entry : metrics::read_fat_binary(object)) {
      if (entry.kind != FatBinaryEntry::Kind::ptx) continue;
      code.ptx.push_back({entry.arch, entry.unpack_text()});
    }
  }
}

/// All that was registered; fat binaries that are new are read first. One that cannot be read is
/// the next one again and fails again, so that the rest never passes for the whole.
const Registered& read_code() {
  Registered& code = registered();
  for (; code.read < code.wrappers.size(); ++code.read) {
    read_fat_binary(code.wrappers[code.read], code);
  }
  return code;
}

/// Does the text define the kernel? Its name is the word after ".entry".
bool defines(std::string_view ptx, std::string_view kernel) {
  constexpr std::string_view kEntry = ".entry", kSpace = " \t\r\n";
  for (std::size_t at = ptx.find(kEntry); at != ptx.npos; at = ptx.find(kEntry, at + 1)) {
    const std::size_t name = ptx.find_first_not_of(kSpace, at + kEntry.size());
    if (name == ptx.npos) return false;
    const std::size_t end = ptx.find_first_of(" \t\r\n(.{", name);
    if (ptx.substr(name, end - name) == kernel) return true;
  }
  return false;
}

/// The source files of the instructions of `kernel`.
std::set<std::string> source_files(const EmbeddedCubin& cubin, const std::string& kernel) {
  constexpr std::uint64_t kInstructionBytes = 16;
  static std::map<const std::byte*, std::optional<metrics::SourceLines>> tables;
  const auto [place, is_new] = tables.try_emplace(cubin.image.data());
  if (is_new) place->second = metrics::SourceLines::of(cubin.image);
  std::set<std::string> files;
  if (!place->second) return files;
  const std::uint64_t end = metrics::Cubin(cubin.image).code(kernel).size();
  for (std::uint64_t pc = 0; pc < end; pc += kInstructionBytes) {
    const auto line = place->second->find(kernel, pc);
    if (line && !metrics::is_toolkit_header(line->file)) files.insert(line->file);
  }
  return files;
}

/// The hash of the contents; empty if there are no files or one of them cannot be read. Most
/// kernels of a source come from the same files.
const std::string& hash_of_files(const std::set<std::string>& files) {
  static std::map<std::string, std::string> contents;
  static std::map<std::set<std::string>, std::string> hashes;
  const auto [hash, is_new_set] = hashes.try_emplace(files);
  if (!is_new_set || files.empty()) return hash->second;
  std::string all;
  for (const std::string& file : files) {
    const auto [place, is_new] = contents.try_emplace(file);
    if (is_new) {
      std::ifstream stream(file, std::ios::binary);
      place->second.assign(std::istreambuf_iterator<char>(stream), {});
    }
    if (place->second.empty()) return hash->second;
    all += place->second;
  }
  return hash->second = metrics::hash_text(all);
}

/// The places in embedded_cubins() of a kernel's cubins, by architecture and kernel.
using CubinPlaces =
    std::map<std::string, std::map<std::string, std::vector<std::size_t>, std::less<>>,
             std::less<>>;

/// The places in all cubins so far; libraries may register more.
const CubinPlaces& places_of_kernels() {
  static CubinPlaces places;
  static std::size_t read = 0;
  const std::deque<EmbeddedCubin>& cubins = embedded_cubins();
  for (; read < cubins.size(); ++read) {
    const metrics::Cubin cubin(cubins[read].image);
    auto& of_arch = places[cubins[read].arch];
    for (std::string& name : cubin.kernels()) of_arch[std::move(name)].push_back(read);
  }
  return places;
}

/// Values of kernels, each worked out once. One that could not be is tried again.
template <typename Value>
class ByKernel {
 public:
  /// What `make` returns for the cubin of the kernel; a default value if the code is not embedded.
  const Value& of(const std::string& kernel, const std::string& arch,
                  const std::function<Value(const EmbeddedCubin&)>& make) {
    const std::pair key(kernel, arch);
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    const EmbeddedCubin* const cubin = find_cubin(kernel, arch);
    return values_.emplace(key, cubin == nullptr ? Value{} : make(*cubin)).first->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, Value> values_;
};

}  // namespace

void register_fat_binary(const void* wrapper) { registered().wrappers.push_back(wrapper); }

void register_kernel(const void* stub, const char* name) { registered().kernels[stub] = name; }

const std::deque<EmbeddedCubin>& embedded_cubins() { return read_code().cubins; }

const std::deque<EmbeddedPtx>& embedded_ptx() { return read_code().ptx; }

std::vector<const EmbeddedCubin*> find_cubins(std::string_view kernel, std::string_view arch) {
  const CubinPlaces& places = places_of_kernels();
  const auto of_arch = places.find(arch);
  if (of_arch == places.end()) return {};
  const auto found = of_arch->second.find(kernel);
  if (found == of_arch->second.end()) return {};
  std::vector<const EmbeddedCubin*> cubins;
  for (const std::size_t place : found->second) cubins.push_back(&embedded_cubins()[place]);
  return cubins;
}

const EmbeddedCubin* find_cubin(std::string_view kernel, std::string_view arch) {
  const auto cubins = find_cubins(kernel, arch);
  return cubins.empty() ? nullptr : cubins.front();
}

void read_cubins() { places_of_kernels(); }

const EmbeddedPtx* find_ptx(std::string_view kernel, std::string_view arch) {
  const auto holds = [&](const EmbeddedPtx& ptx) {
    return ptx.arch == arch && defines(ptx.text, kernel);
  };
  const auto found = std::ranges::find_if(embedded_ptx(), holds);
  return found == embedded_ptx().end() ? nullptr : &*found;
}

std::optional<std::array<std::uint32_t, 3>> cluster_of_code(const std::string& kernel,
                                                            const std::string& arch) {
  static ByKernel<std::optional<std::array<std::uint32_t, 3>>> clusters;
  return clusters.of(kernel, arch, [&](const EmbeddedCubin& cubin) {
    return metrics::resources_of_kernels(cubin.image)[kernel].cluster;
  });
}

const std::string& sass_hash(const std::string& kernel, const std::string& arch) {
  static ByKernel<std::string> hashes;
  return hashes.of(kernel, arch, [&](const EmbeddedCubin& cubin) {
    return metrics::Cubin(cubin.image).sass_hash(kernel);
  });
}

const std::string& source_hash(const std::string& kernel, const std::string& arch) {
  static ByKernel<std::string> hashes;
  return hashes.of(kernel, arch, [&](const EmbeddedCubin& cubin) {
    return hash_of_files(source_files(cubin, kernel));
  });
}

std::set<std::string> fat_binary_hashes() {
  std::set<std::string> hashes;
  for (const void* wrapper : registered().wrappers) {
    const std::span<const std::byte> bytes = metrics::registered_fat_binary(wrapper);
    const std::string_view text = metrics::text_of(bytes);
    hashes.insert(fmt::format("{:016x}", std::hash<std::string_view>()(text)));
  }
  return hashes;
}

std::string kernel_name(const void* stub) {
  const auto found = registered().kernels.find(stub);
  return found == registered().kernels.end() ? "" : found->second;
}

}  // namespace warpgauge
