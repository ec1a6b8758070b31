// Extras served with a model at inference: low-rank adapters and images.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/memory/served_adapters.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

#define HEADROOM_COMPANION_FLAGS                                                                  \
  "lora-adapters speculate acceptance draft-model draft-precision draft-tokens text-only images " \
  "image-size"

/// --lora, --lora-rank, --lora-targets and --lora-adapters: adds adapters to `weights`, and notes
/// it in `assumed`. No effect if none are requested. Throws UsageError.
std::optional<model::ServedAdapters> add_adapters(const Options& options,
                                                  const model::Scenario& scenario,
                                                  model::QuantisedModel& weights,
                                                  std::vector<std::string>& assumed);

/// Throws std::invalid_argument: a model without towers, an engine that always loads them.
void check_text_only(const model::Model& model, const model::Engine& engine);

/// --text-only: takes the towers of `model`, and says so in `assumed`. Throws UsageError.
void take_towers(const Options& options, model::Model& model, std::vector<std::string>& assumed);

/// Says in `assumed` that the engine leaves towers out by itself. Throws UsageError if --text-only
/// has no effect on the engine that was asked for, or the engine always loads towers.
void check_towers(const Options& options, const model::Engine& engine, const model::Model& model,
                  std::vector<std::string>& assumed);

/// --images and --image-size; null where no image is given. `text_flag`: what holds their tokens
/// where the model's images are not described. Throws UsageError.
struct GivenImages {
  Size count = 0;
  model::ImageInput each;
};
std::optional<GivenImages> images_of(const Options& options, const model::Model& model,
                                     model::ImageLimits limits, std::string_view text_flag);

/// --images and --image-size: adds their tokens to the scenario's prompt, and says so in `assumed`.
/// Throws UsageError: a model whose images are not described, a size that is missing or without
/// effect, a context that does not hold them.
void add_images(const Options& options, model::Scenario& scenario,
                std::vector<std::string>& assumed);

}  // namespace headroom::sweep
