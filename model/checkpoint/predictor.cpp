#include "model/checkpoint/predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/quantisation/stored.hpp"

namespace headroom::model {
namespace {

/// A path without its numbers, to compare a repeated layer with its original:
/// "model.layers.61.mlp.up_proj".
std::string numberless(std::string_view path) {
  std::string all;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('.', at), path.size());
    const auto word = path.substr(at, end - at);
    if (word.find_first_not_of("0123456789") != std::string_view::npos) {
      all += '.';
      all += word;
    }
    at = end + 1;
  }
  return all;
}

/// The part of a path below its layer: ".mlp.up_proj".
std::string below_layer(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('.', at), path.size());
    if (path.substr(at, end - at).find_first_not_of("0123456789") == std::string_view::npos)
      return numberless(path.substr(end));
    at = end + 1;
  }
  return numberless(path);
}

/// A tensor of `model` that takes no memory here.
Tensor shared(Tensor tensor) {
  if (tensor.tied_to.empty()) tensor.tied_to = tensor.name;
  return tensor;
}

bool has_head(const Part& part) {
  return std::ranges::find(part.tensors, Role::head, &Tensor::role) != part.tensors.end();
}

/// The modules between the target's embedding and head.
Part part_of(const Model& target) {
  const Part& own = target.multi_token_prediction.part;
  Part part{.modules = {{"", target.architecture}}};
  const auto head = std::ranges::find(target.part.tensors, Role::head, &Tensor::role);
  for (const Tensor& tensor : target.part.tensors)
    if (tensor.role == Role::embedding && tensor.shape == head->shape)
      part.tensors.push_back(shared(tensor));
  part.tensors.insert(part.tensors.end(), own.tensors.begin(), own.tensors.end());
  for (Tensor& tensor : part.tensors)
    if (!tensor.tied_to.empty()) tensor = shared(tensor);
  if (!has_head(own)) part.tensors.push_back(shared(*head));
  const std::vector<Module> modules = predictor_modules(target);
  part.modules.insert(part.modules.end(), modules.begin(), modules.end());
  part.caches = own.caches;
  part.blocks = own.blocks;
  return part;
}

/// Takes formats and bytes from the headers of the target's files, if they are under these names.
void attach_files(Model& predictor, const Model& target) {
  if (!target.stored || target.stored->detail != Detail::tensors ||
      is_gguf(scheme(target.checkpoint_scheme).family))
    return;
  attach(predictor, target.stored->list, Detail::tensors);
  const auto& stored = predictor.stored->comparison.stored;
  const bool found = std::ranges::any_of(stored, [&](const StoredTensor& each) {
    const Tensor& tensor = predictor.part.tensors[static_cast<std::size_t>(&each - stored.data())];
    return each.parts > 0 && tensor.tied_to.empty();
  });
  if (!found)
    throw std::invalid_argument(
        fmt::format("the files of {} leave its multi-token-prediction modules out", target.name));
}

}  // namespace

std::vector<Module> predictor_modules(const Model& model) {
  std::map<std::string, std::string> classes;
  for (const Module& module : model.part.modules)
    classes.emplace(below_layer(module.path), module.class_name);
  std::vector<Module> all = model.multi_token_prediction.part.modules;
  if (!all.empty()) return all;
  for (const Tensor& tensor : model.multi_token_prediction.part.tensors) {
    const std::string path(tensor.module());
    if (const auto found = classes.find(below_layer(path)); found != classes.end())
      all.push_back({path, found->second});
  }
  return all;
}

Model predictor_model(const Model& target) {
  const MultiTokenPrediction& own = target.multi_token_prediction;
  if (own.modules == 0)
    throw std::invalid_argument(fmt::format("{} ({}) has no modules that predict further tokens",
                                            target.name, target.architecture));
  if (own.part.blocks.empty())
    throw std::invalid_argument(
        fmt::format("{} ({}) has {} for further tokens, whose layout is not described", target.name,
                    target.architecture, counted(own.modules, "module")));
  if (own.together)
    throw std::invalid_argument(fmt::format(
        "the modules of {} propose all tokens in one pass, which is not described", target.name));
  Model model;
  model.name = target.name + " MTP";
  model.source = target.source;
  model.architecture = target.architecture;
  model.model_type = target.model_type;
  model.checkpoint_scheme = target.checkpoint_scheme;
  model.checkpoint = target.checkpoint;
  model.shape = target.shape;
  model.shape.layers = own.modules;
  model.part = part_of(target);
  model.profile = profile_of(model.part, model.shape.hidden_size);
  attach_files(model, target);
  return model;
}

QuantisedModel quantise_predictor(const Model& predictor, const QuantisedModel& target) {
  QuantisedModel weights = quantise(predictor, *target.scheme);
  weights.head_read = target.head_read;
  return weights;
}

}  // namespace headroom::model
