#include "model/describe/layer_numbers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "model/describe/components.hpp"

namespace headroom::model {

void number_layers(Profile& profile) {
  const bool decodes = std::ranges::any_of(profile.layers, &Layer::decodes);
  const std::string root = text_root(profile);
  std::map<std::string_view, Size> numbers;
  bool decoder_seen = false;
  for (Layer& layer : profile.layers) {
    decoder_seen = decoder_seen || layer.decodes;
    if (decodes && !layer.decodes) {
      const auto component = component_at(layer.path, root);
      layer.stack = is_beside_language(component)
                        ? component_names[static_cast<std::size_t>(*component)]
                    : decoder_seen ? "other"
                                   : "encoder";
    }
    layer.number = numbers[layer.stack]++;
  }
}

namespace {

/// `stack` is the one of the run before.
std::string run_words(const Profile& profile, const std::vector<Size>& layers, std::size_t most,
                      std::string_view stack) {
  const auto at = [&](std::size_t i) -> const Layer& {
    return profile.layers[static_cast<std::size_t>(layers[i])];
  };
  std::string text;
  std::size_t runs = 0;
  for (std::size_t i = 0, end; i < layers.size(); i = end) {
    for (end = i + 1; end < layers.size() && at(end).stack == at(i).stack &&
                      at(end).number == at(end - 1).number + 1;)
      ++end;
    if (++runs > most) return text + ", …";
    if (!text.empty()) text += ", ";
    if (at(i).stack != stack)
      text += (at(i).stack.empty() ? "decoder" : std::string(at(i).stack)) + ' ';
    stack = at(i).stack;
    text += std::to_string(at(i).number);
    if (end - i > 1) text += '-' + std::to_string(at(end - 1).number);
  }
  return text;
}

}  // namespace

std::string layer_words(const Profile& profile, const std::vector<Size>& layers, std::size_t most) {
  return run_words(profile, layers, most, {});
}

std::string layer_words(const Profile& profile, Range layers, std::string_view before) {
  std::vector<Size> each(static_cast<std::size_t>(std::max<Size>(0, layers.size())));
  std::iota(each.begin(), each.end(), layers.first);
  return run_words(profile, each, SIZE_MAX, before);
}

std::string_view last_stack(const Profile& profile, Range layers, std::string_view before) {
  return layers.size() <= 0 ? before
                            : profile.layers[static_cast<std::size_t>(layers.last - 1)].stack;
}

}  // namespace headroom::model
