// Feed-forward layers and mixtures of experts.
#include <cmath>

#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// Elements of a mixture's chosen rows, as unevenly as the experts are chosen.
Extent routed_rows(const Tape& tape, Size elements) {
  return tokens(
      static_cast<Size>(std::ceil(tape.mode().imbalance * static_cast<double>(elements))));
}

/// b tanh(gate / b) · sigmoid(gate) · up in fp32, where `bends` says so with c tanh(up / c) for up.
/// Source: transformers models/kimi_k3/modular_kimi_k3.py (in preparation), situ_and_mul.
Value situ(Tape& tape, const Value& gate, const Value& up, bool bends) {
  const Value wide = tape.to(gate, Held::fp32);
  Value other = tape.to(up, Held::fp32);
  if (bends) other = tape.scale(tape.keeps_result(tape.scale(other)));
  const Value bent = tape.scale(tape.keeps_result(tape.scale(wide)));
  const Value act = tape.multiply(bent, tape.keeps_result(wide));
  return tape.to(tape.multiply(act, other), gate.held);
}

/// act(gate) · up. A fused kernel keeps the two operands alone and makes the rest again.
Value gated(Tape& tape, Value gate, Value up, const FeedForwardUse& u) {
  if (u.activation == ActivationKind::situ && !tape.mode().kernels.fused_gating)
    return situ(tape, gate, up, u.bends_up);
  if (u.clamped && !tape.mode().kernels.fused_gating)
    gate = tape.keeps_input(gate), up = tape.keeps_input(up);
  if (tape.mode().kernels.fused_gating) {
    if (gate.grad || up.grad) tape.save(gate), tape.save(up);
    return tape.like(gate);
  }
  return tape.multiply(run_activation(tape, gate, u.activation), up);
}

Value dense(Tape& tape, const Value& x, const FeedForwardUse& u, Size inner) {
  if (u.shifted) return run_shifted(tape, x, u);
  if (u.one_matrix) return row_parallel(tape, x, u.hidden, u.hidden);
  Value gate, up, product;
  if (u.gating == Gating::fused) {
    Value both = column_parallel(tape, x, u.hidden, 2 * inner);
    if (u.adapter_rank > 0) {
      const Value low = row_parallel(tape, x, u.hidden, u.adapter_rank);
      both = tape.add(both, column_parallel(tape, low, u.adapter_rank, 2 * inner));
    }
    gate = Tape::view(both, tokens(inner)), up = gate;
    product = gated(tape, gate, up, u);
  } else if (u.gating == Gating::separate) {
    gate = column_parallel(tape, x, u.hidden, inner);
    up = column_parallel(tape, x, u.hidden, inner);
    product = gated(tape, gate, up, u);
  } else {
    up = column_parallel(tape, x, u.hidden, inner);
    if (u.bias_added) up = tape.add(up, tape.parameter(constant(inner), tape.mode().trained));
    product = run_activation(tape, up, u.activation);
  }
  if (u.inner_norm) product = run_norm(tape, product, *u.inner_norm, tokens(1));
  if (u.drops_inner)  // then converted to the type of the matrix, whatever autocast makes of it
    product = tape.to(tape.dropout(product, tape.mode().hidden_dropout), tape.mode().parameters);
  return row_parallel(tape, product, inner, u.hidden);
}

/// A router's input without its length, times trained lengths, and a number.
Value scaled_input(Tape& tape, const Value& x, const FeedForwardUse& u) {
  if (!u.experts->scaled_router) return x;
  const Value y = run_norm(tape, x, NormSpec{NormKind::rms_plain, u.hidden}, tokens(1));
  return tape.scale(tape.multiply(y, tape.parameter(constant(u.hidden), tape.mode().trained)));
}

