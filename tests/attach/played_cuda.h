// A driver and a CUPTI that tests play: what they answer from, and a record of the calls to them.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace warpgauge::attach::played_cuda {

/// The state that the fakes below answer from, and a record of the calls to them.
struct Played {
  std::set<CUstream> capturing;
  std::set<CUcontext> busy;
  bool fails = false, no_counters = false, unknown_nodes = false, several_contexts = false;
  std::set<CUcontext> counting;
  std::set<CUcontext> deaf;  ///< contexts where another thread loaded code while counting was on
  bool cannot_stop = false;
  std::size_t instructions = 3;               ///< in the code that was launched
  std::uint64_t conditional_warps = 0;        ///< warps of "in_body" executed and not taken yet
  std::map<CUcontext, std::uint64_t> on_gpu;  ///< warp instructions, executed and not taken yet
  int starts = 0, stops = 0, leaves = 0, takes = 0;
};
extern Played played;
extern std::mutex playing;  ///< protects `played` where several threads play

inline const CUcontext kContext = reinterpret_cast<CUcontext>(0x10);
inline const CUcontext kOther = reinterpret_cast<CUcontext>(0x11);
inline const CUfunction kFunction = reinterpret_cast<CUfunction>(0x20);
inline const CUfunction kOtherFunction = reinterpret_cast<CUfunction>(0x21);
inline const CUgraphNode kOtherNode = reinterpret_cast<CUgraphNode>(0x46);
inline const CUstream kStream = reinterpret_cast<CUstream>(0x30);
inline const CUgraphExec kExec = reinterpret_cast<CUgraphExec>(0x40);
inline const CUgraphNode kNode = reinterpret_cast<CUgraphNode>(0x45);
inline const CUgraph kGraph = reinterpret_cast<CUgraph>(0x50);
inline const CUgraph kConditionalGraph = reinterpret_cast<CUgraph>(0x51);
inline constexpr int kDevice = 3;

}  // namespace warpgauge::attach::played_cuda
