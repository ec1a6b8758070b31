// Streams of residuals: joined before a half of a layer, spread after it.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// A matrix over all streams in fp32, without their length. Sources: transformers 5.23
/// models/deepseek_v4, DeepseekV4HyperConnection; models/glm5_next, Glm5NextTextHyperConnection.
Value weighed(Tape& tape, const Value& streams, const StreamsSpec& u, Size rows) {
  const Size width = u.count * u.hidden;
  Value x = tape.to(streams, Held::fp32);
  x = run_norm(tape, x, {NormKind::rms_factor, width}, tokens(1));
  const bool copies = !u.in_fp32 && tape.mode().parameters != Held::fp32;
  if (copies && x.grad && !tape.mode().autocast)
    tape.save(constant(rows * width), Held::fp32, Region::outer);
  return tape.linear_as_is(x, width, rows);
}

/// Divided by its sums, which are `sums` a token.
Value balanced(Tape& tape, const Value& x, Size sums) {
  if (x.grad) tape.save(x), tape.save(tape.make(tokens(sums), x.held, true));
  return tape.like(x);
}

/// The mean of the streams by weights in fp32, in their own type.
Value collapsed(Tape& tape, const Value& streams, const Value& weights, Size hidden) {
  if (streams.grad) tape.save(weights);
  if (weights.grad) tape.save(streams);
  return tape.make(tokens(hidden), streams.held, streams.grad || weights.grad);
}

Joined join_balanced(Tape& tape, const Value& streams, const StreamsSpec& u) {
  const Size n = u.count;
  const Value all = weighed(tape, streams, u, (2 + n) * n);
  if (tape.mode().trained) tape.save(all);  // times a trained number each, in fp32
  const auto part = [&](Size width) { return tape.make(tokens(width), Held::fp32, all.grad); };
  const Value before = tape.scale(tape.keeps_result(part(n)));
  Joined j;
  j.spread = tape.scale(tape.keeps_result(part(n)));
  j.mixed = tape.scale(tape.softmax(part(n * n), false));
  for (Size step = 0; step < 2 * u.steps - 1; ++step) j.mixed = balanced(tape, j.mixed, n);
  j.input = collapsed(tape, streams, before, u.hidden);
  return j;
}

/// Source: transformers 5.23 models/qwen4_exp, Qwen4ExpTextGatedResidual.
Value mixed_by_gates(Tape& tape, const Value& normed, const StreamsSpec& u) {
  const Size width = u.count * u.hidden;
  const Value low = tape.scale(tape.linear_as_is(normed, width, u.rank));
  const Value gate = tape.keeps_result(tape.linear_as_is(tape.keeps_input(low), u.rank, width));
  const Value product = tape.multiply(gate, normed);
  return tape.make(tokens(u.hidden), product.held, product.grad);
}

Value normed_streams(Tape& tape, const Value& streams, const StreamsSpec& u) {
  return run_norm(tape, streams, {u.norm, u.count * u.hidden}, tokens(u.count));
}

}  // namespace

Joined join_streams(Tape& tape, const Value& streams, const StreamsSpec& u) {
  if (u.kind == StreamKind::balanced) return join_balanced(tape, streams, u);
  const Value normed = normed_streams(tape, streams, u);
  Joined j;
  j.input = mixed_by_gates(tape, normed, u);
  j.spread = tape.scale(
      tape.keeps_result(tape.scale(tape.linear_as_is(normed, u.count * u.hidden, u.count))));
  return j;
}

Value spread_streams(Tape& tape, const Value& streams, const Joined& joined, const Value& result,
                     const StreamsSpec& u) {
  if (u.kind == StreamKind::gated) {
    const Value product = tape.multiply(result, joined.spread);
    return tape.add(streams, tape.make(streams.extent, product.held, product.grad));
  }
  tape.multiply(result, tape.to(joined.spread, streams.held));
  Value given = streams;
  given.layout = Layout::by_head;  // a matrix of each token: nothing is copied
  const Value mixed = tape.product(tape.to(joined.mixed, streams.held), given, streams.extent);
  return tape.make(streams.extent, streams.held, result.grad || mixed.grad);
}

