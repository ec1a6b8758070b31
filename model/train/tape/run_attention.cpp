// Attention: projections, rotations, scores or a fused kernel, output projection.
#include <algorithm>

#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

struct Heads3 {
  Value q, k, v;
  Value gate{};  ///< made by the query's matrix, if any
};

Value projected(Tape& tape, const Value& x, Size in, Size out) {
  Value y = tape.linear(x, in, out, tokens(1), tape.mode().trained);
  y.region = Region::inner;
  return y;
}

/// A projection within attention, with a low-rank addition where there is one (Zamba2).
Value adapted(Tape& tape, const Value& x, const AttentionUse& u, Size out) {
  const Value y = column_parallel(tape, x, u.hidden, out);
  if (u.adapter_rank == 0) return y;
  const Value low = row_parallel(tape, x, u.hidden, u.adapter_rank);
  return tape.add(y, column_parallel(tape, low, u.adapter_rank, out));
}

Value rotated(ForwardPass& pass, const Value& x, const AttentionUse& use) {
  Tape& tape = *pass.tape;
  if (use.rotated_by == Rotation::none || tape.mode().kernels.fused_rotation) return x;
  if (use.rotated_by == Rotation::halves) {
    // Four products of halves, two sums, one concatenation: only the tables are kept.
    tape.multiply(x, pass.cosines), tape.multiply(x, pass.sines);
    Value y = tape.like(x);
    y.held = x.held == Held::fp32 || pass.cosines.held == Held::fp32 ? Held::fp32 : x.held;
    return tape.make(y.extent, y.held, y.grad, y.region, Layout::by_head);
  }
  const Value wide = use.rotated_by == Rotation::widened ? tape.to(x, Held::fp32) : x;
  const Value turned = tape.multiply(wide, pass.cosines);
  Value y = tape.add(turned, tape.multiply(tape.like(wide), pass.sines));
  if (use.rotated_by == Rotation::concatenated)
    y = tape.make(y.extent, y.held, y.grad, y.region, Layout::by_head);
  if (use.rotated_by == Rotation::widened) y = tape.to(y, x.held);
  return y;
}

Value normed(Tape& tape, const Value& x, const std::optional<NormSpec>& norm, Size heads,
             const AttentionUse& use) {
  if (!norm) return x;
  if (use.norm_each_head_apart) {
    Value y = run_norm(tape, x, *norm, tokens(heads));
    return tape.make(y.extent, y.held, y.grad, y.region, Layout::by_head);
  }
  return run_norm(tape, x, *norm, tokens(use.norms_by_head ? heads : 1));
}

/// Queries, keys and values of latent attention (DeepSeek-V2, arXiv:2405.04434): compressed,
/// normed, expanded; the rotated share of the key is one for all heads.
Heads3 latent(ForwardPass& pass, const Value& x, const AttentionUse& u) {
  Tape& tape = *pass.tape;
  const Size nope = u.head_dim - u.rotated_key;
  Value q = x;
  if (u.query_rank > 0) {
    q = projected(tape, x, u.hidden, u.query_rank);
    q = run_norm(tape, q, *u.latent_norm, tokens(1));
    q = column_parallel(tape, q, u.query_rank, u.heads * u.head_dim);
  } else {
    q = column_parallel(tape, x, u.hidden, u.heads * u.head_dim);
  }
  const Value compressed =
      tape.linear(x, u.hidden, u.key_rank + u.rotated_key, tokens(1), tape.mode().trained);
  // The share that is normed is a view: a copy only where the norm converts it.
  Value kv = Tape::view(compressed, tokens(u.key_rank));
  kv = run_norm(tape, kv, *u.latent_norm, tokens(1));
  kv = column_parallel(tape, kv, u.key_rank, u.heads * (nope + u.value_dim));
  Value v = Tape::view(kv, tokens(u.heads * u.value_dim));
  if (tape.mode().kernels.values_apart)
    v = tape.make(v.extent, v.held, v.grad, Region::inner, Layout::by_head);
  const auto joined = [&](Held held, bool grad) {
    return tape.make(tokens(u.heads * u.head_dim), held, grad, Region::inner, Layout::by_head);
  };
  Value q_rotated = rotated(pass, Tape::view(q, tokens(u.heads * u.rotated_key)), u);
  rotated(pass, Tape::view(compressed, tokens(u.rotated_key)), u);
  const Held held = q_rotated.held == Held::fp32 ? Held::fp32 : q.held;
  // Without a rotation the query stays as its matrix made it.
  const bool apart = u.rotated_by != Rotation::none;
  return {apart ? joined(held, q.grad) : q, joined(held, kv.grad || compressed.grad), v};
}

