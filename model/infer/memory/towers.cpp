#include "model/infer/memory/towers.hpp"

#include <algorithm>

#include "hardware/units.hpp"
#include "model/infer/memory/rounding.hpp"
#include "model/infer/memory/start_pass.hpp"

namespace headroom::model {
namespace {

/// Bytes on one of `shards` cards for that many patches in a tower of width `hidden`.
double kept_by_tower(const Scenario& s, double patches, Size hidden, Size shards) {
  const Engine& r = *s.runtime;
  if (patches <= 0 || hidden <= 0) return 0;
  const Profile& profile = s.weights->model->profile;
  double widest = 0;
  const auto [first, end] = profile.towers();
  for (Size layer = first; layer < end; ++layer)
    widest = std::max(widest, profile.layers[static_cast<std::size_t>(layer)].widest);
  // Profiles divide by the width of the text model's residual stream.
  widest *= static_cast<double>(s.weights->model->shape.hidden_size) / static_cast<double>(hidden);
  const double element =
      r.memory.activation_bytes > 0 ? static_cast<double>(r.memory.activation_bytes) : 2.0;
  return patches * element *
         (r.memory.residual_copies * static_cast<double>(hidden) +
          r.memory.widest_share * widest / static_cast<double>(shards));
}

/// The image of most tokens.
ImageInput largest_image(const ImageRule& rule) {
  const Size merged = rule.patch * rule.merge, share = rule.merge * rule.merge;
  if (rule.kind == ImageTokens::fixed) return {rule.tokens, rule.patches};
  if (rule.kind == ImageTokens::tiles) {
    const Size tiles = rule.most_tiles + (rule.whole && rule.most_tiles > 1 ? 1 : 0);
    return {tiles * rule.tokens, tiles * rule.patches};
  }
  if (rule.kind == ImageTokens::unknown || merged == 0) return {};
  if (rule.kind == ImageTokens::area) {
    const Size tokens = rule.max_pixels / (merged * merged);
    return {tokens, tokens * share};
  }
  const Size along = divided_up(rule.longest_edge, merged);
  return {along * (along + 1), along * along * share};
}

/// Images of an engine's pass at start: the largest that the processor makes, also beyond the
/// context. They are as many as a pass has tokens for. Source: vLLM 0.28
/// multimodal/encoder_budget.py; model_executor/models/qwen2_vl.py, get_max_image_tokens.
///
/// An engine that spreads videos passes the longest video instead, and keeps a row for each of its
/// tokens. Source: vLLM 0.11 and 0.12 v1/worker/gpu_model_runner.py profile_run, pull requests
/// 25810 and 30475: 153,600 rows for 12,288 embeddings of Qwen3-VL.
struct StartImages {
  double patches = 0, tokens = 0;
};
StartImages start_images(const Scenario& s) {
  const ImageRule& rule = s.weights->model->images;
  if (rule.kind == ImageTokens::unknown || !has_start_pass(s)) return {};
  if (s.runtime->memory.start_pass.spreads_video && rule.video_tokens > 0)
    return {static_cast<double>(rule.video_embeddings * rule.merge * rule.merge),
            static_cast<double>(rule.video_tokens)};
  const ImageInput largest = largest_image(rule);
  if (largest.tokens <= 0) return {};
  const Size images = std::clamp<Size>(start_tokens(s) / largest.tokens, 1, start_sequences(s));
  return {static_cast<double>(images * largest.patches),
          static_cast<double>(images * largest.tokens)};
}

}  // namespace

Bytes tower_activations(const Scenario& s, Size shards) {
  const StartImages start = start_images(s);
  const double at_start = kept_by_tower(s, start.patches, s.weights->model->images.hidden, shards);
  const double sequences = s.runtime->serving.prefill_chunk > 0 ? 1 : static_cast<double>(s.batch);
  const double patches =
      sequences * static_cast<double>(s.images.count) * static_cast<double>(s.images.patches);
  return rounded_up(std::max(at_start, kept_by_tower(s, patches, s.images.hidden, shards)));
}

double embeddings_of_images(const Scenario& s) {
  const Model& model = *s.weights->model;
  const Size elements = model.images.features * model.shape.hidden_size;
  return 2 * start_images(s).tokens * static_cast<double>(elements);
}

}  // namespace headroom::model
