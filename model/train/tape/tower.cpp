#include "model/train/tape/tower.hpp"

#include <algorithm>

#include "model/describe/layer_spec.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {

bool in_a_tower(const Model& model, Size i) {
  const Range text = counted_layers(model);
  return !model.encoder_decoder && (i < text.first || i >= text.last);
}

bool VisionTower::contains(std::string_view name) const {
  return name.size() > root.size() && name.starts_with(root) && name[root.size()] == '.' &&
         !is_merger(name);
}

std::optional<VisionTower> vision_tower(const Model& model) {
  const Profile& p = model.profile;
  const auto [first, last] = p.towers();
  if (model.images.kind == ImageTokens::unknown || last <= first || !in_a_tower(model, first))
    return std::nullopt;
  // Paths of the tower's layers and of the language model's part.
  const std::string &tower = p.layers[static_cast<std::size_t>(first)].path,
                    &text = p.layers[static_cast<std::size_t>(p.first_decoding)].path;
  const auto differ = std::mismatch(tower.begin(), tower.end(), text.begin(), text.end()).first;
  VisionTower v{
      .root = tower.substr(0, tower.find('.', static_cast<std::size_t>(differ - tower.begin()))),
      .first = first,
      .last = first,
      .hidden = model.images.hidden};
  while (v.last < last && v.contains(p.layers[static_cast<std::size_t>(v.last)].path)) ++v.last;
  for (const Tensor& t : model.part.tensors)
    if (v.contains(t.name) && is_class_token(t)) v.class_tokens = 1;
  const ImageRule& rule = model.images;
  v.patches_of_token = rule.kind == ImageTokens::fixed || rule.kind == ImageTokens::tiles
                           ? std::max<Size>(1, rule.patches / std::max<Size>(1, rule.tokens))
                           : rule.merge * rule.merge;
  return v;
}

}  // namespace headroom::model
