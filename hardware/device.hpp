// An accelerator card as a row of facts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/compute_capability.hpp"
#include "hardware/precision.hpp"
#include "hardware/units.hpp"

namespace headroom {

/// A source's figure that the row does not follow.
struct Conflict {
  std::string key, kept, other, source;

  bool operator==(const Conflict&) const = default;
};

/// One accelerator. Rates are dense (never with sparsity), per card.
struct Device {
  std::string name;                  ///< catalogue name: "a100-sxm-40gb"
  std::string title;                 ///< as the maker writes it: "NVIDIA A100 SXM4 40 GB"
  std::string vendor;                ///< "nvidia", "amd", "intel", "apple", "google", "habana"
  std::vector<std::string> aliases;  ///< other names a user may type
  Bytes memory;  ///< total as the driver reports it; nominal GiB where no source gives that figure
  bool memory_nominal = true;  ///< true: `memory` is the nominal size, not the driver's figure
  /// needed to see `visible`, such as a kernel parameter; empty: nothing
  std::string visible_needs;
  Bytes visible;  ///< total that a program sees (cudaMemGetInfo); 0: no source gives that figure
  bool unified_memory = false;  ///< the card shares the host's RAM (Apple, APUs)
  BytesPerSecond bandwidth;     ///< the card's memory
  /// Dense peak by number format. Absent where the card lacks such units or no source gives a
  /// figure.
  std::optional<FlopsPerSecond> fp32, tf32, fp16, bf16, fp8, int8, fp4;
  BytesPerSecond link;    ///< card to card, one direction; 0: cards connect over the host bus only
  std::string link_kind;  ///< "NVLink 4", "xGMI", …; empty: none
  /// The driver lets cards of this kind reach each other's memory over the host's bus. False: only
  /// over links of their own.
  bool peer_access = true;
  BytesPerSecond host_bus;    ///< host to card, one direction, as the bus specifies
  std::string host_bus_kind;  ///< "PCIe 4.0 x16"
  double power_w = 0;         ///< board power limit, W; 0: unknown
  /// power_w is of the card, its host's CPU and memory together: one module or one box
  bool power_includes_host = false;
  std::string power_unknown;  ///< why no power_w is known; empty where one is
  std::optional<ComputeCapability> compute_capability;  ///< NVIDIA only
  int multiprocessors = 0;                              ///< NVIDIA only; 0: unknown
  /// False: no tensor cores, though the compute capability promises their instructions (NVIDIA's
  /// GTX 16 series).
  bool tensor_cores = true;
  std::string architecture;              ///< AMD only, as LLVM calls it: "gfx942"
  std::string host;                      ///< usual host; empty: the default host
  std::string launched;                  ///< ISO date, empty unknown
  std::optional<double> list_price_usd;  ///< launch list price, US dollars
  std::string source, date;  ///< source of the figures above, and the date they were read (ISO)
  std::vector<std::string> unchecked;  ///< keys of figures that no published page has confirmed
  std::vector<Conflict> conflicts;

  /// Dense peak for this arithmetic, with the hardware's fallbacks. bf16 and fp16 replace each
  /// other. fp8, int8 and fp4 fall back to 16 bit, because numbers are unpacked. 16 bit falls back
  /// to fp32.
  FlopsPerSecond peak(Arithmetic arithmetic) const;
  /// False if bf16 runs in fp32 units, converted. NVIDIA has units from compute capability 8.0 on
  /// (CUDA C++ programming guide, "Arithmetic Instructions"). Unknown: true.
  bool multiplies_bf16() const {
    return !compute_capability || *compute_capability >= ComputeCapability{8, 0};
  }
  /// Threads that may be on all multiprocessors at once; 0: unknown, or no NVIDIA card. Source:
  /// CUDA C++ programming guide, "Maximum number of resident threads per SM".
  std::int64_t resident_threads() const;
  /// False if peak() falls back: the card has no units for numbers of this format.
  bool has_units(Arithmetic arithmetic) const;

  bool operator==(const Device&) const = default;
};

/// Memory that a card allows one process: Device::visible. If that is unknown, the driver of an
/// NVIDIA card reserves some (catalogue/visible_memory.csv). Metal's recommendedMaxWorkingSetSize
/// is two thirds of the memory up to 36 GiB and three quarters beyond: llama.cpp's logs on Apple M1
/// to M3.
Bytes usable_memory(const Device& device);
/// Makes `memory` the size of a card that a program sees whole.
void set_memory(Device& device, Bytes memory);

}  // namespace headroom
