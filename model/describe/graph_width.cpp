#include "model/describe/graph_width.hpp"

#include <algorithm>

#include "model/describe/tensor_class.hpp"

namespace headroom::model {
void GraphWidth::add(const Tensor& tensor, std::string_view submodule, double width) {
  if (width <= 0) return;
  const bool routed = tensor.of > 1;
  const TensorClass kind = tensor_class(routed ? std::string_view(tensor.name) : tensor.module());
  const auto same = [&](const Submodule& s) { return s.name == submodule && s.routed == routed; };
  auto found = std::ranges::find_if(submodules_, same);
  if (found == submodules_.end())
    found = submodules_.insert(found, {.name = submodule, .routed = routed});
  found->width += width;
  found->feeds_forward = found->feeds_forward || routed || is_feed_forward(kind);
  found->gated = found->gated || kind == TensorClass::feed_forward_gate ||
                 tensor.name.find("gate_up") != std::string::npos;
  if (routed) found->outputs = static_cast<double>(tensor.used * hidden_);
}

double GraphWidth::kept(const Submodule& submodule) const {
  if (!submodule.feeds_forward) return submodule.width;
  const double inner = submodule.width / (submodule.gated ? 3 : 2);
  const double freed = submodule.gated ? 2 * inner : 0;
  const double outputs =
      submodule.outputs > freed ? submodule.outputs + static_cast<double>(hidden_) : 0;
  return (submodule.gated ? 3 : 1) * inner + outputs;
}

double GraphWidth::widest() const {
  double most = 0;
  for (const Submodule& submodule : submodules_) most = std::max(most, kept(submodule));
  return most;
}

}  // namespace headroom::model
