// A layer's residuals around its attention and its feed-forward.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

Value normed(Tape& tape, const Value& x, const std::optional<NormSpec>& norm) {
  return norm ? run_norm(tape, x, *norm, tokens(1)) : x;
}

/// Experts that read the residual `x`, added to the result of the dense feed-forward.
Value with_parallel_experts(ForwardPass& pass, const Value& x, const Value& dense,
                            const ParallelExpertsUse& use) {
  Tape& tape = *pass.tape;
  const Value first = normed(tape, dense, use.after_dense);
  const Value second = run_feed_forward(pass, normed(tape, x, use.before), use.experts, &x);
  return tape.add(first, normed(tape, second, use.after));
}

/// act(x · gate) · input, projected and added. The inputs of all layers are one tensor, which lies
/// before the layers.
Value with_layer_input(Tape& tape, const Value& x, const LayerInputSpec& use, Size hidden) {
  const bool trained = tape.mode().trained;
  const Value gate = tape.linear(x, hidden, use.width, tokens(1), trained);
  const Value product = tape.multiply(run_activation(tape, gate, use.activation),
                                      Tape::elsewhere(tokens(use.width), tape.mode().parameters));
  const Value y = tape.linear(product, use.width, hidden, tokens(1), trained);
  return tape.add(x, normed(tape, y, use.after));
}

/// A layer whose residuals are several streams.
Value run_streams(ForwardPass& pass, const Value& residual, const LayerUse& use) {
  Tape& tape = *pass.tape;
  const StreamsSpec& all = *use.streams;
  const Value given = use.hashed ? run_hashed(tape, residual, *use.hashed, all) : residual;
  Joined joined = join_streams(tape, given, all);
  Value read = normed(tape, joined.input, use.before_attention);
  const Value mixed = use.attention ? run_attention(pass, read, read, *use.attention)
                                    : run_mixer(pass, read, *use.mixer);
  const Value streams = spread_streams(tape, given, joined, mixed, all);
  if (!use.feed_forward) return streams;
  joined = join_streams(tape, streams, all);
  read = normed(tape, joined.input, use.before_feed_forward);
  const Value fed = run_feed_forward(pass, read, *use.feed_forward);
  return spread_streams(tape, streams, joined, fed, all);
}

}  // namespace

Value run_layer(ForwardPass& pass, const Value& residual, const LayerUse& use) {
  if (use.streams) return run_streams(pass, residual, use);
  Tape& tape = *pass.tape;
  const auto dropped = [&](const Value& x, bool drops) {
    return tape.dropout(x, drops ? tape.mode().hidden_dropout : 0);
  };
  const auto scaled = [&](const Value& half, Size width) {
    if (!use.scaled) return half;
    return tape.multiply(half, tape.parameter(constant(width), tape.mode().trained));
  };
  Value x = residual;
  const bool mixes = use.attention || use.mixer;
  const Value read = use.norms_the_sum || !mixes ? x : normed(tape, x, use.before_attention);
  Value attended;
  if (use.attention) {
    attended = run_attention(pass, read, read, *use.attention);
    attended = dropped(normed(tape, attended, use.after_attention), use.drops_attention);
    attended = scaled(attended, use.attention->hidden);
  }
  if (use.mixer) {
    const Value mixed = run_mixer(pass, read, *use.mixer);
    attended = use.attention ? tape.add(attended, mixed) : mixed;
  }
  if (use.parallel) {
    const Value fed_by = use.before_feed_forward ? normed(tape, x, use.before_feed_forward) : read;
    const Value fed =
        dropped(run_feed_forward(pass, fed_by, *use.feed_forward), use.drops_feed_forward);
    return tape.add(tape.add(attended, fed), x);
  }
  if (mixes) {
    x = tape.add(x, attended);
    if (use.norms_the_sum) x = normed(tape, x, use.before_attention);
  }
  if (use.cross_attention) {
    const Value asked = use.norms_the_sum ? x : normed(tape, x, use.before_cross_attention);
    const Value answer = run_attention(pass, asked, pass.memory, *use.cross_attention);
    x = tape.add(x, dropped(answer, use.drops_attention));
    if (use.norms_the_sum) x = normed(tape, x, use.before_cross_attention);
  }
  if (!use.feed_forward) return x;
  const Value fed_by = use.norms_the_sum ? x : normed(tape, x, use.before_feed_forward);
  Value fed = run_feed_forward(pass, fed_by, *use.feed_forward);
  if (use.parallel_experts) fed = with_parallel_experts(pass, x, fed, *use.parallel_experts);
  fed = dropped(normed(tape, fed, use.after_feed_forward), use.drops_feed_forward);
  x = tape.add(x, scaled(fed, use.feed_forward->hidden));
  if (use.layer_input) x = with_layer_input(tape, x, *use.layer_input, use.feed_forward->hidden);
  return use.norms_the_sum ? normed(tape, x, use.before_feed_forward) : x;
}

}  // namespace headroom::model
