#include "model/formats/logical.hpp"

#include <algorithm>
#include <unordered_map>

namespace headroom::model {
namespace {

using Index = std::unordered_map<std::string_view, const TensorHeader*>;

bool ends_in(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); });
}

bool is_integer(std::string_view dtype) {
  return dtype == "BOOL" ||
         ((dtype.starts_with('I') || dtype.starts_with('U')) && !dtype.starts_with("IQ"));
}

/// `name` with its `end` replaced; a tensor of that name, or null.
const TensorHeader* sibling(const Index& index, std::string_view name, std::string_view end,
                            std::string_view other) {
  const std::string wanted =
      std::string(name.substr(0, name.size() - end.size())) + std::string(other);
  const auto it = index.find(wanted);
  return it == index.end() ? nullptr : it->second;
}

/// GPTQ stores [in * bits / 32, out] with g_idx [in]; AWQ [in, out / 8] with scales [groups, out].
Size qweight(const Index& index, const TensorHeader& t) {
  if (t.shape.size() != 2) return t.elements();
  if (const auto* order = sibling(index, t.name, "qweight", "g_idx"))
    return order->elements() * t.shape[1];
  if (const auto* scales = sibling(index, t.name, "qweight", "scales"))
    if (scales->shape.size() == 2 && scales->shape[1] == t.shape[1] * 8)
      return t.shape[0] * scales->shape[1];
  return -1;
}

Size logical(const Index& index, const TensorHeader& t, bool* assumed) {
  const std::string_view name = t.name;
  if (name.ends_with("qweight") && is_integer(t.dtype)) {
    const Size n = qweight(index, t);
    if (n >= 0) return n;
    *assumed = true;
    return t.elements() * 8;
  }
  if (name.ends_with(".weight_packed")) {
    *assumed = t.dtype == "I32";  // 4 bits, unless the config says otherwise
    return t.elements() * (t.dtype == "U8" ? 2 : 8);
  }
  if (name.ends_with("_blocks") && t.dtype == "U8" &&
      sibling(index, name, "_blocks", "_scales") != nullptr)
    return t.elements() * 2;
  if (name.ends_with("weight") && t.dtype == "U8") {
    const bool bitsandbytes = index.contains(std::string(name) + ".absmax");
    const bool nvfp4 = index.contains(std::string(name) + "_scale");
    if (bitsandbytes || nvfp4) return t.elements() * 2;
  }
  if (name.ends_with("weight") && t.dtype == "I8") return t.elements();  // LLM.int8, W8A8
  if (ends_in(name,
              {"_scale_inv", "_scale", "_scales", ".scales", "_scale_2", "_global_scale", ".qzeros",
               ".g_idx", "weight_shape", "weight_zero_point", ".absmax", ".quant_map",
               ".nested_absmax", ".nested_quant_map", ".SCB", ".weight_format"}))
    return 0;
  if (name.find(".quant_state.") != std::string_view::npos) return 0;
  if (is_integer(t.dtype) || name.ends_with("inv_freq")) return 0;
  const bool mask = ends_in(name, {".attn.bias", ".masked_bias", ".attention.bias"});
  return mask && t.shape.size() != 1 ? 0 : t.elements();
}

}  // namespace

std::vector<Size> logical_elements(const TensorList& list, std::vector<std::string>* notes) {
  Index index;
  for (const TensorHeader& tensor : list.tensors) index.emplace(tensor.name, &tensor);
  std::vector<Size> all;
  all.reserve(list.tensors.size());
  bool noted = false;
  for (const TensorHeader& tensor : list.tensors) {
    bool assumed = false;
    all.push_back(logical(index, tensor, &assumed));
    if (assumed && !noted && notes != nullptr) {
      notes->push_back("packed 32-bit weights are counted as 4 bits each: " +
                       shown_name(tensor.name));
      noted = true;
    }
  }
  return all;
}

HeaderTotals totals_of(const TensorList& list) {
  HeaderTotals totals{0, list.total, {}, list.notes};
  const std::vector<Size> elements = logical_elements(list, &totals.notes);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const TensorHeader& tensor = list.tensors[i];
    TypeTotals& type = totals.by_type[std::string(tensor.dtype)];
    ++type.tensors;
    type.parameters += elements[i];
    type.bytes += tensor.bytes;
    totals.parameters += elements[i];
  }
  return totals;
}

}  // namespace headroom::model
