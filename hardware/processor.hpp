// A processor as a row of facts, and the processors of a host: "2x epyc-7742".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"

namespace headroom {

struct Catalogue;
struct Host;

/// One processor: what one socket holds.
struct Processor {
  std::string name;                  ///< "epyc-7742"
  std::string title;                 ///< as the maker writes it: "AMD EPYC 7742"
  std::vector<std::string> aliases;  ///< other names a user may type
  int cores = 0;                     ///< physical cores
  double base_clock_ghz = 0;         ///< one figure for all cores; 0: the row gives the peak alone
  double flops_a_cycle = 0;          ///< fp32, one core: pipes x lanes x 2; 0: as above
  FlopsPerSecond peak;               ///< fp32 multiply-add peak of all cores, at their base clocks
  BytesPerSecond ram_bandwidth;      ///< all channels at the specified rate of memory
  double power_w = 0;                ///< W: TDP, or Intel's maximum turbo power; 0: unknown
  std::string power_unknown;         ///< why no power_w is known; empty where one is
  std::string source, date;
  std::vector<std::string> unchecked;  ///< keys of figures that no published page has confirmed

  bool operator==(const Processor&) const = default;
};

/// Processors of one kind, one in each socket.
struct Sockets {
  int count = 1;
  Processor processor;

  /// "2x epyc-7742"
  std::string name() const;
  /// fp32 multiply-add peak of all, in whole GFLOPS.
  FlopsPerSecond peak() const;
};

/// Parses `text`: "2x epyc-7742" or "AMD EPYC 9654". Throws UnknownName with the nearest names, or
/// std::invalid_argument for a count out of range.
Sockets parse_sockets(std::string_view text, const Catalogue& catalogue);

/// Gives the host these processors: cores, sockets, peak and RAM bandwidth.
void set_processors(const Sockets& sockets, Host& host);

/// Puts `fresh` in the place of the host's processors. Its power changes by the difference of their
/// powers. It becomes unknown where a row for one of them is missing or has no power.
void exchange_processors(const Sockets& fresh, const Catalogue& catalogue, Host& host);

}  // namespace headroom
