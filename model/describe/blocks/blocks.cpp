#include "model/describe/blocks/blocks.hpp"

namespace headroom::model {

Part tensor(std::string_view name, Shape shape, Role role) {
  Part part;
  part.tensors.push_back({std::string(name), std::move(shape), role});  // a list would copy it
  return part;
}

Part in_fp32(Part part) {
  for (Tensor& t : part.tensors)
    if (t.element == Element::floating) t.element = Element::float32;
  return part;
}

Part buffer(std::string_view name, Shape shape, Element element, bool persistent) {
  Part p = tensor(name, std::move(shape), Role::buffer);
  p.tensors[0].element = element;
  p.tensors[0].persistent = persistent;
  return p;
}

Part linear(std::string_view name, Size in_dim, Size out_dim, Bias bias) {
  Part p = tensor("weight", {out_dim, in_dim}, Role::matmul);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {out_dim}, Role::bias);
  return in(name, "Linear", std::move(p));
}

Part conv1d(std::string_view name, Size in_dim, Size out_dim) {
  return in(
      name, "Conv1D",
      tensor("weight", {in_dim, out_dim}, Role::matmul) + tensor("bias", {out_dim}, Role::bias));
}

Part embedding(std::string_view name, Size rows, Size dim, std::string_view class_name) {
  return in(name, class_name, tensor("weight", {rows, dim}, Role::embedding));
}

Part rms_norm(std::string_view name, std::string_view class_name, Size dim) {
  return as_norm(in(name, class_name, tensor("weight", {dim}, Role::norm)), NormKind::rms);
}

Part layer_norm(std::string_view name, Size dim, Bias bias) {
  Part p = tensor("weight", {dim}, Role::norm);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {dim}, Role::norm);
  return as_norm(in(name, "LayerNorm", std::move(p)), NormKind::layer);
}

Part rotary(std::string_view class_name, Size dims) {
  return in("rotary_emb", class_name,
            buffer("inv_freq", {(dims + 1) / 2}) + buffer("original_inv_freq", {(dims + 1) / 2}));
}

Part lm_head(std::string_view embed, Size vocab, Size dim, bool tied, Bias bias) {
  Part p = linear("lm_head", dim, vocab, bias);
  p.tensors[0].role = Role::head;
  if (tied) p.tensors[0].tied_to = std::string(embed);
  return p;
}

Cache kv_cache(Heads h, Size window) {
  return {.per_token = 2 * h.kv * h.dim,
          .window = window,
          .score_dims = 2 * h.query * h.dim,
          .kv_heads = h.kv};
}

Part attention(Size hidden, Heads h, Bias qkv, Bias out, Size window) {
  Part p =
      linear("q_proj", hidden, h.query * h.dim, qkv) + linear("k_proj", hidden, h.kv * h.dim, qkv) +
      linear("v_proj", hidden, h.kv * h.dim, qkv) + linear("o_proj", h.query * h.dim, hidden, out);
  p.caches = {kv_cache(h, window)};
  return p;
}

Part fused_attention(Size hidden, Heads h, std::string_view qkv, std::string_view out, Bias bias,
                     Size window) {
  Part p = linear(qkv, hidden, (h.query + 2 * h.kv) * h.dim, bias) +
           linear(out, h.query * h.dim, hidden, bias);
  p.caches = {kv_cache(h, window)};
  return p;
}

Part gated_mlp(Size hidden, Size inner, std::string_view activation, Bias b) {
  return linear("gate_proj", hidden, inner, b) + linear("up_proj", hidden, inner, b) +
         linear("down_proj", inner, hidden, b) + module("act_fn", activation);
}

Part routed(Part part, Routing r) {
  for (auto& t : part.tensors) t.used = r.used, t.of = r.experts;
  return part;
}

}  // namespace headroom::model
