// Decoding of control flow: branches, calls, exits, barriers.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

class FunctionDecoder;

/// These decode as the functions of families.h do; control flow needs more of the decoder than they
/// do.
bool decode_control(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result);
bool decode_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result);
bool decode_cluster(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result);
bool decode_mbarrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                     Instruction* result);
bool decode_call(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                 Instruction* result);
/// A jump that is not in the PTX text: it counts as no instruction.
void decode_jump(const Instruction* target, FunctionDecoder& decoder, Instruction* result);

/// KernelCode::stack_bytes.
std::optional<std::uint64_t> stack_need(const KernelCode& kernel);

}  // namespace warpgauge::emulator::machine::decode
