// Mixture of experts (arXiv:1701.06538, arXiv:2101.03961). A router picks a few of the experts for
// each token. transformers 5 keeps all experts of a layer in two stacked tensors.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/blocks/decoder.hpp"

namespace headroom::model {

/// The number of experts under one of `keys`. A token uses as many as `used` says.
Routing routing_of(const Config& c, Config::Keys keys, Config::Keys used = {"num_experts_per_tok"});

/// Scores every expert: weight [experts, hidden].
Part router(std::string_view name, std::string_view class_name, Size hidden, Size experts);

/// The offset of each expert that balances load without a loss term. It is a buffer in float32
/// (arXiv:2408.15664; DeepSeek-V3, arXiv:2412.19437, section 2.1.2).
Part score_correction(Size experts, std::string_view name = "e_score_correction_bias");
/// The score correction as a parameter that is not trained.
Part score_correction_parameter(Shape shape, std::string_view name = "e_score_correction_bias");
/// A router with its score correction.
Part corrected_router(std::string_view name, std::string_view class_name, Size hidden,
                      Size experts);

/// All experts of a layer as two tensors: gate_up_proj [experts, 2 inner, hidden] and down_proj
/// [experts, hidden, inner].
Part stacked_experts(Size hidden, Size inner, Routing r);

/// The module of gated experts: these tensors and the activation.
Part fused_experts(std::string_view class_name, Size hidden, Size inner, Routing r,
                   std::string_view activation);

/// True if the feed-forward of the layer is a mixture. `mlp_layer_types` decides. Without it, all
/// layers from `first_k_dense_replace` on are mixtures. `dense` is the default of that key.
bool is_sparse(const Config& c, Size layer, Size dense);

/// `c` for classes that read `num_experts` as the number of routed experts. If a file has that key,
/// it wins over the other names.
Config with_routed_experts(const Config& c);

/// Experts under the keys of DeepSeek and its successors.
Routing shared_routing_of(const Config& c);

/// DeepSeek's mixture (arXiv:2401.06066): `gate`, routed experts, and shared experts that every
/// token uses. The shared experts are one gated feed-forward as wide as all of them.
Part shared_mixture(const Config& c, Classes k, std::string_view class_name, Part gate,
                    Bias bias = Bias::no);

}  // namespace headroom::model
