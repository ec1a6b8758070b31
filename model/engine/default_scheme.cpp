#include "model/engine/default_scheme.hpp"

#include <algorithm>

namespace headroom::model {
namespace {

/// Schemes of checkpoints and of the files that are made of them.
struct Converted {
  std::string_view checkpoint, gguf;
};
constexpr Converted conversions[] = {{"mxfp4", "mxfp4-moe"}};

}  // namespace

const Scheme& default_scheme(const Model& model, const Engine& runtime) {
  const Scheme& own = scheme(model.checkpoint_scheme);
  if (std::ranges::find(runtime.weights.formats, SchemeFamily::gguf) ==
      runtime.weights.formats.end())
    return own;
  const auto* row = std::ranges::find(conversions, own.name, &Converted::checkpoint);
  return row == std::end(conversions) ? own : scheme(row->gguf);
}

}  // namespace headroom::model
