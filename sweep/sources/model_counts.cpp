#include "sweep/sources/model_counts.hpp"

#include <algorithm>
#include <map>

namespace headroom::sweep {

using model::Model;
using model::Tensor;

std::string_view first_names(std::string_view path, std::size_t depth) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < depth && end != std::string_view::npos; ++i)
    end = path.find('.', end + (i > 0 ? 1 : 0));
  return path.substr(0, end);
}

std::vector<std::pair<std::string, Size>> parameter_groups(const Model& model) {
  std::vector<std::string> lists;  // "model.layers"
  std::size_t depth = 1;
  for (const auto& block : model.part.blocks) {
    const auto dot = block.rfind('.');
    const std::string list = dot == std::string::npos ? block : block.substr(0, dot);
    if (!lists.empty() && lists.back() == list) continue;
    lists.push_back(list);
    const auto here = static_cast<std::size_t>(std::ranges::count(list, '.')) + 1;
    depth = lists.size() == 1 ? here : std::min(depth, here);
  }
  const auto group_of = [&](const Tensor& tensor) {
    for (const auto& list : lists)
      if (tensor.name.starts_with(list) && tensor.name[list.size()] == '.') return list;
    return std::string(first_names(tensor.module().empty() ? tensor.name : tensor.module(), depth));
  };
  std::vector<std::pair<std::string, Size>> all;
  std::map<std::string, std::size_t> at;
  for (const Tensor& tensor : model.part.tensors) {
    if (!tensor.is_parameter()) continue;
    const std::string group = group_of(tensor);
    if (const auto [place, fresh] = at.emplace(group, all.size()); fresh)
      all.emplace_back(group, 0);
    if (tensor.tied_to.empty()) all[at.at(group)].second += tensor.elements();
  }
  return all;
}

std::vector<std::string> tied_tensors(const Model& model) {
  std::vector<std::string> names;
  for (const Tensor& tensor : model.part.tensors)
    if (tensor.is_parameter() && !tensor.tied_to.empty()) names.push_back(tensor.name);
  return names;
}

CacheElements cache_fp16(const Model& model) {
  using enum model::CacheKind;
  CacheElements kept;
  for (const auto& cache : model.part.caches) {
    Size& a_token = cache.kind == indexer           ? kept.indexer
                    : cache.kind == cross_attention ? kept.source
                                                    : kept.kv;
    a_token += 2 * cache.per_token;
    kept.state += 2 * cache.per_sequence;
  }
  return kept;
}

std::string_view kv_kind(const Model& model) {
  Size attention = 0, windowed = 0, latent = 0, recurrent = 0;
  for (const auto& cache : model.part.caches) {
    recurrent += cache.kind == model::CacheKind::recurrent;
    latent += cache.kind == model::CacheKind::latent;
    if (cache.kind != model::CacheKind::self_attention) continue;
    ++attention;
    windowed += cache.window > 0;
  }
  if (attention + latent == 0) return recurrent > 0 ? "recurrent" : "none";
  if (recurrent > 0) return "hybrid";
  if (latent > 0) return "latent";
  if (windowed == 0) return "full";
  return windowed == attention ? "sliding" : "mixed";
}

Further further_of(const model::MultiTokenPrediction& prediction) {
  Further all;
  for (const Tensor& t : prediction.part.tensors)
    if (t.is_parameter()) (t.tied_to.empty() ? all.parameters : all.copies) += t.elements();
  return all;
}

}  // namespace headroom::sweep
