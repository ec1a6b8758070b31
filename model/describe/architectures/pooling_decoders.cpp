// Decoders that return vectors or scores: bodies whose attention sees both sides, and heads for
// embeddings, rewards and decisions that only one model has.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/families.hpp"

namespace headroom::model::families::pooling_decoders {

/// The text model of type `type`, for classes whose configs have a model_type of their own.
Submodel body_of_type(const Config& c, std::string_view type) {
  return text_model(with_optional_class_defaults(c, type), type);
}
/// Attention to both sides keeps nothing for the next token.
Part both_sides(Part part) {
  part.caches.clear();
  return part;
}
/// Two matrices with an activation between them, both with biases.
Part two_matrices(std::string_view name, Size in_dim, Size inner, Size out, Bias bias) {
  return in(name, "Sequential",
            linear("0", in_dim, inner, bias) + module("1", "ReLU") + linear("2", inner, out, bias));
}

// ---- embeddings -------------------------------------------------------------------------------

/// Source: vLLM 0.33 llama.py, LlamaBidirectionalModel, and config.py, LlamaBidirectionalConfig.
Part llama_both_sides(const Config& c) {
  Submodel body = body_of_type(c, "llama");
  if (is_for(c, "Model")) return both_sides(std::move(body.part));
  return in("model", "LlamaBidirectionalModel", both_sides(std::move(body.part))) +
         linear("score", body.width, labels(c));
}
/// Source: vLLM 0.33 registry.py: DeepSeek-V3 as an embedding model.
Part deepseek_v3_both_sides(const Config& c) {
  return both_sides(body_of_type(c, "deepseek_v3").part);
}
/// Source: vLLM 0.33 lfm2.py, Lfm2BidirectionalModel: convolutions see both sides, too.
Part lfm2_both_sides(const Config& c) { return both_sides(body_of_type(c, "lfm2").part); }
/// The layers of Qwen3, or of EuroBERT where the config says that it does not decode. Adapters for
/// single tasks are in files of their own. Source: vLLM 0.33 jina.py, JinaEmbeddingsV5Model.
Part jina_v5(const Config& c) {
  if (c.flag({"is_decoder"}, true)) return body_of_type(c, "qwen3").part;
  return rotary_encoders::eurobert(
      with_optional_class_defaults(c, "eurobert").as_class("EuroBertModel"));
}
/// Source: vLLM 0.33 voyage.py.
Part voyage(const Config& c) {
  Submodel body = body_of_type(c, "qwen3");
  return in("model", "Qwen3Model", both_sides(std::move(body.part))) +
         linear("linear", body.width, labels(c));
}
/// Source: vLLM 0.33 jina.py, JinaForRanking, and config.py, which sets embedding_size.
Part jina_ranking(const Config& c) {
  Submodel body = body_of_type(c, "qwen3");
  return in("model", "Qwen3Model", std::move(body.part)) +
         two_matrices("projector", body.width, body.width / 2, c.dim({"embedding_size"}, 512),
                      Bias::no);
}

// ---- rewards and classes ----------------------------------------------------------------------

/// A score of each token: one, or two for a step that is right or wrong.
/// Source: vLLM 0.33 qwen2_rm.py, SGLang 0.5.23 qwen3_rm.py.
Part reward(const Config& c, std::string_view type, Size scores) {
  Submodel body = body_of_type(c, type);
  return in("model", body.class_name, std::move(body.part)) +
         two_matrices("score", body.width, body.width, scores, Bias::yes);
}
Part qwen2_reward(const Config& c) {
  return reward(c, "qwen2", is_for(c, "ForProcessRewardModel") ? 2 : 1);
}
Part qwen3_reward(const Config& c) { return reward(c, "qwen3", 1); }

/// Source: SGLang 0.5.23 llama_classification.py.
Part llama_classes(const Config& c) {
  Submodel body = body_of_type(c, "llama");
  return in("model", "LlamaModel", std::move(body.part)) +
         linear("classification_head", body.width, c.dim({"classification_out_size"}));
}
/// Half of the scores are means; a network weighs them. Source: SGLang 0.5.23 llama_reward.py.
Part llama_weighted(const Config& c) {
  Submodel body = body_of_type(c, "llama");
  const Size width = body.width, scores = labels(c);
  const Part network = linear("0", width, width, Bias::yes) + module("1", "SELU") +
                       linear("2", width, width, Bias::yes) + module("3", "SELU") +
                       linear("4", width, scores / 2, Bias::yes);
  return in("model", "LlamaModel", std::move(body.part)) + linear("score", width, scores) +
         in("weights", "Weights", in("fc", "Sequential", network));
}

// ---- decisions --------------------------------------------------------------------------------

/// torch's MultiheadAttention.
Part joined_attention(std::string_view name, Size width) {
  return in(name, "MultiheadAttention",
            tensor("in_proj_weight", {3 * width, width}, Role::matmul) +
                tensor("in_proj_bias", {3 * width}, Role::bias) +
                linear("out_proj", width, width, Bias::yes));
}

/// A head that scores the options of a schema. Its file is joint_head.safetensors.
/// Source: vLLM 0.33 clef_joint_schema.py, JointSchemaHead.
Part joint_head(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), width = c.dim({"width"});
  const Size inner = c.dim({"feedforward"});
  Part maps;
  for (const std::string_view name :
       {"memory", "question", "option_question", "global", "option_context", "option_lexical"})
    maps = std::move(maps) + linear(std::string(name) + "_projection", hidden, width);
  const auto evidence = [&](const std::string& name, Size) {
    return in(name, "EvidenceRoutingLayer",
              layer_norm("query_norm", width) + layer_norm("memory_norm", width) +
                  joined_attention("attention", width) + layer_norm("feedforward_norm", width) +
                  in("feedforward", "Sequential",
                     linear("0", width, inner, Bias::yes) + module("1", "GELU") +
                         linear("3", inner, width, Bias::yes)));
  };
  const auto layer = [&](const std::string& name, Size) {
    return in(name, "TransformerDecoderLayer",
              joined_attention("self_attn", width) + joined_attention("multihead_attn", width) +
                  linear("linear1", width, inner, Bias::yes) +
                  linear("linear2", inner, width, Bias::yes) + layer_norm("norm1", width) +
                  layer_norm("norm2", width) + layer_norm("norm3", width));
  };
  return tensor("prior_logit_scale", {}, Role::other) +
         tensor("joint_logit_scale", {}, Role::other) + tensor("residual_gate", {}, Role::other) +
         layer_norm("hidden_norm", hidden) + std::move(maps) +
         embedding("type_embedding", 3, width) +
         list("evidence_layers", c.dim({"routing_layers"}), evidence) +
         layer_norm("option_summary_norm", width) + list("layers", c.dim({"layers"}), layer) +
         layer_norm("field_norm", width) + layer_norm("option_norm", width) +
         in("residual_scorer", "Sequential",
            linear("0", 4 * width, width, Bias::yes) + module("1", "GELU") +
                linear("3", width, 1, Bias::yes));
}
/// Source: vLLM 0.33 clef_omni.py.
Part clef_omni(const Config& given) {
  const Config c = with_optional_class_defaults(given, "qwen3_omni_moe_thinker")
                       .as_class("Qwen3OmniMoeThinkerForConditionalGeneration");
  return qwen_omni::qwen3_omni_thinker(c) +
         in("joint_head", "JointSchemaHead", joint_head(given.section("joint_head_config")));
}
/// Source: vLLM 0.33 clef_flash.py.
Part clef_flash(const Config& given) {
  const Config c =
      with_optional_class_defaults(given, "qwen3_5").as_class("Qwen3_5ForConditionalGeneration");
  return qwen_vl::qwen3_vl(c) +
         in("joint_head", "JointSchemaHead", joint_head(given.section("joint_head_config")));
}

