#include "model/engine/measured_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "hardware/text.hpp"
#include "model/engine/constants_file.hpp"

namespace headroom::model {
namespace {

/// Shares of rates that some kernels and processors exceed; bytes a second; factors.
constexpr NumberLimits share_exceeded{1e-6, 1.5}, byte_rate{1, 1e15}, time_factor{1e-3, 1e3},
    factor_or_none{0, 1e3};

constexpr auto constants = std::to_array<NamedConstant>({
    {"memory", "context_bytes", [](Engine& e) -> Constant& { return e.memory.context_bytes; }},
    {"memory", "context_thread_bytes",
     [](Engine& e) -> Constant& { return e.memory.context_thread_bytes; }},
    {"memory", "communication_bytes",
     [](Engine& e) -> Constant& { return e.memory.communication_bytes; }},
    {"memory", "outside_bytes", [](Engine& e) -> Constant& { return e.memory.outside_bytes; }},
    {"memory", "outside_links_bytes",
     [](Engine& e) -> Constant& { return e.memory.outside_links_bytes; }},
    {"memory", "host_of_unified_bytes",
     [](Engine& e) -> Constant& { return e.memory.host_of_unified_bytes; }},
    {"memory", "workspace_bytes", [](Engine& e) -> Constant& { return e.memory.workspace_bytes; }},
    {"memory", "graph_bytes", [](Engine& e) -> Constant& { return e.memory.graph_bytes; }},
    {"memory", "graph_layer_bytes",
     [](Engine& e) -> Constant& { return e.memory.graph_layer_bytes; }},
    {"memory", "host_bytes", [](Engine& e) -> Constant& { return e.memory.host_bytes; }},
    {"memory", "fragmentation", [](Engine& e) -> Constant& { return e.memory.fragmentation; },
     nullptr, part_of_whole},
    {"kernels", "decode_bandwidth", nullptr, &KernelEfficiency::decode_bandwidth, share_of_rate},
    {"kernels", "prefill_compute", nullptr, &KernelEfficiency::prefill_compute, share_of_rate},
    {"kernels", "byte_compute", nullptr, &KernelEfficiency::byte_compute, share_of_rate},
    {"kernels", "kernel_s", nullptr, &KernelEfficiency::kernel_s},
    {"kernels", "expert_reads", nullptr, &KernelEfficiency::expert_reads},
    {"kernels", "unpack_bandwidth", nullptr, &KernelEfficiency::unpack_bandwidth, share_exceeded},
    {"kernels", "moe_kernels_per_layer",
     [](Engine& e) -> Constant& { return e.kernels.moe_kernels_per_layer; }},
    {"kernels", "expert_kernels", [](Engine& e) -> Constant& { return e.kernels.expert_kernels; }},
    {"kernels", "packed_kernels", [](Engine& e) -> Constant& { return e.kernels.packed_kernels; }},
    {"serving", "step_s", [](Engine& e) -> Constant& { return e.serving.step_s; }},
    {"serving", "sequence_s", [](Engine& e) -> Constant& { return e.serving.sequence_s; }},
    {"kernels", "expert_cost", [](Engine& e) -> Constant& { return e.kernels.expert_cost; }},
    {"kernels", "eager_kernel_s", [](Engine& e) -> Constant& { return e.kernels.eager_kernel_s; }},
    {"kernels", "score_compute", [](Engine& e) -> Constant& { return e.kernels.score_compute; },
     nullptr, share_of_rate},
    {"kernels", "repeat_bandwidth",
     [](Engine& e) -> Constant& { return e.kernels.repeat_bandwidth; }, nullptr, byte_rate},
    {"kernels", "cache_cost", [](Engine& e) -> Constant& { return e.kernels.cache_cost; }},
    {"kernels", "score_traffic", [](Engine& e) -> Constant& { return e.kernels.score_traffic; }},
    {"kernels", "activation_traffic",
     [](Engine& e) -> Constant& { return e.kernels.activation_traffic; }},
    {"serving", "queue", [](Engine& e) -> Constant& { return e.serving.queue; }, nullptr,
     part_of_whole},
    {"serving", "request_s", [](Engine& e) -> Constant& { return e.serving.request_s; }},
    {"offload", "stream_bandwidth",
     [](Engine& e) -> Constant& { return e.offload.stream_bandwidth; }, nullptr, share_of_rate},
    {"offload", "staging_bandwidth",
     [](Engine& e) -> Constant& { return e.offload.staging_bandwidth; }},
    {"offload", "cpu_bandwidth", [](Engine& e) -> Constant& { return e.offload.cpu_bandwidth; },
     nullptr, share_of_rate},
    {"offload", "cpu_compute", [](Engine& e) -> Constant& { return e.offload.cpu_compute; },
     nullptr, share_exceeded},
    {"offload", "thread_bandwidth",
     [](Engine& e) -> Constant& { return e.offload.thread_bandwidth; }, nullptr, byte_rate},
    {"offload", "device_handoff_s",
     [](Engine& e) -> Constant& { return e.offload.device_handoff_s; }},
    {"offload", "remote_numa_share",
     [](Engine& e) -> Constant& { return e.offload.remote_numa_share; }, nullptr, part_of_whole},
    {"offload", "disk_bandwidth", [](Engine& e) -> Constant& { return e.offload.disk_bandwidth; },
     nullptr, share_of_rate},
    {"parallel", "reduce_latency_s",
     [](Engine& e) -> Constant& { return e.parallel.reduce_latency_s; }},
    {"parallel", "reduce_over_bus_s",
     [](Engine& e) -> Constant& { return e.parallel.reduce_over_bus_s; }},
    {"parallel", "reduce_over_network_s",
     [](Engine& e) -> Constant& { return e.parallel.reduce_over_network_s; }},
    {"parallel", "link_bandwidth", [](Engine& e) -> Constant& { return e.parallel.link_bandwidth; },
     nullptr, share_of_rate},
    {"weights", "load_disk_share", [](Engine& e) -> Constant& { return e.weights.load_disk_share; },
     nullptr, share_of_rate},
    {"weights", "load_read_bandwidth",
     [](Engine& e) -> Constant& { return e.weights.load_read_bandwidth; }, nullptr, byte_rate},
    {"weights", "load_copy_bandwidth",
     [](Engine& e) -> Constant& { return e.weights.load_copy_bandwidth; }, nullptr, byte_rate},
    {"weights", "load_tensor_s", [](Engine& e) -> Constant& { return e.weights.load_tensor_s; }},
    {"weights", "load_fixed_s", [](Engine& e) -> Constant& { return e.weights.load_fixed_s; }},
    {"weights", "load_layer_s", [](Engine& e) -> Constant& { return e.weights.load_layer_s; }},
    {"memory", "uncertain_interval", [](Engine& e) -> Constant& { return e.memory.interval; },
     nullptr, factor_or_none},
    {"kernels", "decode_interval", [](Engine& e) -> Constant& { return e.kernels.decode_interval; },
     nullptr, time_factor},
    {"kernels", "prefill_interval",
     [](Engine& e) -> Constant& { return e.kernels.prefill_interval; }, nullptr, time_factor},
    {"offload", "offload_interval", [](Engine& e) -> Constant& { return e.offload.interval; },
     nullptr, time_factor},
    {"offload", "ram_stated_interval",
     [](Engine& e) -> Constant& { return e.offload.ram_stated_interval; }, nullptr, factor_or_none},
    {"serving", "serving_interval",
     [](Engine& e) -> Constant& { return e.serving.serving_interval; }, nullptr, time_factor},
    {"serving", "first_token_interval",
     [](Engine& e) -> Constant& { return e.serving.first_token_interval; }, nullptr, time_factor},
    {"serving", "throughput_interval",
     [](Engine& e) -> Constant& { return e.serving.throughput_interval; }, nullptr, time_factor},
    {"weights", "load_interval", [](Engine& e) -> Constant& { return e.weights.load_interval; },
     nullptr, time_factor},
});
constexpr std::array<std::string_view, card_classes> card_names{"hbm",    "hopper", "gddr", "ada",
                                                                "radeon", "apple",  "other"};
constexpr std::array<std::string_view, widths> width_names{"16-bit", "fp8", "8-bit", "4-bit",
                                                           "fp4"};

/// runtimes, constant, cards, width, value, low, high, measurements, source.
using Fields = std::array<std::string_view, 9>;

template <class Names>
std::size_t index(const Names& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// Engine family, constant.
using Effects = std::map<std::pair<std::string_view, std::string_view>, CellFactors>;

Effects effects_of(std::string_view text) {
  Effects all;
  for_lines(text, [&](std::string_view line, int) {
    const auto f = fields_of<2 + card_classes + widths + 1>(line);
    CellFactors& factors = all[{f[0], f[1]}];
    for (std::size_t c = 0; c < card_classes; ++c) factors.by_card[c] = number_of(f[2 + c]);
    for (std::size_t w = 0; w < widths; ++w)
      factors.by_width[w] = number_of(f[2 + card_classes + w]);
    factors.spread = number_of(f.back());
  });
  return all;
}

/// Sets every cell of `row` that has no measurements, from the rate on any card.
void set_in_all_cells(Engine& row, const NamedConstant& which, const Constant& any,
                      const Effects& effects) {
  const auto factors = effects.find({row.family, which.name});
  for (std::size_t c = 0; c < card_classes; ++c)
    for (std::size_t w = 0; w < widths; ++w) {
      Constant& cell = row.kernels.efficiency[c][w].*which.of_efficiency;
      if (cell.measurements > 0) continue;
      cell = factors == effects.end() ? any : of_cell(which, any, factors->second, c, w);
      cell.measurements = 0;
    }
}

void put(Engine& row, const NamedConstant& which, const Fields& f, const Constant& constant,
         const Effects& effects) {
  if (which.of_engine) {  // a measured one of the row's own policy stands
    if (which.in(row).measurements == 0) which.in(row) = constant;
    return;
  }
  const auto cards = index(card_names, f[2]), width = index(width_names, f[3]);
  if (cards < card_classes && width < widths)
    row.kernels.efficiency[cards][width].*which.of_efficiency = constant;
  else
    set_in_all_cells(row, which, constant, effects);
}

/// The nearest number of four significant digits. Powers of ten up to 10^22 are exact, so the
/// quotient is the number that the decimal reads as.
double four_digits(double value) {
  const double digits = 3 - std::floor(std::log10(value));
  if (digits < 0) {
    const double unit = std::pow(10.0, -digits);
    return std::round(value / unit) * unit;
  }
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

}  // namespace

std::span<const NamedConstant> named_constants() { return constants; }

std::string problem_of(const NamedConstant& which, const Constant& c) {
  const NumberLimits beyond{which.limits.least, 10 * which.limits.most};
  for (const auto& [number, limits] :
       {std::pair(c.low, which.limits), {c.value, which.limits}, {c.high, beyond}})
    if (!limits.contains(number))
      return fmt::format("found {}; expected {}", number, limits.text());
  if (c.low <= c.value && c.value <= c.high) return {};
  return fmt::format("found {} within {} and {}; expected low <= value <= high", c.value, c.low,
                     c.high);
}

std::string_view name_of(CardClass cards) { return card_names[static_cast<std::size_t>(cards)]; }
std::string_view name_of(Width width) { return width_names[static_cast<std::size_t>(width)]; }

Constant of_cell(const NamedConstant& rate, const Constant& any, const CellFactors& factors,
                 std::size_t cards, std::size_t width) {
  const double product = any.value * factors.by_card[cards] * factors.by_width[width];
  const double value = four_digits(std::min(product, rate.limits.most));
  const double spread = std::exp(std::hypot(std::log(any.high / any.low) / 2, factors.spread));
  return {value, value / spread, value * spread, 0, "pooled"};
}

void apply_measured(std::vector<Engine>& rows, std::string_view text, std::string_view factors) {
  const Effects effects = effects_of(factors);
  std::map<std::string_view, std::vector<Engine*>> generations;
  for (Engine& row : rows) generations[row.generation].push_back(&row);
  // Rates on any card come first: those of single cells are laid over what follows from them.
  for (const bool cells : {false, true})
    for_lines(text, [&](std::string_view line, int number_of_line) {
      const Fields f = fields_of<9>(line);
      if ((f[2] != "any") != cells) return;
      const auto which = std::ranges::find(constants, f[1], &NamedConstant::name);
      const Constant constant{number_of(f[4]), number_of(f[5]), number_of(f[6]),
                              static_cast<int>(number_of(f[7])), f[8]};
      for (const std::string_view name : split(f[0], ',')) {
        const auto generation = generations.find(name);
        if (generation == generations.end() || which == constants.end())
          throw std::logic_error(fmt::format("constants.tsv:{}: no constant '{}' of '{}'",
                                             number_of_line, f[1], name));
        for (Engine* row : generation->second) put(*row, *which, f, constant, effects);
      }
    });
}

}  // namespace headroom::model
