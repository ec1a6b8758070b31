#include "model/train/tape/saved_activation.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/train/tape/run_ends.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

bool same(const std::optional<NormSpec>& a, const std::optional<NormSpec>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->kind == b->kind && a->width == b->width);
}
bool same(const std::optional<AttentionUse>& a, const std::optional<AttentionUse>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  return a->heads == b->heads && a->kv_heads == b->kv_heads && a->head_dim == b->head_dim &&
         a->window == b->window && a->hidden == b->hidden && a->query_rank == b->query_rank &&
         a->key_rank == b->key_rank && a->rotated_by == b->rotated_by &&
         same(a->query_norm, b->query_norm);
}
bool same(const std::optional<FeedForwardUse>& a, const std::optional<FeedForwardUse>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  if (a->experts.has_value() != b->experts.has_value()) return false;
  return a->hidden == b->hidden && a->inner == b->inner && a->gating == b->gating &&
         (!a->experts || a->experts->experts == b->experts->experts);
}
bool same(const LayerUse& a, const LayerUse& b) {
  return a.class_name == b.class_name && same(a.cross_attention, b.cross_attention) &&
         same(a.before_attention, b.before_attention) &&
         same(a.before_feed_forward, b.before_feed_forward) && same(a.attention, b.attention) &&
         same(a.feed_forward, b.feed_forward) && a.mixer.has_value() == b.mixer.has_value();
}

/// Elements of a rotary table: one for each position and rotated dimension.
Size rotated_dims(const Model& model, const AttentionUse& use, const VisionTower* elsewhere) {
  for (const Tensor& t : model.part.tensors)
    if ((elsewhere == nullptr || !elsewhere->contains(t.name)) && is_rotary_table(t) &&
        !is_unscaled_rotary_table(t) && t.shape.size() == 1)
      return use.rotated_by == Rotation::halves ? t.shape[0] : 2 * t.shape[0];
  return use.head_dim;
}

/// Experts' results are kept for the gradients of their weights; norms and dropout keep theirs.
Size last_matrix(const LayerUse& use) {
  if (!use.feed_forward || use.feed_forward->experts || use.after_feed_forward ||
      use.norms_the_sum || use.drops_feed_forward)
    return 0;
  return use.feed_forward->inner * use.feed_forward->hidden;
}

struct Run {
  const Model& model;
  TapeMode mode;
  Size hidden;               ///< width of the residual
  const VisionTower* tower;  ///< beside what runs; null: none
  bool in_tower = false;

  Value residual(Tape& tape) const { return tape.make(tokens(hidden), mode.parameters, true); }
  ForwardPass pass(Tape& tape, const LayerUse& use) const {
    ForwardPass p{.tape = &tape};
    if (use.cross_attention) p.memory = residual(tape);
    if (use.attention && use.attention->rotated_by != Rotation::none) {
      const Held held = use.attention->rotated_in_fp32 ? Held::fp32 : mode.parameters;
      const Size dims =
          in_tower ? use.attention->head_dim : rotated_dims(model, *use.attention, tower);
      const Extent table = use.attention->tables_by_token ? tokens(dims) : positions(dims);
      p.cosines = tape.make(table, held, false);
      p.sines = tape.make(table, held, false);
    }
    return p;
  }
  /// What is kept of it, and what is written.
  std::pair<Tape::Sums, Tape::Sums> layer(LayerUse use, bool beyond, bool attention_alone) const {
    Tape tape(mode);
    ForwardPass p = pass(tape, use);
    p.beyond_window = beyond;
    if (attention_alone)
      use.feed_forward.reset(), use.before_feed_forward.reset(), use.parallel = false;
    const auto mark = tape.mark();
    const Value x = residual(tape);
    if (mode.keeps_products) tape.keep(x);
    run_layer(p, x, use);
    return {tape.saved(mark), tape.made(mark)};
  }
};