Heads3 heads(ForwardPass& pass, const Value& x, const Value& from, const AttentionUse& u) {
  Tape& tape = *pass.tape;
  if (u.key_rank > 0) return latent(pass, x, u);
  const Size q_width = u.heads * u.head_dim, k_width = u.kv_heads * u.head_dim;
  Heads3 h;
  if (u.fused) {
    Value all = column_parallel(tape, x, u.hidden, q_width + 2 * k_width);
    if (u.clamps_all) all = tape.keeps_input(all);
    h = {Tape::view(all, tokens(q_width)), Tape::view(all, tokens(k_width)),
         Tape::view(all, tokens(k_width))};
  } else {
    h.q = adapted(tape, x, u, (u.gate_in_query ? 2 : 1) * q_width);
    if (u.gate_in_query) h.q = h.gate = Tape::view(h.q, tokens(q_width));
    if (u.reuses_keys) {
      h.q = rotated(pass, normed(tape, h.q, u.query_norm, u.heads, u), u);
      h.k = h.v = Tape::elsewhere(tokens(k_width), h.q.held);
      return h;
    }
    h.k = adapted(tape, from, u, k_width);
    h.v = u.values_are_keys ? h.k : adapted(tape, from, u, k_width);
  }
  h.v = normed(tape, h.v, u.value_norm, u.kv_heads, u);
  if (u.norms_rotated) {
    h.q = normed(tape, rotated(pass, h.q, u), u.query_norm, u.heads, u);
    h.k = normed(tape, rotated(pass, h.k, u), u.key_norm, u.kv_heads, u);
    return h;
  }
  h.q = rotated(pass, normed(tape, h.q, u.query_norm, u.heads, u), u);
  h.k = rotated(pass, normed(tape, h.k, u.key_norm, u.kv_heads, u), u);
  return h;
}

/// flash-attn has one width for queries, keys and values: zeros fill narrower values, and the
/// result's share is a view (transformers 5.24 integrations/flash_attention.py).
Size kernel_width(const Kernels& kernels, const AttentionUse& u) {
  return kernels.flash_package ? std::max(u.head_dim, u.value_dim) : u.value_dim;
}

/// One tensor for each query head, by head.
Value repeated(Tape& tape, const Value& x, Size width) {
  return tape.make(tokens(width), x.held, x.grad, x.region, Layout::by_head);
}

Value fused_kernel(ForwardPass& pass, Heads3 h, const AttentionUse& u) {
  Tape& tape = *pass.tape;
  const Kernels& kernels = tape.mode().kernels;
  const bool windowed = u.window > 0 && pass.beyond_window && !kernels.windows_in_kernel;
  // SDPA takes no sinks: a kernel that does takes windows too.
  const bool masked =
      !kernels.flash_package && !u.sinks && (u.always_masked || pass.padded || windowed);
  // The package's kernels are for 16 bit: transformers 5.24 modeling_flash_attention_utils.py
  // get_target_dtype converts what PEFT raised.
  if (tape.mode().autocast || kernels.flash_package)
    for (Value* each : {&h.q, &h.k, &h.v}) *each = tape.to(*each, Held::bf16);
  if (masked && u.kv_heads < u.heads && !u.shared_key) {
    h.k = repeated(tape, h.k, u.heads * u.head_dim);
    h.v = repeated(tape, h.v, u.heads * u.value_dim);
  }
  const Size width = kernel_width(kernels, u);
  if (width > u.value_dim) h.v = repeated(tape, h.v, u.kv_heads * width);
  const bool grad = h.q.grad || h.k.grad || h.v.grad;
  const Layout layout = kernels.attention_by_token ? Layout::by_token : h.q.layout;
  const Value out = tape.make(tokens(u.heads * width), h.q.held, grad, Region::inner, layout);
  if (grad) {
    for (const Value& kept : {h.q, h.k, h.v}) tape.save(kept);
    tape.keep(out);
    if (kernels.ring_attention) tape.save(tape.like(out));
    tape.save(tokens(u.heads), Held::fp32, Region::inner);
    if (masked) tape.save(pairs(1), h.q.held, Region::inner);
    // The bias goes to the kernel as a tensor of its own, which is trained through it.
    if (u.biased_scores) tape.save(squares(u.heads), h.q.held, Region::inner);
    if (u.biased_scores && u.causal) tape.save(squares(1), Held::boolean, Region::inner);
  }
  if (width == u.value_dim) return tape.by_token(out);
  return tape.make(tokens(u.heads * u.value_dim), out.held, grad, Region::inner);
}

