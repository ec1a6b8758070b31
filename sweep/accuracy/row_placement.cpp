#include "sweep/accuracy/row_placement.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/estimate.hpp"
#include "sweep/options/split_options.hpp"

namespace headroom::sweep {
namespace {

using model::LayerSplit;
using model::Scenario;

/// Share of a layer's weights that FlexGen keeps on the card where --percent asks for `asked` %:
/// attention has four matrices of one size, the feed-forward two. It keeps those of each sort whose
/// middle lies within the last so many percent (flex_opt.py: init_weight_list, get_choice).
double share_on_card(double asked) {
  const auto of = [&](int matrices) {
    int count = 0;
    for (int i = 0; i < matrices; ++i) count += 100 * (2 * i + 1) >= 2 * matrices * (100 - asked);
    return static_cast<double>(count) / matrices;
  };
  constexpr double attention = 1.0 / 3;  // share in OPT's layers
  return attention * of(4) + (1 - attention) * of(2);
}

model::HostTensors scaled(model::HostTensors host, double share) {
  for (Bytes& bytes : host.bytes_before)
    bytes = Bytes(static_cast<Size>(share * bytes.real().value()));
  for (auto* sums : {&host.read_dense_before, &host.read_routed_before, &host.multiplied_before})
    for (double& sum : *sums) sum *= share;
  return host;
}

/// Experts stay in host memory, but for a share of each layer's.
void leave_experts(const Measurement& row, const Scenario& s, LayerSplit& split) {
  const Size all = std::ssize(s.weights->layer) + 1;
  split.on_host = scaled(model::experts_on_host(*s.weights, all),
                         1 - row.number("experts_on_card").value_or(0));
}

}  // namespace

Options options_of(const Measurement& row) {
  constexpr std::string_view flags[] = {"batch",
                                        "prompt-tokens",
                                        "output-tokens",
                                        "context",
                                        "kv-precision",
                                        "tp",
                                        "pp",
                                        "ep",
                                        "dp",
                                        "threads",
                                        "flash-attn",
                                        "gpu-layers",
                                        "cpu-moe",
                                        "n-cpu-moe",
                                        "split-mode",
                                        "override-tensor",
                                        "gpu-batches",
                                        "no-kv-offload",
                                        "gpu-memory-utilization",
                                        "enforce-eager",
                                        "max-num-seqs",
                                        "tensor-split",
                                        "cpu-offload-gb",
                                        "speculate"};
  Options options;
  for (const std::string_view flag : flags) {
    std::string column(flag);
    std::ranges::replace(column, '-', '_');
    // "auto" is what the engine does by itself; "saturated" is found out by the reader of rows.
    const std::string& value = row[column];
    if (!value.empty() && value != "auto" && value != "saturated") options.supply(flag, value);
  }
  return options;
}

std::unique_ptr<LayerSplit> layer_split_of(const Measurement& row, const Options& options,
                                           const Scenario& s) {
  if (s.machine->devices.empty()) return nullptr;
  if (s.runtime->offload.mode == model::Offload::stream) {
    if (!options.given("no-kv-offload")) return nullptr;
    auto split = std::make_unique<LayerSplit>();
    split->cache_on_cards = false;
    return split;
  }
  if (s.runtime->offload.mode != model::Offload::compute) return nullptr;
  std::unique_ptr<LayerSplit> split;
  try {
    split = layer_split_of(options, s);
  } catch (const UsageError& e) {
    throw Skipped(Skip::setting, e.what());
  }
  const bool keeps_experts = keeps_experts_in_host(s);
  if (split == nullptr && keeps_experts) {
    split = std::make_unique<LayerSplit>();
    split->gpu_layers = std::ssize(s.weights->layer) + 1;
  }
  if (split == nullptr) return nullptr;
  if (keeps_experts && !options.given("cpu-moe") && !options.given("n-cpu-moe") &&
      !options.given("override-tensor"))
    leave_experts(row, s, *split);
  return split;
}

std::optional<Size> layers_on_cards(const Measurement& row, const Scenario& s) {
  if (s.runtime->offload.mode != model::Offload::stream) return std::nullopt;
  if (const auto layers = row.number("gpu_layers")) return static_cast<Size>(*layers);
  const auto percent = leading_number(row["weights_on_card"]);
  if (!percent) return std::nullopt;
  return std::llround(share_on_card(*percent) * static_cast<double>(std::ssize(s.weights->layer)));
}

}  // namespace headroom::sweep
