// Queries this computer's tools and kernel, and builds a machine from the answers.
#include "hardware/detect.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hardware/machine.hpp"
#include "hardware/names.hpp"
#include "hardware/program.hpp"
#include "hardware/quantity_text.hpp"

namespace headroom {
namespace {

constexpr std::chrono::seconds tool_limit{5};

/// Content of a small file. Empty if it cannot be read.
std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

/// Output of a tool. Empty, with a note, if the tool exists but fails.
std::string ask(const std::vector<std::string>& command, Detection& found) {
  using Outcome = ProgramResult::Outcome;
  const ProgramResult result = run_program(command, tool_limit);
  const std::string& tool = command.front();
  if (result.outcome == Outcome::timed_out)
    found.notes.push_back(fmt::format("{} gave no answer in {} s", tool, tool_limit.count()));
  else if (result.outcome == Outcome::failed)
    found.notes.push_back(fmt::format("{} could not be run", tool));
  else if (result.outcome == Outcome::finished && result.exit_code != 0)
    found.notes.push_back(fmt::format("{} failed with exit code {}", tool, result.exit_code));
  else if (result.outcome == Outcome::finished)
    return result.output;
  return {};
}

void find_cards(Detection& found) {
  found.cards = parse_nvidia_smi(ask(nvidia_smi_query(), found), found.notes);
  if (!found.cards.empty()) found.cuda_version = parse_cuda_version(ask({"nvidia-smi"}, found));
  const std::string rocm =
      ask({"rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion"}, found);
  auto others = parse_rocm_smi(rocm, found.notes);
  if (others.empty()) others = read_drm("/sys/class/drm", found.notes);
  for (DetectedCard& each : others) found.cards.push_back(std::move(each));
  if (!found.cards.empty()) return;
  found.notes.emplace_back("no card found by nvidia-smi, rocm-smi or /sys");
  note_pci_cards("/sys/bus/pci/devices", found.notes);
}

bool is_mac() {
  utsname name;
  return uname(&name) == 0 && std::string_view(name.sysname) == "Darwin";
}

/// Applies a control group's memory limit and what is left of it.
void limit_memory(const std::string& most, const std::string& used, Detection& found) {
  const auto limit = parse_memory_limit(most);
  if (!limit) return;
  found.ram_limit = std::min(found.ram_limit.value_or(*limit), *limit);
  const Bytes taken = std::min(*limit, parse_memory_limit(used).value_or(Bytes()));
  found.ram_available = std::min(found.ram_available, *limit - taken);
}

/// Finds the tightest memory and CPU limits between this process's control group and the root.
void find_limits(Detection& found) {
  const std::string root = "/sys/fs/cgroup";
  std::filesystem::path group = parse_cgroup_path(content("/proc/self/cgroup"));
  while (true) {
    const std::string at = root + (group == "/" ? "" : group.string());
    limit_memory(content(at + "/memory.max"), content(at + "/memory.current"), found);
    if (const auto cores = parse_cpu_limit(content(at + "/cpu.max")))
      found.cores = std::min(found.cores, *cores);
    if (group.empty() || group == "/") break;
    group = group.parent_path();
  }
  // Control groups, version 1.
  limit_memory(content(root + "/memory/memory.limit_in_bytes"),
               content(root + "/memory/memory.usage_in_bytes"), found);
  if (const auto cores = parse_cpu_limit(content(root + "/cpu/cpu.cfs_quota_us") + ' ' +
                                         content(root + "/cpu/cpu.cfs_period_us")))
    found.cores = std::min(found.cores, *cores);
}

void find_memory_and_cores(Detection& found) {
  const std::string meminfo = content("/proc/meminfo");
  found.ram = parse_meminfo(meminfo, "MemTotal").value_or(Bytes());
  found.ram_available = parse_meminfo(meminfo, "MemAvailable").value_or(Bytes());
  const std::string cpuinfo = content("/proc/cpuinfo");
  found.cores = parse_core_count(cpuinfo);
  found.cpu = parse_cpu_name(cpuinfo);
  found.numa_nodes = parse_node_count(content("/sys/devices/system/node/online"));
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    found.cores = std::clamp(CPU_COUNT(&allowed), 1, found.cores);
  find_limits(found);
  if (found.ram == Bytes())
    found.notes.emplace_back("/proc/meminfo does not state the amount of RAM");
}

/// Kind of the block device under `path`, as the kernel describes it.
std::string disk_kind_of(const char* path) {
  struct stat status {};
  if (stat(path, &status) != 0) return {};
  std::error_code error;
  std::filesystem::path device = std::filesystem::canonical(
      fmt::format("/sys/dev/block/{}:{}", major(status.st_dev), minor(status.st_dev)), error);
  if (error) return {};
  if (!std::filesystem::exists(device / "queue", error)) device = device.parent_path();
  const std::string name = device.filename().string();
  if (name.starts_with("nvme")) return "NVMe";
  // virtual disks report themselves as rotational
  if (name.starts_with("vd") || name.starts_with("xvd")) return "virtual";
  const std::string rotational = content((device / "queue/rotational").string());
  if (rotational.starts_with("1")) return "HDD";
  return rotational.starts_with("0") ? "SSD" : "";
}

void find_disk(Detection& found) {
  struct statvfs status {};
  if (statvfs(".", &status) != 0) {
    found.notes.emplace_back("the free space of the disk cannot be read");
    return;
  }
  found.disk_free = static_cast<std::int64_t>(status.f_bavail) *
                    Bytes(static_cast<std::int64_t>(status.f_frsize));
  found.disk_kind = disk_kind_of(".");
}

/// The catalogue's row for a card, by name. If the name has several memory sizes, the reported size
/// decides.
Device row_of(const DetectedCard& card, const Catalogue& catalogue) {
  try {
    return catalogue.device(card.name);
  } catch (const UnknownName&) {
    for (const Device& each : catalogue.devices) {
      const double ratio = card.memory.real() / each.memory.real();
      if (ratio < 0.95 || ratio > 1.05) continue;
      const std::string sized =
          fmt::format("{}-{:.0f}gb", lower(card.name), real_count(each.memory) / GiB);
      if (spelling(sized) == spelling(each.name)) return each;
    }
    throw;
  }
}

/// Bytes a second of PCIe in one direction: transfers x lanes x encoding / 8 (PCI-SIG).
BytesPerSecond pcie_rate(int generation, int lanes) {
  if (generation < 1 || generation > 5 || lanes < 1 || lanes > 16) return BytesPerSecond();
  constexpr double giga_transfers[] = {2.5 * 0.8 * 130 / 128, 5 * 0.8 * 130 / 128, 8, 16, 32};
  return BytesPerSecond(giga_transfers[generation - 1] * 1e9 * lanes * 128 / 130 / 8);
}

/// The peak of the detected cores: at the rate of the processor's row, or else of the host's.
void set_cores(const Detection& found, const Catalogue& catalogue, Host& host,
               std::vector<std::string>& notes) {
  FlopsPerSecond of_core = host.cpu_peak / host.cores;
  std::string rates_of = host.name;
  try {
    const Processor& processor = catalogue.processor(found.cpu);
    of_core = processor.peak / processor.cores;
    rates_of = processor.name;
  } catch (const UnknownName&) {  // no row: the host's rate stands for it
  }
  host.cpu.clear();
  host.cores = found.cores;
  host.cpu_peak = found.cores * of_core;
  notes.push_back(fmt::format("CPU peak: {} cores at the rate of {}'s", found.cores, rates_of));
}

/// CPU, memory and disk of this computer. `host` is a row of the catalogue, and keeps the rates
/// that are not detected.
void set_host(const Detection& found, const Catalogue& catalogue, Host& host,
              std::vector<std::string>& notes) {
  host.cards = 0;  // no limit
  const std::string rates_of = host.name;
  set_cores(found, catalogue, host, notes);
  if (found.ram > Bytes())
    host.ram = std::min(found.ram, found.ram_limit.value_or(found.ram));
  else
    notes.push_back(fmt::format("RAM: {}, of {}", to_text(host.ram), rates_of));
  if (found.ram_bandwidth)
    host.ram_bandwidth = *found.ram_bandwidth;
  else
    notes.push_back(fmt::format("RAM bandwidth: {:.4g} GB/s, of {}",
                                host.ram_bandwidth.value() / 1e9, rates_of));
  if (found.disk_free > Bytes())
    host.disk = found.disk_free;
  else
    notes.push_back(fmt::format("disk: {}, of {}", to_text(host.disk), rates_of));
  if (!found.disk_kind.empty()) host.disk_kind = found.disk_kind;
  if (found.disk_read)
    host.disk_read = *found.disk_read;
  else
    notes.push_back(
        fmt::format("disk read: {:.4g} GB/s, of {}", host.disk_read.value() / 1e9, rates_of));
  host.name = "local";
  host.title = found.cpu.empty() ? "this computer" : found.cpu;
  host.aliases.clear();
  host.network = BytesPerSecond();
  host.power_w = 0;
  host.power_unknown = "no tool reports what this computer draws";
  host.unchecked.clear();
  host.source = fmt::format("detected; rates as {}: {}", rates_of, host.source);
  host.host_bus = BytesPerSecond();
}

/// Memory, power and bus of a card as detected.
void set_card(const DetectedCard& card, Device& device, std::vector<std::string>& notes) {
  if (card.memory > Bytes()) {
    const double ratio = card.memory.real() / device.memory.real();
    if (ratio < 0.9 || ratio > 1.1)
      notes.push_back(fmt::format("rates of {}: the catalogue's card has {}, this one {}",
                                  device.name, to_text(device.memory), to_text(card.memory)));
    if (card.visible > Bytes() || card.memory != device.memory) device.visible = card.visible;
    device.memory = card.memory;
    device.memory_nominal = false;
  }
  if (card.power_w > 0 && !device.power_includes_host) {
    device.power_w = card.power_w;
    device.power_unknown.clear();
  }
  const BytesPerSecond bus = pcie_rate(card.pcie_generation, card.pcie_lanes);
  const bool on_pcie = device.host_bus_kind.starts_with("PCIe");
  if (bus > BytesPerSecond() && on_pcie) {
    device.host_bus = bus;
    device.host_bus_kind = fmt::format("PCIe {}.0 x{}", card.pcie_generation, card.pcie_lanes);
  } else if (on_pcie) {
    notes.push_back(fmt::format("host bus of {}: {}, as the catalogue has it", device.name,
                                device.host_bus_kind));
  }
}

}  // namespace

Detection detect() {
  Detection found;
  if (is_mac()) {
    parse_sysctl(ask(sysctl_query(), found), ask({"vm_stat"}, found), found);
  } else {
    find_cards(found);
    find_memory_and_cores(found);
  }
  find_disk(found);
  for (const DetectedCard& card : found.cards)
    if (!card.tried)
      found.notes.push_back(
          fmt::format("{}: read by {} as documented, untested on such hardware: compare it with "
                      "the card's data sheet",
                      card.name, card.found_by));
  return found;
}

Machine local_machine(const Detection& found, const Catalogue& catalogue,
                      std::vector<std::string>* assumed) {
  std::vector<std::string> ignored;
  std::vector<std::string>& notes = assumed != nullptr ? *assumed : ignored;
  Machine machine;
  for (const DetectedCard& card : found.cards) machine.devices.push_back(row_of(card, catalogue));
  const bool usual = !machine.devices.empty() && !machine.devices.front().host.empty();
  machine.host = catalogue.host(usual ? machine.devices.front().host : catalogue.default_host);
  machine.ram_assumed = !found.ram_bandwidth;
  set_host(found, catalogue, machine.host, notes);
  for (std::size_t i = 0; i < found.cards.size(); ++i) {
    Device& device = machine.devices[i];
    set_card(found.cards[i], device, notes);
    if (device.unified_memory && !found.ram_bandwidth) {
      machine.host.ram_bandwidth = cores_share * device.bandwidth;
      machine.ram_assumed = false;
    }
  }
  machine.name = machine.canonical_name();
  return machine;
}

}  // namespace headroom
