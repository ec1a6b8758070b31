#include "model/describe/components.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace headroom::model {
namespace {

struct ComponentRow {
  std::string_view name;  ///< name of a module
  Component component;
};
constexpr ComponentRow component_rows[] = {
    {"language_model", Component::language},
    {"llm", Component::language},
    {"text_model", Component::language},
    {"text_decoder", Component::language},
    {"vision_tower", Component::vision},
    {"vision_model", Component::vision},
    {"vision_encoder", Component::vision},
    {"visual", Component::vision},
    {"vision", Component::vision},
    {"vision_embedding", Component::vision},
    {"vision_adapter", Component::vision},
    {"vit_model", Component::vision},
    {"sam_model", Component::vision},
    {"qwen2_model", Component::vision},
    {"image_tower", Component::vision},
    {"image_encoder", Component::vision},
    {"image_embed", Component::vision},
    {"image_vit", Component::vision},
    {"model_encoder", Component::vision},
    {"img_processor", Component::vision},
    {"vision_backbone", Component::vision},
    {"visual_tokenizer", Component::vision},
    {"vision_tokenizer", Component::vision},
    {"vpm", Component::vision},
    {"video_tower", Component::vision},
    {"audio_tower", Component::audio},
    {"audio_model", Component::audio},
    {"audio_encoder", Component::audio},
    {"audio_embed", Component::audio},
    {"audio_tokenizer", Component::audio},
    {"apm", Component::audio},
    {"continuous_audio_tower", Component::audio},
    {"sound_encoder", Component::audio},
    {"speech_embeddings", Component::audio},
    {"acoustic_tokenizer_encoder", Component::audio},
    {"semantic_tokenizer_encoder", Component::audio},
    {"multi_modal_projector", Component::projector},
    {"patch_merger", Component::projector},
    {"audio_adapter", Component::projector},
    {"audio_projection_layer", Component::projector},
    {"audio_projector", Component::projector},
    {"glb_GN", Component::projector},
    {"image_pooling_2d", Component::projector},
    {"image_projector", Component::projector},
    {"img_projection", Component::projector},
    {"mlp1", Component::projector},
    {"mm_projector", Component::projector},
    {"resampler", Component::projector},
    {"sound_projection", Component::projector},
    {"sub_GN", Component::projector},
    {"vision_language_adapter", Component::projector},
    {"vision_projector", Component::projector},
    {"vit_downsampler", Component::projector},
    {"vit_downsampler1", Component::projector},
    {"vit_downsampler2", Component::projector},
    {"vit_large_projector", Component::projector},
    {"vq_adaptor", Component::projector},
    {"vte", Component::projector},
    {"proj_mlp", Component::projector},
    {"projector", Component::projector},
    {"abstractor", Component::projector},
    {"linear_proj", Component::projector},
    {"mlp_AR", Component::projector},
    {"custom_text_proj", Component::projector},
    {"connector", Component::projector},
    {"aligner", Component::projector},
    {"image_start", Component::projector},
    {"image_end", Component::projector},
    {"merger", Component::projector},
    {"merger_list", Component::projector},
    {"deepstack_audio_merger_list", Component::projector},
    {"deepstack_merger_list", Component::projector},
    {"resampler_model", Component::projector},
    {"vision_resampler", Component::projector},
    {"vision_projection", Component::projector},
    {"visual_projection", Component::projector},
    {"text_projection", Component::projector},
    {"image_to_text_projection", Component::projector},
    {"embed_vision", Component::projector},
    {"embed_audio", Component::projector},
    {"image_newline", Component::projector},
    {"view_separator", Component::projector},
    {"view_seperator", Component::projector},
};

/// For each first letter, a bit for each length of the names that begin with it. Most words of a
/// path have none.
constexpr auto lengths_by_letter = [] {
  std::array<std::uint32_t, 256> all{};
  for (const ComponentRow& row : component_rows)
    all[static_cast<unsigned char>(row.name.front())] |= std::uint32_t{1} << row.name.size();
  return all;
}();

/// By the innermost known name of `path`.
std::optional<Component> named(std::string_view path) {
  std::optional<Component> found;
  while (!path.empty()) {
    const std::string_view word = path.substr(0, path.find('.'));
    if (!word.empty() && word.size() < 32 &&
        (lengths_by_letter[static_cast<unsigned char>(word.front())] >> word.size() & 1) != 0)
      if (const auto* row = std::ranges::find(component_rows, word, &ComponentRow::name);
          row != std::end(component_rows))
        found = row->component;
    path.remove_prefix(std::min(word.size() + 1, path.size()));
  }
  return found;
}

}  // namespace

std::string text_root(const Profile& profile) {
  for (const Layer& layer : profile.layers) {
    if (!layer.decodes) continue;
    const std::string stack = layer.path.substr(0, layer.path.rfind('.'));
    const auto dot = stack.rfind('.');
    return dot == std::string::npos ? "" : stack.substr(0, dot + 1);
  }
  return "";
}

std::optional<Component> component_at(std::string_view path, const std::string& root) {
  const auto known = named(path);
  if (!known && !root.empty() && path.starts_with(root)) return Component::language;
  return known;
}

bool is_beside_language(std::optional<Component> component) {
  return component == Component::vision || component == Component::audio ||
         component == Component::projector;
}

std::string model_of_text(const Part& part, const std::string& root) {
  const std::string top = root.substr(0, root.find('.') + 1);
  const bool has_head = !top.empty() && std::ranges::any_of(part.tensors, [&](const Tensor& t) {
    return t.role == Role::head && t.name.starts_with(top);
  });
  return has_head ? top : "";
}

Part without_towers(Part part, const Profile& profile) {
  const std::string root = text_root(profile);
  const auto outside = [&](std::string_view path) {
    return is_beside_language(component_at(path, root));
  };
  std::erase_if(part.tensors,
                [&](const Tensor& t) { return t.role != Role::head && outside(t.name); });
  std::erase_if(part.modules, [&](const Module& m) { return outside(m.path); });
  std::erase_if(part.caches, [&](const Cache& c) { return outside(c.path); });
  std::erase_if(part.blocks, [&](const std::string& b) { return outside(b); });
  return part;
}

std::array<Size, 5> components_of(const Part& part, const Profile& profile) {
  const std::string root = text_root(profile);
  std::array<Size, 5> sums{};
  Size unassigned = 0;  ///< neither below the root nor named
  for (const Tensor& t : part.tensors) {
    if (!t.is_parameter() || !t.tied_to.empty()) continue;
    auto component = component_at(t.name, root);
    if (!component && t.role == Role::head) component = Component::language;
    (component ? sums[static_cast<std::size_t>(*component)] : unassigned) += t.elements();
  }
  const bool multimodal = sums[1] + sums[2] + sums[3] > 0;
  sums[static_cast<std::size_t>(multimodal ? Component::other : Component::language)] += unassigned;
  return sums;
}

Size non_embedding_parameters(const Part& part) {
  Size sum = 0;
  for (const Tensor& t : part.tensors)
    if (t.is_parameter() && t.tied_to.empty() && t.role != Role::embedding && t.role != Role::head)
      sum += t.elements();
  return sum;
}

}  // namespace headroom::model
