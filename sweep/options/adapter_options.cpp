#include "sweep/options/adapter_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::sweep {

Adapters adapters_of(const Options& options) {
  const auto given = [&](std::string_view flag) { return options.given(flag); };
  constexpr std::string_view flags[] = {"lora", "lora-rank", "lora-targets", "dora"};
  if (std::none_of(std::begin(flags), std::end(flags), given)) return std::nullopt;
  model::AdapterRequest request{.rank = options.whole("lora-rank", 8),
                                .magnitudes = options.given("dora")};
  request.targets = listed_names(options, "lora-targets");
  if (options.given("lora-targets") && request.targets.empty())
    throw UsageError("--lora-targets: found no name");
  return request;
}

std::vector<std::string> listed_names(const Options& options, std::string_view flag) {
  std::vector<std::string> words;
  for (const std::string& text : options.texts(flag))
    for (std::size_t at = 0; at <= text.size();) {
      const auto end = std::min(text.find(',', at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  return words;
}

Size copies_of(const model::Model& m, const std::vector<std::string>& names) {
  Size sum = 0;
  for (const std::string& name : names) {
    Size elements = 0;
    for (const model::Tensor& t : m.part.tensors) {
      const std::string_view module = t.module();
      if (t.is_parameter() && (module == name || module.ends_with('.' + name)))
        elements += t.elements();
    }
    if (elements == 0)
      throw UsageError(
          fmt::format("--modules-to-save: no module of {} is called '{}'", m.name, name));
    sum += elements;
  }
  return sum;
}

}  // namespace headroom::sweep
