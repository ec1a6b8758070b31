// What this computer has: cards by their drivers' tools, memory, cores and disk by the kernel. The
// parsers take text or a folder, so that they are tested without the hardware. nvidia-smi: output
// of an H100, an H200, of broken and of missing tools is covered by tests. rocm-smi, /sys and
// macOS's sysctl and vm_stat: written from their documented output and never run on such hardware,
// which a detection says. Intel's tools are not asked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"
#include "hardware/compute_capability.hpp"
#include "hardware/units.hpp"

namespace headroom {

struct Machine;

/// A card as its driver describes it. What the driver does not say is zero or empty.
struct DetectedCard {
  std::string name;           ///< "NVIDIA H100 80GB HBM3"
  Bytes memory;               ///< total
  std::optional<Bytes> free;  ///< now
  std::string driver;         ///< driver version
  int pcie_generation = 0;    ///< the most that card and slot support together
  int pcie_lanes = 0;
  std::optional<ComputeCapability> compute_capability;  ///< NVIDIA only
  double power_w = 0;                                   ///< limit in force
  std::string found_by = "nvidia-smi";
  bool tried = false;  ///< this reading has been seen to work on such hardware
};

/// What detection found. Sizes in bytes; what could not be found is zero, empty or absent, and
/// `notes` says why.
struct Detection {
  std::vector<DetectedCard> cards;
  std::string cuda_version;        ///< highest that the driver supports; empty: no NVIDIA driver
  Bytes ram;                       ///< total of the computer
  Bytes ram_available;             ///< now, as the kernel reckons
  std::optional<Bytes> ram_limit;  ///< of the control group that we run in
  int cores = 1;                   ///< physical cores; no more than we may run on
  std::string cpu;                 ///< model name
  int numa_nodes = 1;              ///< memory nodes of the computer
  Bytes disk_free;                 ///< for us, where the working directory lives
  std::string disk_kind;           ///< "NVMe", "SSD", "HDD", "virtual"; empty: not known
  std::optional<BytesPerSecond> ram_bandwidth, disk_read;  ///< measured (measure.hpp), if asked for
  std::vector<std::string> notes;  ///< tools that are missing, hung or made no sense
};

/// The query whose output parse_nvidia_smi reads.
std::vector<std::string> nvidia_smi_query();
/// Lines of that query. A line that does not fit is left out and described in `notes`; fields that
/// the driver answers with "[N/A]" or "[Not Supported]" stay empty.
std::vector<DetectedCard> parse_nvidia_smi(std::string_view csv, std::vector<std::string>& notes);
/// "13.0" out of the banner of plain `nvidia-smi`; empty where there is none.
std::string parse_cuda_version(std::string_view banner);
/// `rocm-smi --showproductname --showmeminfo vram --showdriverversion`.
std::vector<DetectedCard> parse_rocm_smi(std::string_view text, std::vector<std::string>& notes);

/// The cards under /sys/class/drm (`drm`) whose driver says how much memory they have, as amdgpu
/// does: product_name, mem_info_vram_total and _used, max_link_speed, current_link_width.
std::vector<DetectedCard> read_drm(const std::filesystem::path& drm,
                                   std::vector<std::string>& notes);
/// Adds a note for each NVIDIA or AMD display controller or accelerator under /sys/bus/pci/devices
/// (`devices`): where no tool found a card, its driver is missing.
void note_pci_cards(const std::filesystem::path& devices, std::vector<std::string>& notes);

/// The command whose output parse_sysctl reads.
std::vector<std::string> sysctl_query();
/// A Mac with a chip of Apple's: its card, RAM, cores and name; nothing changes where `text` is not
/// of one. `vm_stat`: of the command of that name, for what is free.
void parse_sysctl(std::string_view text, std::string_view vm_stat, Detection& found);

/// The value of `key` in /proc/meminfo, which counts in KiB. Absent where it is not there.
std::optional<Bytes> parse_meminfo(std::string_view text, std::string_view key);
/// A memory.max or memory.limit_in_bytes file. Absent for "max", for the kernel's stand-ins for
/// "no limit" (above 2^60) and for what is no number.
std::optional<Bytes> parse_memory_limit(std::string_view text);
/// A cpu.max file ("200000 100000"): whole cores, at least 1. Absent where there is no limit.
std::optional<int> parse_cpu_limit(std::string_view text);
/// Path of our control group in /proc/self/cgroup (version 2: the line "0::/path"); empty: none.
std::string parse_cgroup_path(std::string_view text);
/// Distinct pairs of physical id and core id in /proc/cpuinfo; without them, the processors.
int parse_core_count(std::string_view cpuinfo);
/// Nodes in /sys/devices/system/node/online ("0-1", "0,2-3"); 1 where it makes no sense.
int parse_node_count(std::string_view online);
/// The first "model name" of /proc/cpuinfo.
std::string parse_cpu_name(std::string_view cpuinfo);

/// Looks at this computer. Never throws; tools get a few seconds each.
Detection detect();

/// The detected cards with the catalogue's facts, in a host of the detected sizes. Rates that
/// cannot be detected come from the default host, and each is listed in `assumed`.
/// Throws UnknownName where a card is in no catalogue: a user's row or --gpu-memory helps then.
Machine local_machine(const Detection& found, const Catalogue& catalogue,
                      std::vector<std::string>* assumed = nullptr);

}  // namespace headroom
