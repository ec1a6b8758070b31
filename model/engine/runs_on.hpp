// Checks that an engine has kernels for the cards of a machine, and code for a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// A card by its figures alone has no maker: taken to be one that runs.
bool runs_on(const Engine& engine, const Machine& machine);

/// True if the model's class is one of `classes`, which are sorted.
bool is_listed(const std::vector<std::string_view>& classes, const Model& model);

/// True if the engine runs the model's class: by Engine::classes, or because it reads GGUF files
/// with the tensors of that class. Engine::encoder_decoders decides for encoder-decoders, too. This
/// is the only check of a class.
bool serves_class(const Engine& engine, const Model& model);

/// A warning where the engine's registry lacks the model's class, so that it can only run
/// transformers' implementation. Empty otherwise, and for engines without a registry.
std::string class_warning(const Engine& engine, const Model& model);

/// Limits of the size of images under the engine: programs that read GGUF files have the tower from
/// llama.cpp's libmtmd.
ImageLimits image_limits(const Engine& engine);

/// Precisions that are compared under the engine when none is asked for. 4-bit floats of its list
/// are left out where the first card has no units for them: other weights of 4 bits do as well.
std::vector<std::string_view> usual_precisions(const Engine& engine, const Machine& machine);

/// usual_precisions(), and Engine::asked_precisions on the cards that the row names. The latter are
/// conversions of a model that is not quantised yet.
std::vector<std::string_view> asked_precisions(const Engine& engine, const Machine& machine,
                                               const Model& model);

}  // namespace headroom::model
