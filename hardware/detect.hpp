// Detects this computer's hardware. Vendor tools report cards; the kernel reports memory, cores and
// disk. The parsers take text or a folder, so tests need no hardware.
//
// nvidia-smi: tests cover output of an H100, of an H200, and of broken and missing tools. The
// parsers of rocm-smi, /sys, and macOS's sysctl and vm_stat follow documented output. They never
// ran on such hardware. A detection says so. Intel's tools are not called.
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

/// A card as its driver describes it. Fields that the driver does not report are zero or empty.
struct DetectedCard {
  std::string name;           ///< "NVIDIA H100 80GB HBM3"
  Bytes memory;               ///< total
  Bytes visible;              ///< total that a program sees; 0: unknown
  std::optional<Bytes> free;  ///< free now
  std::string driver;         ///< driver version
  int pcie_generation = 0;    ///< highest generation that both card and slot support
  int pcie_lanes = 0;
  std::optional<ComputeCapability> compute_capability;  ///< NVIDIA only
  double power_w = 0;                                   ///< power limit in force
  std::string found_by = "nvidia-smi";
  bool tried = false;  ///< this parser was tested on real hardware
};

/// Detection results. A value that could not be found is zero, empty or absent; `notes` says why.
struct Detection {
  std::vector<DetectedCard> cards;
  /// highest version that the driver supports; empty without an NVIDIA driver
  std::string cuda_version;
  Bytes ram;                       ///< total of the computer
  Bytes ram_available;             ///< available now, by the kernel's estimate
  std::optional<Bytes> ram_limit;  ///< limit of this process's control group
  int cores = 1;                   ///< physical cores, limited to those this process may use
  std::string cpu;                 ///< model name
  int numa_nodes = 1;              ///< NUMA nodes
  Bytes disk_free;                 ///< free for this user on the disk of the working directory
  std::string disk_kind;           ///< "NVMe", "SSD", "HDD", "virtual"; empty if unknown
  std::optional<BytesPerSecond> ram_bandwidth, disk_read;  ///< measured on request (measure.hpp)
  std::vector<std::string> notes;  ///< tools that are missing, timed out or printed nonsense
};

/// The query whose output parse_nvidia_smi reads.
std::vector<std::string> nvidia_smi_query();
/// Parses the output of nvidia_smi_query. Skips malformed lines and describes them in `notes`.
/// Fields that the driver answers with "[N/A]" or "[Not Supported]" stay empty.
std::vector<DetectedCard> parse_nvidia_smi(std::string_view csv, std::vector<std::string>& notes);
/// CUDA version in the banner of plain `nvidia-smi`, such as "13.0". Empty if absent.
std::string parse_cuda_version(std::string_view banner);
/// Parses `rocm-smi --showproductname --showmeminfo vram --showdriverversion`.
std::vector<DetectedCard> parse_rocm_smi(std::string_view text, std::vector<std::string>& notes);

/// Reads cards under /sys/class/drm (`drm`) whose driver reports a memory size, as amdgpu does.
/// Files read: product_name, mem_info_vram_total and _used, max_link_speed, current_link_width.
std::vector<DetectedCard> read_drm(const std::filesystem::path& drm,
                                   std::vector<std::string>& notes);
/// Adds a note for each NVIDIA or AMD display controller or accelerator under /sys/bus/pci/devices
/// (`devices`). A card listed there that no tool found lacks its driver.
void note_pci_cards(const std::filesystem::path& devices, std::vector<std::string>& notes);

/// The command whose output parse_sysctl reads.
std::vector<std::string> sysctl_query();
/// Fills in card, RAM, cores and name of a Mac with Apple silicon. Leaves `found` unchanged for any
/// other `text`. `vm_stat` is the output of that command and gives the free memory.
void parse_sysctl(std::string_view text, std::string_view vm_stat, Detection& found);

/// Value of `key` in /proc/meminfo, which counts in KiB. Absent if the key is missing.
std::optional<Bytes> parse_meminfo(std::string_view text, std::string_view key);
/// Limit in a memory.max or memory.limit_in_bytes file. Absent for "max", for the kernel's values
/// that mean "no limit" (above 2^60), and for text that is no number.
std::optional<Bytes> parse_memory_limit(std::string_view text);
/// Whole cores, at least 1, from a cpu.max file ("200000 100000"). Absent without a limit.
std::optional<int> parse_cpu_limit(std::string_view text);
/// This process's control group in /proc/self/cgroup (version 2: the line "0::/path"). Empty if
/// none.
std::string parse_cgroup_path(std::string_view text);
/// Distinct pairs of physical id and core id in /proc/cpuinfo. Counts processors where the file
/// lacks these ids.
int parse_core_count(std::string_view cpuinfo);
/// Nodes in /sys/devices/system/node/online ("0-1", "0,2-3"). 1 for malformed text.
int parse_node_count(std::string_view online);
/// The first "model name" of /proc/cpuinfo.
std::string parse_cpu_name(std::string_view cpuinfo);

/// Detects this computer's hardware. Never throws. Each tool has a time limit of a few seconds.
Detection detect();

/// Combines detected cards with the catalogue's facts, in a host of the detected sizes. Rates that
/// cannot be detected come from the default host and are listed in `assumed`. Throws UnknownName
/// for a card that no catalogue has: add a row or use --gpu-memory.
Machine local_machine(const Detection& found, const Catalogue& catalogue,
                      std::vector<std::string>* assumed = nullptr);

}  // namespace headroom
