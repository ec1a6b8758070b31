#include "model/checkpoint/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "model/checkpoint/position_table.hpp"
#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/checkpoint/quantisation/undescribed.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/class_defaults.hpp"
#include "model/describe/effective_keys.hpp"
#include "model/describe/head_tie.hpp"
#include "model/describe/nested_decoder.hpp"
#include "model/describe/synonyms.hpp"

namespace headroom::model {
namespace {

/// The config section of the text decoder, with its class's defaults. A vision-language config has
/// one for its text model, an encoder-decoder for its decoder, and a speech model for its thinker.
std::optional<Config> writing_section(const Config& c) {
  for (const std::string_view name : {"text_config", "llm_config", "language_config", "decoder",
                                      "decoder_config", "thinker_config", "config", "text"})
    if (c.has(name) && c.object().at(name).is_object()) {
      const Config section = c.section(name);
      return with_class_defaults(section, section.text({"model_type"}, ""));
    }
  return std::nullopt;
}

/// Reads alternative keys for one value, at the top level or in the text decoder's section.
Size shape_key(const Config& config, Config::Keys keys) {
  const auto read = [&](const Config& c) {
    for (const auto key : keys)  // the maximum of a list with one number a layer
      if (const auto* value = c.object().if_contains(key); value && value->is_array()) {
        const auto each = c.dims({key});
        return each.empty() ? Size{0} : *std::max_element(each.begin(), each.end());
      }
    return c.count(keys, 0);
  };
  const Size direct = read(config);
  if (direct > 0) return direct;
  const auto section = writing_section(config);
  return section ? shape_key(*section, keys) : 0;
}

const Config::Keys position_keys = {"max_position_embeddings",
                                    "n_positions",
                                    "seq_length",
                                    "max_seq_len",
                                    "max_sequence_length",
                                    "n_ctx",
                                    "max_position_embedding",
                                    "max_context",
                                    "model_max_length",
                                    "max_context_length",
                                    "max_target_positions"};

/// 0: the model has no limit. A key that states none is an error.
Size positions_of(const Config& c) {
  const Size positions = shape_key(c, position_keys);
  if (positions > 0) return positions;
  for (std::optional<Config> at = c; at; at = writing_section(*at))
    for (const auto key : position_keys)
      if (at->has(key)) at->fail(key, "found no positions, expected a number above 0");
  return 0;
}

ModelShape shape_of(const Config& c) {
  ModelShape shape;
  shape.hidden_size =
      shape_key(c, {"hidden_size", "n_embd", "n_embed", "d_model", "dim", "model_dim"});
  shape.layers = shape_key(c, {"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                               "decoder_layers", "num_transformer_layers"});
  shape.query_heads = shape_key(
      c, {"num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"});
  shape.kv_heads =
      shape_key(c, {"num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups"});
  shape.head_dim = shape_key(c, {"head_dim", "d_kv"});
  if (shape.head_dim == 0 && shape.query_heads > 0)
    shape.head_dim = shape.hidden_size / shape.query_heads;
  shape.vocabulary = shape_key(c, {"vocab_size"});
  shape.target_size = shape_key(c, {"target_hidden_size"});
  shape.positions = usable_positions(c, positions_of(c));
  shape.intermediate_size = shape_key(
      c, {"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size", "decoder_ffn_dim"});
  return shape;
}

/// The most key-value heads that a layer caches; 0: no cache has heads.
Size cached_heads(const Part& part) {
  Size most = 0;
  for (const Cache& cache : part.caches)
    if (cache.kind == CacheKind::self_attention) most = std::max(most, cache.kv_heads);
  return most;
}

/// Fills in values that the config leaves to class defaults, or names otherwise, from the tensors
/// and caches. The head is vocabulary × hidden; without a head the largest embedding is.
void complete(ModelShape& shape, const Part& part) {
  if (shape.kv_heads == 0) shape.kv_heads = cached_heads(part);
  if (shape.kv_heads == 0) shape.kv_heads = shape.query_heads;
  const Tensor* table = nullptr;
  for (const Tensor& tensor : part.tensors) {
    if (tensor.role != Role::head && tensor.role != Role::embedding) continue;
    if (tensor.shape.size() != 2) continue;
    const bool better = table == nullptr ||
                        (tensor.role == Role::head && table->role != Role::head) ||
                        (tensor.role == table->role && tensor.shape[0] > table->shape[0]);
    if (better) table = &tensor;
  }
  if (table == nullptr) return;
  if (shape.hidden_size == 0) shape.hidden_size = table->shape[1];
  if (shape.vocabulary == 0) shape.vocabulary = table->shape[0];
}

/// Reads the objects directly, so that the key does not count as read by the description.
std::string text_type(const Config& config) {
  for (const char* key : {"text_config", "llm_config"}) {
    const auto* section = config.object().if_contains(key);
    if (section == nullptr || !section->is_object()) continue;
    const auto* type = section->as_object().if_contains("model_type");
    if (type != nullptr && type->is_string()) return std::string(type->as_string());
  }
  return {};
}

}  // namespace

std::set<std::string> effective_keys(const Config& config) {
  const Config file = with_nested_decoder(Config(config.object(), config.origin()));
  const Config whole = with_optional_class_defaults(file, file.text({"model_type"}, ""));
  const Part part = describe(file);
  checkpoint_scheme(file);
  checkpoint_details(file);
  whole.flag({"is_encoder_decoder"}, false);
  usable_positions(whole, positions_of(whole));
  image_rule(whole);
  rope_factors(whole, 0);
  multi_token_prediction(file, part);
  return file.keys_read();
}

Model make_model(std::string name, const Config& stated, std::string source) {
  const Config file = with_nested_decoder(stated);
  const Config config = with_optional_class_defaults(file, file.text({"model_type"}, ""));
  Model model;
  model.name = std::move(name);
  model.source = std::move(source);
  model.part = describe(file);
  refuse_unread_synonyms(file);
  model.architecture = model.part.modules.at(0).class_name;
  model.model_type = config.text({"model_type"}, "");
  model.text_type = text_type(config);
  model.checkpoint_scheme = checkpoint_scheme(file);
  model.checkpoint = checkpoint_details(file);
  model.encoder_decoder = config.flag({"is_encoder_decoder"}, false);
  model.shape = shape_of(config);
  complete(model.shape, model.part);
  model.images = image_rule(config);
  model.vision = vision_config(config);
  model.rope_factors = rope_factors(config, model.shape.head_dim);
  model.profile = profile_of(model.part, model.shape.hidden_size);
  model.multi_token_prediction = multi_token_prediction(file, model.part);
  check_targets(model, file);
  if (auto line = class_against_type(file); !line.empty()) model.assumed.push_back(std::move(line));
  if (auto tie = assumed_tie(file); !tie.empty()) model.assumed.push_back(std::move(tie));
  model.unknown_keys = unknown_keys(file);
  return model;
}

bool is_quantised(const Model& model) {
  return is_undescribed(model.checkpoint_scheme) ||
         scheme(model.checkpoint_scheme).family != SchemeFamily::plain;
}

std::vector<std::string> doubts_of_config(const Model& model) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> all;
  if (!model.described_as_another.empty())
    all.push_back(
        fmt::format("{} is not described and has the description of {} as you asked: no verdict "
                    "is sure, and any figure may be wrong",
                    model.described_as_another, model.architecture));
  if (model.checkpoint.lacks_lists)
    all.emplace_back(
        "the quantisation config does not list the modules that stay in 16 bit, as ModelOpt's own "
        "files do: the weights may be larger, and no verdict is certain");
  const std::vector<UnknownKey>& keys = model.unknown_keys;
  if (keys.empty()) return all;
  std::string names;
  for (std::size_t i = 0; i < std::min(keys.size(), most_named); ++i)
    names += (i > 0 ? ", " : "") + keys[i].key;
  if (keys.size() > most_named) names += fmt::format(" and {} more", keys.size() - most_named);
  all.push_back(
      fmt::format("config keys that are neither read nor known to {} may change memory and speed, "
                  "so no verdict is certain: {}",
                  model.architecture, names));
  return all;
}

std::vector<std::string> doubts(const Model& model) {
  std::vector<std::string> all = doubts_of_config(model);
  if (std::string line = disagreement(model); !line.empty()) all.push_back(std::move(line));
  return all;
}

bool is_doubtful(const Model& model) {
  return !model.unknown_keys.empty() || !model.described_as_another.empty() ||
         model.checkpoint.lacks_lists || disagrees(model);
}

}  // namespace headroom::model
