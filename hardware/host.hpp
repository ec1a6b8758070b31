// A host as a row of facts: CPU, RAM, disk and buses.
#pragma once

#include <string>
#include <vector>

#include "hardware/units.hpp"

namespace headroom {

struct Host {
  std::string name;                  ///< "dual-epyc-120gb"
  std::string title;                 ///< "2 x AMD EPYC 7742, 120 GB for the job"
  std::vector<std::string> aliases;  ///< other names a user may type
  Bytes ram;                         ///< total, as the operating system reports it
  BytesPerSecond ram_bandwidth;      ///< specified bandwidth of all sockets together
  std::string cpu;                   ///< its processors: "2x epyc-7742"; empty: of no row
  int cores = 1;                     ///< physical cores of all sockets
  int sockets = 1;                   ///< sockets share RAM and bandwidth evenly
  FlopsPerSecond cpu_peak;           ///< fp32 multiply-add peak, all cores
  BytesPerSecond host_bus;   ///< the board's limit for a card's bus; 0: the card's own bus limits
  Bytes disk;                ///< free space for weights
  BytesPerSecond disk_read;  ///< sequential read
  std::string disk_kind;     ///< "NVMe", "SATA SSD", "HDD", "network"
  BytesPerSecond card_link;  ///< card to card on this board; 0: the cards' own links
  BytesPerSecond network;    ///< to other boxes, one direction, shared by all cards; 0: no network
  int cards = 0;             ///< most cards in one box; 0: unknown, so no limit
  int boxes = 1;  ///< number of boxes; RAM, disk, cores and power are totals of all of them
  /// W under load, without cards. With a built-in card it is of the whole box. 0: unknown.
  double power_w = 0;
  std::string power_unknown;  ///< why no power_w is known; empty where one is
  std::string source, date;
  std::vector<std::string> unchecked;  ///< keys of figures that no published page has confirmed

  bool operator==(const Host&) const = default;
};

}  // namespace headroom
