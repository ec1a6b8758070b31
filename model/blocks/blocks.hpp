// The words of the language: leaves and blocks that most architectures share.
//
// Each returns a Part in the registration order of transformers 5.23. A block that only one family
// has lives in that family's file.
#pragma once

#include "model/part.hpp"

namespace headroom::model {

enum class Bias : bool { no, yes };

// ---- leaves -----------------------------------------------------------------------------------

inline Part tensor(std::string_view name, Shape shape, Role role) {
  return {.tensors = {{std::string(name), std::move(shape), role}}};
}
inline Part buffer(std::string_view name, Shape shape, Element element = Element::floating,
                   bool persistent = false) {
  Part p = tensor(name, std::move(shape), Role::buffer);
  p.tensors[0].element = element;
  p.tensors[0].persistent = persistent;
  return p;
}
inline Part linear(std::string_view name, Size in_dim, Size out_dim, Bias bias = Bias::no) {
  Part p = tensor("weight", {out_dim, in_dim}, Role::matmul);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {out_dim}, Role::bias);
  return in(name, "Linear", std::move(p));
}
/// GPT-2's transposed linear layer.
inline Part conv1d(std::string_view name, Size in_dim, Size out_dim) {
  return in(
      name, "Conv1D",
      tensor("weight", {in_dim, out_dim}, Role::matmul) + tensor("bias", {out_dim}, Role::bias));
}
inline Part embedding(std::string_view name, Size rows, Size dim,
                      std::string_view class_name = "Embedding") {
  return in(name, class_name, tensor("weight", {rows, dim}, Role::embedding));
}
inline Part rms_norm(std::string_view name, std::string_view class_name, Size dim) {
  return in(name, class_name, tensor("weight", {dim}, Role::norm));
}
inline Part layer_norm(std::string_view name, Size dim, Bias bias = Bias::yes) {
  Part p = tensor("weight", {dim}, Role::norm);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {dim}, Role::norm);
  return in(name, "LayerNorm", std::move(p));
}
/// Rotary tables (arXiv:2104.09864): `dims` rotated dimensions need half as many frequencies,
/// rounded up, kept twice by transformers 5.
inline Part rotary(std::string_view class_name, Size dims) {
  return in("rotary_emb", class_name,
            buffer("inv_freq", {(dims + 1) / 2}) + buffer("original_inv_freq", {(dims + 1) / 2}));
}
/// The output head; shares storage with the tensor called `embed` when `tied`.
inline Part lm_head(std::string_view embed, Size vocab, Size dim, bool tied, Bias bias = Bias::no) {
  Part p = linear("lm_head", dim, vocab, bias);
  p.tensors[0].role = Role::head;
  if (tied) p.tensors[0].tied_to = std::string(embed);
  return p;
}

// ---- blocks -----------------------------------------------------------------------------------

struct Heads {
  Size query, kv, dim;
};

inline Cache kv_cache(Heads h, Size window = 0) {
  return {.per_token = 2 * h.kv * h.dim,
          .window = window,
          .score_dims = 2 * h.query * h.dim,
          .kv_heads = h.kv};
}
/// Separate q, k, v and o projections (Llama and most since).
inline Part attention(Size hidden, Heads h, Bias qkv = Bias::no, Bias out = Bias::no,
                      Size window = 0) {
  Part p =
      linear("q_proj", hidden, h.query * h.dim, qkv) + linear("k_proj", hidden, h.kv * h.dim, qkv) +
      linear("v_proj", hidden, h.kv * h.dim, qkv) + linear("o_proj", h.query * h.dim, hidden, out);
  p.caches = {kv_cache(h, window)};
  return p;
}
/// One projection to q, k and v, and one out of them.
inline Part fused_attention(Size hidden, Heads h, std::string_view qkv, std::string_view out,
                            Bias bias = Bias::no, Size window = 0) {
  Part p = linear(qkv, hidden, (h.query + 2 * h.kv) * h.dim, bias) +
           linear(out, h.query * h.dim, hidden, bias);
  p.caches = {kv_cache(h, window)};
  return p;
}
/// Gated feed-forward: gate, up, down and the activation module.
inline Part gated_mlp(Size hidden, Size inner, std::string_view activation, Bias b = Bias::no) {
  return linear("gate_proj", hidden, inner, b) + linear("up_proj", hidden, inner, b) +
         linear("down_proj", inner, hidden, b) + module("act_fn", activation);
}
/// Experts stored as two stacked tensors; `used` of them run per token.
struct Routing {
  Size experts, used;
};
/// The rows of `part` are shared by `r.experts` experts of which a token uses `r.used`.
inline Part routed(Part part, Routing r) {
  for (auto& t : part.tensors) t.used = r.used, t.of = r.experts;
  return part;
}

}  // namespace headroom::model
