#include "model/describe/multi_token_prediction.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <string>

#include "hardware/text.hpp"
#include "model/describe/architectures/deepseek_v4.hpp"
#include "model/describe/architectures/ernie4_5_moe.hpp"
#include "model/describe/architectures/longcat_flash.hpp"
#include "model/describe/architectures/mimo.hpp"
#include "model/describe/architectures/nemotron_h.hpp"
#include "model/describe/architectures/qwen4_exp.hpp"
#include "model/describe/architectures/step3p7.hpp"
#include "model/describe/architectures/step5.hpp"
#include "model/describe/blocks/blocks.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model {
namespace {

/// Layout of the modules in a checkpoint.
enum class Layout {
  appended,    ///< each as one more layer of the stack, with everything it needs
  own_module,  ///< "mtp": layers with one projection and norms for all of them
  described,   ///< as PredictorRow::describe returns each
};
enum class Copies { no, embedding_and_head };
/// The layer of the model that a module has once more: of the last with the largest cache, or of
/// those without experts.
enum class Repeated { any, dense };

struct PredictorRow {
  std::string_view model_type;
  Size otherwise;  ///< modules where the config does not say
  Layout layout;
  Copies copies;
  std::string_view source;
  /// One module; nothing where the config does not say enough.
  Part (*describe)(const Config&, Size number) = nullptr;
  std::string_view last_norm = "shared_head.norm";  ///< for Layout::appended
  bool together = false;                            ///< see MultiTokenPrediction::together
  Repeated repeated = Repeated::any;
  std::string_view without{};  ///< modules that the layer lacks in it, "|" between them
  /// The row counts where the config has this key; a row without one counts otherwise.
  std::string_view key{};
  bool own_number = false;  ///< modules by n_mtp_layers alone
};

constexpr std::string_view deepseek =
    "deepseek-ai/DeepSeek-V3 README_WEIGHTS.md; transformers 5.23 modeling_layers.py, MtpModel";
constexpr std::string_view glm =
    "vLLM glm4_moe_mtp.py; transformers 5.23 modeling_layers.py, MtpModel";
constexpr std::string_view ling =
    "vLLM 0.33 bailing_moe_mtp.py and bailing_moe_v3_mtp.py; inclusionAI/Ling-V2 "
    "modeling_bailing_moe_v2.py";
constexpr std::string_view mimo_v2 = "vLLM 0.33 mimo_v2_mtp.py; SGLang 0.5.23 mimo_v2_nextn.py";
constexpr std::string_view qwen = "vLLM qwen3_next_mtp.py and qwen3_5_mtp.py";

constexpr PredictorRow predictor_rows[] = {
    {"bailing_moe", 0, Layout::appended, Copies::no, ling, nullptr, "final_layernorm"},
    {"bailing_hybrid", 0, Layout::appended, Copies::no, ling, nullptr, "final_layernorm"},
    {"bailing_moe_v2_5", 0, Layout::appended, Copies::no, ling, nullptr, "final_layernorm"},
    {"bailing_moe_v3", 0, Layout::appended, Copies::no, ling, nullptr, "final_layernorm"},
    {"deepseek_v3", 0, Layout::appended, Copies::embedding_and_head, deepseek},
    {"deepseek_v32", 0, Layout::appended, Copies::embedding_and_head, deepseek},
    {"deepseek_v4",
     3,
     Layout::described,
     Copies::no,
     "vLLM 0.33 models/deepseek_v4/nvidia/dspark.py",
     families::deepseek_v4::dspark_predictor,
     "shared_head.norm",
     true,
     Repeated::any,
     {},
     "dspark_target_layer_ids",
     true},
    {"deepseek_v4", 0, Layout::described, Copies::no, "vLLM 0.33 models/deepseek_v4/nvidia/mtp.py",
     families::deepseek_v4::predictor},
    {"deepseek_v41_text", 0, Layout::described, Copies::no,
     "vLLM 0.33 models/deepseek_v41/nvidia/dspark.py", families::deepseek_v41::predictor,
     "shared_head.norm", true},
    {"ernie4_5_moe", 0, Layout::described, Copies::no,
     "vLLM 0.33 ernie_mtp.py; SGLang 0.5.23 ernie4_eagle.py", families::ernie4_5_moe::predictor},
    {"exaone4_5_text", 0, Layout::own_module, Copies::no, "vLLM 0.33 exaone4_5_mtp.py"},
    {"exaone_moe", 0, Layout::own_module, Copies::no,
     "vLLM 0.33 exaone_moe_mtp.py; SGLang 0.5.23 exaone_moe_mtp.py", nullptr, "norm", false,
     Repeated::dense},
    {"kimi_k2", 0, Layout::appended, Copies::embedding_and_head, deepseek},
    {"glm4_moe", 0, Layout::appended, Copies::embedding_and_head, glm},
    {"glm4_moe_lite", 0, Layout::appended, Copies::embedding_and_head, glm},
    {"glm_moe_dsa", 0, Layout::appended, Copies::no, glm},
    {"glm_ocr_text", 0, Layout::appended, Copies::embedding_and_head,
     "vLLM 0.33 glm_ocr_mtp.py; SGLang 0.5.23 glm_ocr_nextn.py"},
    {"glm5_next_text", 0, Layout::appended, Copies::no, "vLLM 0.33 models/glm5next/common/mtp.py",
     nullptr, "shared_head.norm", false, Repeated::any, "attn_hc|ffn_hc"},
    {"hy_v3", 0, Layout::appended, Copies::no, "vLLM 0.33 hy_v3_mtp.py", nullptr,
     "final_layernorm"},
    {"longcat_flash", 1, Layout::described, Copies::no, "vLLM 0.33 longcat_flash_mtp.py",
     families::longcat_flash::predictor},
    {"mimo", 0, Layout::described, Copies::no, "vLLM 0.33 mimo_mtp.py", families::mimo::predictor},
    {"mimo_v2", 0, Layout::described, Copies::no, mimo_v2, families::mimo_v2_flash::predictor},
    {"mimo_v2_flash", 0, Layout::described, Copies::no, mimo_v2,
     families::mimo_v2_flash::predictor},
    {"nemotron_h", 0, Layout::described, Copies::no, "vLLM 0.33 nemotron_h_mtp.py",
     families::nemotron_h::predictor},
    {"pangu_ultra_moe", 0, Layout::appended, Copies::embedding_and_head,
     "vLLM 0.33 openpangu_mtp.py"},
    {"qwen3_moe", 0, Layout::own_module, Copies::no, "SGLang 0.5.23 qwen3_moe_mtp.py"},
    {"qwen3_next", 1, Layout::own_module, Copies::no, qwen},
    {"qwen3_5_text", 0, Layout::own_module, Copies::no, qwen},
    {"qwen3_5_moe_text", 0, Layout::own_module, Copies::no, qwen},
    {"qwen4_exp_text", 0, Layout::described, Copies::no, "vLLM 0.33 models/qwen4_exp/nvidia/mtp.py",
     families::qwen4_exp::predictor},
    {"step3p5", 0, Layout::described, Copies::no,
     "vLLM 0.33 step3p5_mtp.py; SGLang 0.5.23 step3p5_mtp.py", families::step3p7::predictor},
    {"step5", 0, Layout::described, Copies::no, "vLLM 0.33 models/step5/nvidia/mtp.py",
     families::step5::predictor},
};

/// Number of modules, by the first key that the file has. A default of the class does not count:
/// checkpoints of files that leave the key out (Moonlight-16B-A3B) hold no modules.
Size modules_of(const Config& c, Size otherwise, bool own_number) {
  if (own_number) return c.count({"n_mtp_layers"}, otherwise);
  return c.count({"n_mtp_layers", "num_nextn_predict_layers", "num_mtp_layers",
                  "mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_modules"},
                 otherwise);
}

/// The output projection of the language model: vocabulary x hidden.
const Tensor* head_of(const Part& part) {
  const auto found = std::ranges::find(part.tensors, Role::head, &Tensor::role);
  return found == part.tensors.end() ? nullptr : &*found;
}
/// The embedding of the same shape: towers have smaller ones.
const Tensor* embedding_of(const Part& part, const Tensor& head) {
  const auto found = std::ranges::find_if(part.tensors, [&](const Tensor& t) {
    return t.role == Role::embedding && t.shape == head.shape;
  });
  return found == part.tensors.end() ? nullptr : &*found;
}

/// True if `name` is of one of `modules` below `scope`.
bool is_without(std::string_view name, const std::string& scope, std::string_view modules) {
  for (const std::string_view module : split(modules, '|'))
    if (!module.empty() && name.starts_with(scope + std::string(module) + '.')) return true;
  return false;
}

/// The tensors and caches of the layer `from`, renamed to `to`, without `modules`.
Part renamed_block(const Part& part, const std::string& from, const std::string& to,
                   std::string_view modules) {
  Part block;
  const std::string scope = from + '.';
  for (const Tensor& t : part.tensors)
    if (t.name.starts_with(scope) && !is_without(t.name, scope, modules)) {
      block.tensors.push_back(t);
      block.tensors.back().name.replace(0, from.size(), to);
    }
  for (const Cache& cache : part.caches)
    if (cache.path == from || cache.path.starts_with(scope)) {
      block.caches.push_back(cache);
      block.caches.back().path.replace(0, from.size(), to);
    }
  return block;
}

/// The last of the layers with the largest cache per token. Such a layer has full attention where
/// others have a state, or an indexer of its own where others share one. Empty where no layer is
/// as `repeated` says.
std::string model_layer(const Part& part, Repeated repeated) {
  const auto is_within = [](std::string_view path, std::string_view block) {
    return path.starts_with(block) && (path.size() == block.size() || path[block.size()] == '.');
  };
  Size most = 0;
  std::string_view found;
  for (const std::string& block : part.blocks) {
    std::optional<Size> kept;
    for (const Cache& cache : part.caches)
      if (is_within(cache.path, block)) kept = kept.value_or(0) + cache.per_token;
    const auto mixes = [&](const Tensor& t) { return t.of > 1 && is_within(t.name, block); };
    if (kept.value_or(-1) >= most &&
        (repeated == Repeated::any || std::ranges::none_of(part.tensors, mixes)))
      most = *kept, found = block;
  }
  return std::string(found);
}

Part projection(std::string_view scope, std::string_view name, Size hidden) {
  return at(scope, at(name, tensor("weight", {hidden, 2 * hidden}, Role::matmul)));
}
Part norm(std::string_view scope, std::string_view name, Size hidden) {
  return at(scope, at(name, tensor("weight", {hidden}, Role::norm)));
}
Part copy_of(const Tensor& owner, std::string_view scope, std::string_view name) {
  Part p = at(scope, tensor(name, owner.shape, owner.role));
  p.tensors[0].tied_to = owner.name;
  return p;
}

/// The path above all tensors of a module: `usual` if it has any, else what their names share.
std::string scope_of(const Part& module, const std::string& usual) {
  std::string_view shared = module.tensors.at(0).name;
  for (const Tensor& t : module.tensors) {
    if (t.name.starts_with(usual + '.')) return usual;
    const auto end = std::ranges::mismatch(shared, t.name).in1;
    shared = shared.substr(0, static_cast<std::size_t>(end - shared.begin()));
  }
  return std::string(shared.substr(0, shared.rfind('.')));
}

/// One more layer of the stack of `layer`.
Part appended(const Part& part, const std::string& layer, Size number, const PredictorRow& row) {
  const Tensor& head = *head_of(part);
  const Size hidden = head.shape.at(1);
  const std::string here = layer.substr(0, layer.rfind('.') + 1) + std::to_string(number);
  Part module = renamed_block(part, layer, here, row.without) + norm(here, "enorm", hidden) +
                norm(here, "hnorm", hidden) + projection(here, "eh_proj", hidden) +
                norm(here, row.last_norm, hidden);
  module.blocks = {here};
  const Tensor* embedding = embedding_of(part, head);
  if (row.copies == Copies::no || embedding == nullptr) return module;
  return std::move(module) + copy_of(*embedding, here, "embed_tokens.weight") +
         copy_of(head, here, "shared_head.head.weight");
}

Part own_module(const Part& part, const std::string& layer, Size modules) {
  const Size hidden = head_of(part)->shape.at(1);
  Part all = norm("mtp", "pre_fc_norm_embedding", hidden) +
             norm("mtp", "pre_fc_norm_hidden", hidden) + projection("mtp", "fc", hidden);
  for (Size i = 0; i < modules; ++i)
    all = std::move(all) + renamed_block(part, layer, "mtp.layers." + std::to_string(i), "");
  all = std::move(all) + norm("mtp", "norm", hidden);
  all.blocks = {"mtp"};  // one projection and one norm serve all layers
  return all;
}

}  // namespace

