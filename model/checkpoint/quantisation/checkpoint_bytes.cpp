#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"

#include <map>

#include "model/checkpoint/quantisation/further_modules.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
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

}  // namespace

Model with_further_modules(const Model& model) {
  Model all = model;
  std::map<std::string, std::string> classes;
  for (const Module& module : model.part.modules)
    classes.emplace(below_layer(module.path), module.class_name);
  const std::vector<Module>& own = model.multi_token_prediction.part.modules;
  all.part.modules.insert(all.part.modules.end(), own.begin(), own.end());
  for (Tensor tensor : model.multi_token_prediction.part.tensors) {
    tensor.tied_to = {};
    const std::string path(tensor.module());
    if (const auto found = classes.find(below_layer(path)); own.empty() && found != classes.end())
      all.part.modules.push_back({path, found->second});
    all.part.tensors.push_back(std::move(tensor));
  }
  return all;
}

Bytes checkpoint_bytes(const Model& model) {
  const Scheme& own = scheme(model.checkpoint_scheme);
  if (keeps_checkpoint_formats(model, own)) return model.stored->list.total;
  const Model all = with_further_modules(model);
  const std::vector<Bytes> bytes = held_bytes(all, own);
  Bytes sum;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (all.part.tensors[i].is_parameter() || all.part.tensors[i].persistent) sum += bytes[i];
  return sum;
}

}  // namespace headroom::model
