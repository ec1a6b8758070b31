#include "published.hpp"

#include <cmath>

#include "hardware/names.hpp"
#include "model/quantisation_gguf.hpp"
#include "sweep/published_sizes.hpp"
#include "sweep/source.hpp"

namespace headroom::oracle {

std::map<std::string, std::string> published_models() {
  std::map<std::string, std::string> references;
  for (const Row& row : read_csv("quantised_models.csv"))
    references[row.at("model")] = row.at("reference");
  return references;
}

std::vector<const model::Scheme*> published_schemes(const Row& row) {
  if (row.at("format") == "ggml-v3" || row.at("format") == "mlx") return {};
  std::string name = lower(row.at("quant"));
  if (row.at("format") == "gguf") {
    if (const auto cut = name.find(" - "); cut != std::string::npos) name = name.substr(0, cut);
    if (name == "f16" || name == "bf16" || name == "f32") name = "gguf-" + name;
  } else {
    if (name.ends_with("-actorder")) name = name.substr(0, name.size() - 9);
    if (name == "fp8-e4m3 block 128x128") name = "fp8-block";
    if (name == "nf4 double-quant") name = "nf4-double";
    if (name == "fp8-dynamic (per-channel weight scale)") name = "fp8-channel";
    if (name == "nvfp4 (modelopt)") name = "nvfp4";
  }
  const auto find = [](const std::string& wanted) -> const model::Scheme* {
    try {
      return &model::scheme(wanted);
    } catch (const UnknownName&) {
      return nullptr;
    }
  };
  std::vector<const model::Scheme*> found;
  const std::string notes = lower(row.at("notes"));
  const bool without = notes.find("no imatrix") != std::string::npos,
             with = !without && notes.find("imatrix") != std::string::npos;
  if (const model::Scheme* s = find(name); s && !(with && find(name + "-imatrix")))
    found.push_back(s);
  if (const model::Scheme* s = find(name + "-imatrix"); s && !without) found.push_back(s);
  return found;
}

const model::Model& cached_model(const std::string& reference) {
  static std::map<std::string, model::Model> models;
  const auto it = models.find(reference);
  return it != models.end()
             ? it->second
             : models.emplace(reference, sweep::resolve_model(reference)).first->second;
}

Size published_parameters(const Row& row, const model::Model& m) {
  if (row.at("format") != "gguf") return m.profile.parameters;
  Size sum = m.rope_factors;
  for (const model::Tensor* tensor : model::language_tensors(m))
    if (tensor->tied_to.empty() && tensor->is_parameter()) sum += tensor->elements();
  return sum;
}

bool same_parameters(const Row& row, const model::Model& m) {
  const std::string& printed = row.at("params_published");
  const std::size_t end = printed.find_first_not_of("0123456789.");
  if (end == std::string::npos || end < 5) return true;
  const double scale = printed[end] == 'T' ? 1e12 : 1e9;
  const auto ours = static_cast<double>(published_parameters(row, m));
  return std::abs(std::stod(printed) - ours / scale) <= sweep::rounding(printed.substr(0, end));
}

}  // namespace headroom::oracle
