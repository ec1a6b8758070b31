#include "model/infer/timeline/work.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/placement/placement.hpp"

namespace headroom::model {
namespace {

/// Tokens that matrices are multiplied by. A prompt's are rounded up to whole tiles.
double multiplied_tokens(const Scenario& s, const Pass& pass) {
  const auto tile = static_cast<double>(s.runtime->kernels.product_tile);
  if (pass.prompt == 0 || tile <= 0) return pass.tokens;
  return pass.weight_reads * tile * std::ceil(pass.tokens / pass.weight_reads / tile);
}

/// Scores that stand in memory for each one that counts. Products make masked scores too: a chunk's
/// queries meet all keys up to its end.
double masked_share(const Pass& pass) {
  const auto prompt = static_cast<double>(pass.prompt);
  const auto chunk = static_cast<double>(pass.chunk);
  return (prompt + (chunk > 0 ? std::min(chunk, prompt) : prompt)) / (prompt + 1);
}

Flops matrix_flops(const Scenario& s, const Pass& pass, const LayerSums& of) {
  return Flops(2.0 * of.multiplied * multiplied_tokens(s, pass)) +
         pass.patch_flops * static_cast<double>(of.layers.size());
}

double channels_in_memory(const Scenario& s, const Pass& pass, const LayerSums& of) {
  if (pass.prompt == 0 || !s.runtime->kernels.activations_in_memory) return 0;
  return pass.tokens * static_cast<double>(s.weights->model->shape.hidden_size) *
         static_cast<double>(of.layers.size());
}

/// Without idle multiprocessors.
Work prompt_attention(const Scenario& s, const AttentionRules& rules, const Pass& pass,
                      const LayerSums& of) {
  Work work;
  work.flops = of.attention.prompt_flops(s.batch, pass.prompt);
  if (rules.stores_scores()) {
    const Size width = std::max<Size>(1, s.weights->model->shape.head_dim);
    work.flops *= masked_share(pass);
    work.scores = work.flops.value() / (4.0 * static_cast<double>(width));
  }
  work.attention_flops = work.flops;
  return work;
}

/// Caches are those that each card reads.
Work decode_attention(const Scenario& s, const AttentionRules& rules, const Pass& pass,
                      const LayerSums& of) {
  Work work;
  work.cache_bytes = of.attention.read(s.batch, pass.cached);
  if (rules.unpacks()) work.packed_cache_bytes = work.cache_bytes;
  const Flops flops = of.attention.decode_flops(s.batch, pass.cached);
  work.flops = flops * pass.tokens / static_cast<double>(s.batch);
  // An element of K and V has two bytes in 16 bit and takes part in two operations. It is copied
  // once for all tokens of a sequence.
  if (s.runtime->kernels.repeats_kv) work.kv_repeat_bytes = RealBytes(flops.value());
  // A cache that grows is copied with the new token behind it.
  if (s.runtime->cache.growth != Growth::reserved)
    work.kv_repeat_bytes +=
        work.cache_bytes - of.attention.read(s.batch, {.source = pass.cached.source});
  return work;
}

}  // namespace

LayerSums sums_of(const Scenario& s, const AttentionRules& rules, Range layers, Content content) {
  const QuantisedModel& w = *s.weights;
  const Profile& profile = w.model->profile;
  LayerSums sums{.layers = layers, .content = content, .attention = {}};
  if (layers.size() == 0) return sums;
  const double routed = between(profile.routed_before, layers);
  if (content != Content::experts) {
    sums.dense = between(w.read_dense, layers);
    sums.multiplied = between(profile.multiplied_before, layers);
    sums.attention = rules.over(layers);
  }
  if (content != Content::dense) sums.routed = between(w.read_routed, layers);
  if (content == Content::dense) sums.multiplied -= routed;
  if (content == Content::experts) sums.multiplied = routed;
  return sums;
}

LayerWork layer_work(const Scenario& s, const AttentionRules& rules, const Pass& pass,
                     const LayerSums& of) {
  if (of.layers.size() == 0) return {};
  const bool attends = of.content != Content::experts;
  // Built in place: a copy of what was just written waits for it.
  LayerWork layers{.all = {}, .attention = attends ? attention_work(s, rules, pass, of) : Work()};
  Work& work = layers.all;
  work.expert_bytes = pass.weight_reads * RealBytes(of.routed) * pass.touched;
  work.weight_bytes = pass.weight_reads * RealBytes(of.dense) + work.expert_bytes;
  work.flops = matrix_flops(s, pass, of);
  if (unpacks_for(s, pass)) work.packed_bytes = work.weight_bytes;
  if (pass.prompt > 0) work.prefill_expert_bytes = work.expert_bytes;
  if (!attends) return layers;
  work.channels = channels_in_memory(s, pass, of);
  work += layers.attention;
  return layers;
}

Work attention_work(const Scenario& s, const AttentionRules& rules, const Pass& pass,
                    const LayerSums& of) {
  if (pass.prompt == 0) return decode_attention(s, rules, pass, of);
  Work work = prompt_attention(s, rules, pass, of);
  work.wave_quantisation_flops = work.attention_flops * idle_share(s, pass);
  return work;
}

Work divided_work(const Scenario& s, const AttentionRules& rules, const Pass& pass,
                  const LayerSums& of) {
  if (of.layers.size() == 0) return {};
  Work work =
      pass.prompt > 0 ? prompt_attention(s, rules, pass, of) : decode_attention(s, rules, pass, of);
  work.flops = matrix_flops(s, pass, of) + work.flops;
  work.channels = channels_in_memory(s, pass, of);
  return work;
}

double idle_share(const Scenario& s, const Pass& pass, Size shards) {
  if (s.machine->devices.empty()) return 0;
  const double blocks_at_once = 2.0 * s.machine->devices.front().multiprocessors;
  const auto rows = static_cast<double>(s.runtime->kernels.attention_rows);
  const Size heads_here = s.weights->model->shape.query_heads / shards;  // whole heads
  const auto heads = static_cast<double>(heads_here);
  const double blocks = rows > 0 ? heads * std::ceil(pass.tokens / pass.weight_reads / rows) : 0;
  return blocks_at_once > 0 && blocks > 0
             ? blocks_at_once * std::ceil(blocks / blocks_at_once) / blocks - 1
             : 0;
}

void add_head_work(const Scenario& s, const Pass& pass, Work& work) {
  if (pass.logit_rows == 0) return;
  const QuantisedModel& w = *s.weights;
  work.weight_bytes += RealBytes(w.head_read);
  work.flops += Flops(2.0 * static_cast<double>(w.model->profile.head_elements) * pass.logit_rows);
}

Work host_work(const Scenario& s, const Plan& plan, const Pass& pass, Range range) {
  Work work;
  const KeptOnHost kept = kept_on_host(s, plan, intersect(range, pass.layers));
  work.expert_bytes = pass.weight_reads * RealBytes(kept.read_routed) * pass.touched;
  work.weight_bytes = pass.weight_reads * RealBytes(kept.read_dense) + work.expert_bytes;
  work.flops = Flops(2.0 * kept.multiplied * pass.tokens);
  if (pass.prompt == 0) return work;
  work.packed_bytes = work.weight_bytes;
  work.prefill_expert_bytes = work.expert_bytes;
  return work;
}

}  // namespace headroom::model
