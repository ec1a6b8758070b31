#include "model/checkpoint/quantisation/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/undescribed.hpp"

namespace headroom::model {
namespace {

/// Types that engines convert into each other at load time, and their schemes.
struct PlainType {
  std::string_view dtype, scheme;
};
constexpr PlainType plain_types[] = {{"BF16", "bf16"}, {"F16", "fp16"}, {"F32", "fp32"}};

/// The scheme of the plain type with most bytes. Empty if parameters have other types too.
std::string_view plain_scheme_of(const HeaderTotals& totals) {
  std::string_view best;
  Bytes most;
  for (const auto& [name, type] : totals.by_type) {
    if (type.parameters == 0) continue;
    const auto* row = std::ranges::find(plain_types, name, &PlainType::dtype);
    if (row == std::end(plain_types)) return {};
    if (best.empty() || type.bytes > most) best = row->scheme;
    most = std::max(most, type.bytes);
  }
  return best;
}

/// Determines the checkpoint's own precision from its tensors.
void settle_precision(Model& model, Stored& stored) {
  if (stored.detail != Detail::tensors) return;
  stored.keeps_checkpoint_formats = true;
  if (is_undescribed(model.checkpoint_scheme)) return;
  if (scheme(model.checkpoint_scheme).family != SchemeFamily::plain) return;
  const std::string_view own = plain_scheme_of(stored.totals);
  if (own.empty()) {
    stored.notes.push_back(fmt::format(
        "the config says {} and no quantisation, but tensors are packed", model.checkpoint_scheme));
  } else if (!model.checkpoint.stated) {
    model.checkpoint_scheme = own;
  } else if (own != model.checkpoint_scheme) {
    stored.keeps_checkpoint_formats = false;
    stored.notes.push_back(
        fmt::format("the config says {}, most tensors are {}: weights are counted in {}, because "
                    "runtimes convert them when they load",
                    model.checkpoint_scheme, own, model.checkpoint_scheme));
  }
}

void note_doubled(const Model& model, Stored& stored) {
  std::unordered_map<std::string_view, std::size_t> index;
  const std::vector<Tensor>& tensors = model.part.tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) index.emplace(tensors[i].name, i);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const StoredTensor& own = stored.comparison.stored[i];
    const auto owner = index.find(tensors[i].tied_to);
    if (tensors[i].tied_to.empty() || owner == index.end() || own.parts == 0) continue;
    if (stored.comparison.stored[owner->second].name == own.name) continue;
    stored.notes.push_back(fmt::format("{} is stored separately, {} bytes, although it shares {}",
                                       shown_name(own.name), own.bytes.count(),
                                       shown_name(tensors[i].tied_to)));
  }
}

std::shared_ptr<Stored> stored_of(TensorList list, Detail detail) {
  auto stored = std::make_shared<Stored>();
  stored->detail = detail;
  stored->notes = list.notes;
  stored->list = std::move(list);
  if (detail == Detail::tensors) {
    stored->totals = totals_of(stored->list);
    stored->notes = stored->totals.notes;
  }
  return stored;
}

void finish(Model& model, const std::shared_ptr<Stored>& stored, Comparison comparison) {
  stored->comparison = std::move(comparison);
  note_doubled(model, *stored);
  settle_precision(model, *stored);
  model.stored = stored;
}

/// "iq4_k" for "iq4_k_r4".
std::string_view without_rows(std::string_view name) {
  const auto end = name.rfind("_r");
  const bool counted = end != name.npos && end + 2 < name.size() &&
                       name.find_first_not_of("0123456789", end + 2) == name.npos;
  return counted ? name.substr(0, end) : name;
}

/// Arithmetic format of `dtype`. Null if the type alone does not determine it (packed integers).
const Precision* format_of(std::string_view dtype) {
  const bool integer = dtype.size() > 1 && (dtype[0] == 'I' || dtype[0] == 'U') &&
                       dtype[1] >= '0' && dtype[1] <= '9';
  if (dtype.empty() || integer) return nullptr;
  if (dtype.starts_with("Q4_0_")) return &precision("q4_0");  // rows interleaved for some CPUs
  const std::string name = lower(dtype);
  // "q4_K_R4": the same blocks with rows interleaved.
  for (const std::string_view wanted : {std::string_view(name), without_rows(name)})
    for (const Precision& each : precisions())
      if (lower(each.name) == wanted) return &each;
  for (const auto& [type, held] : plain_types)
    if (type == dtype) return &precision(held);
  return dtype == "F8_E4M3" || dtype == "F8_E5M2" ? &precision(dtype) : nullptr;
}

