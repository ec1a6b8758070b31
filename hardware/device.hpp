// One accelerator card as a row of facts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/compute_capability.hpp"
#include "hardware/precision.hpp"
#include "hardware/units.hpp"

namespace headroom {

/// A statement of a source that the row does not follow.
struct Conflict {
  std::string key, kept, other, source;

  bool operator==(const Conflict&) const = default;
};

/// One accelerator. Rates are dense (never with sparsity), per card.
struct Device {
  std::string name;                  ///< catalogue name: "a100-sxm-40gb"
  std::string title;                 ///< as the maker writes it: "NVIDIA A100 SXM4 40 GB"
  std::string vendor;                ///< "nvidia", "amd", "intel", "apple", "google"
  std::vector<std::string> aliases;  ///< other names a user may type
  Bytes memory;  ///< total as the driver reports it; nominal GiB where no source gives that
  bool memory_nominal = true;   ///< true: `memory` is the nominal size, not the driver's figure
  bool unified_memory = false;  ///< the card shares the host's RAM (Apple, APUs)
  BytesPerSecond bandwidth;     ///< of the card's memory
  /// Dense peak by arithmetic; absent where the card has no such units or no source says.
  std::optional<FlopsPerSecond> fp32, tf32, fp16, bf16, fp8, int8, fp4;
  BytesPerSecond link;        ///< card to card, one direction; 0: only over the host bus
  std::string link_kind;      ///< "NVLink 4", "xGMI", …; empty: none
  BytesPerSecond host_bus;    ///< host to card, one direction, as the bus specifies
  std::string host_bus_kind;  ///< "PCIe 4.0 x16"
  double power_w = 0;         ///< board power limit, W; 0 unknown
  std::optional<ComputeCapability> compute_capability;  ///< NVIDIA only
  int multiprocessors = 0;                              ///< NVIDIA only; 0: no source says
  std::string host;                      ///< the host it usually sits in; empty: the default
  std::string launched;                  ///< ISO date, empty unknown
  std::optional<double> list_price_usd;  ///< launch list price, US dollars
  std::string source, date;              ///< of the figures above, date they were read (ISO)
  std::vector<Conflict> conflicts;

  /// Dense peak for numbers of this arithmetic, falling back the way the hardware does:
  /// bf16 and fp16 stand in for each other where one is absent, fp8/int8/fp4 fall back to 16 bit
  /// (numbers are unpacked), 16 bit falls back to fp32.
  FlopsPerSecond peak(Arithmetic arithmetic) const;

  bool operator==(const Device&) const = default;
};

}  // namespace headroom
