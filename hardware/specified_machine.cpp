// A machine from figures instead of names.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "hardware/card_count.hpp"
#include "hardware/machine.hpp"
#include "hardware/quantity_text.hpp"

namespace headroom {
namespace {

/// Median ratio of dense 16-bit peak to bandwidth over the catalogue's cards with their own memory.
Intensity usual_intensity(const Catalogue& catalogue) {
  std::vector<Intensity> all;
  for (const Device& each : catalogue.devices)
    if (!each.unified_memory) all.push_back(each.peak(Arithmetic::bf16) / each.bandwidth);
  if (all.empty())
    throw std::invalid_argument(
        "the catalogue has no cards to compare with; state the card's TFLOPS");
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

template <class Quantity>
void require_positive(std::string_view flag, const std::optional<Quantity>& given) {
  if (given && !(*given > Quantity()))
    throw std::invalid_argument(
        fmt::format("{} is not above zero; expected a positive quantity", flag));
}

void check_specification(const MachineSpecification& spec) {
  if (!spec.gpu_memory)
    throw std::invalid_argument("the card's memory is missing, for example 24GiB");
  if (!spec.gpu_bandwidth)
    throw std::invalid_argument("the card's memory bandwidth is missing, for example 936GB/s");
  require_positive("the card's memory", spec.gpu_memory);
  require_positive("the card's memory bandwidth", spec.gpu_bandwidth);
  require_positive("the card's TFLOPS", spec.gpu_flops);
  require_positive("host memory", spec.ram);
  require_positive("the disk's size", spec.disk);
  require_positive("the bandwidth of host memory", spec.ram_bandwidth);
  require_positive("the bus to the card", spec.host_bus);
  require_positive("the disk's read rate", spec.disk_read);
  require_positive("the link between cards", spec.card_link);
  require_card_count("of the specification", spec.count);
}

/// Host of a specification. `host` is the default host, and keeps what is not specified.
void set_specified_host(const MachineSpecification& spec, Host& host,
                        std::vector<std::string>& notes) {
  const auto from_host = [&](std::string_view what, const auto& given, auto& value,
                             const std::string& shown) {
    if (given)
      value = *given;
    else
      notes.push_back(fmt::format("{}: {}, of the default host {}", what, shown, host.name));
  };
  const auto gigabytes = [](BytesPerSecond rate) {
    return fmt::format("{:.4g} GB/s", rate.value() / 1e9);
  };
  from_host("RAM", spec.ram, host.ram, to_text(host.ram));
  from_host("RAM bandwidth", spec.ram_bandwidth, host.ram_bandwidth, gigabytes(host.ram_bandwidth));
  from_host("host bus", spec.host_bus, host.host_bus, gigabytes(host.host_bus));
  from_host("disk", spec.disk, host.disk, to_text(host.disk));
  from_host("disk read", spec.disk_read, host.disk_read, gigabytes(host.disk_read));
  notes.push_back(fmt::format("CPU: {} cores, of the default host {}", host.cores, host.name));
  host.name = "specified";
  host.title = "from a specification";
  host.aliases.clear();
  host.cards = 0;
}

/// Card of a specification. Its FLOPS come from the catalogue's median if they are not specified.
Device specified_card(const MachineSpecification& spec, const Catalogue& catalogue,
                      std::vector<std::string>& notes) {
  Device device;
  device.name = fmt::format("gpu-{}mib", spec.gpu_memory->count() >> 20);
  device.title = "GPU from a specification";
  device.memory = *spec.gpu_memory;
  device.memory_nominal = false;
  device.bandwidth = *spec.gpu_bandwidth;
  device.source = "specification";
  if (spec.gpu_flops) {
    device.fp16 = device.bf16 = *spec.gpu_flops;
  } else {
    const Intensity usual = usual_intensity(catalogue);
    device.fp16 = device.bf16 = FlopsPerSecond(device.bandwidth.value() * usual.value());
    notes.push_back(
        fmt::format("GPU peak: {:.4g} TFLOPS, the bandwidth times {:.4g} FLOP per byte, the "
                    "median of the catalogue",
                    device.bf16->value() / 1e12, usual.value()));
  }
  if (spec.card_link) {
    device.link = *spec.card_link;
    device.link_kind = "as specified";
  } else if (spec.count > 1) {
    notes.push_back("card to card: over the host bus");
  }
  return device;
}

}  // namespace

Machine specified_machine(const MachineSpecification& spec, const Catalogue& catalogue,
                          std::vector<std::string>* assumed) {
  check_specification(spec);
  std::vector<std::string> ignored;
  std::vector<std::string>& notes = assumed != nullptr ? *assumed : ignored;
  Machine machine;
  machine.host = catalogue.host(catalogue.default_host);
  machine.ram_assumed = !spec.ram_bandwidth;
  set_specified_host(spec, machine.host, notes);
  machine.devices.assign(static_cast<std::size_t>(spec.count),
                         specified_card(spec, catalogue, notes));
  machine.name = machine.canonical_name();
  return machine;
}

}  // namespace headroom