/// Weights of the chosen experts, one a pair of token and expert.
Value routed(Tape& tape, const Value& given, const FeedForwardUse& u) {
  const ExpertsSpec& e = *u.experts;
  const Size used = e.used;
  const Value x = scaled_input(tape, given, u);
  Value source = x;
  Value logits;
  if (e.router.kind == RouterKind::sigmoid || e.router.kind == RouterKind::softmax_fp32) {
    // The product itself runs in fp32 on fp32 copies; under autocast it is cast back.
    source = tape.to(x, Held::fp32);
    logits = tape.linear_as_is(source, u.hidden, e.experts);
    if (tape.mode().parameters != Held::fp32 && x.grad)
      tape.save(constant(u.hidden * e.experts), Held::fp32, Region::outer);
  } else {
    logits = tape.linear_as_is(x, u.hidden, e.experts);
  }
  const auto chosen = [&](Held held, bool grad) {
    return tape.make(tokens(used), held, grad, Region::outer);
  };
  Value weights;
  if (e.router.kind == RouterKind::softmax_of_chosen) {
    tape.save(tokens(used), Held::int64, Region::outer);
    weights = tape.softmax(chosen(logits.held, logits.grad), false);
    return weights;
  }
  if (e.router.kind == RouterKind::softmax_of_raised) {
    tape.save(tokens(used), Held::int64, Region::outer);
    return tape.to(tape.softmax(chosen(Held::fp32, logits.grad), true), x.held);
  }
  if (e.router.kind == RouterKind::sigmoid || e.router.kind == RouterKind::sigmoid_as_is) {
    if (e.router.kind == RouterKind::sigmoid_as_is) logits = tape.to(logits, Held::fp32);
    const Value scores = tape.keeps_result(logits);
    tape.save(tokens(used), Held::int64, Region::outer);
    weights = chosen(scores.held, scores.grad);
  } else if (e.router.kind == RouterKind::root_softplus) {
    const Value scores = tape.keeps_result(tape.keeps_input(tape.raised(logits)));
    tape.save(tokens(used), Held::int64, Region::outer);
    weights = chosen(scores.held, scores.grad);
  } else {
    const Value shares = tape.softmax(logits, e.router.kind != RouterKind::softmax_as_is);
    tape.save(tokens(used), Held::int64, Region::outer);
    weights = chosen(shares.held, shares.grad);
  }
  if (u.normalised_routing) {
    const Value sum = tape.make(tokens(1), weights.held, weights.grad, Region::outer);
    tape.save(weights), tape.save(sum);
    if (e.router.kind == RouterKind::softmax_fp32) tape.save(tape.like(sum));  // it is clamped
    weights = tape.like(weights);
  }
  if (e.router.converted) weights = tape.to(weights, logits.held);
  if (e.scaled_router)  // a trained number of each expert, gathered
    weights = tape.multiply(weights, chosen(tape.mode().parameters, tape.mode().trained));
  return weights;
}

/// Every expert multiplies every token, scaled by its score, which is 0 where it was not chosen.
/// Source: transformers 5.23 models/llama4/modeling_llama4.py, Llama4TextMoe.
Value every_expert(Tape& tape, const Value& x, const FeedForwardUse& u) {
  const ExpertsSpec& e = *u.experts;
  const Value logits = tape.linear_as_is(x, u.hidden, e.experts);
  tape.save(tokens(e.used), Held::int64, Region::outer);
  const Value scores = tape.to(tape.keeps_result(tape.to(logits, Held::fp32)), x.held);
  const Value copies = tape.make(tokens(e.experts * u.hidden), x.held, x.grad);
  const Value rows = tape.multiply(copies, tape.like(scores));
  Value both = column_parallel(tape, rows, e.experts * u.hidden, 2 * e.inner);
  both = tape.make(tokens(2 * e.experts * e.inner), both.held, both.grad, Region::inner);
  const Value gate = Tape::view(both, tokens(e.experts * e.inner));
  const Value product = gated(tape, gate, gate, u);
  row_parallel(tape, product, e.experts * e.inner, u.hidden);
  return tape.make(tokens(u.hidden), x.held, rows.grad);
}

/// A loop over the experts: indices of its tokens and choices, its rows, gate and up, what the
/// weights multiply, and what is added. Experts that compute nothing are weighted too. Sources:
/// transformers 5.23 models/dbrx/modeling_dbrx.py, DbrxExperts; models/longcat_flash,
/// LongcatFlashExperts. torch keeps the source of index_add.
Value one_by_one(Tape& tape, const Value& x, const Value& weights, const FeedForwardUse& u) {
  const ExpertsSpec& e = *u.experts;
  const auto of_all = [&](Size width) { return routed_rows(tape, e.used * width); };
  // Choices are as frequent for those that compute as for those that do not.
  const auto of_working = [&](Size width) {
    return routed_rows(tape, divided_up(e.used * width * e.experts, e.experts + e.idle));
  };
  tape.save(of_all(2), Held::int64, Region::outer);
  const Value rows = tape.make(of_all(u.hidden), x.held, x.grad);
  const Size all = e.experts * e.inner;
  Value gate = column_parallel(tape, rows, u.hidden, all);
  Value up = column_parallel(tape, rows, u.hidden, all);
  gate = tape.make(of_working(e.inner), gate.held, gate.grad, Region::inner);
  up = tape.make(of_working(e.inner), up.held, up.grad, Region::inner);
  const Value product = gated(tape, gate, up, u);
  Value out = row_parallel(tape, product, all, u.hidden);
  out = tape.make(of_working(u.hidden), out.held, out.grad);
  const Value weighted = tape.multiply(out, tape.make(of_all(1), weights.held, weights.grad));
  const Value added = tape.to(tape.make(of_all(u.hidden), weighted.held, weighted.grad), x.held);
  tape.save(added);
  return tape.make(tokens(u.hidden), x.held, added.grad);
}

