#include "model/infer/memory/served_adapters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "model/checkpoint/divider.hpp"

namespace headroom::model {
namespace {

void check(const Engine& runtime, const ServedAdapters& asked) {
  const Size rank = asked.request.rank;
  if (runtime.weights.adapters == AdapterMemory::unknown)
    throw AdapterError(
        fmt::format("low-rank adapters of {} are not described; those of transformers, llama.cpp, "
                    "vllm and sglang are",
                    runtime.name));
  if (runtime.weights.adapters != AdapterMemory::slots) return;
  if (!asked.request.targets.empty())
    throw AdapterError(
        fmt::format("targets of adapters have no effect: {} reserves slots for every linear layer",
                    runtime.name));
  const auto ranks = runtime.weights.adapter_ranks;
  if (ranks.empty() || std::ranges::find(ranks, rank) != ranks.end()) return;
  const auto next = std::ranges::upper_bound(ranks, rank);
  throw AdapterError(fmt::format(
      "rank '{}': {} has slots of rank {}{}", rank, runtime.name, fmt::join(ranks, ", "),
      next == ranks.end() ? std::string()
                          : fmt::format("; an adapter of rank {} takes one of {}", rank, *next)));
}

}  // namespace

QuantisedModel with_adapters(const QuantisedModel& weights, const Engine& runtime,
                             const ServedAdapters& asked, Size batch) {
  check(runtime, asked);
  const Model& model = *weights.model;
  const bool slots = runtime.weights.adapters == AdapterMemory::slots;
  AdapterRequest request = asked.request;
  if (slots) request.targets = {"all-linear"};
  const Adapter adapter = adapt(model, request);
  const std::vector<Size>& block_of = model.profile.repeats.blocks();
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < model.part.tensors.size(); ++i)
    index.emplace(model.part.tensors[i].name, i);
  Shards unused;
  const Divider divider(model, *weights.scheme, unused);
  const MatrixReader reader(model);
  const double read = static_cast<double>(std::min(batch, asked.count)) /
                      static_cast<double>(std::max<Size>(1, asked.count));
  std::vector<Addition> additions(model.profile.layers.size());
  for (const AdaptedModule& m : adapter.modules) {
    const std::size_t at = index.at(m.tensor);
    const Tensor& tensor = model.part.tensors[at];
    const Layer* layer =
        block_of[at] < 0 ? nullptr : &model.profile.layers[static_cast<std::size_t>(block_of[at])];
    if (slots && (layer == nullptr || !layer->decodes)) continue;
    if (layer == nullptr)
      throw AdapterError(fmt::format(
          "'{}' is outside the layers: adapters there are not described at inference", m.path));
    const Size each = asked.count * m.copies * runtime.weights.adapter_bytes;
    Size in = m.in, out = m.out, outer_rank = m.rank;
    if (const auto matrix = reader.matrix(tensor)) in = matrix->in, out = matrix->out;
    if (slots) outer_rank = request.rank;  // rank of each slice, over its own outputs
    const Bytes inner(each * m.rank * in), outer(each * outer_rank * out);
    Addition& addition = additions[static_cast<std::size_t>(block_of[at])];
    addition.bytes += inner + outer;
    const double touched = static_cast<double>(tensor.used) / static_cast<double>(tensor.of);
    addition.read +=
        static_cast<double>(layer->passes) * touched * read * (inner + outer).real().value();
    addition.divided =
        addition.divided + (slots ? divider.divide_factors(tensor, inner, outer, layer)
                                  : Divided{.everywhere = inner + outer});
  }
  QuantisedModel all = with_additions(weights, additions);
  all.adapters_most = all.adapters;
  if (slots)
    all.adapters_most +=
        Bytes(asked.count * 2 * request.rank * (model.shape.vocabulary + model.shape.hidden_size) *
              runtime.weights.adapter_bytes);
  return all;
}

}  // namespace headroom::model
