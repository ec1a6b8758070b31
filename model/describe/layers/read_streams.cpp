// Streams of residuals, and embeddings of several tokens that are added to them.
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {

std::optional<StreamsSpec> read_streams(const Subtree& tree, Names names, Size hidden) {
  const Module* m = tree.module(names);
  if (m == nullptr || hidden == 0) return std::nullopt;
  const Subtree joint(tree, *m);
  StreamsSpec s{.hidden = hidden};
  if (const auto norm = joint.norm({"hc_norm"})) {
    s.kind = StreamKind::gated;
    s.count = norm->width / hidden;
    s.rank = joint.outputs({"input_mix_weight_down"});
    s.norm = norm->kind;
    return s;
  }
  const Tensor* matrix = joint.tensor("fn");
  if (matrix == nullptr) matrix = joint.tensor("hc_fn");
  s.weighed = matrix != nullptr;
  if (!s.weighed) return s;
  s.count = matrix->shape.back() / hidden;
  s.in_fp32 = matrix->element == Element::float32;
  return s;
}

std::optional<HashedSpec> read_hashed(const Subtree& tree) {
  const Module* m = tree.module({"ple"});
  if (m == nullptr) return std::nullopt;
  const Subtree ple(tree, *m);
  HashedSpec h{.width = ple.inputs({"value_proj"})};
  const Shape* heads = ple.shape("ple_embedding.ngram_heads_vocab_sizes");
  const Shape* ngram = ple.shape("ple_embedding.layer_multipliers");
  const Shape* kernel = ple.shape("conv1d.weight");
  if (heads == nullptr || ngram == nullptr || kernel == nullptr) return std::nullopt;
  h.heads = heads->front(), h.ngram = ngram->front();
  h.earlier = (kernel->back() - 1) * h.ngram;
  return h;
}

}  // namespace headroom::model::layers