Value mixture(ForwardPass& pass, const Value& x, const FeedForwardUse& u, const Value& routed_by) {
  Tape& tape = *pass.tape;
  const ExpertsSpec& e = *u.experts;
  const bool trained = tape.mode().trained;
  Value shared;
  if (e.shared_inner > 0) {
    FeedForwardUse one = u;
    one.experts.reset();
    if (e.gated) one.gating = e.shared_fused ? Gating::fused : Gating::separate;
    shared = dense(tape, x, one, e.shared_inner);
    if (e.shared_gate) {
      const Value gate = tape.keeps_result(tape.linear_as_is(x, u.hidden, 1));
      shared = tape.multiply(shared, gate);
    }
  }
  if (e.router.all_tokens) return tape.add(every_expert(tape, x, u), shared);
  const Value weights = routed(tape, routed_by, u);
  const Size used = e.used;
  if (e.router.one_by_one) return one_by_one(tape, x, weights, u);
  // Rows sorted by expert: three index lists, the rows themselves, the offsets of the groups.
  for (int list = 0; list < 3; ++list) tape.save(tokens(used), Held::int64, Region::outer);
  if (e.clamped) tape.save(2 * tokens(used), Held::int64, Region::outer);  // biases are gathered
  const Value sorted_weights = tape.like(weights);
  const Size width = e.latent > 0 ? e.latent : u.hidden;
  const Value read = e.latent > 0 ? row_parallel(tape, x, u.hidden, e.latent) : x;
  // Grouped products run in the type of their weights, whatever autocast makes of their input.
  const Held held = e.latent > 0 ? tape.mode().parameters : x.held;
  const Value rows = tape.make(routed_rows(tape, used * width), held, read.grad, Region::outer);
  if (trained) tape.save_operand(rows);
  tape.save(constant(e.experts), Held::int32, Region::outer);
  const bool grad = x.grad || trained;
  const Size matrices = e.gated ? 2 : 1;
  const Value both =
      tape.make(routed_rows(tape, matrices * used * e.inner), held, grad, Region::inner);
  const Value gate = Tape::view(both, routed_rows(tape, used * e.inner));
  Value product;
  if (e.clamped) {
    // clamp(gate), clamp(up): both views of one tensor; (up + 1) · (gate · sigmoid(α · gate))
    tape.save(both);
    const Value gate_clamped = tape.like(gate), up = tape.scale(tape.like(gate));
    const Value share = tape.keeps_result(tape.scale(gate_clamped));
    product = tape.multiply(up, tape.multiply(gate_clamped, share));
  } else {
    product = e.gated ? gated(tape, gate, gate, u) : run_activation(tape, both, u.activation);
  }
  if (trained) tape.save_operand(product);
  const Value out = tape.make(routed_rows(tape, used * width), product.held, grad, Region::outer);
  const Value weighted = tape.multiply(out, sorted_weights);
  Value sum =
      tape.to(tape.make(tokens(width), weighted.held, weighted.grad, Region::outer), read.held);
  if (e.latent_norm) sum = run_norm(tape, sum, *e.latent_norm, tokens(1));
  if (e.latent > 0) sum = row_parallel(tape, sum, e.latent, u.hidden);
  return e.shared_inner > 0 ? tape.add(sum, shared) : sum;
}

}  // namespace

Value run_activation(Tape& tape, const Value& x, ActivationKind kind) {
  if (tape.mode().kernels.activation_kernels && kind == ActivationKind::tanh_written_out)
    return tape.keeps_input(x);
  switch (kind) {
    case ActivationKind::input:
    case ActivationKind::situ:  // as a fused kernel keeps it: gated() has it step by step
      return tape.keeps_input(x);
    case ActivationKind::result:
      return tape.keeps_result(x);
    case ActivationKind::squared_relu:
      return tape.power(tape.keeps_result(x));
    case ActivationKind::tanh_written_out: {
      // 0.5 x · (1 + tanh(c (x + 0.044715 x³)))
      const Value half = tape.scale(x), cube = tape.power(x);
      const Value bent = tape.keeps_result(tape.add(x, tape.scale(cube)));
      return tape.multiply(tape.scale(bent), half);
    }
    case ActivationKind::sigmoid_product:
      return tape.multiply(x, tape.keeps_result(tape.scale(x)));
    case ActivationKind::xielu: {
      // where(x > 0, a x² + b x, (expm1(min(x, ε)) - x) a + b x)
      tape.save(tape.make(x.extent, Held::boolean, false, x.region));
      const Value square = tape.power(x), bent = tape.keeps_result(tape.keeps_input(x));
      if (x.grad || tape.mode().trained) tape.save(tape.like(square)), tape.save(tape.like(bent));
      return tape.like(x);
    }
  }
  return tape.keeps_input(x);
}

Value run_feed_forward(ForwardPass& pass, const Value& x, const FeedForwardUse& u,
                       const Value* routed_by) {
  return u.experts ? mixture(pass, x, u, routed_by != nullptr ? *routed_by : x)
                   : dense(*pass.tape, x, u, u.inner);
}

}  // namespace headroom::model