/// Stacks whose inputs and outputs are dropped by a module of their own (T5).
Size dropping_stacks(const Part& part) { return std::ranges::count_if(part.modules, drops_stack); }

/// What lies before the layers: tables, positions, dropout of embeddings.
Tape::Sums before_layers(const Run& run, const Execution& execution, const LayerUse* first,
                         bool crosses) {
  Tape tape(run.mode);
  const Part& part = run.model.part;
  if (first != nullptr && first->attention && !first->attention->own_tables) {
    const ForwardPass p = run.pass(tape, *first);
    if (!run.mode.kernels.fused_rotation) tape.save(p.cosines), tape.save(p.sines);
  }
  // Learned positions are looked up by numbers that are made for it, distances likewise.
  if (std::ranges::any_of(part.tensors, is_position_table))
    tape.save(positions(1), Held::int64, Region::outer);
  const Size distances = std::ranges::count_if(part.tensors, is_distance_bias);
  if (run.mode.trained && distances > 0) tape.save(squares(distances), Held::int64, Region::outer);
  if (distances > 0 && crosses && run.mode.kernels.fused_attention) {
    const Held held = run.mode.autocast ? Held::bf16 : run.mode.parameters;
    tape.save(squares(first->attention->heads), held, Region::inner);  // no bias: zeros, once
  }
  const Size stacks = dropping_stacks(part);
  if (execution.embedding_dropout > 0 && run.mode.hidden_dropout > 0)
    for (Size i = 0; i < std::max<Size>(1, stacks); ++i)
      tape.dropout(run.residual(tape), execution.embedding_dropout);
  return tape.saved();
}

/// The end of one stack; the encoder's result is what every cross-attention reads.
Value end_of_stack(Tape& tape, const Run& run, const LayerUse* first, bool drops) {
  NormSpec norm{NormKind::rms, run.model.shape.hidden_size};
  if (first != nullptr && first->before_attention)
    norm = *first->before_attention;
  else if (first != nullptr && first->after_attention)
    norm = *first->after_attention;
  const Value x = run.residual(tape);
  Value y = run_norm(tape, x, norm, tokens(1));
  if (run.mode.keeps_products) tape.keep(x), tape.keep(y);
  if (drops) y = tape.dropout(y, run.mode.hidden_dropout);
  return y;
}

}  // namespace

double SavedActivations::layer(std::size_t i, double batch, double sequence,
                               ImagesOfPass images) const {
  const SavedLayer& kind = kinds[kind_of[i]];
  const Tape::Sums& sums =
      kind.window > 0 && sequence > static_cast<double>(kind.window) ? kind.beyond : kind.within;
  Polynomial all = sums.outer, copies = sums.weights_outer;  // copies serve every pass
  all += sums.inner, copies += sums.weights_inner;
  if (!kind.tower)
    return static_cast<double>(passes[i]) * all.at(batch, sequence) + copies.at(batch, sequence);
  return images.count > 0 ? (all += copies).at(images.count, images.patches) : 0;
}
double SavedActivations::total(double batch, double sequence, ImagesOfPass images) const {
  double sum = loss.at(batch, sequence);
  const auto whole = [](const Tape::Sums& part) {
    Polynomial all = part.outer;
    return ((all += part.inner) += part.weights_outer) += part.weights_inner;
  };
  for (const Tape::Sums* part : {&before, &after}) sum += whole(*part).at(batch, sequence);
  if (images.count > 0) sum += whole(around_tower).at(images.count, images.patches);
  for (std::size_t i = 0; i < kind_of.size(); ++i) sum += layer(i, batch, sequence, images);
  return sum;
}

