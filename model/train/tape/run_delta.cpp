// Linear attention: gated delta rules with flash-linear-attention's kernels, and lightning
// attention. The kernels: fla-core 0.6 and causal-conv1d, which transformers 5.23 takes where they
// are installed (integrations/hub_kernels.py, use_kernel_func_from_hub_with_fallback).
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// Tokens of a chunk of the kernels. Source: fla-core 0.6 ops/{gated_delta_rule,kda}/chunk.py.
constexpr Size delta_chunk = 64;

/// Normed by head, times SiLU or a sigmoid of `gate`. Sources: transformers 5.23
/// models/qwen3_next/modeling_qwen3_next.py, Qwen3NextRMSNormGated; models/kimi_linear,
/// KimiLinearRMSNormGated (`raised`: its weight too is fp32, and its gate a sigmoid). A fused one
/// keeps its operands: fla modules/fused_norm_gate.py.
Value gated_norm(Tape& tape, const Value& x, const Value& gate, Size heads, Size width,
                 bool raised) {
  if (tape.mode().kernels.fused_norms) {
    tape.save(x), tape.save(gate);
    tape.save(tokens(heads), Held::fp32, Region::inner);
    return tape.like(x);
  }
  const NormSpec norm{raised ? NormKind::rms_raised_result : NormKind::rms, width};
  const Value y = run_norm(tape, x, norm, tokens(heads));
  const Value wide = tape.to(gate, Held::fp32);
  const Value share = raised ? tape.keeps_result(wide) : tape.keeps_input(wide);
  return tape.to(tape.multiply(y, share), x.held);
}

/// exp(A), a number of each head in fp32, of which `from` is multiplied by the negative.
Value decayed(Tape& tape, const Value& from, Size heads) {
  const Value numbers =
      tape.keeps_result(tape.make(constant(heads), Held::fp32, tape.mode().trained));
  return tape.multiply(from, tape.scale(numbers));
}

/// Both kernels keep queries and keys without their lengths, values, sums of the decays and the
/// products of keys in a chunk. They copy their inputs, which are views by channel.
void save_chunks(Tape& tape, const MixerUse& u, Held held) {
  const Size key_heads = u.key_width / u.key_dim;
  for (int of = 0; of < 2; ++of) {
    tape.save(within(tape, u.key_width, held));
    tape.save(within(tape, key_heads, Held::fp32));
  }
  tape.save(within(tape, u.inner, held));
  const bool by_channel = u.kind == MixerKind::kimi_delta_rule;
  tape.save(within(tape, by_channel ? u.inner : u.heads, Held::fp32));
  tape.save(within(tape, (by_channel ? 2 : 1) * delta_chunk * u.heads, held));
}

/// A gate for each channel, of one matrix (`rank` 0) or two.
Value gate_of_rank(Tape& tape, const Value& x, const MixerUse& u, Size rank) {
  if (rank == 0) return column_parallel(tape, x, u.hidden, u.inner);
  return column_parallel(tape, row_parallel(tape, x, u.hidden, rank), rank, u.inner);
}

/// log(1 + exp(g)), or g where it is large, times the heads' decays; or a bounded sigmoid. Sources:
/// transformers 5.23 models/kimi_linear, KimiLinearForgetGate; models/glm5_next,
/// Glm5NextTextForgetGate.
Value forget_gate(Tape& tape, const Value& x, const MixerUse& u) {
  const Value g = tape.like(tape.to(gate_of_rank(tape, x, u, u.rank), Held::fp32));
  if (u.bounded_gate) {
    const Value numbers =
        tape.keeps_result(tape.make(constant(u.heads), Held::fp32, tape.mode().trained));
    const Value decay = tape.scale(tape.keeps_result(tape.multiply(g, numbers)));
    return u.decay_as_held ? tape.to(decay, x.held) : decay;
  }
  const Value grown = tape.scale(tape.keeps_result(g));
  tape.save(within(tape, u.inner, Held::boolean));
  return decayed(tape, tape.like(tape.keeps_input(grown)), u.heads);
}

}  // namespace

