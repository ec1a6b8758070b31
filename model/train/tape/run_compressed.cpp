// Attention of DeepSeek-V4. Source: transformers 5.23 models/deepseek_v4/modeling_deepseek_v4.py,
// which runs it without a fused kernel alone (_supports_sdpa and _supports_flash_attn are false).
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

constexpr NormKind own_norm = NormKind::rms_fp32;

/// The last share of `x` rotated in fp32, by tables of `rows` that each call spreads anew.
Value turned(Tape& tape, const Value& x, Extent rows) {
  if (x.grad)
    for (int table = 0; table < 2; ++table) tape.save(rows, tape.mode().parameters, x.region);
  return tape.make(x.extent, x.held, x.grad, x.region, Layout::by_head);
}

/// One entry for `rate` tokens: their values weighed by a softmax in fp32 (its bias is fp32). Its
/// indexer chooses among entries without gradients. The entries' norms keep a number each, which
/// is left out.
Value entries(Tape& tape, const Value& x, const AttentionUse& u) {
  const CompressedSpec& c = *u.compressed;
  Value values = column_parallel(tape, x, u.hidden, c.width);
  const Value gate = column_parallel(tape, x, u.hidden, c.width);
  if (c.width > c.dim) values = tape.like(values);  // overlapping: laid out anew
  const Value shares = tape.to(tape.softmax(gate, true), values.held);
  const Value product = tape.multiply(values, shares);
  const Size dim = divided_up(c.dim, c.rate);
  const Value sum = tape.make(tokens(dim), product.held, product.grad, Region::inner);
  const Value y = run_norm(tape, sum, {own_norm, c.dim}, tokens(0));
  return turned(tape, y, tokens(divided_up(c.rotated, c.rate)));
}

}  // namespace

Value run_compressed(ForwardPass& pass, const Value& x, const AttentionUse& u) {
  Tape& tape = *pass.tape;
  const CompressedSpec& c = *u.compressed;
  const Size width = c.heads * c.dim, more = c.rate > 0 ? divided_up(width, c.rate) : 0;
  const Extent table = positions(c.rotated);
  Value q = column_parallel(tape, x, u.hidden, c.query_rank);
  q = run_norm(tape, q, {own_norm, c.query_rank}, tokens(1));
  q = column_parallel(tape, q, c.query_rank, width);
  q = turned(tape, run_norm(tape, q, {NormKind::rms_factor, c.dim}, tokens(c.heads)), table);
  Value key = column_parallel(tape, x, u.hidden, c.dim);
  key = turned(tape, run_norm(tape, key, {own_norm, c.dim}, tokens(1)), table);
  if (c.rate > 0) key.grad = entries(tape, x, u).grad || key.grad;
  const auto repeated = [&] {
    return tape.make(tokens(width + more), key.held, key.grad, Region::inner, Layout::by_head);
  };
  const Extent seen = pairs(c.heads + (c.rate > 0 ? divided_up(c.heads, c.rate) : 0));
  const Value scores = tape.product(q, repeated(), seen);
  if (scores.grad) {  // the largest is taken off; each head's sink has a score, in fp32
    tape.save(tokens(c.heads), Held::int64, Region::inner);
    tape.save(tokens(c.heads), Held::fp32, Region::inner);
  }
  const Value shares = tape.to(tape.softmax(scores, true), key.held);
  Value out = tape.product(shares, repeated(), tokens(width));
  out = turned(tape, tape.make(out.extent, out.held, out.grad, Region::inner), table);
  out.layout = Layout::by_token;
  const Value grouped = column_parallel(tape, out, c.group_width, c.output_rank);
  return row_parallel(tape, grouped, c.output_rank, u.hidden);
}

}  // namespace headroom::model
