// PLM (arXiv:2503.12167): latent attention whose queries are not compressed, and a feed-forward
// without a gate.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::plm {

/// Sources: llama.cpp conversion/plm.py and src/models/plm.cpp.
Part plm(const Config& c) {
  const Classes k{"PLM"};
  const Common s = common_of(c, {.act = "relu2"});
  const Latent a{.heads = s.heads.query,
                 .query_rank = 0,
                 .rank = c.dim({"kv_lora_rank"}),
                 .nope = c.dim({"qk_nope_head_dim"}),
                 .rope = c.dim({"qk_rope_head_dim"}),
                 .value = c.dim({"v_head_dim"})};
  const Decoder frame{.family = "PLM",
                      .rotated = a.rope,
                      .norm = rms_norm("norm", k("RMSNorm"), s.hidden),
                      .tied = Tied::yes};
  const Part mlp = in("mlp", k("MLP"), up_down_mlp(s, module("act_fn", s.act), Bias::no));
  return decoder(c, frame, [&] {
    return decoder_layer(k, s.hidden, latent_attention(s.hidden, a, k("RMSNorm")), mlp);
  });
}

}  // namespace headroom::model::families::plm
