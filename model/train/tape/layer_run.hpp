// A layer's forward pass on the tape: norms, attention, feed-forward and the residuals around them,
// in the order in which transformers 5.23 runs them.
#pragma once

#include "model/train/tape/layer_use.hpp"
#include "model/train/tape/tape.hpp"

namespace headroom::model {

/// State that a pass carries from layer to layer.
struct ForwardPass {
  Tape* tape = nullptr;
  Value cosines{}, sines{};    ///< rotary tables, made once a pass
  Value memory{};              ///< the encoder's output for cross-attention
  bool beyond_window = false;  ///< sequences reach the layer's sliding window: SDPA has a mask
  bool padded = false;         ///< some sequences are padded: an explicit mask
};

/// A matrix whose result lies within attention, a mixer or a feed-forward: tensor parallelism
/// divides it by columns. The result of one divided by rows is a part of the residual.
inline Value column_parallel(Tape& tape, const Value& x, Size in, Size out) {
  return tape.linear(x, in, out, tokens(1), tape.mode().trained, Region::inner);
}
inline Value row_parallel(Tape& tape, const Value& x, Size in, Size out) {
  return tape.linear(x, in, out, tokens(1), tape.mode().trained, Region::outer);
}

/// A value of a mixer between those two matrices, with a gradient.
inline Value within(Tape& tape, Size width, Held held) {
  return tape.make(tokens(width), held, true, Region::inner);
}

/// `rows` of `use.width` elements each.
Value run_norm(Tape& tape, const Value& x, const NormSpec& use, Extent rows);
/// True if the scores of all pairs of tokens are kept.
bool keeps_scores(const Kernels& kernels, const AttentionUse& use);
Value run_activation(Tape& tape, const Value& x, ActivationKind kind);
/// `from`: where keys and values come from; the same as `x` in self-attention.
Value run_attention(ForwardPass& pass, const Value& x, const Value& from, const AttentionUse& use);
/// Attention to shared keys and compressed entries.
Value run_compressed(ForwardPass& pass, const Value& x, const AttentionUse& use);
/// Attention whose scores also depend on distances (DeBERTa).
Value run_disentangled(Tape& tape, const Value& x, const AttentionUse& use);
/// The norm of its table, which all layers read: before the layers.
void norm_distances(Tape& tape, const AttentionUse& use);
/// The residual and those of `count` earlier blocks of layers, mixed by weights (Kimi K3).
Value mix_residuals(Tape& tape, const Value& x, Size count, Size hidden);
/// Streams of residuals joined: one input, and what its result is spread by.
struct Joined {
  Value input{}, spread{}, mixed{};
};
Joined join_streams(Tape& tape, const Value& streams, const StreamsSpec& use);
/// The streams after a half of the layer gave `result`.
Value spread_streams(Tape& tape, const Value& streams, const Joined& joined, const Value& result,
                     const StreamsSpec& use);
/// The residual behind the last layer.
Value end_streams(Tape& tape, const Value& streams, const StreamsSpec& use);
/// Embeddings of several tokens, added to the streams.
Value run_hashed(Tape& tape, const Value& streams, const HashedSpec& use, const StreamsSpec& all);
Value run_mixer(ForwardPass& pass, const Value& x, const MixerUse& use);
Value run_delta_rule(Tape& tape, const Value& x, const MixerUse& use);
Value run_kimi_delta_rule(Tape& tape, const Value& x, const MixerUse& use);
Value run_lightning(Tape& tape, const Value& x, const MixerUse& use);
Value run_rwkv(Tape& tape, const Value& x, const MixerUse& use);
/// A feed-forward of each token and the one before it (RWKV).
Value run_shifted(Tape& tape, const Value& x, const FeedForwardUse& use);
/// `routed_by`: what the router of a mixture reads, if that is not `x`.
Value run_feed_forward(ForwardPass& pass, const Value& x, const FeedForwardUse& use,
                       const Value* routed_by = nullptr);
/// One layer; the result is the residual that the next one reads.
Value run_layer(ForwardPass& pass, const Value& residual, const LayerUse& use);

}  // namespace headroom::model
