#include "model/checkpoint/formats/logical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "hardware/text.hpp"

namespace headroom::model {
namespace {

using HeaderIndex = std::unordered_map<std::string_view, const TensorHeader*>;

bool is_integer(std::string_view dtype) {
  return dtype == "BOOL" ||
         ((dtype.starts_with('I') || dtype.starts_with('U')) && !dtype.starts_with("IQ"));
}

/// The tensor called `name` with its `end` replaced. Null if there is none.
const TensorHeader* sibling(const HeaderIndex& index, std::string_view name, std::string_view end,
                            std::string_view other) {
  const std::string wanted =
      std::string(name.substr(0, name.size() - end.size())) + std::string(other);
  const auto it = index.find(wanted);
  return it == index.end() ? nullptr : it->second;
}

/// The exact product. A file that claims more is rejected.
Size product(const TensorHeader& t, Size a, Size b) {
  Size n = 0;
  if (__builtin_mul_overflow(a, b, &n))
    throw FormatError(
        fmt::format("tensor {} stands for more than 2^63 - 1 elements", shown_name(t.name)));
  return n;
}

/// GPTQ stores [in * bits / 32, out] with g_idx [in]; AWQ [in, out / 8] with scales [groups, out].
Size qweight(const HeaderIndex& index, const TensorHeader& t) {
  if (t.shape.size() != 2) return t.elements();
  if (const auto* order = sibling(index, t.name, "qweight", "g_idx"))
    return product(t, order->elements(), t.shape[1]);
  if (const auto* scales = sibling(index, t.name, "qweight", "scales"))
    if (scales->shape.size() == 2 && scales->shape[1] % 8 == 0 &&
        scales->shape[1] / 8 == t.shape[1])
      return product(t, t.shape[0], scales->shape[1]);
  return -1;
}

/// True for data that a packed weight needs in addition to its elements. Such a name without a
/// weight next to it is an independent tensor (logit_scale). KV cache scales are scalars of the
/// attention module.
bool is_companion(const HeaderIndex& index, const TensorHeader& t) {
  const std::string_view name = t.name;
  if (ends_with_any(name, {".k_scale", ".v_scale", ".q_scale"}) && t.elements() <= 1) return true;
  if (!ends_with_any(
          name, {"_scale_inv", "_scale", "_scales", ".scales", "_scale_2", "_global_scale",
                 ".qzeros", ".g_idx", "weight_shape", "weight_zero_point", ".absmax", ".quant_map",
                 ".nested_absmax", ".nested_quant_map", ".SCB", ".weight_format", ".biases"}))
    return false;
  if (name.ends_with("_scales") && sibling(index, name, "_scales", "_blocks") != nullptr)
    return true;
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string module(name.substr(0, dot));
  for (const std::string_view weight : {"", ".weight", ".qweight", ".weight_packed"})
    if (index.contains(module + std::string(weight))) return true;
  return false;
}

Size logical(const HeaderIndex& index, const TensorHeader& t, bool* assumed) {
  const std::string_view name = t.name;
  if (name.ends_with("qweight") && is_integer(t.dtype)) {
    const Size n = qweight(index, t);
    if (n >= 0) return n;
    *assumed = true;
    return product(t, t.elements(), 8);
  }
  if (name.ends_with(".weight_packed")) {
    *assumed = t.dtype == "I32";  // 4 bits, unless the config states otherwise
    return product(t, t.elements(), t.dtype == "U8" ? 2 : 8);
  }
  if (name.ends_with("_blocks") && t.dtype == "U8" &&
      sibling(index, name, "_blocks", "_scales") != nullptr)
    return product(t, t.elements(), 2);
  if (name.ends_with("weight") && t.dtype == "U8") {
    const bool bitsandbytes = index.contains(std::string(name) + ".absmax");
    const bool nvfp4 = index.contains(std::string(name) + "_scale");
    if (bitsandbytes || nvfp4) return product(t, t.elements(), 2);
  }
  if (name.ends_with(".weight") && t.dtype == "U32" &&
      sibling(index, name, ".weight", ".scales") != nullptr) {
    *assumed = true;  // MLX: 2, 3, 4, 6 or 8 bits, as its config states
    return product(t, t.elements(), 8);
  }
  if (name.ends_with("weight") && t.dtype == "I8") return t.elements();  // LLM.int8, W8A8
  if (is_companion(index, t)) return 0;
  if (name.find(".quant_state.") != std::string_view::npos) return 0;
  if (is_integer(t.dtype) || name.ends_with("inv_freq")) return 0;
  const bool mask = ends_with_any(name, {".attn.bias", ".masked_bias", ".attention.bias"});
  return mask && t.shape.size() != 1 ? 0 : t.elements();
}

}  // namespace

std::vector<LogicalCount> logical_counts(const TensorList& list) {
  HeaderIndex index;
  for (const TensorHeader& tensor : list.tensors) index.emplace(tensor.name, &tensor);
  std::vector<LogicalCount> all;
  all.reserve(list.tensors.size());
  for (const TensorHeader& tensor : list.tensors) {
    bool assumed = false;
    const Size elements = logical(index, tensor, &assumed);
    all.push_back({elements, assumed});
  }
  return all;
}

HeaderTotals totals_of(const TensorList& list) {
  HeaderTotals totals{0, list.total, {}, list.notes};
  const std::vector<LogicalCount> counts = logical_counts(list);
  const TensorHeader* assumed = nullptr;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TensorHeader& tensor = list.tensors[i];
    if (tensor.dtype.empty()) continue;  // only the name is known
    if (__builtin_add_overflow(totals.parameters, counts[i].elements, &totals.parameters))
      throw FormatError(list.origin + ": the tensors have more than 2^63 - 1 elements");
    TypeTotals& type = totals.by_type[std::string(tensor.dtype)];
    ++type.tensors;
    type.parameters += counts[i].elements;
    type.bytes += tensor.bytes;
    if (counts[i].assumed && assumed == nullptr) assumed = &tensor;
  }
  if (assumed != nullptr)
    totals.notes.push_back("packed 32-bit weights are counted as 4 bits each: " +
                           shown_name(assumed->name));
  return totals;
}

}  // namespace headroom::model
