// Parts of Step-3.7 that its relatives share.
#pragma once

#include <vector>

#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::step3p7 {

/// True for layers with a mixture. `mlp_layer_types` decides, else `moe_layers_enum` or
/// `moe_layer_list` (a list of numbers, or text with commas). Without them, all layers have a
/// mixture but the first `dense`.
std::vector<bool> sparse_layers(const Config& c, Size layers, Size dense);

/// Has the router a correction of its scores?
enum class Router { plain, corrected };
/// Experts as Step's checkpoints stack them, as child `moe`: gate_proj, up_proj and down_proj, each
/// for all experts.
Part stacked_experts(const Config& c, Classes k, Router router);

/// Module `number` that predicts a further token, as one more layer with a head of its own. Nothing
/// where the config lists no kind for that layer.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::step3p7
