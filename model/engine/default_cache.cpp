#include "model/engine/default_cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

/// The format that the weights' checkpoint states; null: none.
const Precision* stated_by(const QuantisedModel& weights) {
  const std::string_view stated = weights.model->checkpoint.cache.precision;
  if (stated.empty() || weights.scheme->name != weights.model->checkpoint_scheme) return nullptr;
  return &precision(stated);
}

bool follows(const Engine& engine, const Model& model) {
  const auto& methods = engine.cache.follows_checkpoint;
  return std::ranges::find(methods, model.checkpoint.method) != methods.end();
}

}  // namespace

std::string CachePrecision::name() const {
  const auto word = [](const Precision* each) {
    return std::string(each == nullptr ? std::string_view("auto") : each->name);
  };
  return differ() ? word(keys) + '/' + word(values) : word(keys);
}

CachePrecision asked_cache(std::string_view name) {
  const auto format = [](std::string_view word) {
    return word == "auto" ? nullptr : &precision(word);
  };
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return format(name);
  try {
    return {format(name.substr(0, slash)), format(name.substr(slash + 1))};
  } catch (const UnknownName& e) {
    throw UnknownName(fmt::format("'{}': {}", name, e.what()));
  }
}

const Precision& default_cache(const QuantisedModel& weights, const Engine& engine) {
  static const Precision& half = precision("fp16");
  static const Precision& eight = precision("fp8");
  static const Precision& full = precision("fp32");
  if (engine.cache.sparse_in_fp8 && weights.model->profile.compressed) return eight;
  const Precision* stated = stated_by(weights);
  const CacheFormat* wide = engine.cache.format(full);
  const bool as_computed = weights.scheme->name == "fp32" && wide != nullptr && wide->word.empty();
  if (as_computed) return full;
  const bool taken = stated != nullptr && follows(engine, *weights.model) &&
                     engine.cache.format(*stated) != nullptr;
  return taken ? *stated : half;
}

std::string cache_reason(const QuantisedModel& weights, const Engine& engine,
                         CachePrecision cache) {
  const Precision* stated = stated_by(weights);
  if (stated == nullptr) return {};
  if (stated == cache.keys && stated == cache.values) return "as the checkpoint states";
  return fmt::format("the checkpoint states {}{}", stated->name,
                     &default_cache(weights, engine) == stated
                         ? ""
                         : fmt::format(", which {} does not follow", engine.name));
}

}  // namespace headroom::model