MultiTokenPrediction multi_token_prediction(const Config& config, const Part& part) {
  const bool nested = config.has("text_config") && config.object().at("text_config").is_object();
  const Config stated = nested ? config.section("text_config") : config;
  const std::string type = stated.text({"model_type"}, "");
  const Config c =
      nested ? with_class_defaults(stated, type) : with_optional_class_defaults(stated, type);
  const auto row = std::ranges::find_if(predictor_rows, [&](const PredictorRow& each) {
    return each.model_type == type && (each.key.empty() || stated.has(each.key));
  });
  const bool described = row != std::end(predictor_rows);
  MultiTokenPrediction all{
      .modules = modules_of(stated, described ? row->otherwise : 0, described && row->own_number)};
  if (all.modules > most_layers)
    c.fail("num_nextn_predict_layers", "found " + std::to_string(all.modules) + ", at most " +
                                           std::to_string(most_layers) + " are supported");
  if (!described || all.modules == 0 || !head_of(part)) return all;
  all.together = row->together;
  if (row->layout == Layout::described) {
    all.source = row->source;
    for (Size i = 0; i < all.modules; ++i) {
      Part module = row->describe(c, i);
      if (module.tensors.empty()) return {.modules = all.modules};
      module.blocks = {scope_of(module, "mtp." + std::to_string(i))};
      all.part = std::move(all.part) + std::move(module);
    }
    return all;
  }
  const std::string layer = model_layer(part, row->repeated);
  if (layer.empty() || c.flag({"mtp_use_dedicated_embeddings"}, false)) return all;
  all.source = row->source;
  if (row->layout == Layout::own_module) {
    all.part = own_module(part, layer, all.modules);
    return all;
  }
  const Size layers = c.dim({"num_hidden_layers"});
  for (Size i = 0; i < all.modules; ++i)
    all.part = std::move(all.part) + appended(part, layer, layers + i, *row);
  return all;
}

std::string_view predictor_source(std::string_view model_type) {
  const auto row = std::ranges::find_if(predictor_rows, [&](const PredictorRow& each) {
    return each.model_type == model_type && each.key.empty();
  });
  return row == std::end(predictor_rows) ? std::string_view{} : row->source;
}

}  // namespace headroom::model
