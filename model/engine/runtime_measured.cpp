#include "model/engine/runtime_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/engine/constants_file.hpp"
#include "model/engine/runtime_rows.hpp"

namespace headroom::model {
namespace {

constexpr auto constants = std::to_array<NamedConstant>({
    {"context_bytes", &Engine::context_bytes},
    {"communication_bytes", &Engine::communication_bytes},
    {"workspace_bytes", &Engine::workspace_bytes},
    {"host_bytes", &Engine::host_bytes},
    {"fragmentation", &Engine::fragmentation},
    {"decode_bandwidth", nullptr, &Rates::decode_bandwidth},
    {"prefill_compute", nullptr, &Rates::prefill_compute},
    {"byte_compute", nullptr, &Rates::byte_compute},
    {"kernel_s", nullptr, &Rates::kernel_s},
    {"expert_reads", nullptr, &Rates::expert_reads},
    {"unpack_bandwidth", nullptr, &Rates::unpack_bandwidth},
    {"mixture_kernels", &Engine::mixture_kernels},
    {"expert_kernels", &Engine::expert_kernels},
    {"packed_kernels", &Engine::packed_kernels},
    {"step_s", &Engine::step_s},
    {"sequence_s", &Engine::sequence_s},
    {"expert_cost", &Engine::expert_cost},
    {"eager_kernel_s", &Engine::eager_kernel_s},
    {"score_compute", &Engine::score_compute},
    {"repeat_bandwidth", &Engine::repeat_bandwidth},
    {"cache_cost", &Engine::cache_cost},
    {"score_traffic", &Engine::score_traffic},
    {"activation_traffic", &Engine::activation_traffic},
    {"queue", &Engine::queue},
    {"request_s", &Engine::request_s},
    {"stream_bandwidth", &Engine::stream_bandwidth},
    {"cpu_bandwidth", &Engine::cpu_bandwidth},
    {"cpu_compute", &Engine::cpu_compute},
    {"thread_bandwidth", &Engine::thread_bandwidth},
    {"crossing_s", &Engine::crossing_s},
    {"far_bandwidth", &Engine::far_bandwidth},
    {"disk_bandwidth", &Engine::disk_bandwidth},
    {"reduce_latency_s", &Engine::reduce_latency_s},
    {"reduce_over_bus_s", &Engine::reduce_over_bus_s},
    {"link_bandwidth", &Engine::link_bandwidth},
    {"load_read_bandwidth", &Engine::load_read_bandwidth},
    {"load_copy_bandwidth", &Engine::load_copy_bandwidth},
    {"load_fixed_s", &Engine::load_fixed_s},
    {"memory_interval", &Engine::memory_interval},
    {"decode_interval", &Engine::decode_interval},
    {"prefill_interval", &Engine::prefill_interval},
    {"offload_interval", &Engine::offload_interval},
    {"ram_stated_interval", &Engine::ram_stated_interval},
    {"serving_interval", &Engine::serving_interval},
    {"first_token_interval", &Engine::first_token_interval},
    {"throughput_interval", &Engine::throughput_interval},
    {"load_interval", &Engine::load_interval},
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
void put(Engine& row, const NamedConstant& which, const Fields& f, Constant constant) {
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

void apply_measured(std::vector<Engine>& rows) {
  apply_measured(rows, constants_file("constants.tsv"));
}

void apply_measured(std::vector<Engine>& rows, std::string_view text) {
  std::map<std::string_view, std::vector<Engine*>> generations;
  for (Engine& row : rows) generations[generation_of(row)].push_back(&row);
  for_lines(text, [&](std::string_view line, int number_of_line) {
    const Fields f = fields_of<9>(line);
    const auto which = std::ranges::find(constants, f[1], &NamedConstant::name);
    const auto generation = generations.find(f[0]);
    if (generation == generations.end() || which == constants.end())
      throw std::logic_error(
          fmt::format("constants.tsv:{}: no constant '{}' of '{}'", number_of_line, f[1], f[0]));
    const Constant constant{number_of(f[4]), number_of(f[5]), number_of(f[6]),
                            static_cast<int>(number_of(f[7])), f[8]};
    for (Engine* row : generation->second) put(*row, *which, f, constant);
  });
}

}  // namespace headroom::model
