// DFlash (arXiv:2602.06036) and DSpark: heads that propose a block of tokens in one pass. Their
// layers attend to projected hidden states of several layers of the model that they serve.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/draft_heads.hpp"

namespace headroom::model::families::dflash {

/// Learned scores beside the keys', as MiMo's heads have them.
Part sinks(const Config& c, const DraftHead& d) {
  const bool wanted =
      c.section_or_empty("dflash_config")
          .flag({"attention_sink_bias"}, c.flag({"add_swa_attention_sink_bias"}, false));
  Part all;
  if (!wanted) return all;
  const Size heads = d.layer.dim({"num_attention_heads"});
  for (Size i = 0; i < d.layer.dim({"num_hidden_layers"}); ++i)
    all = std::move(all) + at("layers." + std::to_string(i),
                              at("self_attn", tensor("attention_sink_bias", {heads}, Role::other)));
  return all;
}

/// Layers, the projection of hidden states, and norms after both. Flat checkpoints leave
/// embeddings and head to the target model.
Part frame(const Config& c, const DraftHead& d) {
  Part body = draft_body(d);
  if (!d.speculators) body = without(std::move(body), "embed_tokens");
  const Size states = target_states(c, "dflash_config", d.layer.dim({"num_hidden_layers"}));
  return std::move(body) + sinks(c, d) + linear("fc", states * d.target, d.hidden) +
         rms_norm("hidden_norm", "RMSNorm", d.hidden);
}

/// Source: vLLM 0.33 qwen3_dflash.py and transformers_utils/configs/speculators/algos.py; SGLang
/// 0.5.23 dflash.py.
Part dflash(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3");
  Part head = frame(c, d);
  return d.speculators ? std::move(head) + draft_vocabulary(d) : head;
}

/// A convolution over the block before and after attention and feed-forward, and a selector of
/// candidates. Source: vLLM 0.33 qwen3_dflash2.py.
Part dflash2(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3");
  const Config own = c.has("dflash_config") ? c.section("dflash_config") : c;
  const Size taps = own.dim({"conv_kernel_size"}), group = own.dim({"conv_group_size"});
  const Size rank = own.dim({"selector_rank"});
  if (d.hidden % group != 0)
    own.fail("conv_group_size", "found " + std::to_string(group) +
                                    ", expected a divisor of hidden_size (" +
                                    std::to_string(d.hidden) + ")");
  const auto convolution = [&](std::string_view name) {
    return in(name, "DFlashGroupedConv",
              tensor("base_kernel", {2, taps, d.hidden}, Role::conv) +
                  linear("kernel_projection", d.hidden, 2 * taps * (d.hidden / group)));
  };
  Part head = dflash(c);
  const std::vector<std::string> layers = head.blocks;
  for (const std::string& layer : layers)
    head = std::move(head) + at(layer, convolution("attention_conv") + convolution("mlp_conv"));
  return std::move(head) + in("candidate_selector", "CandidateSelector",
                              tensor("predecessor_codebook", {d.vocab, rank}, Role::embedding) +
                                  tensor("successor_codebook", {d.vocab, rank}, Role::embedding) +
                                  linear("hidden_projection", d.hidden, rank));
}

/// A head that weighs each token by the one before it: a low-rank matrix over the vocabulary.
/// Source: vLLM 0.33 qwen3_dspark.py, SGLang 0.5.23 dspark.py.
Part markov_head(const Config& c, const DraftHead& d) {
  const Size rank = c.dim({"markov_rank"});
  const std::string kind = c.text({"markov_head_type"}, "vanilla");
  Part head = embedding("markov_w1", d.vocab, rank) + linear("markov_w2", rank, d.own_vocab);
  if (kind == "gated")
    head = std::move(head) + linear("gate_proj", d.hidden + rank, rank, Bias::yes);
  else if (kind == "rnn")
    head = std::move(head) + linear("joint_proj", 2 * rank + d.hidden, 3 * rank, Bias::yes);
  else if (kind != "vanilla")
    c.fail("markov_head_type", "found '" + kind + "', expected vanilla, gated or rnn");
  return in("markov_head", "DSparkMarkovHead", std::move(head));
}

/// Checkpoints hold embeddings and head in both formats: training stores the whole module
/// (github.com/sgl-project/sglang/pull/30204, owns_vocab_weights).
Part dspark(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3");
  Part head = frame(c, d);
  if (!d.speculators) head = embedding("embed_tokens", d.vocab, d.hidden) + std::move(head);
  head = std::move(head) + draft_vocabulary(d) + markov_head(c, d);
  if (!c.flag({"enable_confidence_head"}, false)) return head;
  const Size more = c.flag({"confidence_head_with_markov"}, false) ? c.dim({"markov_rank"}) : 0;
  return std::move(head) + in("confidence_head", "DSparkConfidenceHead",
                              linear("proj", d.hidden + more, 1, Bias::yes));
}

/// The projection and its norm have a module of their own, and the config names no vocabulary.
/// Source: transformers 5.23, models/muse_glimmer_assistant.
Part muse_glimmer(const Config& c) {
  const DraftHead d = draft_head(c.with_defaults({{"vocab_size", 1},
                                                  {"num_key_value_heads", 8},
                                                  {"head_dim", 128},
                                                  {"sliding_window", 2048}}),
                                 "qwen3");
  Part body = without(draft_body(d), "embed_tokens");
  return std::move(body) +
         in("encoder", "MuseGlimmerAssistantContextProjection",
            linear("fc", target_states(c, "", 5) * d.hidden, d.hidden) +
                rms_norm("output_norm_enc", "MuseGlimmerAssistantRMSNorm", d.hidden));
}

}  // namespace headroom::model::families::dflash
