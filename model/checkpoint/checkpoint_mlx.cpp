// Checkpoints that mlx-lm quantised: "quantization": {"group_size": 64, "bits": 4}, and modules
// with settings of their own. Source: mlx-lm 0.32.2 utils.py, load_model and quantize_model.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/checkpoint/checkpoint_methods.hpp"

namespace headroom::model {
namespace {

/// Throws ConfigError for settings that MLX does not have.
std::string mlx_scheme_of(const Config& q, std::string_view mode, Size bits, Size group) {
  if (mode != "affine") {
    if (mode != "mxfp4" && mode != "mxfp8" && mode != "nvfp4")
      q.fail("mode", fmt::format("found '{}', expected affine, mxfp4, mxfp8 or nvfp4", mode));
    return fmt::format("mlx-{}", mode);
  }
  if (bits < 2 || bits > 8 || bits == 7)
    q.fail("bits", fmt::format("found {}, expected 2, 3, 4, 5, 6 or 8", bits));
  if (group != 32 && group != 64 && group != 128)
    q.fail("group_size", fmt::format("found {}, expected 32, 64 or 128", group));
  return fmt::format("mlx-{}bit{}", bits, group == 64 ? "" : fmt::format("-{}g", group));
}

}  // namespace

std::string mlx_scheme(const Config& q) {
  const std::string mode = q.text({"mode"}, "affine");
  return mlx_scheme_of(q, mode, q.count({"bits"}, 4), q.count({"group_size"}, 64));
}

/// A module's path has its own settings, or false: it stays in 16 bit.
void mlx_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  std::vector<std::string> plain;
  for (const auto& entry : q.object()) {
    const std::string path(entry.key());
    if (entry.value().is_object())
      add_rule(details, mlx_scheme(q.section(path)), "is:" + path);
    else if (entry.value().is_bool() && !q.flag({path}, true))
      plain.push_back("is:" + path);
  }
  stay(details, std::move(plain));
}

}  // namespace headroom::model
