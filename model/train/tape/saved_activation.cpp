#include "model/train/tape/saved_activation.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/train/attention_kernel.hpp"
#include "model/train/tape/live_gradients.hpp"
#include "model/train/tape/run_ends.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

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
      use.norms_the_sum || use.drops_feed_forward || use.parallel_experts || !use.then.empty())
    return 0;
  return use.feed_forward->inner * use.feed_forward->hidden;
}

struct Run {
  const Model& model;
  TapeMode mode;
  Size hidden;               ///< width of the residual
  const VisionTower* tower;  ///< the tower next to the layers; null: none
  bool in_tower = false;

  Value residual(Tape& tape, Size streams = 1) const {
    return tape.make(tokens(streams * hidden), mode.parameters, true);
  }
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
  /// Sums of the tensors that a layer keeps, and of those that it writes.
  std::pair<Tape::Sums, Tape::Sums> layer(LayerUse use, bool beyond, bool attention_alone) const {
    Tape tape(mode);
    ForwardPass p = pass(tape, use);
    p.beyond_window = beyond;
    if (attention_alone)
      use.feed_forward.reset(), use.before_feed_forward.reset(), use.parallel = false;
    const auto mark = tape.mark();
    const Value x = residual(tape, use.streams ? use.streams->count : 1);
    if (mode.keeps_products) tape.keep(x);
    run_layer(p, x, use);
    return {tape.saved(mark), tape.made(mark)};
  }
};

/// Stacks whose inputs and outputs are dropped by a module of their own (T5).
Size dropping_stacks(const Part& part) { return std::ranges::count_if(part.modules, drops_stack); }

/// Operations before the layers: tables, positions, dropout of embeddings.
Tape::Sums before_layers(const Run& run, const Execution& execution, const LayerUse* first,
                         bool crosses) {
  Tape tape(run.mode);
  const Part& part = run.model.part;
  const bool trained = run.mode.trained;
  if (first != nullptr && first->attention && !first->attention->own_tables) {
    const ForwardPass p = run.pass(tape, *first);
    if (!run.mode.kernels.fused_rotation) tape.save(p.cosines), tape.save(p.sines);
  }
  if (const LayerInputs inputs = layer_inputs(part); inputs.of_layer > 0) {
    Value all = tape.linear(run.residual(tape), run.hidden, inputs.all, tokens(1), trained);
    all = run_norm(tape, tape.scale(all), NormSpec{inputs.norm, inputs.of_layer},
                   tokens(inputs.all / inputs.of_layer));
    tape.save(tape.to(all, run.mode.parameters));  // each layer reads a part of it
  }
  // Learned positions are looked up by numbers that are made for it, distances likewise.
  if (std::ranges::any_of(part.tensors, is_position_table))
    tape.save(positions(1), Held::int64, Region::outer);
  const Size distances = std::ranges::count_if(part.tensors, is_distance_bias);
  if (trained && distances > 0) tape.save(squares(distances), Held::int64, Region::outer);
  if (distances > 0 && crosses && run.mode.kernels.fused_attention) {
    const Held held = run.mode.autocast ? Held::bf16 : run.mode.parameters;
    tape.save(squares(first->attention->heads), held, Region::inner);  // no bias: zeros, once
  }
  if (first != nullptr && first->attention) norm_distances(tape, *first->attention);
  const Size stacks = dropping_stacks(part);
  if (execution.embedding_dropout > 0 && run.mode.hidden_dropout > 0)
    for (Size i = 0; i < std::max<Size>(1, stacks); ++i)
      tape.dropout(run.residual(tape), execution.embedding_dropout);
  return tape.saved();
}

/// The end of streams of residuals: joined, and normed where layers have norms of their own.
Value end_of_streams(Tape& tape, const Run& run, const LayerUse& first) {
  const auto end = streams_end(run.model.part, run.hidden);
  if (!end) return run.residual(tape);
  const Value x = end_streams(tape, run.residual(tape, first.streams->count), *end);
  return first.before_attention ? run_norm(tape, x, *first.before_attention, tokens(1)) : x;
}

