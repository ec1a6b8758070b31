// Attention of DeBERTa-v2 and v3 (arXiv:2006.03654). Source: transformers 5.23
// models/deberta_v2/modeling_deberta_v2.py, DisentangledSelfAttention, which is Python alone.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// One number by which something is divided.
void save_scale(Tape& tape, const Value& of) { tape.save(constant(1), of.held, Region::inner); }

/// Products of `x` with rows of the table of distances, of which each pair looks up one. The
/// look-up keeps all products and the numbers of the rows. The table is projected anew in every
/// layer and repeated for every sequence.
void distance_scores(Tape& tape, const Value& x, const Value& table, const AttentionUse& u) {
  const Size width = u.heads * u.head_dim;
  const Value made = tape.linear(table, u.hidden, width, constant(u.distances), tape.mode().trained,
                                 Region::inner);
  const Value rows = tape.make(Extent{width * u.distances, 1, 0}, made.held, made.grad,
                               Region::inner, Layout::by_head);
  const Value products = tape.product(x, rows, tokens(u.heads * u.distances));
  if (!products.grad) return;
  tape.save(products);
  tape.save(squares(1), Held::int64, Region::inner);
  save_scale(tape, products);
}

}  // namespace

void norm_distances(Tape& tape, const AttentionUse& u) {
  if (!u.norms_distances) return;
  const bool trained = tape.mode().trained;
  const Value table = tape.parameter(constant(u.distances * u.hidden), trained);
  const Value normed = tape.layer_norm(table, constant(u.distances), trained);
  if (!tape.mode().autocast) tape.save(normed);  // autocast: copies in each layer
}

Value run_disentangled(Tape& tape, const Value& x, const AttentionUse& u) {
  const Size width = u.heads * u.head_dim;
  const auto by_head = [&] {
    const Value y = column_parallel(tape, x, u.hidden, width);
    return tape.make(y.extent, y.held, y.grad, Region::inner, Layout::by_head);
  };
  const Value q = by_head(), k = by_head(), v = by_head();
  const Value scores = tape.product(q, tape.scale(k), pairs(u.heads));
  if (scores.grad) save_scale(tape, scores);
  // One table for all layers. A norm's result is kept before the layers.
  const Value table = Tape::elsewhere(constant(u.distances * u.hidden), tape.mode().parameters);
  if (u.distances > 0 && u.query_distances) distance_scores(tape, q, table, u);
  if (u.distances > 0 && u.key_distances) distance_scores(tape, k, table, u);
  if (scores.grad) tape.save(pairs(1), Held::boolean, Region::inner);  // the pairs that are hidden
  Value shares = tape.softmax(scores, false);
  if (u.drops_probabilities) shares = tape.dropout(shares, tape.mode().attention_dropout);
  const Value out = tape.product(shares, v, tokens(width));
  const Value joined = tape.make(out.extent, out.held, out.grad, Region::inner);
  return row_parallel(tape, joined, width, u.hidden);
}

}  // namespace headroom::model
