#include "model/train/tape/tape.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::model {
namespace {

Held wider(Held a, Held b) { return a == Held::fp32 || b == Held::fp32 ? Held::fp32 : a; }

}  // namespace

void Polynomial::add(Extent e, Size bytes) {
  terms_[static_cast<std::size_t>(e.b) * 3 + e.s] +=
      static_cast<double>(e.count) * static_cast<double>(bytes);
}
Polynomial& Polynomial::operator+=(const Polynomial& o) {
  for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] += o.terms_[i];
  return *this;
}

Size bytes_of(Held held) {
  switch (held) {
    case Held::fp32:
    case Held::int32:
      return 4;
    case Held::bf16:
      return 2;
    case Held::boolean:
      return 1;
    case Held::int64:
      return 8;
  }
  return 4;
}

Value Tape::make(Extent extent, Held held, bool grad, Region region, Layout layout) {
  storages_.push_back({.extent = extent, .held = held, .region = region, .unfused = unfused_});
  return {static_cast<int>(storages_.size()) - 1, extent, held, grad, layout, region};
}
Value Tape::parameter(Extent extent, bool trained) const {
  return {-1, extent, mode_.parameters, trained};
}
void Tape::save(const Value& x) {
  if (!mode_.keeps_products) keep(x);
}
void Tape::save_operand(const Value& x) {
  if (mode_.operand_bits == 0 || x.storage < 0) return save(x);
  Storage& storage = storages_[static_cast<std::size_t>(x.storage)];
  if (std::exchange(storage.quantised, true)) return;
  Extent bytes = x.extent;
  bytes.count =
      static_cast<Size>(std::ceil(static_cast<double>(bytes.count) * mode_.operand_bits / 8));
  save(bytes, Held::boolean, x.region);
}
void Tape::keep(const Value& x) {
  if (x.storage >= 0) storages_[static_cast<std::size_t>(x.storage)].kept = true;
}

Value Tape::to(const Value& x, Held held) {
  if (x.held == held) return x;
  return make(x.extent, held, x.grad, x.region, x.layout);
}

Value Tape::linear(const Value& given, Size in, Size out, Extent rows, bool trained,
                   Region region) {
  Value x = given;
  if (mode_.quantised_layers) {
    if (mode_.frozen_inputs && x.grad)
      save(mode_.frozen_inputs_as_they_are ? x : to(x, Held::bf16));
    return make(out * rows, x.held, x.grad, region);
  }
  Value weight = parameter(constant(in * out), trained);
  if (mode_.autocast) {
    x = to(x, Held::bf16);
    if (weight.held != Held::bf16) {
      weight = to(weight, Held::bf16);
      storages_.back().weight = true;
      storages_.back().region = Region::inner;
    }
  }
  if (trained || (mode_.frozen_inputs && x.grad)) save_operand(x);
  if (x.grad) save(weight);
  const Value y = make(out * rows, mode_.autocast ? Held::bf16 : x.held, x.grad || trained, region);
  const bool only_added = mode_.compiled && region == Region::outer;
  if (mode_.keeps_products && ++products_ % 2 == 1 && !only_added) keep(y);
  return y;
}

Value Tape::linear_as_is(const Value& x, Size in, Size out) {
  const double bits = std::exchange(mode_.operand_bits, 0);
  const Value y = linear(x, in, out, tokens(1), mode_.trained);
  mode_.operand_bits = bits;
  return y;
}

Value Tape::add(const Value& a, const Value& b) {
  Value sum = make(a.extent, wider(a.held, b.held), a.grad || b.grad, a.region, a.layout);
  return sum;
}
Value Tape::multiply(const Value& a, const Value& b) {
  if (b.grad) save(a);
  if (a.grad) save(b);
  return make(a.extent, wider(a.held, b.held), a.grad || b.grad, a.region, a.layout);
}
Value Tape::raised(const Value& x) {
  return mode_.autocast && mode_.kernels.autocast_fp32 ? to(x, Held::fp32) : x;
}
Value Tape::power(const Value& given) {
  const Value x = raised(given);
  if (x.grad) save(x);
  return like(x);
}
Value Tape::keeps_input(const Value& x) {
  if (x.grad) save(x);
  return like(x);
}
Value Tape::keeps_result(const Value& x) {
  const Value result = like(x);
  if (x.grad) save(result);
  return result;
}
Value Tape::softmax(const Value& x, bool in_fp32) {
  const bool raise = in_fp32 || (mode_.autocast && mode_.kernels.autocast_fp32);
  const Value result =
      make(x.extent, raise ? Held::fp32 : x.held, x.grad, x.region, Layout::by_head);
  if (x.grad) save(result);
  return result;
}
Value Tape::dropout(const Value& x, double share) {
  if (share <= 0) return x;
  const Value mask =
      make(x.extent, mode_.kernels.byte_masks ? Held::boolean : x.held, false, x.region);
  if (x.grad) save(mask);
  return like(x);
}
Value Tape::layer_norm(const Value& given, Extent rows, bool trained) {
  const Value x = raised(given);
  if (x.grad || trained) {
    save(x);
    const Held held = mode_.kernels.fp32_statistics ? Held::fp32 : x.held;
    if (mode_.kernels.norm_statistics) save(2 * rows, held, x.region);
  }
  Value result = like(x);
  result.grad = x.grad || trained;
  return result;
}
Value Tape::by_head(const Value& x) {
  if (x.layout == Layout::by_head || mode_.one_sequence) return x;
  return make(x.extent, x.held, x.grad, x.region, Layout::by_head);
}
Value Tape::by_token(const Value& x) {
  if (x.layout == Layout::by_token) return x;
  return make(x.extent, x.held, x.grad, x.region, Layout::by_token);
}
Value Tape::product(const Value& left, const Value& right, Extent result) {
  const auto ready = [&](const Value& x) {
    return by_head(mode_.autocast ? to(x, Held::bf16) : x);
  };
  const Value a = ready(left), b = ready(right);
  if (b.grad) save(a);
  if (a.grad) save(b);
  return make(result, wider(a.held, b.held), a.grad || b.grad, a.region, Layout::by_head);
}

Tape::Sums Tape::saved(std::size_t since) const {
  return sums(since, [](const Storage& s) { return s.kept; });
}
Tape::Sums Tape::made(std::size_t since) const {
  return sums(since, [&](const Storage& s) {
    const bool scores = s.extent.s > 1, table = s.extent.b == 0;
    return s.weight || !(table || (scores && mode_.kernels.fused_attention && !s.unfused));
  });
}
template <class Counts>
Tape::Sums Tape::sums(std::size_t since, Counts counts) const {
  Sums sums;
  for (std::size_t i = since; i < storages_.size(); ++i) {
    const Storage& s = storages_[i];
    if (!counts(s)) continue;
    const bool inner = s.region == Region::inner;
    Polynomial& to = s.weight ? (inner ? sums.weights_inner : sums.weights_outer)
                              : (inner ? sums.inner : sums.outer);
    to.add(s.extent, bytes_of(s.held));
  }
  return sums;
}

}  // namespace headroom::model
