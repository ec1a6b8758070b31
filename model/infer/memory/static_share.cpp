#include "model/infer/memory/static_share.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/scenario/draft.hpp"

namespace headroom::model {
namespace {

Bytes least_memory(const Machine& machine) {
  return std::ranges::min(machine.devices, {}, &Device::memory).memory;
}

bool has_tower(const Scenario& s) {
  const Model& model = *s.weights->model;
  return model.vision.stated && !model.text_only;
}

/// Prefill sizes up to `chunk` that are captured.
Size captured_sizes(Size chunk) {
  struct Steps {
    Size first, last, step;
  };
  Size count = 0;
  for (const Steps& each : {Steps{4, 32, 4}, Steps{48, 256, 16}, Steps{288, 512, 32},
                            Steps{576, 1024, 64}, Steps{1280, 4096, 256}, Steps{4608, chunk, 512}})
    if (const Size last = std::min(each.last, chunk); last >= each.first)
      count += (last - each.first) / each.step + 1;
  return count;
}

/// Tokens of a prefill pass of all replicas together.
Size shared_chunk(const Scenario& s, const CardGrid& grid) {
  return prefill_chunk(s) * grid.sharing;
}

double graph_bytes(const Scenario& s, const CardReserve& sizes, const CardGrid& grid) {
  if (s.enforce_eager) return 0;
  const StaticPool& pool = s.runtime->memory.pool;
  const Size batch = sizes.graph_batch_on(grid.tensor_cards());
  constexpr Size large_batch = 300;
  const double of_replicas =
      grid.sharing > 1 ? (batch > large_batch ? 1.5 : 1.0) *
                             static_cast<double>(batch * grid.sharing * pool.replica_bytes)
                       : 0;
  const double decode = static_cast<double>(batch * pool.sequence_bytes) + of_replicas;
  const bool captured = s.machine->devices.front().vendor == "nvidia" && grid.stages == 1 &&
                        !has_tower(s) && s.weights->adapters == Bytes(0) &&
                        (s.draft == nullptr || pool.graphs_with_drafts);
  if (!captured) return decode;
  return decode + static_cast<double>(caches_latents(s) ? pool.latent_graph_bytes
                                                        : captured_sizes(shared_chunk(s, grid)) *
                                                              pool.graph_bytes);
}

double draft_reserve(const Scenario& s) {
  if (s.draft == nullptr || s.draft->proposer == Proposer::lookup) return 0;
  const StaticPool& pool = s.runtime->memory.pool;
  return static_cast<double>(s.draft->proposer == Proposer::model ? pool.draft_model_bytes
                                                                  : pool.draft_head_bytes);
}

/// The share before towers and long contexts.
double plain_share(const Scenario& s, const CardReserve& sizes, const CardGrid& grid) {
  constexpr Size least_tokens = 2048;
  const StaticPool& pool = s.runtime->memory.pool;
  const Size cards = grid.tensor_cards() * grid.stages;
  if (!sizes.shares.empty()) {
    const auto doubled = static_cast<std::size_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<Size>(1, cards))) - 1);
    return sizes.shares[std::min(doubled, sizes.shares.size() - 1)];
  }
  const double tokens = static_cast<double>(std::max(shared_chunk(s, grid), least_tokens));
  const double sum = real_count(sizes.bytes) +
                     static_cast<double>(cards) * real_count(sizes.each_card) +
                     tokens * static_cast<double>(pool.token_bytes) + graph_bytes(s, sizes, grid);
  const double reserve = std::max(sum, real_count(sizes.at_least)) + draft_reserve(s);
  const double memory = real_count(least_memory(*s.machine));
  return std::max(0.0, std::round(1000 * (memory - reserve) / memory) / 1000);
}

double vision_factor(const Scenario& s) {
  const StaticPool& pool = s.runtime->memory.pool;
  if (!has_tower(s)) return 1;
  if (!pool.vision_by_size) return pool.vision_share;
  const VisionConfig& tower = s.weights->model->vision;
  const double hidden = static_cast<double>(tower.hidden) / 1024;
  const double size = static_cast<double>(tower.layers) / 24 * hidden * hidden;
  return pool.vision_share * std::clamp(1 - 0.1 * (size - 1), 0.8, 1.05);
}

}  // namespace

const CardReserve* card_reserve(const Scenario& s) {
  if (!has_static_pool(s) || s.machine->devices.empty()) return nullptr;
  const Bytes memory = least_memory(*s.machine);
  const auto& tiers = s.runtime->memory.pool.reserve;
  const CardReserve* found = &tiers.front();
  for (const CardReserve& tier : tiers)
    if (tier.from <= memory) found = &tier;
  return found;
}

double static_share(const Scenario& s, const CardGrid& grid) {
  const CardReserve* sizes = card_reserve(s);
  if (sizes == nullptr) return 1;
  if (s.gpu_share > 0) return s.gpu_share;
  constexpr Size long_context = 8192;
  const bool long_on_amd =
      s.machine->devices.front().vendor == "amd" && s.cached_tokens() > long_context;
  return plain_share(s, *sizes, grid) * vision_factor(s) *
         (long_on_amd ? s.runtime->memory.pool.long_context_share : 1);
}

Bytes host_on_card(const Scenario& s) {
  if (!has_static_pool(s) || !s.machine->has_unified_memory()) return Bytes(0);
  return Bytes(static_cast<Size>(s.runtime->memory.host_of_unified_bytes.value));
}

Bytes static_pool(const Scenario& s, const CardGrid& grid, Bytes memory, Bytes context) {
  const Bytes free = std::max(Bytes(0), memory - context);
  return Bytes(static_cast<Size>(static_share(s, grid) * real_count(free)));
}

Bytes request_table(const Scenario& s) {
  constexpr Size spare_rows = 1, spare_positions = 4, bytes_of_index = 4;
  if (!has_static_pool(s)) return Bytes(0);
  const Size rows = (s.max_sequences > 0 ? s.max_sequences : s.batch) + spare_rows;
  const Size positions = s.longest_request > 0 ? s.longest_request : s.cached_tokens();
  return Bytes(rows * (positions + spare_positions) * bytes_of_index);
}

}  // namespace headroom::model
