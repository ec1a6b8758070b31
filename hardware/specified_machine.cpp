// A machine from figures instead of names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "hardware/card_count.hpp"
#include "hardware/machine.hpp"
#include "hardware/quantity_text.hpp"

namespace headroom {
namespace {

/// "3280": without an exponent.
std::string in_three_digits(double value) {
  return fmt::format("{}", std::stod(fmt::format("{:.3g}", value)));
}

/// The upper of two middle ones.
template <class Quantity>
Quantity median(std::vector<Quantity> all, std::string_view flag) {
  if (all.empty())
    throw std::invalid_argument(
        fmt::format("the catalogue has no cards to compare with; state the card's {}", flag));
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

/// Median ratio of dense 16-bit peak to bandwidth over the catalogue's cards with their own memory.
Intensity usual_intensity(const Catalogue& catalogue) {
  std::vector<Intensity> all;
  for (const Device& each : catalogue.devices)
    if (!each.unified_memory) all.push_back(each.peak(Arithmetic::bf16) / each.bandwidth);
  return median(std::move(all), "TFLOPS");
}

/// Cards with their own memory that are as large as `memory`, or else the nearest in size. Ten
/// percent cover GB for GiB (7 %) and what ECC takes (6 %).
std::vector<const Device*> cards_of_similar_size(const Catalogue& catalogue, Bytes memory) {
  constexpr double tolerance = 0.1;
  const auto distance = [&](const Device& card) {
    return std::abs(card.memory.real() / memory.real() - 1);
  };
  double most = std::numeric_limits<double>::infinity();
  for (const Device& each : catalogue.devices)
    if (!each.unified_memory) most = std::min(most, distance(each));
  most = std::max(most, tolerance);
  std::vector<const Device*> similar;
  for (const Device& each : catalogue.devices)
    if (!each.unified_memory && distance(each) <= most) similar.push_back(&each);
  return similar;
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
  std::string kept;
  const auto from_host = [&](std::string_view what, const auto& given, auto& value,
                             const std::string& shown) {
    if (given)
      value = *given;
    else
      kept += fmt::format("{} {}, ", what, shown);
  };
  const auto gigabytes = [](BytesPerSecond rate) {
    return fmt::format("{:.4g} GB/s", rate.value() / 1e9);
  };
  from_host("RAM", spec.ram, host.ram, to_text(host.ram));
  from_host("RAM at", spec.ram_bandwidth, host.ram_bandwidth, gigabytes(host.ram_bandwidth));
  from_host("bus", spec.host_bus, host.host_bus, gigabytes(host.host_bus));
  from_host("disk", spec.disk, host.disk, to_text(host.disk));
  from_host("disk at", spec.disk_read, host.disk_read, gigabytes(host.disk_read));
  notes.push_back(fmt::format("of host {}: {}{} cores", host.name, kept, host.cores));
  host.name = "specified";
  host.title = "from a specification";
  host.aliases.clear();
  host.cards = 0;
}

/// Times at the ends of the middle 80 % of `bandwidths`, as factors on that at `chosen`.
Spread times_by(std::vector<BytesPerSecond> bandwidths, BytesPerSecond chosen) {
  std::ranges::sort(bandwidths);
  const std::size_t tenth = bandwidths.size() / 10;
  return {chosen / bandwidths[bandwidths.size() - 1 - tenth], chosen / bandwidths[tenth]};
}

/// A note where a size is one that cards are sold with. They have as many GiB, of which a program
/// sees less. Empty also where a quarter of a GiB is not between them.
std::string sold_as(const Catalogue& catalogue, Bytes memory) {
  const auto is_whole = [](double n) { return std::abs(n - std::round(n)) < 1e-6; };
  const double gigabytes = real_count(memory) / GB, gibibytes = real_count(memory) / GiB;
  if (!is_whole(gigabytes) && !is_whole(gibibytes)) return {};
  const Size sold = std::llround(is_whole(gigabytes) ? gigabytes : gibibytes);
  std::vector<Bytes> seen;
  for (const Device& each : catalogue.devices)
    if (!each.unified_memory && std::llround(real_count(each.memory) / GiB) == sold)
      seen.push_back(usable_memory(each));
  if (seen.empty()) return {};
  constexpr double nearly = 0.25;
  const double visible = real_count(median(std::move(seen), "memory")) / GiB;
  if (std::abs(visible - gibibytes) < nearly) return {};
  const std::string shown = fmt::format("{:.1f}", visible);
  if (is_whole(gigabytes))
    return fmt::format("{} GB are {:.1f} GiB; cards sold with {} GB show {} GiB", sold, gibibytes,
                       sold, shown);
  return fmt::format("a program sees all {} GiB; of cards sold with {} GB it sees {} GiB", sold,
                     sold, shown);
}

/// Bandwidth and peak of a card, where they are not specified: of cards of the same size. A peak
/// alone follows the bandwidth. Returns what was assumed; empty: nothing.
/// `spread`: of times, where the bandwidth was assumed.
std::string set_rates(const MachineSpecification& spec, const Catalogue& catalogue, Device& card,
                      std::optional<Spread>& spread) {
  std::string assumed;
  const auto teraflops = [](FlopsPerSecond peak) { return peak.value() / 1e12; };
  FlopsPerSecond peak = spec.gpu_flops.value_or(FlopsPerSecond());
  if (spec.gpu_bandwidth) {
    card.bandwidth = *spec.gpu_bandwidth;
  } else {
    const auto similar = cards_of_similar_size(catalogue, card.memory);
    std::vector<BytesPerSecond> bandwidths;
    std::vector<FlopsPerSecond> peaks;
    for (const Device* each : similar) {
      bandwidths.push_back(each->bandwidth);
      peaks.push_back(each->peak(Arithmetic::bf16));
    }
    card.bandwidth = median(bandwidths, "memory bandwidth");
    spread = times_by(std::move(bandwidths), card.bandwidth);
    std::string rates = fmt::format("GPU: {} GB/s", in_three_digits(card.bandwidth.value() / 1e9));
    if (!spec.gpu_flops) {
      peak = median(std::move(peaks), "TFLOPS");
      rates += fmt::format(" and {} TFLOPS", in_three_digits(teraflops(peak)));
    }
    assumed = fmt::format("{}, the median of {} cards as large", rates, similar.size());
  }
  if (!(peak > FlopsPerSecond())) {
    const Intensity usual = usual_intensity(catalogue);
    peak = FlopsPerSecond(card.bandwidth.value() * usual.value());
    assumed = fmt::format(
        "GPU peak: {} TFLOPS, the bandwidth times {:.3g} FLOP per byte, the median of the "
        "catalogue",
        in_three_digits(teraflops(peak)), usual.value());
  }
  card.fp16 = card.bf16 = peak;
  return assumed;
}

/// The NVIDIA card with its own memory and 16-bit units whose bandwidth and peak are nearest; null:
/// none is there. Its size has no say: more memory alone changes no generation. Slices share the
/// power limit of a card, so their power is unknown. They are no cards of their own.
const Device* nearest_nvidia_card(const Catalogue& catalogue, const Device& card) {
  const Device* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Device& each : catalogue.devices) {
    const bool whole =
        each.vendor == "nvidia" && !each.unified_memory && each.power_unknown.empty();
    if (!whole || !each.compute_capability || !each.bf16) continue;
    const double far =
        std::abs(std::log(each.bandwidth / card.bandwidth)) +
        std::abs(std::log(each.peak(Arithmetic::bf16) / card.peak(Arithmetic::bf16)));
    if (far < least) {
      least = far;
      nearest = &each;
    }
  }
  return nearest;
}

/// Engines need a maker and its generation: that of the card's nearest relative. Returns what was
/// assumed; empty: nothing.
std::string set_maker(const Catalogue& catalogue, Device& card) {
  const Device* like = nearest_nvidia_card(catalogue, card);
  if (like == nullptr) return {};
  card.vendor = like->vendor;
  card.compute_capability = like->compute_capability;
  // Its other rates are to 16 bit as the relative's.
  const double ratio = card.peak(Arithmetic::bf16) / like->peak(Arithmetic::bf16);
  const auto scaled = [&](const std::optional<FlopsPerSecond>& rate) {
    return rate ? std::optional(FlopsPerSecond(ratio * rate->value())) : std::nullopt;
  };
  card.fp8 = scaled(like->fp8);
  card.int8 = scaled(like->int8);
  card.fp4 = scaled(like->fp4);
  return fmt::format("NVIDIA, as {}", like->name);
}

Device specified_card(const MachineSpecification& spec, const Catalogue& catalogue,
                      std::vector<std::string>& notes, std::optional<Spread>& spread) {
  Device device;
  device.name = fmt::format("gpu-{}mib", spec.gpu_memory->count() >> 20);
  device.title = "GPU from a specification";
  set_memory(device, *spec.gpu_memory);
  device.source = "specification";
  device.power_unknown = "the flags that describe the card state none";
  const std::string rates = set_rates(spec, catalogue, device, spread);
  const std::string maker = set_maker(catalogue, device);
  const std::string start = rates.empty() ? "GPU: " : rates + "; ";
  if (!maker.empty())
    notes.push_back(start + maker);
  else if (!rates.empty())
    notes.push_back(rates);
  if (const std::string note = sold_as(catalogue, device.memory); !note.empty())
    notes.push_back(note);
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
                         specified_card(spec, catalogue, notes, machine.card_assumed));
  machine.name = machine.canonical_name();
  return machine;
}

}  // namespace headroom