/// All in fp32, side by side; a score of each, normed, and their mean by the scores' softmax.
/// Source: transformers models/kimi_k3/modular_kimi_k3.py (in preparation),
/// KimiK3AttentionResidual, whose weights are fp32.
Value mix_residuals(Tape& tape, const Value& x, Size count, Size hidden) {
  const Size rows = count + 1;
  const Value all = tape.make(tokens(rows * hidden), Held::fp32, true);
  const Value normed = run_norm(tape, all, {NormKind::rms, hidden}, tokens(rows));
  tape.linear_as_is(normed, hidden, 1);
  const Value shares =
      tape.softmax(tape.make(tokens(rows), Held::fp32, true, x.region, Layout::by_head), true);
  Value values = all;
  values.layout = Layout::by_head;  // a product of each token: nothing is copied
  tape.product(shares, values, tokens(hidden));
  return tape.make(tokens(hidden), x.held, true);
}

/// Sources: as above, DeepseekV4HyperHead, Glm5NextTextHyperHead and the last GatedResidual.
Value end_streams(Tape& tape, const Value& streams, const StreamsSpec& u) {
  if (u.kind == StreamKind::gated) return mixed_by_gates(tape, normed_streams(tape, streams, u), u);
  if (!u.weighed) return tape.make(tokens(u.hidden), streams.held, streams.grad);
  const Value all = weighed(tape, streams, u, u.count);
  if (tape.mode().trained) tape.save(all);
  const Value part = tape.make(tokens(u.count), Held::fp32, all.grad);
  return collapsed(tape, streams, tape.scale(tape.keeps_result(part)), u.hidden);
}

/// Source: transformers 5.23 models/qwen4_exp, Qwen4ExpTextPLELayer.
Value run_hashed(Tape& tape, const Value& streams, const HashedSpec& use, const StreamsSpec& all) {
  const Size width = all.count * all.hidden;
  const bool trained = tape.mode().trained;
  if (trained) {  // numbers of the embeddings, also of the tokens before the first
    tape.save(tokens(use.heads), Held::int64, Region::outer);
    tape.save(Extent{use.heads * (use.ngram - 1), 1, 0}, Held::int64, Region::outer);
  }
  const Value found = tape.make(tokens(use.width), tape.mode().parameters, trained);
  const auto normed = [&](const Value& x) { return normed_streams(tape, x, all); };
  const Value key = normed(tape.linear(found, use.width, width, tokens(1), trained));
  const Value value = tape.linear(found, use.width, all.hidden, tokens(1), trained);
  const Value product = tape.multiply(key, normed(streams));
  // √|gate| · sign(gate), of one number a stream, at least a small one
  Value gate = tape.make(tokens(all.count), product.held, product.grad);
  gate = tape.keeps_result(tape.keeps_input(tape.keeps_input(gate)));
  if (gate.grad) tape.save(tape.like(gate));
  const Value share = tape.keeps_result(tape.like(gate));
  if (value.grad) tape.save(share);
  if (share.grad) tape.save(value);
  const Held held = share.held == Held::fp32 ? Held::fp32 : value.held;
  const Value spread = tape.make(tokens(width), held, value.grad || share.grad);
  const Value read = normed(spread);
  if (read.grad) {  // the convolution's input with what lies before it, and SiLU's
    const Held taken = tape.mode().autocast ? Held::bf16 : read.held;
    tape.save(tokens(2 * width), taken, Region::outer);
    tape.save(Extent{width * use.earlier, 1, 0}, taken, Region::outer);
    if (taken != tape.mode().parameters)  // the convolution's weights
      tape.save(constant(width * (use.earlier / use.ngram + 1)), taken, Region::outer);
  }
  return tape.add(streams, spread);
}

}  // namespace headroom::model