/// The end of one stack; the encoder's result is what every cross-attention reads.
Value end_of_stack(Tape& tape, const Run& run, const LayerUse* first, bool drops,
                   Size residuals = 0) {
  if (first != nullptr && first->streams) return end_of_streams(tape, run, *first);
  NormSpec norm{NormKind::rms, run.model.shape.hidden_size};
  if (first != nullptr && first->before_attention)
    norm = *first->before_attention;
  else if (first != nullptr && first->after_attention)
    norm = *first->after_attention;
  Value x = run.residual(tape);
  if (residuals > 0) x = mix_residuals(tape, x, residuals, run.hidden);
  Value y = run_norm(tape, x, norm, tokens(1));
  if (run.mode.keeps_products) tape.keep(x), tape.keep(y);
  if (drops) y = tape.dropout(y, run.mode.hidden_dropout);
  return y;
}

/// Saved activations of a layer of one kind. A tower's are saved if gradients pass through it.
SavedLayer saved_layer(const LayerUse& use, const Run& run, bool in_tower, bool saves) {
  SavedLayer kind{.window = use.attention ? use.attention->window : 0,
                  .in_place_width = in_place_width(use, run.mode.kernels),
                  .score_gradients = in_tower ? 0 : score_gradients(use, run.mode),
                  .last_matrix = last_matrix(use),
                  .tower = in_tower,
                  .reads_images_alone = use.reads_images_alone,
                  .without_flash = use.attention ? without_flash(*use.attention) : "",
                  .unknown = use.unknown};
  if (!saves) return kind;
  std::tie(kind.within, kind.made) = run.layer(use, false, false);
  std::tie(kind.beyond, kind.made_beyond) = run.layer(use, true, false);
  kind.attention = run.layer(use, false, true).first;
  kind.attention_beyond = run.layer(use, true, true).first;
  if (use.skipped) return kind;  // its input is the next layer's too
  const Size streams = use.streams ? use.streams->count : 1;
  kind.input.add(tokens(streams * run.hidden), bytes_of(run.mode.parameters));
  return kind;
}

/// The distinct layers of a model.
struct LayerKinds {
  std::vector<LayerUse> uses;
  std::vector<bool> of_tower;

  /// The first layer of the text with attention, whose rotary tables all share; null: none.
  const LayerUse* first_with_attention() const {
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (!of_tower[i] && uses[i].attention) return &uses[i];
    return nullptr;
  }
  /// The first layer of the text, because towers may come before it.
  const LayerUse* first_of_text() const {
    const auto text = std::find(of_tower.begin(), of_tower.end(), false) - of_tower.begin();
    return text == static_cast<std::ptrdiff_t>(uses.size()) ? nullptr
                                                            : &uses[static_cast<std::size_t>(text)];
  }
  /// Residuals that are mixed behind the last layer; 0: none are.
  Size residuals(const Model& model) const {
    if (std::ranges::none_of(model.part.modules, is_norm_of_residuals)) return 0;
    Size most = 0;
    for (const LayerUse& use : uses) most = std::max(most, use.residuals_after);
    return most;
  }
  bool crosses() const {
    return std::any_of(uses.begin(), uses.end(),
                       [](const LayerUse& use) { return use.cross_attention.has_value(); });
  }
};

/// Adds every layer to `all`. Equal layers are recorded once.
LayerKinds add_layers(SavedActivations& all, const Execution& execution, const Run& run,
                      const Run& seeing) {
  const Model& model = run.model;
  const VisionTower* vision = run.tower;
  LayerKinds found;
  for (std::size_t i = 0; i < model.part.blocks.size(); ++i) {
    const auto at = static_cast<Size>(i);
    all.passes.push_back(model.profile.layers[i].passes);
    if (const std::size_t first = model.profile.repeats.first_layer(i);
        repeats_whole(model, i, first)) {
      all.kind_of.push_back(all.kind_of[first]);
      continue;
    }
    LayerUse use = layer_use(model, execution, vision, at);
    const bool inside = in_a_tower(model, at);
    const auto known = std::find_if(found.uses.begin(), found.uses.end(),
                                    [&](const LayerUse& u) { return same_kind(u, use); });
    all.kind_of.push_back(static_cast<std::size_t>(known - found.uses.begin()));
    if (known != found.uses.end()) continue;
    const bool runs = !inside || (vision != nullptr && at >= vision->first && at < vision->last);
    const bool saves = runs && (!inside || run.mode.tower_trained);
    all.kinds.push_back(saved_layer(use, inside ? seeing : run, inside, saves));
    found.uses.push_back(std::move(use));
    found.of_tower.push_back(inside);
  }
  return found;
}

