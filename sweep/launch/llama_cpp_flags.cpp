#include "sweep/launch/llama_cpp_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headroom::sweep {

std::string experts_to_cpu(const std::vector<std::string>& layers) {
  return fmt::format(R"(blk\.({})\.ffn_(up|down|gate|gate_up)_exps=CPU)", fmt::join(layers, "|"));
}

std::vector<std::pair<std::string, std::string>> host_expert_flags(const model::Model& model,
                                                                   model::Range moved) {
  if (moved.size() == 0) return {};
  const Size first = model.profile.first_decoding;
  if (moved.first == first) return {{"n-cpu-moe", std::to_string(moved.last - first)}};
  std::vector<std::string> layers;
  for (Size layer = moved.first; layer < moved.last; ++layer)
    layers.push_back(std::to_string(layer - first));
  return {{"override-tensor", experts_to_cpu(layers)}};
}

std::string host_expert_words(const model::Model& model, model::Range moved) {
  std::string words;
  for (const auto& [name, value] : host_expert_flags(model, moved))
    words += " --" + name + ' ' + (name == "n-cpu-moe" ? value : '\'' + value + '\'');
  return words;
}

}  // namespace headroom::sweep
