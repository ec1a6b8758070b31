#include "model/activation.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::model {
namespace {

Bytes whole(double bytes) { return Bytes(static_cast<Size>(std::ceil(std::min(bytes, 1e18)))); }

}  // namespace

Size pass_tokens(const Scenario& s) {
  const double prompt = static_cast<double>(s.batch) * static_cast<double>(s.prompt_tokens);
  const Size tokens = prompt > 1e15 ? Size{1'000'000'000'000'000} : s.batch * s.prompt_tokens;
  const Size chunk = s.runtime->prefill_chunk;
  return std::max(s.batch, chunk > 0 ? std::min(chunk, tokens) : tokens);
}

Bytes activations(const Scenario& s, Size shards) {
  const double element_bytes = s.weights->arithmetic == Arithmetic::fp32 ? 4.0 : 2.0;
  const Model& model = *s.weights->model;
  const double width = 2.0 * static_cast<double>(model.shape.hidden_size) +
                       model.profile.widest / static_cast<double>(shards);
  return whole(static_cast<double>(pass_tokens(s)) * width * element_bytes);
}

Bytes logits(const Scenario& s, Size shards) {
  return whole(static_cast<double>(s.batch) *
               static_cast<double>(s.weights->model->profile.head_rows) *
               static_cast<double>(s.runtime->logits_bytes) / static_cast<double>(shards));
}

}  // namespace headroom::model