/// A readout of one row for each answer code, in readout.safetensors. Source: vLLM 0.33 d3.py and
/// config.py, D3ForSequenceClassificationConfig.
Part d3(const Config& given) {
  const Config c =
      with_optional_class_defaults(given, "qwen3_5").as_class("Qwen3_5ForConditionalGeneration");
  if (!given.has("decision_config"))
    given.fail("decision_config",
               "is missing: the answer codes are in decision_config.json, whose content this key "
               "must have");
  const auto codes = static_cast<Size>(given.section("decision_config").dims({"token_ids"}).size());
  if (codes == 0) given.fail("decision_config", "has no token_ids, expected one of each code");
  return body_of(qwen_vl::qwen3_vl(c), "model").part +
         linear("score", width_of(section_of(c, "text_config", "qwen3_5_text")), codes);
}

/// Qwen3-ASR with a head that gives a bin of time. Source: vLLM 0.33 qwen3_asr_forced_aligner.py.
Part qwen3_aligner(const Config& c) {
  const bool wrapped = c.has("thinker_config");
  const Config own = wrapped ? c.section("thinker_config") : c;
  const Size width = own.section("text_config").dim({"hidden_size"});
  const std::string head = wrapped ? "thinker.lm_head" : "lm_head";
  return without(audio_language::qwen3_asr(c), head) +
         linear(head, width, own.dim({"classify_num"}));
}

}  // namespace headroom::model::families::pooling_decoders