bool is_encoder(const Model& model) { return !model.profile.generative && !model.encoder_decoder; }

/// Operations after the layers: the end of each stack, the head and its logits.
void add_end(SavedActivations& all, const Run& run, const Execution& execution,
             const LayerKinds& layers) {
  const Model& model = run.model;
  const LayerUse* first = layers.first_of_text();
  const bool crosses = layers.crosses();
  const TapeMode& mode = run.mode;
  Tape tape(mode.outside_layers());
  const bool drops = dropping_stacks(model.part) > 0;
  if (crosses) {
    const Value memory = end_of_stack(tape, run, first, drops);
    if (mode.trained && !mode.autocast) tape.save(memory);
  }
  const bool encodes = is_encoder(model);
  if (encodes) around_encoder(tape, model.part);
  const Size residuals = layers.residuals(model);
  const Value y = encodes ? run.residual(tape) : end_of_stack(tape, run, first, drops, residuals);
  const Size rows = model.profile.head_rows;
  Value scores = mode.wide_head ? tape.linear(y, run.hidden, rows, tokens(1), mode.trained)
                                : tape.make(tokens(rows), Held::bf16, true);
  if (execution.logit_softcap > 0) scores = tape.scale(tape.keeps_result(tape.scale(scores)));
  all.after = tape.saved();
  all.logits_bytes = bytes_of(scores.held);
  all.logits.add(scores.extent, bytes_of(scores.held));
  if (scores.held != Held::fp32) all.logits.add(scores.extent, 4);
}

void add_loss(SavedActivations& all, const Model& model, const TapeMode& mode, bool crosses) {
  const Size vocabulary = model.profile.head_rows;
  if (crosses || is_encoder(model)) {
    // Plain cross entropy has the type of the logits, which autocast raises to fp32. A decoder
    // that reads an encoder also keeps its own inputs.
    const Size element = mode.autocast ? 4 : all.logits_bytes;
    all.loss.add(tokens(vocabulary), element);
    if (crosses) all.loss.add(tokens(1), 8);
    all.loss.add(constant(1), element);
    return;
  }
  all.loss.add(tokens(vocabulary), 4);
  all.loss.add(tokens(1), 8);                           // shifted labels
  if (mode.one_sequence) all.loss.add(constant(1), 8);  // their padding, if nothing copies it
  all.loss.add(constant(1), 4);
}

}  // namespace

double SavedActivations::layer(std::size_t i, double batch, double sequence,
                               ImagesOfPass images) const {
  const SavedLayer& kind = kinds[kind_of[i]];
  const Tape::Sums& sums =
      kind.window > 0 && sequence >= static_cast<double>(kind.window) ? kind.beyond : kind.within;
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
  const Size hidden = model.shape.hidden_size;
  const Run run{model, mode, hidden, tower};
  Run seeing{model, mode, vision ? vision->hidden : hidden, tower, true};
  seeing.mode.trained = mode.trained && mode.tower_trained;
  const LayerKinds layers = add_layers(all, execution, run, seeing);
  if (vision) all.around_tower = around_tower(model, mode, *vision);
  const bool crosses = layers.crosses();
  all.before = before_layers(run, execution, layers.first_with_attention(), crosses);
  add_end(all, run, execution, layers);
  add_loss(all, model, mode, crosses);
  return all;
}

}  // namespace headroom::model
