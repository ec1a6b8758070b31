// A layer's residuals around its attention and its feed-forward.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

Value normed(Tape& tape, const Value& x, const std::optional<NormSpec>& norm) {
  return norm ? run_norm(tape, x, *norm, tokens(1)) : x;
}

/// Inputs that experts next to a dense feed-forward can have.
struct ReadByExperts {
  const Value &residual, &layer_input, &normed;
};

/// Experts, added to the result of the dense feed-forward.
Value with_parallel_experts(ForwardPass& pass, const ReadByExperts& from, const Value& dense,
                            const ParallelExpertsUse& use) {
  Tape& tape = *pass.tape;
  const Value first = normed(tape, dense, use.after_dense);
  if (use.reads == ExpertsRead::residual) {
    const Value& x = from.residual;
    const Value second = run_feed_forward(pass, normed(tape, x, use.before), use.experts, &x);
    return tape.add(first, normed(tape, second, use.after));
  }
  const Value read =
      use.reads == ExpertsRead::normed ? from.normed : normed(tape, from.layer_input, use.before);
  return tape.add(first, run_feed_forward(pass, read, use.experts));
}

/// Attention and a feed-forward one after the other, with no residual around them. Source:
/// transformers 5.23 models/zamba and models/zamba2, AttentionDecoderLayer and HybridLayer.
Value run_chained(ForwardPass& pass, const Value& x, const LayerUse& use) {
  Tape& tape = *pass.tape;
  const AttentionUse& a = *use.attention;
  const Value both = tape.make(tokens(a.hidden), x.held, x.grad);  // the embedding at its side
  const Value read = normed(tape, both, use.before_attention);
  const Value mixed = run_attention(pass, read, read, a);
  const Value fed =
      run_feed_forward(pass, normed(tape, mixed, use.before_feed_forward), *use.feed_forward);
  return tape.add(x, row_parallel(tape, fed, a.result, a.result));
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

/// The layer's input where the router reads it; null: it reads what the experts read.
const Value* routed_by(const LayerUse& use, const Value& given) {
  const auto& experts = use.feed_forward->experts;
  return experts && experts->reads_layer_input ? &given : nullptr;
}

/// A layer without the parts that follow in it.
Value run_halves(ForwardPass& pass, const Value& residual, const LayerUse& use) {
  if (use.streams) return run_streams(pass, residual, use);
  if (use.chained) return run_chained(pass, residual, use);
  Tape& tape = *pass.tape;
  const auto dropped = [&](const Value& x, bool drops) {
    return tape.dropout(x, drops ? tape.mode().hidden_dropout : 0);
  };
  const auto scaled = [&](const Value& half, Size width) {
    if (!use.scaled) return half;
    return tape.multiply(half, tape.parameter(constant(width), tape.mode().trained));
  };
  const auto mixed_residuals = [&](const Value& of, Size count) {
    return count > 0 ? mix_residuals(tape, of, count, use.feed_forward->hidden) : of;
  };
  Value x = normed(tape, residual, use.before_layer);
  const Value given = x;
  const bool mixes = use.attention || use.mixer;
  const Value read =
      use.norms_the_sum || !mixes
          ? x
          : normed(tape, mixed_residuals(x, use.residuals_before), use.before_attention);
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
  const Value fed_by = use.norms_the_sum ? x
                                         : normed(tape, mixed_residuals(x, use.residuals_after),
                                                  use.before_feed_forward);
  Value fed = run_feed_forward(pass, fed_by, *use.feed_forward, routed_by(use, given));
  if (use.parallel_experts)
    fed = with_parallel_experts(pass, {x, given, fed_by}, fed, *use.parallel_experts);
  fed = dropped(normed(tape, fed, use.after_feed_forward), use.drops_feed_forward);
  x = tape.add(x, scaled(fed, use.feed_forward->hidden));
  if (use.layer_input) x = with_layer_input(tape, x, *use.layer_input, use.feed_forward->hidden);
  return use.norms_the_sum ? normed(tape, x, use.before_feed_forward) : x;
}

}  // namespace

Value run_layer(ForwardPass& pass, const Value& residual, const LayerUse& use) {
  Value x = run_halves(pass, residual, use);
  for (const LayerUse& each : use.then) x = run_halves(pass, x, each);
  return x;
}

}  // namespace headroom::model
