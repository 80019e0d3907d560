// Texts of `warpgauge attach`: its table of kernels, what was not counted, and how to repeat it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/attach/attach.h"
#include "harness/attach/attached_facts.h"

namespace warpgauge::attach {

/// A row for each kernel, those with most launches first.
std::string kernels_table(const std::vector<AttachedCase>& cases);

/// The sections of the budget file that fit no kernel, a sentence each.
std::vector<std::string> unused_sections(const AttachOptions& options,
                                         const metrics::Budgets& budgets,
                                         const std::vector<AttachedCase>& cases);

/// Launches without counts, a sentence each. `samples`: only some launches were to be counted.
std::vector<std::string> not_counted(const std::vector<AttachedProcess>& processes,
                                     const std::vector<AttachedCase>& cases, bool samples);

/// Why no kernel is left: of `launched` kernels, `kept` are left by --skip.
std::string why_nothing(const AttachOptions& options, std::size_t launched, std::size_t kept,
                        bool never_loaded);

/// "skipped: 12 launches of 1 kernel (--skip 'nccl*')".
std::string skipped_text(const std::string& glob, std::size_t launches, std::size_t kernels);

/// The command that gives the verdict on this kernel again.
std::string repeat_attach(const AttachOptions& options, const metrics::Fact& fact);

}  // namespace warpgauge::attach
