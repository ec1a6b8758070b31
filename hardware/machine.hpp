// Devices in a host. A machine is what a scenario runs on: "2x a100-sxm-40gb @ dual-epyc-120gb".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"
#include "hardware/device.hpp"
#include "hardware/host.hpp"

namespace headroom {

/// What the processor's cores reach of memory that they share with a card: 243 of 400 GB/s on an M1
/// Max (AnandTech, Apple's M1 Pro, M1 Max SoCs Investigated, 2021).
inline constexpr double cores_share = 0.6;

/// Cards in the order in which layers fill them, and the host they sit in. No cards: CPU only.
/// The memory of a card with unified_memory and host.ram are the same memory: count it once.
struct Machine {
  std::string name;             ///< canonical: "2x a100-sxm-40gb @ dual-epyc-120gb"
  std::vector<Device> devices;  ///< one entry a card, so mixed cards are simply different entries
  Host host;
  bool host_assumed = false;  ///< no "@ host" was given: the card's own or the default host
  bool ram_assumed = false;   ///< how fast the host's memory is was not said: as the default host's

  /// "2x a100-sxm-40gb @ dual-epyc-120gb", from devices and host.
  std::string canonical_name() const;
  /// Host to card, one direction: the smaller of the card's bus and the board's, or the one known.
  BytesPerSecond host_bus(std::size_t card) const;
  /// Card to card, one direction: the board's link where it has one, else the cards' own where all
  /// have the same kind, else the host bus. Where `together` cards are more than one box holds: a
  /// card's share of the box's network.
  BytesPerSecond card_link(std::size_t together) const;
};

/// Parses `text`: "4x h100-sxm-80gb @ epyc-genoa-768gb", "rtx-4090", "1x rtx-4090 + 1x rtx-3090",
/// "cpu @ laptop-16gb", or `local` (what detection finds).
/// Throws UnknownName (nearest names), or std::invalid_argument naming what was expected; an
/// ambiguous name such as "a100-40gb" is an error that lists the candidates. From 1 to 1024 cards;
/// more than a box of that host holds are in as few boxes as hold them, joined by their network, or
/// an error that names hosts for so many where it has none.
Machine parse_machine(std::string_view text, const Catalogue& catalogue);

/// A machine from a specification alone (--gpu-memory, --gpu-bandwidth, --gpu-tflops, --ram, …).
/// What is not given comes from the default host and is listed in `assumed`.
struct MachineSpecification {
  int count = 1;
  std::optional<Bytes> gpu_memory, ram, disk;
  std::optional<BytesPerSecond> gpu_bandwidth, ram_bandwidth, host_bus, disk_read, card_link;
  std::optional<FlopsPerSecond> gpu_flops;  ///< dense 16-bit peak
};
/// Throws std::invalid_argument when a figure that decides memory or speed (gpu_memory,
/// gpu_bandwidth) is missing, or is not positive.
Machine specified_machine(const MachineSpecification& spec, const Catalogue& catalogue,
                          std::vector<std::string>* assumed = nullptr);

}  // namespace headroom