/// The numbered layer of a tensor: "model.layers.3" for "model.layers.3.mlp.up_proj.weight".
std::string_view block_of(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const auto end = std::min(name.find('.', at), name.size());
    const auto word = name.substr(at, end - at);
    if (at > 0 && !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos)
      return name.substr(0, end);
    at = end + 1;
  }
  return {};
}

Element element_of(std::string_view dtype) {
  if (dtype == "I64" || dtype == "U64") return Element::int64;
  if (dtype == "I32" || dtype == "U32") return Element::int32;
  return dtype == "BOOL" || dtype == "U8" || dtype == "I8" ? Element::boolean : Element::floating;
}

Part part_of(const TensorList& list, const std::string& architecture) {
  Part part{.modules = {{"", architecture}}};
  const auto counts = logical_counts(list);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TensorHeader& header = list.tensors[i];
    const bool packed = counts[i].elements > 0 && counts[i].elements != header.elements();
    Tensor tensor{header.name, packed ? Shape{counts[i].elements} : header.shape, Role::other};
    if (counts[i].elements == 0) {
      tensor.role = Role::buffer;
      tensor.element = element_of(header.dtype);
    }
    part.tensors.push_back(std::move(tensor));
    const std::string block(block_of(header.name));
    if (!block.empty() && (part.blocks.empty() || part.blocks.back() != block))
      part.blocks.push_back(block);
  }
  std::ranges::sort(part.blocks);
  part.blocks.erase(std::ranges::unique(part.blocks).begin(), part.blocks.end());
  return part;
}

}  // namespace

void attach(Model& model, TensorList list, Detail detail) {
  const auto stored = stored_of(std::move(list), detail);
  Comparison comparison;
  comparison.stored.resize(model.part.tensors.size());
  if (detail != Detail::size) comparison = compare(model.part, stored->list);
  finish(model, stored, std::move(comparison));
}

void attach(Model& model, TensorList list, std::vector<Gathered> gathered) {
  Comparison comparison = compare(model.part, std::move(gathered));
  finish(model, stored_of(std::move(list), Detail::tensors), std::move(comparison));
}

Model undescribed_model(std::string name, std::string architecture, TensorList list, Detail detail,
                        std::string source, std::string why) {
  Model model;
  model.name = std::move(name);
  model.source = std::move(source);
  model.architecture = std::move(architecture);
  model.undescribed = std::move(why);
  const auto stored = stored_of(std::move(list), detail);
  if (detail == Detail::tensors) {
    model.part = part_of(stored->list, model.architecture);
    model.profile = profile_of(model.part, 0);
  }
  model.stored = stored;
  return model;
}

std::string kinds_of(const Comparison& comparison) {
  std::map<std::string_view, Size> counts;
  for (const Difference& each : comparison.differences) ++counts[name_of(each.kind)];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text;
}

bool is_compared(const Model& model) {
  return model.undescribed.empty() && model.stored && model.stored->detail != Detail::size;
}

bool disagrees(const Model& model) {
  return is_compared(model) && !model.stored->comparison.differences.empty();
}

std::string disagreement(const Model& model) {
  if (!disagrees(model)) return {};
  return "config and tensors disagree: " + kinds_of(model.stored->comparison);
}

bool keeps_checkpoint_formats(const Model& model, const Scheme& scheme) {
  return model.stored && model.stored->keeps_checkpoint_formats &&
         scheme.name == model.checkpoint_scheme;
}

void apply_checkpoint_formats(const Model& model, std::vector<QuantisedTensor>& tensors) {
  const std::vector<StoredTensor>& stored = model.stored->comparison.stored;
  std::string_view seen;
  const Precision* format = nullptr;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (stored[i].parts == 0) continue;
    if (stored[i].dtype != seen) format = format_of(seen = stored[i].dtype);
    if (format != nullptr) tensors[i].format = format;
    tensors[i].bytes = model.part.tensors[i].tied_to.empty() ? stored[i].bytes : Bytes(0);
  }
}

}  // namespace headroom::model