/// Sources: transformers 5.23 models/qwen3_next, Qwen3NextGatedDeltaNet, and models/qwen3_5; fla
/// ops/gated_delta_rule/chunk.py, ChunkGatedDeltaRuleFunction.
Value run_delta_rule(Tape& tape, const Value& x, const MixerUse& u) {
  const Size convolved = 2 * u.key_width + u.inner;
  Value mixed, gate, a;
  if (u.joined) {  // parts of each group of heads are put together anew
    const Value all = column_parallel(tape, x, u.hidden, convolved + u.inner);
    a = tape.linear_as_is(x, u.hidden, 2 * u.heads);
    mixed = within(tape, convolved, all.held), gate = within(tape, u.inner, all.held);
  } else {
    mixed = column_parallel(tape, x, u.hidden, convolved);
    gate = column_parallel(tape, x, u.hidden, u.inner);
    tape.linear_as_is(x, u.hidden, u.heads);
    a = tape.linear_as_is(x, u.hidden, u.heads);
  }
  tape.save(mixed);  // the convolution's input
  tape.keeps_result(within(tape, u.heads, a.held));
  decayed(tape, tape.keeps_input(within(tape, u.heads, Held::fp32)), u.heads);
  save_chunks(tape, u, mixed.held);
  const Value out = within(tape, u.inner, mixed.held);
  return row_parallel(tape, gated_norm(tape, out, gate, u.heads, u.inner / u.heads, false), u.inner,
                      u.hidden);
}

/// Sources: transformers 5.23 models/kimi_linear, KimiLinearDeltaAttention; fla ops/kda/chunk.py,
/// ChunkKDAFunction, which also keeps the decays as it is given them.
Value run_kimi_delta_rule(Tape& tape, const Value& x, const MixerUse& u) {
  Value part;
  for (const Size width : {u.key_width, u.key_width, u.inner})
    part = column_parallel(tape, x, u.hidden, width);
  tape.save(within(tape, 2 * u.key_width + u.inner, part.held));  // the convolution's input
  tape.save(forget_gate(tape, x, u));
  const Value beta = tape.linear_as_is(x, u.hidden, u.heads);
  tape.keeps_result(within(tape, u.heads, u.beta_in_fp32 ? Held::fp32 : beta.held));
  save_chunks(tape, u, part.held);
  const Value gate = gate_of_rank(tape, x, u, u.gate_rank);
  const Value out = within(tape, u.inner, part.held);
  return row_parallel(tape, gated_norm(tape, out, gate, u.heads, u.inner / u.heads, true), u.inner,
                      u.hidden);
}

/// Blocks of tokens: products within a block, and a state from block to block. The last block makes
/// no state, which is not taken off. Source: transformers 5.23 models/minimax,
/// MiniMaxLightningAttention, which is Python alone.
Value run_lightning(Tape& tape, const Value& x, const MixerUse& u) {
  const Value given = column_parallel(tape, x, u.hidden, 3 * u.inner);
  const Value all = tape.keeps_input(given);
  const auto operand = [&](Size width) {
    tape.save(within(tape, width, tape.mode().autocast ? Held::bf16 : all.held));
  };
  for (int of = 0; of < 3; ++of) operand(u.inner);  // queries, keys and values by head
  operand(u.heads * u.block);                       // products within a block, decayed
  for (int of = 0; of < 3; ++of) operand(u.inner);  // decayed queries and keys, values again
  operand(divided_up(u.inner * u.inner / u.heads, u.block));  // the state before each block
  const Value y =
      run_norm(tape, within(tape, u.inner, all.held), {NormKind::rms, u.inner}, tokens(1));
  const Value gate = tape.keeps_result(column_parallel(tape, x, u.hidden, u.inner));
  return row_parallel(tape, tape.multiply(gate, y), u.inner, u.hidden);
}

}  // namespace headroom::model
