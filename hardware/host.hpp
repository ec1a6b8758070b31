// One box: CPU, RAM, disk and the buses, as a row of facts.
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
  BytesPerSecond ram_bandwidth;      ///< all sockets together, as specified
  int cores = 1;                     ///< physical cores, of all sockets
  int sockets = 1;                   ///< that share RAM and bandwidth evenly
  FlopsPerSecond cpu_peak;           ///< fp32 multiply-add peak, all cores
  BytesPerSecond host_bus;           ///< the board's limit for a card's bus; 0: the card's own
  Bytes disk;                        ///< free for weights
  BytesPerSecond disk_read;          ///< sequential read
  std::string disk_kind;             ///< "NVMe", "SATA SSD", "HDD", "network"
  BytesPerSecond card_link;          ///< card to card by this board; 0: by the cards' rows
  BytesPerSecond network;  ///< to other boxes, one direction, all cards' together; 0: none
  int cards = 0;           ///< the most that one box holds; 0: not known, any number
  int boxes = 1;           ///< so many of them: RAM, disk, cores and power of all together
  double power_w = 0;      ///< without cards, under load; 0 unknown
  std::string source, date;

  bool operator==(const Host&) const = default;
};

}  // namespace headroom
