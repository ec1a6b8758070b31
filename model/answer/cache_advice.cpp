#include <string_view>

#include "model/answer/advice_changes.hpp"
#include "model/infer/memory/cache_format.hpp"

namespace headroom::model {
namespace {

/// How far an engine has keys and values in different formats.
std::string_view combines(SeparateFormats separate) {
  switch (separate) {
    case SeparateFormats::never:
      return "has keys and values in one format";
    case SeparateFormats::quantised:
      return "combines quantised formats only";
    case SeparateFormats::unless_latent:
      return "has keys and values of latent attention in one format";
    case SeparateFormats::always:
      break;
  }
  return {};
}

}  // namespace

Advice cache_formats(const Scenario& s) {
  Advice other{.kind = Advice::Kind::other_cache,
               .engine = s.runtime->name,
               .text = std::string(s.runtime->cache.formats_source)};
  const CachePrecision asked = cache_precision(s);
  const auto& has = s.runtime->cache;
  const bool has_keys = has_format(*s.runtime, *asked.keys, *s.machine);
  if (has_keys && has_format(*s.runtime, *asked.values, *s.machine)) {
    other.kind = Advice::Kind::one_cache_format;
    other.name = asked.keys->name;
    other.text = combines(has.separate);
    other.names = {asked.values->name};
  } else {
    const Precision& missing = *(has_keys ? asked.values : asked.keys);
    other.name = missing.name;
    other.amount = has.format(missing) == nullptr ? 0 : 1;
    for (const CacheFormat& each : has.formats)
      if (has_format(*s.runtime, precision(each.precision), *s.machine))
        other.names.push_back(each.precision);
  }
  for (const Engine& each : engines())
    if (each.name == each.family && holds_cache(each, *s.weights->model, asked, *s.machine))
      other.others.push_back(each.name);
  return other;
}

}  // namespace headroom::model
