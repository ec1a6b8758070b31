// Leaves and blocks that most architectures share.
//
// Each function returns a Part in the registration order of transformers 5.23. A block of a single
// family is in that family's file.
#pragma once

#include "model/describe/part.hpp"

namespace headroom::model {

enum class Bias : bool { no, yes };

// ---- leaves -----------------------------------------------------------------------------------

Part tensor(std::string_view name, Shape shape, Role role);
/// `part` with tensors that every format keeps in fp32.
Part in_fp32(Part part);
Part buffer(std::string_view name, Shape shape, Element element = Element::floating,
            bool persistent = false);
Part linear(std::string_view name, Size in_dim, Size out_dim, Bias bias = Bias::no);
/// GPT-2's transposed linear layer.
Part conv1d(std::string_view name, Size in_dim, Size out_dim);
Part embedding(std::string_view name, Size rows, Size dim,
               std::string_view class_name = "Embedding");
Part rms_norm(std::string_view name, std::string_view class_name, Size dim);
Part layer_norm(std::string_view name, Size dim, Bias bias = Bias::yes);
/// Rotary tables (arXiv:2104.09864). `dims` rotated dimensions need half as many frequencies,
/// rounded up. transformers 5 keeps them twice.
Part rotary(std::string_view class_name, Size dims);
/// The output head. It shares storage with the tensor called `embed` when `tied`.
Part lm_head(std::string_view embed, Size vocab, Size dim, bool tied, Bias bias = Bias::no);

// ---- blocks -----------------------------------------------------------------------------------

struct Heads {
  Size query, kv, dim;
};

Cache kv_cache(Heads h, Size window = 0);
/// Separate q, k, v and o projections (Llama and most since).
Part attention(Size hidden, Heads h, Bias qkv = Bias::no, Bias out = Bias::no, Size window = 0);
/// One projection to q, k and v, and one out of them.
Part fused_attention(Size hidden, Heads h, std::string_view qkv, std::string_view out,
                     Bias bias = Bias::no, Size window = 0);
/// Gated feed-forward: gate, up, down and the activation module.
Part gated_mlp(Size hidden, Size inner, std::string_view activation, Bias b = Bias::no);
/// Experts stored as two stacked tensors; `used` of them run per token.
struct Routing {
  Size experts, used;
};
/// `part` with rows that belong to `r.experts` experts. A token uses `r.used` of them.
Part routed(Part part, Routing r);

}  // namespace headroom::model
