// EAGLE (arXiv:2401.15077) and EAGLE-3 (arXiv:2503.01840): heads that propose the next token from
// hidden states of the model that they serve.
#include <algorithm>
#include <array>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/draft_heads.hpp"

namespace headroom::model::families {

DraftHead draft_head(const Config& c, std::string_view type, OwnVocabulary unsaid) {
  const bool speculators = c.has("transformer_layer_config");
  const Config layer = speculators ? section_of(c, "transformer_layer_config", type)
                                   : with_optional_class_defaults(c, type);
  const Size hidden = layer.dim({"hidden_size"}), vocab = layer.dim({"vocab_size"});
  const Size own = c.dim({"draft_vocab_size"}, vocab);
  // Tables of another width cannot be the target's: vLLM 0.33
  // v1/spec_decode/llm_base_proposer.py _maybe_share_embeddings.
  const Size target = c.dim({"target_hidden_size"}, hidden);
  const bool apart = speculators || target != hidden;
  if (own > vocab)
    c.fail("draft_vocab_size", "found " + std::to_string(own) + ", expected at most vocab_size (" +
                                   std::to_string(vocab) + ")");
  return {.layer = layer,
          .type = speculators ? layer.text({"model_type"}) : std::string(type),
          .speculators = speculators,
          .hidden = hidden,
          .target = target,
          .vocab = vocab,
          .own_vocab = own,
          .embedding = c.flag({"has_embed_tokens"}, apart || unsaid.embedding),
          .head = c.flag({"has_lm_head"}, apart || unsaid.head)};
}

Part draft_body(const DraftHead& d) {
  Part body = text_model(d.layer, d.type).part;
  if (std::ranges::any_of(body.tensors, [](const Tensor& t) { return t.of > 1; }))
    d.layer.fail("num_hidden_layers",
                 "found layers with experts, expected dense ones: heads with "
                 "experts are not described");
  return d.embedding ? body : without(std::move(body), "embed_tokens");
}

Size target_states(const Config& c, std::string_view section, Size otherwise) {
  const Config inner = c.section_or_empty(section);
  for (const Config* each : {&c, &inner}) {
    const Size listed =
        static_cast<Size>(each->dims({"eagle_aux_hidden_state_layer_ids",
                                      "aux_hidden_state_layer_ids", "target_layer_ids"})
                              .size());
    if (listed > 0) return listed;
  }
  return otherwise;
}

Part draft_vocabulary(const DraftHead& d) {
  if (!d.head) return {};
  Part head = output_head("lm_head", d.hidden, d.own_vocab);
  if (d.own_vocab == d.vocab) return head;
  return std::move(head) + buffer("d2t", {d.own_vocab}, Element::int64, true) +
         buffer("t2d", {d.vocab}, Element::boolean, true);
}

namespace eagle {

const std::string first = "layers.0";

/// The parts of a text model that a head of the first EAGLE keeps.
struct Kept {
  bool embedding = true, first_norm = true, final_norm = true;
  bool biased = false;  ///< the projection, where the config does not say
};

/// Embeddings and the target's last hidden state are projected to one and go through the layers.
/// The output head is the target's.
Part features(const Config& c, std::string_view type, Kept kept) {
  const DraftHead d = draft_head(c, type, {.embedding = kept.embedding, .head = false});
  Part body = draft_body(d);
  if (!kept.first_norm) body = without(std::move(body), first + ".input_layernorm");
  if (!kept.final_norm) body = without(std::move(body), "norm");
  return std::move(body) + linear("fc", 2 * d.hidden, d.hidden, c.bias({"bias"}, kept.biased));
}

/// Source: vLLM 0.33 llama_eagle.py, SGLang 0.5.23 llama_eagle.py and qwen2_eagle.py. Files of
/// EAGLE's authors have a bias where the config does not deny it (eagle/model/cnets1.py); those
/// that name vLLM's class have none.
Part llama(const Config& c) {
  return features(
      c, "llama",
      {.first_norm = false, .final_norm = false, .biased = !c.class_name().starts_with("Eagle")});
}
Part qwen2(const Config& c) {
  return features(c, "qwen2", {.first_norm = false, .final_norm = false, .biased = true});
}
/// Source: SGLang 0.5.23 mistral_eagle.py, vLLM 0.33 mistral_eagle.py.
Part mistral(const Config& c) { return features(c, "mistral", {.embedding = false}); }
/// Source: vLLM 0.33 mistral_large_3_eagle.py.
Part mistral_large3(const Config& c) { return features(c, "deepseek_v3", {.embedding = false}); }
/// Source: vLLM 0.33 cohere_eagle.py.
Part cohere(const Config& c) {
  const std::string type = c.text({"model_type"}, "cohere");
  return in("model", "CohereEagleModel",
            features(c, type == "cohere2" ? "cohere2" : "cohere",
                     {.embedding = !c.flag({"tie_word_embeddings"}, true), .biased = true}));
}

/// Projections whose input is twice as wide: the embedding and the hidden state side by side.
bool reads_both(const Tensor& t) {
  constexpr std::array<std::string_view, 5> names{"q_proj", "k_proj", "v_proj", "q_a_proj",
                                                  "kv_a_proj_with_mqa"};
  return t.role == Role::matmul && std::ranges::any_of(names, [&](std::string_view name) {
           return t.name == first + ".self_attn." + std::string(name) + ".weight";
         });
}

/// The layers with the first one's wide input and its second norm.
Part wide_layers(Part body, Size hidden) {
  for (Tensor& t : body.tensors)
    if (reads_both(t)) t.shape[1] *= 2;
  const std::string norm =
      std::ranges::find(body.modules, first + ".input_layernorm", &Module::path)->class_name;
  return std::move(body) + at(first, rms_norm("hidden_norm", norm, hidden));
}

/// Norms of the target's hidden states before they are projected: one of all, or one of each.
Part input_norms(const Config& c, const DraftHead& d, Size states) {
  const Config own = c.section_or_empty("eagle_config");
  Part norms;
  if (own.flag({"norm_before_fc"}, c.flag({"norm_before_fc"}, false)))
    norms = rms_norm("input_norm", "RMSNorm", states * d.target);
  if (!c.flag({"fc_norm"}, false) && !c.flag({"use_aux_norm"}, false)) return norms;
  Part each;
  for (Size i = 0; i < states; ++i)
    each = std::move(each) + rms_norm(std::to_string(i), "RMSNorm", d.target);
  return std::move(norms) + in("fc_norm", "ModuleList", std::move(each));
}

/// One or a few layers over hidden states of several of the target's layers.
/// Source: vLLM 0.33 llama_eagle3.py, qwen3_eagle3.py, deepseek_eagle3.py and
/// transformers_utils/configs/speculators/algos.py; SGLang 0.5.23 llama_eagle3.py.
Part third(const Config& c, std::string_view type) {
  const DraftHead d = draft_head(c, type, {.embedding = false, .head = true});
  Part body = draft_body(d);
  body = wide_layers(std::move(body), d.hidden);
  if (c.class_name().ends_with("Eagle3") && body.blocks.size() == 1)
    body = without(moved(std::move(body), first, "midlayer"), "layers");
  if (c.section_or_empty("eagle_config").flag({"use_aux_hidden_state"}, true)) {
    const Size states =
        c.dim({"num_aux_layers", "num_aux_hidden_states"}, target_states(c, "eagle_config", 3));
    body = std::move(body) + input_norms(c, d, states) +
           linear("fc", states * d.target, d.hidden, c.bias({"bias"}, false));
    if (is_for(c, "PEagleDraftModel") || c.class_name().starts_with("Peagle"))
      body = std::move(body) + tensor("mask_hidden", {1, states * d.target}, Role::other);
  }
  return std::move(body) + draft_vocabulary(d);
}
Part eagle3(const Config& c) { return third(c, "llama"); }
Part eagle3_qwen3(const Config& c) { return third(c, "qwen3"); }
Part eagle3_deepseek(const Config& c) { return third(c, "deepseek_v3"); }

}  // namespace eagle

}  // namespace headroom::model::families