Value scores(ForwardPass& pass, const Heads3& h, const AttentionUse& u) {
  Tape& tape = *pass.tape;
  const TapeMode& mode = tape.mode();
  Value k = h.k, v = h.v;
  if (u.kv_heads < u.heads) {
    const bool broadcast = u.shared_key && mode.one_sequence;
    if (!broadcast) k = repeated(tape, k, u.heads * u.head_dim);
    if (!broadcast) v = repeated(tape, v, u.heads * u.value_dim);
  }
  Value weights = tape.product(h.q, k, pairs(u.heads));
  if (u.softcap > 0) weights = tape.keeps_result(tape.scale(weights));
  // The mask is held as the model's parameters are.
  if (mode.parameters == Held::fp32) weights = tape.to(weights, Held::fp32);
  Value shares = tape.softmax(weights, u.softmax_fp32);
  shares = tape.to(shares, h.v.held);
  if (u.drops_probabilities) shares = tape.dropout(shares, mode.attention_dropout);
  Value out = tape.product(shares, v, tokens(u.heads * u.value_dim));
  out.layout = Layout::by_token;
  return tape.make(out.extent, out.held, out.grad, Region::inner);
}

}  // namespace

bool keeps_scores(const Kernels& kernels, const AttentionUse& use) {
  if (!kernels.fused_attention || use.query_distances || use.key_distances) return true;
  if (kernels.flash_package) return false;
  // transformers 5.24 integrations/sdpa_attention.py refuses soft caps; _supports_sdpa is false for
  // classes with sinks (models/gpt_oss, granite_swa, mimo_v2_flash).
  return use.scores_only || use.softcap > 0 || (use.sinks && !kernels.sinks_in_kernel);
}

Value run_attention(ForwardPass& pass, const Value& x, const Value& from, const AttentionUse& u) {
  Tape& tape = *pass.tape;
  if (u.compressed) return run_compressed(pass, x, u);
  if (u.query_distances || u.key_distances) {
    tape.unfused(true);
    const Value mixed = run_disentangled(tape, x, u);
    tape.unfused(false);
    return mixed;
  }
  ForwardPass own = pass;
  if (u.own_tables && !tape.mode().kernels.fused_rotation)
    own.cosines = tape.like(pass.cosines), own.sines = tape.like(pass.sines);
  const Heads3 h = heads(own, x, from, u);
  const bool fused = !keeps_scores(tape.mode().kernels, u);
  // Classes without SDPA in transformers run fused kernels elsewhere: MPT's measured steps are of
  // llm-foundry's own. Their time stays that of a kernel.
  tape.unfused(!fused && !u.scores_only);
  Value mixed = fused ? fused_kernel(pass, h, u) : scores(pass, h, u);
  tape.unfused(false);
  if (u.joined && fused) mixed = tape.like(mixed);
  if (u.gated) {
    const Size width = u.gate_width > 0 ? u.gate_width : u.heads * u.value_dim;
    const Value asked = u.gate_in_query ? Tape::view(h.gate, tokens(width))
                                        : column_parallel(tape, x, u.hidden, width);
    const bool raised = u.softplus_gate || u.gate_in_fp32;
    const Value wide = raised ? tape.to(asked, Held::fp32) : asked;
    const Value share = u.softplus_gate ? tape.keeps_input(wide) : tape.keeps_result(wide);
    const Held held = u.gate_in_fp32 ? x.held : mixed.held;
    const Value gate = raised ? tape.to(share, held) : share;
    mixed = tape.multiply(mixed, gate);
  }
  if (u.inner_norm) mixed = run_norm(tape, mixed, *u.inner_norm, tokens(1));
  return row_parallel(tape, mixed, u.heads * u.value_dim, u.result > 0 ? u.result : u.hidden);
}

}  // namespace headroom::model
