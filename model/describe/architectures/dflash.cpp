// DFlash (arXiv:2602.06036) and DSpark: heads that propose a block of tokens in one pass. Their
// layers attend to projected hidden states of several layers of the model that they serve.
#include "model/describe/architectures/dflash.hpp"

#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::dflash {

/// Learned scores besides the keys', as MiMo's heads have them.
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

/// Layers, the projection of hidden states, and norms after both.
Part frame(const Config& c, const DraftHead& d) {
  const Config own = c.section_or_empty("dflash_config");
  if (own.has("gru_hidden_dim"))
    own.fail("gru_hidden_dim", "is Domino's, whose projector is not described");
  const Size states = target_states(c, "dflash_config", d.layer.dim({"num_hidden_layers"}));
  return draft_body(d) + sinks(c, d) + linear("fc", states * d.target, d.hidden) +
         rms_norm("hidden_norm", "RMSNorm", d.hidden);
}

/// Source: vLLM 0.33 qwen3_dflash.py and transformers_utils/configs/speculators/algos.py; SGLang
/// 0.5.23 dflash.py.
Part dflash(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3", none);
  return frame(c, d) + draft_vocabulary(d);
}

/// Laguna's layers, and a norm of each hidden state. Source: vLLM 0.33 laguna_dflash.py.
Part laguna(const Config& c) {
  const DraftHead d = draft_head(c, "laguna", none);
  const Size states = target_states(c, "dflash_config", d.layer.dim({"num_hidden_layers"}));
  return frame(c, d) + list("aux_hidden_norms", states, [&](const std::string& name, Size) {
           return rms_norm(name, "RMSNorm", d.target);
         });
}

/// A convolution over the block before and after attention and feed-forward of each layer.
/// Source: vLLM 0.33 qwen3_dflash2.py, DFlashGroupedConv.
Part convolutions(const Config& own, const DraftHead& d, const std::vector<std::string>& layers) {
  const Size taps = own.dim({"conv_kernel_size"}), group = own.dim({"conv_group_size"});
  if (d.hidden % group != 0)
    own.fail("conv_group_size", "found " + std::to_string(group) +
                                    ", expected a divisor of hidden_size (" +
                                    std::to_string(d.hidden) + ")");
  const auto convolution = [&](std::string_view name) {
    return in(name, "DFlashGroupedConv",
              tensor("base_kernel", {2, taps, d.hidden}, Role::conv) +
                  linear("kernel_projection", d.hidden, 2 * taps * (d.hidden / group)));
  };
  Part all;
  for (const std::string& layer : layers)
    all = std::move(all) + at(layer, convolution("attention_conv") + convolution("mlp_conv"));
  return all;
}

/// With convolutions, and a selector of candidates. Source: vLLM 0.33 qwen3_dflash2.py.
Part dflash2(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3", none);
  const Config own = c.has("dflash_config") ? c.section("dflash_config") : c;
  const Size rank = own.dim({"selector_rank"});
  const Part head = frame(c, d);
  return head + convolutions(own, d, head.blocks) +
         in("candidate_selector", "CandidateSelector",
            tensor("predecessor_codebook", {d.vocab, rank}, Role::embedding) +
                tensor("successor_codebook", {d.vocab, rank}, Role::embedding) +
                linear("hidden_projection", d.hidden, rank)) +
         draft_vocabulary(d);
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

/// Training stores embeddings and head, too (github.com/sgl-project/sglang/pull/30204,
/// owns_vocab_weights).
Part markov(const Config& c, std::string_view type) {
  const DraftHead d = draft_head(c, type, {.embedding = true, .head = true});
  Part head = frame(c, d) + draft_vocabulary(d) + markov_head(c, d);
  if (!c.flag({"enable_confidence_head"}, false)) return head;
  const Size more = c.flag({"confidence_head_with_markov"}, false) ? c.dim({"markov_rank"}) : 0;
  return std::move(head) + in("confidence_head", "DSparkConfidenceHead",
                              linear("proj", d.hidden + more, 1, Bias::yes));
}
Part dspark(const Config& c) { return markov(c, "qwen3"); }
/// Gemma 4's layers without embeddings of their own. Source: vLLM 0.33 gemma4_dspark.py.
Part dspark_gemma4(const Config& c) {
  return markov(c.with_defaults({{"hidden_size_per_layer_input", 0}}), "gemma4_text");
}

/// A head that refines the block several times. Source: vLLM 0.33 qwen3_xpress.py.
Part xpress(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3", none);
  const Size r = c.dim({"xpress_rank"}, 256), inner = c.dim({"xpress_mlp_hidden"}, 512);
  const Size block = c.dim({"xpress_block_size"}, c.dim({"num_speculative_steps"}, 15) + 1);
  return frame(c, d) + draft_vocabulary(d) +
         in("xpress_head", "XPressRefinerHead",
            embedding("w1", d.vocab, r) + linear("down_h", d.hidden, r) +
                linear("down_g", d.hidden, r) + linear("in_proj", 3 * r, r) +
                in("mix", "Mixer", tensor("L", {r, block, block}, Role::matmul)) +
                in("mlp", "MLP", gated_mlp(r, inner, "SiLU")) + linear("w2", r, d.vocab));
}

/// The projection and its norm have a module of their own, and the config names no vocabulary.
/// Source: transformers 5.23, models/muse_glimmer_assistant.
Part muse_glimmer(const Config& c) {
  const DraftHead d = draft_head(c.with_defaults({{"vocab_size", 1},
                                                  {"num_key_value_heads", 8},
                                                  {"head_dim", 128},
                                                  {"sliding_window", 2048}}),
                                 "qwen3", none);
  return draft_body(d) +
         in("encoder", "MuseGlimmerAssistantContextProjection",
            linear("fc", target_states(c, "", 5) * d.hidden, d.hidden) +
                rms_norm("output_norm_enc", "MuseGlimmerAssistantRMSNorm", d.hidden));
}

}  // namespace headroom::model::families::dflash
