// The mixer of a layer: a state space, the delta rule or a convolution.
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {
namespace {

/// Rows or elements of the first of `names` that there is; 0: none.
Size rows(const Subtree& tree, Names names) {
  for (const auto name : names)
    if (const Shape* s = tree.shape(name)) return s->front();
  return 0;
}

}  // namespace

std::optional<MixerSpec> read_mixer(const Subtree& tree, const MixerQuirks& quirks) {
  MixerSpec m{quirks};
  if (tree.shape("conv.weight") != nullptr && tree.has({"in_proj"})) {
    m.kind = MixerKind::short_convolution;
    m.inner = rows(tree, {"conv.weight"});
    return m;
  }
  if (tree.has({"x_proj"}) && tree.has({"dt_proj"})) {
    m.kind = tree.has({"dt_layernorm"}) ? MixerKind::mamba_with_norms : MixerKind::mamba;
    m.inner = tree.outputs({"dt_proj"});
    m.rank = tree.inputs({"dt_proj"});
    m.state = (tree.outputs({"x_proj"}) - m.rank) / 2;
    return m;
  }
  if (const Size width = tree.outputs({"linear_attn"}); width > 0) {
    m.kind = MixerKind::one_matrix;
    m.inner = width;
    return m;
  }
  if (tree.has({"receptance"})) {
    m.kind = MixerKind::rwkv;
    m.inner = tree.outputs({"receptance"});
    return m;
  }
  const Module* gate = tree.module({"forget_gate"});
  if (gate != nullptr || tree.has({"f_a_proj", "f_proj"})) {
    m.kind = MixerKind::kimi_delta_rule;
    m.heads = tree.outputs({"b_proj"});
    m.inner = m.key_width = tree.outputs({"v_proj"});
    m.key_dim = rows(tree, {"o_norm.weight"});
    m.rank =
        gate != nullptr ? Subtree(tree, *gate).outputs({"f_a_proj"}) : tree.outputs({"f_a_proj"});
    m.gate_rank = tree.outputs({"g_a_proj"});
    return m;
  }
  if (tree.has({"output_gate"})) {
    m.kind = MixerKind::lightning;
    m.inner = tree.outputs({"output_gate"});
    if (const Cache* cache = tree.cache(CacheKind::recurrent))  // heads times the square of a head
      m.heads = m.inner * m.inner / cache->per_sequence;
    return m;
  }
  m.heads = rows(tree, {"A_log"});
  if (m.heads == 0) return std::nullopt;
  m.inner = tree.inputs({"out_proj"});
  if (tree.has({"in_proj_qkvz", "in_proj_qkv"})) {
    m.kind = MixerKind::delta_rule;
    m.joined = tree.has({"in_proj_qkvz"});
    m.key_width = (rows(tree, {"conv1d.weight"}) - m.inner) / 2;
    m.key_dim = rows(tree, {"norm.weight"});  // width of a head's values, which equals that of keys
    return m;
  }
  if (!tree.has({"in_proj"})) return std::nullopt;
  m.kind = MixerKind::mamba2;
  m.projected = tree.outputs({"in_proj"});
  return m;
}

}  // namespace headroom::model::layers
