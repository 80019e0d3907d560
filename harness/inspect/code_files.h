// The files to inspect: those that are named, and those in folders that are named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpgauge::inspect {

struct NamedFile {
  std::filesystem::path path;
  std::string name;        ///< in ids: that of the file, with its folders below the named one
  std::string shown;       ///< in messages
  bool in_folder = false;  ///< found there: one without machine code is none of those to inspect
  std::string problem;     ///< why it cannot be read; empty: none is known yet
};

/// "libs_a.so" for "libs/a.so".
std::string in_one_word(const std::filesystem::path& path);

/// Each file once, those of a folder and below it by their paths, also behind links. Throws
/// std::runtime_error for what is not there or neither a file nor a folder.
std::vector<NamedFile> files_of(const std::vector<std::filesystem::path>& paths);

}  // namespace warpgauge::inspect
