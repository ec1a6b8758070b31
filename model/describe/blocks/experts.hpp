// Mixture of experts (arXiv:1701.06538, arXiv:2101.03961): a router and experts of which every
// token uses a few. transformers 5 keeps all experts of a layer in two stacked tensors.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/blocks/decoder.hpp"

namespace headroom::model {

/// Experts under one of `keys`, of which a token uses `num_experts_per_tok`.
Routing routing_of(const Config& c, Config::Keys keys, Config::Keys used = {"num_experts_per_tok"});

/// Scores every expert: weight [experts, hidden].
Part router(std::string_view name, std::string_view class_name, Size hidden, Size experts);

/// The per-expert offset that balances load without a loss term: a buffer in float32
/// (arXiv:2408.15664; DeepSeek-V3, arXiv:2412.19437, section 2.1.2).
Part score_correction(Size experts, std::string_view name = "e_score_correction_bias");
/// The same as a parameter that is not trained.
Part score_correction_parameter(Shape shape, std::string_view name = "e_score_correction_bias");
/// A router with its score correction.
Part corrected_router(std::string_view name, std::string_view class_name, Size hidden,
                      Size experts);

/// Gated experts: gate and up in one tensor [experts, 2 inner, hidden], down [experts, hidden,
/// inner].
Part fused_experts(std::string_view class_name, Size hidden, Size inner, Routing r,
                   std::string_view activation);

/// Layers whose feed-forward is a mixture: `mlp_layer_types` says so, else all from
/// `first_k_dense_replace` on, which is `dense` where the config has no such key.
bool is_sparse(const Config& c, Size layer, Size dense);

/// The same config in classes that take `num_experts`, where a file has it, for the number of
/// routed experts, whatever else it says.
Config with_routed_experts(const Config& c);

/// Experts under the keys that DeepSeek and those after it use.
Routing shared_routing_of(const Config& c);

/// DeepSeek's mixture (arXiv:2401.06066): routed experts, `gate`, and shared experts that every
/// token uses, held as one gated feed-forward of their widths together.
Part shared_mixture(const Config& c, Classes k, std::string_view class_name, Part gate,
                    Bias bias = Bias::no);

}  // namespace headroom::model
