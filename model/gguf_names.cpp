#include "model/gguf_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace headroom::model {
namespace {

/// How a module is called in a description (by the end of its path, within a repeated block or
/// outside all), and what llama.cpp may call the tensors that it is stored as: the first
/// alternative ("|") of which the file has all tensors ("+") for that block. "=": values that are
/// keys of the file (the shape of xIELU).
struct Name {
  std::string_view end, gguf;
};

constexpr Name block_names[] = {
    // attention
    {"q_proj", "attn_q"},
    {"k_proj", "attn_k"},
    {"v_proj", "attn_v"},
    {"q_lin", "attn_q"},
    {"k_lin", "attn_k"},
    {"v_lin", "attn_v"},
    {"self.query", "attn_q"},
    {"self.key", "attn_k"},
    {"self.value", "attn_v"},
    {"o_proj", "attn_output"},
    {"out_lin", "attn_output"},
    {"self_attn.dense", "attn_output"},
    {"self_attn.out_proj", "attn_output"},
    {"self_attention.dense", "attn_output"},
    {"attention.dense", "attn_output"},
    {"attention.output.dense", "attn_output"},
    {"attn.c_proj", "attn_output"},
    {"attn.out_proj", "attn_output"},
    {"attn.Wo", "attn_output"},
    {"attn.c_attn", "attn_qkv"},
    {"attn.Wqkv", "attn_qkv"},
    {"qkv_proj", "attn_qkv"},
    {"query_key_value", "attn_qkv"},
    {"q_norm", "attn_q_norm"},
    {"k_norm", "attn_k_norm"},
    {"q_layernorm", "attn_q_norm"},
    {"k_layernorm", "attn_k_norm"},
    {"query_layernorm", "attn_q_norm"},
    {"key_layernorm", "attn_k_norm"},
    {"self_attn.sinks", "attn_sinks"},
    {"self_attn.gate_proj", "attn_gate"},
    {"self_attn.g_proj", "attn_gate"},
    // latent attention
    {"q_a_proj", "attn_q_a"},
    {"q_b_proj", "attn_q_b"},
    {"q_a_layernorm", "attn_q_a_norm"},
    {"kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    {"kv_a_layernorm", "attn_kv_a_norm"},
    {"kv_b_proj", "attn_k_b+attn_v_b|attn_kv_b"},
    {"indexer.wq_b", "indexer.attn_q_b"},
    {"indexer.wk", "indexer.attn_k"},
    {"indexer.k_norm", "indexer.k_norm"},
    {"indexer.weights_proj", "indexer.proj"},
    // norms around the halves of a layer
    {"input_layernorm", "attn_norm"},
    {"attention_layernorm", "attn_norm"},
    {"attn_norm", "attn_norm"},
    {"operator_norm", "attn_norm"},
    {"ln_1", "attn_norm"},
    {"ln_attn", "attn_norm_2"},
    {"ln_mlp", "attn_norm"},
    {"norm_1", "attn_norm"},
    {"norm_2", "attn_output_norm|ffn_norm"},
    {"norm", "attn_norm"},
    {"post_attention_layernorm", "post_attention_norm|ffn_norm"},
    {"post_self_attn_layernorm", "post_attention_norm|ffn_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"feedforward_layernorm", "ffn_norm"},
    {"pre_ff_layernorm", "ffn_norm"},
    {"pre_mlp_layernorm", "ffn_norm"},
    {"mlp_norm", "ffn_norm"},
    {"ffn_norm", "ffn_norm"},
    {"ln_2", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"post_mlp_layernorm", "post_ffw_norm"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"sa_layer_norm", "attn_output_norm"},
    {"output.LayerNorm", "layer_output_norm"},
    {"output_layer_norm", "layer_output_norm"},
    // feed-forward
    {"gate_proj", "ffn_gate"},
    {"up_proj", "ffn_up"},
    {"down_proj", "ffn_down"},
    {"gate_up_proj", "ffn_up|ffn_gate+ffn_up"},
    {"dense_h_to_4h", "ffn_up"},
    {"dense_4h_to_h", "ffn_down"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
    {"fc1", "ffn_up"},
    {"fc2", "ffn_down"},
    {"fc_in", "ffn_up"},
    {"fc_out", "ffn_down"},
    {"lin1", "ffn_up"},
    {"lin2", "ffn_down"},
    {"intermediate.dense", "ffn_up"},
    {"output.dense", "ffn_down"},
    {"mlp.Wi", "ffn_up"},
    {"mlp.Wo", "ffn_down"},
    {"feed_forward.w1", "ffn_gate"},
    {"feed_forward.w3", "ffn_up"},
    {"feed_forward.w2", "ffn_down"},
    // experts
    {"experts.gate_up_proj", "ffn_gate_exps+ffn_up_exps|ffn_gate_up_exps"},
    {"experts.gate_up_proj_bias", "ffn_gate_exps.bias+ffn_up_exps.bias|ffn_gate_up_exps.bias"},
    {"experts.up_proj", "ffn_up_exps"},
    {"experts.down_proj", "ffn_down_exps"},
    {"experts.down_proj_bias", "ffn_down_exps.bias"},
    {"experts.mlp.w1", "ffn_gate_exps"},
    {"experts.mlp.v1", "ffn_up_exps"},
    {"experts.mlp.w2", "ffn_down_exps"},
    {"act_fn.alpha_p", "="},
    {"act_fn.alpha_n", "="},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.router", "ffn_gate_inp"},
    {"mlp.router.gate", "ffn_gate_inp"},
    {"mixer.gate", "ffn_gate_inp"},
    {"block_sparse_moe.gate", "ffn_gate_inp"},
    {"block_sparse_moe.router", "ffn_gate_inp"},
    {"block_sparse_moe.router.layer", "ffn_gate_inp"},
    {"feed_forward.router", "ffn_gate_inp"},
    {"feed_forward.gate", "ffn_gate_inp"},
    {"router.layer", "ffn_gate_inp"},
    {"e_score_correction_bias", "exp_probs_b.bias|exp_probs_b"},
    {"expert_bias", "exp_probs_b.bias|exp_probs_b"},
    {"shared_expert.gate_proj", "ffn_gate_shexp"},
    {"shared_expert.up_proj", "ffn_up_shexp"},
    {"shared_expert.down_proj", "ffn_down_shexp"},
    {"shared_experts.gate_proj", "ffn_gate_shexp"},
    {"shared_experts.up_proj", "ffn_up_shexp"},
    {"shared_experts.down_proj", "ffn_down_shexp"},
    {"shared_mlp.gate_proj", "ffn_gate_shexp|ffn_gate"},
    {"shared_mlp.up_proj", "ffn_up_shexp|ffn_up"},
    {"shared_mlp.down_proj", "ffn_down_shexp|ffn_down"},
    {"shared_mlp.input_linear", "ffn_gate_shexp+ffn_up_shexp|ffn_gate+ffn_up"},
    {"shared_mlp.output_linear", "ffn_down_shexp|ffn_down"},
    {"shared_expert_gate", "ffn_gate_inp_shexp"},
    // state-space, linear and convolutional mixers
    {"in_proj", "ssm_in"},
    {"x_proj", "ssm_x"},
    {"dt_proj", "ssm_dt"},
    {"out_proj", "ssm_out"},
    {"conv1d", "ssm_conv1d"},
    {"A_log", "ssm_a"},
    {"D", "ssm_d"},
    {"dt_bias", "ssm_dt.bias"},
    {"mixer.norm", "ssm_norm"},
    {"mamba.norm", "ssm_norm"},
    {"b_layernorm", "ssm_b_norm"},
    {"c_layernorm", "ssm_c_norm"},
    {"dt_layernorm", "ssm_dt_norm"},
    {"linear_attn.in_proj_qkvz", "attn_qkv+attn_gate|ssm_in"},
    {"linear_attn.in_proj_qkv", "attn_qkv"},
    {"linear_attn.in_proj_z", "attn_gate"},
    {"linear_attn.in_proj_ba", "ssm_ba|ssm_beta_alpha"},
    {"linear_attn.in_proj_b", "ssm_beta"},
    {"linear_attn.in_proj_a", "ssm_alpha"},
    {"linear_attn.norm", "ssm_norm"},
    {"conv.conv", "shortconv.conv"},
    {"conv.in_proj", "shortconv.in_proj"},
    {"conv.out_proj", "shortconv.out_proj"},
    // Gemma 4
    {"layer_scalar", "layer_output_scale"},
    {"per_layer_input_gate", "inp_gate"},
    {"per_layer_projection", "proj"},
    {"post_per_layer_input_norm", "post_norm"},
    {"post_feedforward_layernorm_1", "post_ffw_norm_1"},
    {"post_feedforward_layernorm_2", "post_ffw_norm_2"},
    {"pre_feedforward_layernorm_2", "pre_ffw_norm_2"},
    {"router.proj", "ffn_gate_inp"},
    {"router.scale", "ffn_gate_inp.scale"},
    {"router.per_expert_scale", "ffn_down_exps.scale"},
    // T5
    {"SelfAttention.q", "attn_q"},
    {"SelfAttention.k", "attn_k"},
    {"SelfAttention.v", "attn_v"},
    {"SelfAttention.o", "attn_o"},
    {"SelfAttention.relative_attention_bias", "attn_rel_b"},
    {"EncDecAttention.q", "cross_attn_q"},
    {"EncDecAttention.k", "cross_attn_k"},
    {"EncDecAttention.v", "cross_attn_v"},
    {"EncDecAttention.o", "cross_attn_o"},
    {"layer.0.layer_norm", "attn_norm"},
    {"layer.1.layer_norm", "cross_attn_norm|ffn_norm"},
    {"layer.2.layer_norm", "ffn_norm"},
    {"DenseReluDense.wi_0", "ffn_gate"},
    {"DenseReluDense.wi_1", "ffn_up"},
    {"DenseReluDense.wi", "ffn_up"},
    {"DenseReluDense.wo", "ffn_down"},
};

constexpr Name outer_names[] = {
    {"embed_tokens", "token_embd"},
    {"word_embeddings", "token_embd"},
    {"tok_embeddings", "token_embd"},
    {"backbone.embeddings", "token_embd"},
    {"model.embeddings", "token_embd"},
    {"wte", "token_embd"},
    {"embed_in", "token_embd"},
    {"shared", "token_embd"},
    {"position_embeddings", "position_embd"},
    {"wpe", "position_embd"},
    {"token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {"embeddings.norm", "token_embd_norm"},
    {"word_embeddings_layernorm", "token_embd_norm"},
    {"model.norm", "output_norm"},
    {"model.norm_f", "output_norm"},
    {"backbone.norm_f", "output_norm"},
    {"transformer.norm_f", "output_norm"},
    {"ln_f", "output_norm"},
    {"final_layernorm", "output_norm"},
    {"final_layer_norm", "output_norm"},
    {"encoder.final_layer_norm", "enc.output_norm"},
    {"decoder.final_layer_norm", "dec.output_norm"},
    {"final_norm", "output_norm"},
    {"embedding_norm", "token_embd_norm|output_norm"},
    {"lm_head", "output"},
    {"embed_tokens_per_layer", "per_layer_token_embd"},
    {"per_layer_model_projection", "per_layer_model_proj"},
    {"per_layer_projection_norm", "per_layer_proj_norm"},
    {"embed_out", "output"},
};

/// `end` at the end of `path`, whole words only.
bool ends_at_dot(std::string_view path, std::string_view end) {
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '.';
}

/// The row with the longest end; null where there is none.
template <std::size_t N>
const Name* row_of(const Name (&rows)[N], std::string_view path) {
  const Name* best = nullptr;
  for (const Name& row : rows)
    if (ends_at_dot(path, row.end) && (best == nullptr || row.end.size() > best->end.size()))
      best = &row;
  return best;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

class Gatherer {
 public:
  Gatherer(const Part& part, const TensorList& list) : part_(part), list_(list) {
    for (std::size_t i = 0; i < list.tensors.size(); ++i) index_.emplace(list.tensors[i].name, i);
    used_.resize(list.tensors.size());
    const bool two_stacks = index_.contains("enc.blk.0.attn_norm.weight");
    Size number = 0;
    std::string_view stack;
    for (const std::string& block : part.blocks) {
      const std::string_view own = std::string_view(block).substr(0, block.rfind('.'));
      number = own == stack ? number + 1 : 0;
      stack = own;
      const std::string_view side = !two_stacks                     ? ""
                                    : block.starts_with("decoder.") ? "dec."
                                                                    : "enc.";
      blocks_.push_back({block + '.', fmt::format("{}blk.{}.", side, number)});
    }
  }

  std::vector<Gathered> run() {
    std::size_t block = 0;
    for (const Tensor& tensor : part_.tensors) {
      // Blocks and their tensors are in the same order.
      std::size_t at = block;
      while (at < blocks_.size() && !tensor.name.starts_with(blocks_[at].path)) ++at;
      if (at < blocks_.size()) block = at;
      take(tensor, at < blocks_.size() ? &blocks_[at] : nullptr);
    }
    take_rotary_factors();
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      Gathered g{.name = list_.tensors[i].name, .packed = true};
      add_part(g, list_.tensors[i], list_.tensors[i].elements());
      all_.push_back(std::move(g));
    }
    return std::move(all_);
  }

 private:
  struct Block {
    std::string path, prefix;  ///< "model.layers.3.", "blk.3."
  };

  void take(const Tensor& tensor, const Block* block) {
    if (!tensor.tied_to.empty() && tensor.role != Role::head) return;
    std::string_view path = tensor.name, tail;
    for (const std::string_view word : {".weight", ".bias"})
      if (path.ends_with(word)) tail = word;
    path.remove_suffix(tail.size());
    if (block != nullptr) path.remove_prefix(block->path.size());
    const Name* row = block != nullptr ? row_of(block_names, path) : row_of(outer_names, path);
    if (row == nullptr) return;
    if (row->gguf == "=")
      return all_.push_back({.name = tensor.name, .elements = -1, .packed = true});
    const std::string prefix = block != nullptr ? block->prefix : "";
    for (const std::string_view alternative : split(row->gguf, '|'))
      if (const auto found = all_of(prefix, alternative, tail)) return gather(tensor, *found);
  }

  /// The tensors that an alternative names, if the file has them all.
  std::optional<std::vector<std::size_t>> all_of(const std::string& prefix,
                                                 std::string_view alternative,
                                                 std::string_view tail) const {
    std::vector<std::size_t> found;
    for (const std::string_view word : split(alternative, '+')) {
      const std::string name = prefix + std::string(word);
      std::optional<std::size_t> at = find(name + std::string(word.ends_with(".bias") ? "" : tail));
      if (!at && tail.empty()) at = find(name + ".weight");
      if (at) {
        found.push_back(*at);
      } else if (!add_single_experts(name, found)) {
        return std::nullopt;
      }
    }
    return found;
  }
  std::optional<std::size_t> find(const std::string& name) const {
    const auto it = index_.find(name);
    return it == index_.end() || used_[it->second] ? std::nullopt : std::optional(it->second);
  }
  /// Files of 2023 have experts one by one: "ffn_up.7.weight" where later ones have "ffn_up_exps".
  bool add_single_experts(std::string name, std::vector<std::size_t>& found) const {
    if (!name.ends_with("_exps")) return false;
    name.resize(name.size() - 5);
    const std::size_t before = found.size();
    for (Size i = 0;; ++i) {
      const auto at = find(fmt::format("{}.{}.weight", name, i));
      if (!at) break;
      found.push_back(*at);
    }
    return found.size() > before;
  }

  void gather(const Tensor& tensor, const std::vector<std::size_t>& found) {
    Gathered g{.name = tensor.name, .packed = true, .parts = 0};
    for (const std::size_t i : found) {
      used_[i] = true;
      add_part(g, list_.tensors[i], list_.tensors[i].elements());
      ++g.parts;
    }
    all_.push_back(std::move(g));
  }

  /// Factors on the rotary frequencies: they stand for the table that they scale.
  void take_rotary_factors() {
    const auto table = std::ranges::find_if(
        part_.tensors, [](const Tensor& t) { return t.name.ends_with("inv_freq"); });
    if (table == part_.tensors.end()) return;
    Gathered g{.name = table->name, .elements = -1, .packed = true, .parts = 0};
    for (const auto& [name, at] : index_) {
      if (used_[at] || !name.starts_with("rope_f")) continue;
      used_[at] = true;
      add_part(g, list_.tensors[at], 0);
      ++g.parts;
    }
    if (g.parts > 0) all_.push_back(std::move(g));
  }

  const Part& part_;
  const TensorList& list_;
  std::vector<Block> blocks_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<bool> used_;
  std::vector<Gathered> all_;
};

}  // namespace

std::vector<Gathered> gather_gguf(const Part& part, const TensorList& list) {
  return Gatherer(part, list).run();
}

}  // namespace headroom::model
