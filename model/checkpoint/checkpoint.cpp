// Reads a checkpoint's precision from its config, and finds the row of its method.
#include "model/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "hardware/names.hpp"
#include "model/checkpoint/checkpoint_methods.hpp"
#include "model/checkpoint/quantisation/undescribed.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {
namespace {

/// compressed-tensors wrote the second key before transformers supported it. mlx-lm writes the
/// third, and the first with the same content (utils.py quantize_model).
constexpr std::string_view quantisation_keys[] = {"quantization_config", "compression_config",
                                                  "quantization"};

/// True if the config has a quantisation section at its top.
bool has_quantisation(const Config& config) {
  return std::ranges::any_of(quantisation_keys, [&](auto key) { return config.has(key); });
}

/// The quantisation section, at the top or in the text model's config.
std::optional<Config> quantisation_of(const Config& config) {
  const Config text = config.section_or_empty("text_config");
  std::optional<Config> found;
  for (const Config* holder : {&config, &text})
    for (const std::string_view key : quantisation_keys)
      if (holder->has(key) && !found) found = holder->section(key);
  return found;
}

/// `torch_dtype` as a scheme. Absent or "auto": PyTorch's default, fp32.
std::string plain_scheme(const Config& config) {
  const Config text = config.section_or_empty("text_config");
  const Config& holder = config.has("torch_dtype") || config.has("dtype") ? config : text;
  std::string type = holder.text({"dtype", "torch_dtype"}, "float32");
  if (type.starts_with("torch.")) type = type.substr(6);
  if (type == "float32" || type == "float" || type == "auto") return "fp32";
  if (type == "bfloat16") return "bf16";
  if (type == "float16" || type == "half") return "fp16";
  holder.fail(holder.has("dtype") ? "dtype" : "torch_dtype",
              fmt::format("found '{}', expected float32, float16 or bfloat16", type));
}

/// ModelOpt's method: vLLM calls its NVFP4 modelopt_fp4 (modelopt.py override_quantization_method).
std::string modelopt_method(const Config& q) {
  const Config inner = q.section_or_empty("quantization");
  const Config& holder = inner.has("quant_algo") ? inner : q;
  return holder.text({"quant_algo"}, "") == "NVFP4" ? "modelopt_fp4" : "modelopt";
}

std::string quark_method(const Config& q, const Config& file) {
  const std::string stored = quark_scheme(q, file);
  const bool plain = stored.starts_with("quark-int4-") && !stored.starts_with("quark-int4-fp8");
  return plain ? std::string(quark_int4) : "quark";
}

std::string method_of(const Config& q, const Config& file) {
  if (q.has("quant_method")) {
    const std::string method = lower(q.text({"quant_method"}));
    if (method == "modelopt") return modelopt_method(q);
    if (method == "quark") return quark_method(q, file);
    const std::string type = file.text({"model_type"}, "");
    const bool own = method == "fp8" && (type == "deepseek_v4" || type == "deepseek_v41");
    return own ? std::string(deepseek_v4_fp8) : method;
  }
  if (q.has("quant_algo")) return modelopt_method(q);
  if (q.has("group_size") && q.has("bits")) return "mlx";
  if (q.has("load_in_8bit") || q.has("load_in_4bit")) return "bitsandbytes";
  q.fail("quant_method", fmt::format("missing; known methods: {}", known_methods()));
}

/// Null: the method is not described.
const CheckpointMethod* row_of(const Config& q, const Config& file) {
  const auto methods = checkpoint_methods();
  const auto row = std::ranges::find(methods, method_of(q, file), &CheckpointMethod::name);
  return row == methods.end() ? nullptr : &*row;
}

}  // namespace

bool states_quantisation(const Config& config) { return quantisation_of(config).has_value(); }

std::string checkpoint_scheme(const Config& config) {
  const auto q = quantisation_of(config);
  if (!q) return plain_scheme(config);
  const CheckpointMethod* row = row_of(*q, config);
  return row != nullptr ? row->scheme(*q, config) : undescribed_scheme(method_of(*q, config));
}

CheckpointDetails checkpoint_details(const Config& config) {
  CheckpointDetails details;
  const auto q = quantisation_of(config);
  const Config text = config.section_or_empty("text_config");
  details.stated = q.has_value();
  for (const Config& c : {config, text}) {
    const std::string type = c.text({"dtype", "torch_dtype"}, "auto");
    details.stated = details.stated || type != "auto";
  }
  if (!q) return details;
  details.method = method_of(*q, config);
  details.cache = stated_cache(*q, details.method);
  if (const CheckpointMethod* row = row_of(*q, config))
    row->exceptions(*q, config, details);
  else  // the method itself is what is not described
    for (const auto& entry : q->object()) q->has(entry.key());
  // A text model's own section says nothing of towers and projectors.
  if (!has_quantisation(config)) stay(details, {R"(re:(?!(?:.*\.)?language_model\.|lm_head).*)"});
  check_module_names(details.ignored);
  for (const CheckpointGroup& group : details.groups) check_module_names(group.targets);
  return details;
}

}  // namespace headroom::model
