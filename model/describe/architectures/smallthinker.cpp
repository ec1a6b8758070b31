// SmallThinker (arXiv:2507.20984): experts in every layer, chosen before attention, and sliding
// windows in three of four layers.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::smallthinker {

/// Sources: llama.cpp src/models/smallthinker.cpp and conversion/smallthinker.py;
/// modeling_smallthinker.py for what a step keeps (the router reads the layer's input, and a
/// softmax is over the chosen experts).
Part smallthinker(const Config& c) {
  const Classes k{"SmallThinker"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_ffn_hidden_size"});
  const Heads h = heads_of(c, Defaults{});
  const Routing r = routing_of(c, {"moe_num_primary_experts"}, {"moe_num_active_primary_experts"});
  const auto stacked = [&](std::string_view name, Size rows, Size columns) {
    return in(name, k("ExpertLinear"),
              routed(tensor("weight", {r.experts, rows, columns}, Role::matmul), r));
  };
  const Part mixture = in("block_sparse_moe", k("MoeBlock"),
                          router("primary_router", "Linear", hidden, r.experts) +
                              in("experts", k("Experts"),
                                 stacked("up", inner, hidden) + stacked("gate", inner, hidden) +
                                     stacked("down", hidden, inner) + module("act_fn", "ReLU")));
  const auto windows = c.dims({"sliding_window_layout"});
  const auto window = [&](Size i) -> Size {
    if (windows.empty()) return 0;
    if (static_cast<std::size_t>(i) >= windows.size())
      c.fail("sliding_window_layout", "found fewer entries than layers");
    return windows[static_cast<std::size_t>(i)] == 0 ? 0 : c.dim({"sliding_window_size"});
  };
  return with_quirks(decoder(c, k, rotated_if_scaled(c, h.dim),
                             [&](Size i) {
                               return decoder_layer(
                                   k, hidden, attention(hidden, h, Bias::no, Bias::no, window(i)),
                                   mixture);
                             }),
                     {.router = {.kind = RouterKind::softmax_of_chosen}, .unrecorded = true});
}

}  // namespace headroom::model::families::smallthinker
