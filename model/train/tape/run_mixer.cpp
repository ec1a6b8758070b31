// Recurrent mixers and short convolutions, with the kernels for training on a GPU. Without these
// kernels transformers keeps every state of every token in fp32. Nobody trains that way.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// States that the scan keeps: two of each element in fp32, once for every 2048 tokens.
void save_states(Tape& tape, const MixerUse& u) {
  tape.save(tokens((2 * u.inner * u.state + 2047) / 2048), Held::fp32, Region::inner);
}

/// One function from the first matrix's result to the layer's: what lies between is made again.
/// Source: state-spaces/mamba, mamba_ssm/ops/selective_scan_interface.py, MambaInnerFn with
/// checkpoint_lvl 1 (xz, x_dbl, A, B, C, scan_intermediates, out).
Value mamba(Tape& tape, const Value& x, const MixerUse& u) {
  const Value both = column_parallel(tape, x, u.hidden, 2 * u.inner);
  tape.save(both);
  for (const Size width : {u.rank + 2 * u.state, u.state, u.state, u.inner})
    tape.save(tokens(width), both.held, Region::inner);
  tape.save(constant(u.inner * u.state), Held::fp32, Region::inner);
  save_states(tape, u);
  return tape.make(tokens(u.hidden), both.held, true);
}

/// Convolution, projections with norms and the scan as functions of their own. Source: transformers
/// 5.23 models/jamba/modeling_jamba.py; the same file, SelectiveScanFn.
Value mamba_with_norms(Tape& tape, const Value& x, const MixerUse& u) {
  const Value both = column_parallel(tape, x, u.hidden, 2 * u.inner);
  tape.save(both);
  const Value convolved = within(tape, u.inner, both.held), by_token = tape.like(convolved);
  tape.save(convolved);
  const Value parts = column_parallel(tape, by_token, u.inner, u.rank + 2 * u.state);
  const NormSpec norm{NormKind::rms, u.rank};
  const Value rank = run_norm(tape, within(tape, u.rank, parts.held), norm, tokens(1));
  for (int of = 0; of < 2; ++of)
    tape.save(
        run_norm(tape, within(tape, u.state, parts.held), {NormKind::rms, u.state}, tokens(1)));
  tape.save(column_parallel(tape, rank, u.rank, u.inner));
  tape.save(constant(u.inner * u.state), Held::fp32, Region::inner);
  save_states(tape, u);
  tape.save(within(tape, u.inner, both.held));
  return row_parallel(tape, within(tape, u.inner, both.held), u.inner, u.hidden);
}

/// Source: mamba_ssm/ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn (zxbcdt, out_x, A,
/// rstd); chunks' states are made again.
Value mamba2(Tape& tape, const Value& x, const MixerUse& u) {
  const Value all = column_parallel(tape, x, u.hidden, u.projected);
  tape.save(all);
  tape.save(tokens(u.inner), all.held, Region::inner);
  tape.save(tokens(u.groups), Held::fp32, Region::inner);
  tape.save(constant(u.heads), Held::fp32, Region::inner);
  return tape.make(tokens(u.hidden), all.held, true);
}

/// C · conv(B · x), all three from one matrix. Source: transformers 5.23
/// models/lfm2/modeling_lfm2.py, Lfm2ShortConv.
Value short_convolution(Tape& tape, const Value& x, const MixerUse& u) {
  const Value all = column_parallel(tape, x, u.hidden, 3 * u.inner);
  const Value part = Tape::view(all, tokens(u.inner));
  const Value product = tape.multiply(part, part);
  tape.save(product);
  const Value convolved = tape.like(product);
  return row_parallel(tape, tape.multiply(convolved, part), u.inner, u.hidden);
}

}  // namespace

Value run_mixer(ForwardPass& pass, const Value& x, const MixerUse& u) {
  Tape& tape = *pass.tape;
  switch (u.kind) {
    case MixerKind::mamba:
      return mamba(tape, x, u);
    case MixerKind::mamba_with_norms:
      return mamba_with_norms(tape, x, u);
    case MixerKind::mamba2:
      return mamba2(tape, x, u);
    case MixerKind::delta_rule:
      return run_delta_rule(tape, x, u);
    case MixerKind::kimi_delta_rule:
      return run_kimi_delta_rule(tape, x, u);
    case MixerKind::lightning:
      return run_lightning(tape, x, u);
    case MixerKind::short_convolution:
      return short_convolution(tape, x, u);
    case MixerKind::rwkv:
      return run_rwkv(tape, x, u);
    case MixerKind::one_matrix:
      return row_parallel(tape, x, u.hidden, u.inner);
  }
  return x;
}

}  // namespace headroom::model
