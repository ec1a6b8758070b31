// Elements that a layer's graph keeps at once, where one allocator places all tensors of a pass.
#pragma once

#include <vector>

#include "model/describe/part.hpp"

namespace headroom::model {

/// Adds up the matrices of one layer's submodules, for the elements per token that exist together
/// besides the residual stream:
///
///   gated feed-forward     3 * inner width: gate, up and their product
///   other feed-forward     inner width: the activation overwrites it
///   experts                the same for those of one token; their outputs (used * hidden) reuse
///                          gate and up where these are as large, else they are added
///   attention, others      all widths of the submodule
///
/// Source: ggml-alloc.c (ggml_op_can_inplace: not GLU), llama-graph.cpp build_ffn, build_moe_ffn of
/// commit 0c1e5709; 75 of its compute buffers in tests/oracle/data/llama_cpp_memory.csv.
class GraphWidth {
 public:
  explicit GraphWidth(Size hidden) : hidden_(hidden) {}
  /// `submodule`: its name in the layer. `width`: elements per token of the matrix.
  void add(const Tensor& tensor, std::string_view submodule, double width);
  /// Elements per token; 0 without matrices.
  double widest() const;

 private:
  struct Submodule {
    std::string_view name;
    bool routed = false, gated = false, feeds_forward = false;
    double width = 0, outputs = 0;
  };
  double kept(const Submodule& submodule) const;

  Size hidden_;
  std::vector<Submodule> submodules_;
};

}  // namespace headroom::model
