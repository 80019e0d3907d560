// Device memory: the allocations that kernels and the runtime may touch. A device pointer is a
// pointer of this process, so copies need no translation; every access of a kernel is checked
// against this list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/machine/checks/watched_memory.h"

namespace warpgauge::emulator::machine::memory {

/// May be used by several threads at the same time.
class Memory : public checks::WatchedMemory {
 public:
  enum class Kind { device, managed, pinned_host, symbol, heap /* malloc in kernels */, array };

  /// The rights of kernels. .const variables are constant: their window is another one.
  enum class Rights : std::uint8_t { write, read, constant };

  /// A block of memory. `begin` is aligned to 512 bytes, as on the GPU (sector counts depend on
  /// it).
  struct Allocation {
    std::byte* begin = nullptr;
    std::uint64_t bytes = 0;
    Kind kind = Kind::device;
    std::string name;    ///< "cudaMalloc #3", or of a symbol its name
    bool freed = false;  ///< kept for a while, so that use after free is recognised
    Rights rights = Rights::write;
    std::string why_read_only = {};  ///< for messages: "which is constant"
    bool adopted = false;            ///< the memory is not owned here
    bool tells_uses = false;         ///< accesses of kernels are noted: Findings::note_use()
    std::byte* end() const { return begin + bytes; }
  };

  /// The part of a live allocation that the check of an access needs.
  struct Extent {
    std::uint64_t begin = 0, end = 0;
    Rights rights = Rights::write;
    bool tells_uses = false;
    std::uint64_t allocation = 0;  ///< where it begins
  };

  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Uninitialised memory between red zones of at least 256 bytes; pages are only committed when
  /// they are touched. Returns nullptr if there is not that much. `bytes` 0 gives nullptr.
  std::byte* allocate(std::uint64_t bytes, Kind kind, std::string name);
  /// False if `begin` is not the start of a live allocation that was allocated here.
  bool free(std::byte* begin);
  /// Lets kernels use memory of the process's own, at any alignment. False if it overlaps an
  /// allocation, or one that was freed lately. `bytes` is not 0.
  bool adopt(std::byte* begin, std::uint64_t bytes, Kind kind, std::string name);
  /// Ends that. False if `begin` is not the start of adopted memory.
  bool release(std::byte* begin);
  /// From now on kernels may only read the allocation that begins there. `why` is for messages:
  /// "which is constant".
  void make_read_only(std::byte* begin, Rights rights, std::string why);

  /// From now on the allocation that begins there tells its uses.
  void tell_uses(const std::byte* begin);
  /// Each access of a kernel looks for its allocation anew.
  void look_anew() { __atomic_fetch_add(&generation_, 1, __ATOMIC_RELEASE); }

  /// The live allocation that `address` lies in.
  std::optional<Allocation> find(const void* address) const;
  /// The freed allocation that began at `address`, as long as it is known.
  std::optional<Allocation> freed(const void* address) const;
  std::optional<Extent> extent(std::uint64_t address) const;  ///< the same, faster
  /// The same for a kernel that is about to write `bytes` bytes there. While its changes are
  /// watched, it is the part of the allocation that is kept, with those bytes.
  std::optional<Extent> extent_to_write(std::uint64_t address, std::uint64_t bytes);
  /// Where an access of `bytes` bytes lies, for messages: "4 bytes past the end of cudaMalloc #3
  /// (400 bytes)", "byte 8 of cudaMalloc #2 (64 bytes), which was freed", "a null pointer".
  std::string describe(const void* address, std::uint64_t bytes = 1) const override;

  /// Something other than a kernel wrote there.
  void note_written(const void* begin, std::uint64_t bytes);
  /// Something other than a kernel copied bytes from there to here. Copies of memory that nothing
  /// has written write nothing. Needs traces of what kernels have written.
  void note_copied(const void* to, const void* from, std::uint64_t bytes);
  /// Memory that the host can write counts as written.
  Range written_range(std::uint64_t address, std::uint64_t bytes) const override;
  checks::GlobalTraces& traces() override;
  void forget_traces() override;

  /// Changes whenever an allocation goes or loses a right: compare it before using a cached find().
  [[gnu::always_inline]] std::uint64_t generation() const {
    return __atomic_load_n(&generation_, __ATOMIC_ACQUIRE);
  }

  /// A part of an allocation, with its contents before a kernel wrote there.
  struct Written {
    std::byte* begin;
    std::vector<std::byte> before;
  };
  /// What kernels have done.
  struct Changes {
    std::map<const std::byte*, Allocation> made, freed;  ///< on their heap, by begin
    std::vector<Written> written;                        ///< by ascending addresses
  };
  /// From now on until settle(), what kernels free stays as it is, and what they write is kept.
  void watch_kernels();
  /// Whether that is so. It changes between launches only.
  bool is_watched() const { return is_watched_; }
  /// What kernels have done since watch_kernels() or the last call. Takes back what they did to
  /// their heap: what they freed is live, with the contents that it has, and what they made is
  /// freed. What they wrote is left as it is.
  Changes take_changes();
  /// Makes the changes of the heap again, and ends the watch.
  void settle(const Changes& changes);

  /// Whether any of it is memory of the process's own, which others may have, too.
  bool has_adopted() const;
  std::uint64_t bytes_in_use() const;  ///< all live allocations, without red zones
  /// What the program has allocated on the device and not freed: in the order of addresses.
  std::vector<Allocation> unfreed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::uint64_t generation_ = 1;
  bool is_watched_ = false;
};

}  // namespace warpgauge::emulator::machine::memory
