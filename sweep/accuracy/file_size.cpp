#include "sweep/accuracy/file_size.hpp"

#include <algorithm>
#include <vector>

namespace headroom::sweep {
namespace {

void scale(Bytes& bytes, double share) {
  bytes = Bytes(static_cast<Size>(share * bytes.real().value()));
}

void scale(model::Divided& parts, double share) {
  for (Bytes* each : {&parts.everywhere, &parts.split, &parts.heads, &parts.experts,
                      &parts.vocabulary, &parts.rows})
    scale(*each, share);
}

void scale(double& bytes, double share) { bytes *= share; }

}  // namespace

model::QuantisedModel of_file_size(model::QuantisedModel weights, Bytes file) {
  if (weights.total == Bytes(0)) return weights;
  const double share = file.real() / weights.total.real();
  const auto all = [&](auto&... fields) { (scale(fields, share), ...); };
  const auto each_of = [&](auto&... lists) {
    (std::ranges::for_each(lists, [&](auto& each) { scale(each, share); }), ...);
  };
  all(weights.total, weights.embedding, weights.head, weights.head_read, weights.shards.embedding,
      weights.shards.head);
  each_of(weights.layer, weights.layers_before, weights.largest_from, weights.experts_before,
          weights.separate_before, weights.read_dense, weights.read_routed, weights.shards.before);
  return weights;
}

}  // namespace headroom::sweep
