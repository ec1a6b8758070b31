// Devices in a host. A scenario runs on a machine: "2x a100-sxm-40gb @ dual-epyc-120gb".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"
#include "hardware/device.hpp"
#include "hardware/host.hpp"

namespace headroom {

/// Share of unified memory bandwidth that the CPU cores reach: 243 of 400 GB/s on an M1 Max.
/// Source: AnandTech, "Apple's M1 Pro, M1 Max SoCs Investigated", 2021.
inline constexpr double cores_share = 0.6;

/// The range of a time, as factors on the expected one.
struct Spread {
  double low = 1, high = 1;
};

/// The way of data from card to card.
enum class LinkPath {
  own,          ///< links of the cards or their board: NVLink, xGMI, a bridge
  bus,          ///< the host's bus. A link that is no faster counts as the bus too
  host_memory,  ///< likewise, by way of the host's memory: the cards have no peer access
  network       ///< between boxes
};

struct CardLink {
  BytesPerSecond rate;  ///< one direction
  LinkPath path = LinkPath::bus;
};

/// A host and its cards, in the order in which layers fill them. Without cards it runs on the CPU
/// only. The memory of a card with unified_memory is host.ram: count it once.
struct Machine {
  std::string name;             ///< canonical: "2x a100-sxm-40gb @ dual-epyc-120gb"
  std::vector<Device> devices;  ///< one entry a card; cards may differ
  Host host;
  /// no "@ host" was given: uses the first card's usual host or the default host
  bool host_assumed = false;
  /// the cards' usual host holds fewer: `host` is the nearest of the catalogue that holds them
  bool host_for_cards = false;
  bool ram_assumed = false;  ///< RAM bandwidth is the default host's, which may be named
  /// times on 80 % of the catalogue's cards as large, if the card's bandwidth was not given
  std::optional<Spread> card_assumed{};

  /// True if all cards are of one kind, or there is none.
  bool has_one_kind() const;
  /// True if the cards have no memory but the host's.
  bool has_unified_memory() const { return !devices.empty() && devices.front().unified_memory; }
  /// "2x a100-sxm-40gb @ dual-epyc-120gb", from devices and host.
  std::string canonical_name() const;
  /// Host to card, one direction. The slower of the card's bus and the board's, or the one that is
  /// known.
  BytesPerSecond host_bus(std::size_t card) const;
  /// Card to card, one direction. Uses the board's link if it has one, else the cards' link if all
  /// have the same kind, else the host bus. If `together` exceeds the cards of one box, it is a
  /// card's share of the box's network.
  CardLink card_link(std::size_t together) const;
};

/// An undescribed host without cards, for what engines do on any CPU.
const Machine& machine_without_cards();

/// The boxes that some cards are in.
struct Boxes {
  Size count = 1, cards = 0;  ///< `cards`: most in one box
  bool several() const { return count > 1; }
};
/// The fewest boxes of `host`, with `cards` spread over them as evenly as they divide.
Boxes boxes_of(const Host& host, Size cards);

/// Parses `text`: "4x h100-sxm-80gb @ epyc-genoa-768gb", "rtx-4090", "1x rtx-4090 + 1x rtx-3090",
/// "cpu @ laptop-16gb", or `local` (the detected machine). Throws UnknownName with the nearest
/// names, or std::invalid_argument naming what was expected. An ambiguous name such as "a100-40gb"
/// is an error that lists the candidates.
///
/// Accepts 1 to 1024 cards. Cards that one box cannot hold are spread over the fewest boxes, joined
/// by their network. The nearest host of the catalogue that holds all of them stands in for a usual
/// host without a network. A given host without one is an error that names suitable machines.
Machine parse_machine(std::string_view text, const Catalogue& catalogue);

/// A machine described by flags alone (--gpu-memory, --gpu-bandwidth, --gpu-tflops, --ram, …).
/// Values of the host that are not given come from the default host. A bandwidth that is not given
/// is the median of the catalogue's cards of the nearest size. `assumed` lists both.
struct MachineSpecification {
  int count = 1;
  std::optional<Bytes> gpu_memory, ram, disk;
  std::optional<BytesPerSecond> gpu_bandwidth, ram_bandwidth, host_bus, disk_read, card_link;
  std::optional<FlopsPerSecond> gpu_flops;  ///< dense 16-bit peak
};
/// Throws std::invalid_argument if gpu_memory is missing, or a value is not positive.
Machine specified_machine(const MachineSpecification& spec, const Catalogue& catalogue,
                          std::vector<std::string>* assumed = nullptr);

/// Memory of the card with most; 0 where there is none.
Bytes largest_card(const Machine& machine);

/// The cards in the name of a machine: "2x a100-sxm-40gb" of "2x a100-sxm-40gb @ dual-epyc-120gb".
std::string_view cards_in_name(std::string_view machine);
/// Their kind without their number: "a100-sxm-40gb". Cards of several kinds keep their numbers.
std::string_view kind_in_name(std::string_view machine);

}  // namespace headroom