SavedActivations saved_activations(const Model& model, const Execution& execution, TapeMode mode) {
  SavedActivations all;
  const auto vision = vision_tower(model);
  const VisionTower* tower = vision ? &*vision : nullptr;
  const Size hidden = model.shape.hidden_size, vocabulary = model.profile.head_rows;
  const Run run{model, mode, hidden, tower};
  Run seeing{model, mode, vision ? vision->hidden : hidden, tower, true};
  seeing.mode.trained = mode.trained && mode.tower_trained;
  std::vector<LayerUse> uses;
  std::vector<bool> of_tower;
  for (std::size_t i = 0; i < model.part.blocks.size(); ++i) {
    const auto at = static_cast<Size>(i);
    LayerUse use = layer_use(model, execution, at);
    const bool inside = in_a_tower(model, at);
    all.passes.push_back(model.profile.layers[i].passes);
    const auto known =
        std::find_if(uses.begin(), uses.end(), [&](const LayerUse& u) { return same(u, use); });
    all.kind_of.push_back(static_cast<std::size_t>(known - uses.begin()));
    if (known != uses.end()) continue;
    SavedLayer kind{.window = use.attention ? use.attention->window : 0,
                    .last_matrix = last_matrix(use),
                    .tower = inside,
                    .unknown = use.unknown};
    const bool runs = !inside || (vision && at >= vision->first && at < vision->last);
    if (runs && (!inside || mode.tower_trained)) {
      const Run& here = inside ? seeing : run;
      std::tie(kind.within, kind.made) = here.layer(use, false, false);
      std::tie(kind.beyond, kind.made_beyond) = here.layer(use, true, false);
      kind.attention = here.layer(use, false, true).first;
      kind.attention_beyond = here.layer(use, true, true).first;
      kind.input.add(tokens(here.hidden), bytes_of(mode.parameters));
    }
    all.kinds.push_back(kind);
    uses.push_back(std::move(use));
    of_tower.push_back(inside);
  }
  if (vision) all.around_tower = around_tower(model, mode, *vision);
  // The first layer of the text: towers may stand before it.
  const auto text = std::find(of_tower.begin(), of_tower.end(), false) - of_tower.begin();
  const LayerUse* first = text == static_cast<std::ptrdiff_t>(uses.size())
                              ? nullptr
                              : &uses[static_cast<std::size_t>(text)];
  const bool crosses = std::any_of(uses.begin(), uses.end(), [](const LayerUse& use) {
    return use.cross_attention.has_value();
  });
  all.before = before_layers(run, execution, first, crosses);
  {
    TapeMode ends = mode;
    ends.operand_bits = 0;
    Tape tape(ends);
    const bool drops = dropping_stacks(model.part) > 0;
    if (crosses) {
      const Value memory = end_of_stack(tape, run, first, drops);
      if (mode.trained && !mode.autocast) tape.save(memory);
    }
    const bool encodes = !model.profile.generative && !model.encoder_decoder;
    if (encodes) around_encoder(tape, model.part);
    const Value y = encodes ? run.residual(tape) : end_of_stack(tape, run, first, drops);
    Value scores = tape.linear(y, hidden, vocabulary, tokens(1), mode.trained);
    if (execution.logit_softcap > 0) scores = tape.scale(tape.keeps_result(tape.scale(scores)));
    all.after = tape.saved();
    all.logits_bytes = bytes_of(scores.held);
    all.logits.add(scores.extent, bytes_of(scores.held));
    if (scores.held != Held::fp32) all.logits.add(scores.extent, 4);
  }
  const bool encodes = !model.profile.generative && !model.encoder_decoder;
  if (crosses || encodes) {
    // Plain cross entropy in the logits' type, which autocast raises; the decoder's own inputs.
    const Size element = mode.autocast ? 4 : all.logits_bytes;
    all.loss.add(tokens(vocabulary), element);
    if (crosses) all.loss.add(tokens(1), 8);
    all.loss.add(constant(1), element);
    return all;
  }
  all.loss.add(tokens(vocabulary), 4);
  all.loss.add(tokens(1), 8);  // shifted labels
  if (mode.one_sequence)
    all.loss.add(constant(1), 8);  // and their padding, where nothing copies it
  all.loss.add(constant(1), 4);
  return all;
}

}  // namespace headroom::model
