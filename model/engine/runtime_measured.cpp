#include "model/engine/runtime_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/engine/constants_file.hpp"
#include "model/engine/runtime_rows.hpp"

namespace headroom::model {
namespace {

constexpr auto constants = std::to_array<NamedConstant>({
    {"context_bytes", &Runtime::context_bytes},
    {"communication_bytes", &Runtime::communication_bytes},
    {"workspace_bytes", &Runtime::workspace_bytes},
    {"host_bytes", &Runtime::host_bytes},
    {"fragmentation", &Runtime::fragmentation},
    {"decode_bandwidth", nullptr, &Rates::decode_bandwidth},
    {"prefill_compute", nullptr, &Rates::prefill_compute},
    {"byte_compute", nullptr, &Rates::byte_compute},
    {"kernel_s", nullptr, &Rates::kernel_s},
    {"expert_reads", nullptr, &Rates::expert_reads},
    {"unpack_bandwidth", nullptr, &Rates::unpack_bandwidth},
    {"mixture_kernels", &Runtime::mixture_kernels},
    {"expert_kernels", &Runtime::expert_kernels},
    {"packed_kernels", &Runtime::packed_kernels},
    {"step_s", &Runtime::step_s},
    {"sequence_s", &Runtime::sequence_s},
    {"expert_cost", &Runtime::expert_cost},
    {"eager_kernel_s", &Runtime::eager_kernel_s},
    {"score_compute", &Runtime::score_compute},
    {"repeat_bandwidth", &Runtime::repeat_bandwidth},
    {"cache_cost", &Runtime::cache_cost},
    {"score_traffic", &Runtime::score_traffic},
    {"activation_traffic", &Runtime::activation_traffic},
    {"queue", &Runtime::queue},
    {"request_s", &Runtime::request_s},
    {"stream_bandwidth", &Runtime::stream_bandwidth},
    {"cpu_bandwidth", &Runtime::cpu_bandwidth},
    {"cpu_compute", &Runtime::cpu_compute},
    {"thread_bandwidth", &Runtime::thread_bandwidth},
    {"crossing_s", &Runtime::crossing_s},
    {"far_bandwidth", &Runtime::far_bandwidth},
    {"disk_bandwidth", &Runtime::disk_bandwidth},
    {"reduce_latency_s", &Runtime::reduce_latency_s},
    {"reduce_over_bus_s", &Runtime::reduce_over_bus_s},
    {"link_bandwidth", &Runtime::link_bandwidth},
    {"load_read_bandwidth", &Runtime::load_read_bandwidth},
    {"load_copy_bandwidth", &Runtime::load_copy_bandwidth},
    {"load_fixed_s", &Runtime::load_fixed_s},
    {"memory_interval", &Runtime::memory_interval},
    {"decode_interval", &Runtime::decode_interval},
    {"prefill_interval", &Runtime::prefill_interval},
    {"offload_interval", &Runtime::offload_interval},
    {"ram_stated_interval", &Runtime::ram_stated_interval},
    {"serving_interval", &Runtime::serving_interval},
    {"first_token_interval", &Runtime::first_token_interval},
    {"throughput_interval", &Runtime::throughput_interval},
    {"load_interval", &Runtime::load_interval},
});
constexpr std::array<std::string_view, card_classes> card_names{"hbm",    "hopper", "gddr",
                                                                "radeon", "apple",  "other"};
constexpr std::array<std::string_view, widths> width_names{"16-bit", "fp8", "8-bit", "4-bit",
                                                           "fp4"};

/// runtime, constant, cards, width, value, low, high, measurements, source.
using Fields = std::array<std::string_view, 9>;

template <class Names>
std::size_t index(const Names& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// Copies `constant` to every cell of the row that has no measurements of its own; a cell named by
/// the file has.
void put(Runtime& row, const NamedConstant& which, const Fields& f, Constant constant) {
  if (which.of_runtime) {
    row.*which.of_runtime = constant;
    return;
  }
  const auto cards = index(card_names, f[2]), width = index(width_names, f[3]);
  for (std::size_t c = 0; c < card_classes; ++c)
    for (std::size_t w = 0; w < widths; ++w) {
      if ((cards < card_classes && cards != c) || (width < widths && width != w)) continue;
      Constant& cell = row.rates[c][w].*which.of_rates;
      const bool named = cards < card_classes && width < widths;
      if (!named && cell.measurements > 0) continue;
      cell = constant;
      if (!named) cell.measurements = 0;
    }
}

}  // namespace

std::span<const NamedConstant> named_constants() { return constants; }
std::string_view name_of(CardClass cards) { return card_names[static_cast<std::size_t>(cards)]; }
std::string_view name_of(Width width) { return width_names[static_cast<std::size_t>(width)]; }

void apply_measured(std::vector<Runtime>& rows) {
  apply_measured(rows, constants_file("constants.tsv"));
}

void apply_measured(std::vector<Runtime>& rows, std::string_view text) {
  std::map<std::string_view, std::vector<Runtime*>> generations;
  for (Runtime& row : rows) generations[generation_of(row)].push_back(&row);
  for_lines(text, [&](std::string_view line, int number_of_line) {
    const Fields f = fields_of<9>(line);
    const auto which = std::ranges::find(constants, f[1], &NamedConstant::name);
    const auto generation = generations.find(f[0]);
    if (generation == generations.end() || which == constants.end())
      throw std::logic_error(
          fmt::format("constants.tsv:{}: no constant '{}' of '{}'", number_of_line, f[1], f[0]));
    const Constant constant{number_of(f[4]), number_of(f[5]), number_of(f[6]),
                            static_cast<int>(number_of(f[7])), f[8]};
    for (Runtime* row : generation->second) put(*row, *which, f, constant);
  });
}

}  // namespace headroom::model
