#include "model/checkpoint/allocator.hpp"

#include <algorithm>
#include <cmath>

#include "model/describe/profile.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {
namespace {

constexpr Size mebibytes = 1024 * 1024;

double rest(double bytes) {
  const auto whole = static_cast<Size>(std::ceil(bytes));
  return allocated(whole) - static_cast<double>(whole);
}

}  // namespace

double allocated(Size bytes) {
  constexpr Size small = mebibytes, segment = 20 * mebibytes, own = 10 * mebibytes,
                 step = 2 * mebibytes;
  const Size whole = round_up(std::max<Size>(bytes, 0), 512);
  if (whole <= small) return static_cast<double>(whole);
  if (whole < own) {
    const Size together = segment / whole, left = segment - together * whole;
    return static_cast<double>(whole) +
           (left > small ? 0.0 : static_cast<double>(left) / static_cast<double>(together));
  }
  const Size taken = round_up(whole, step);
  return static_cast<double>(taken - whole > small ? whole : taken);
}

const BlockRests::Sums& BlockRests::fused_on(Size shards) const {
  std::size_t i = cards.size() - 1;
  while (i > 0 && cards[i] > shards) --i;
  return fused[i];
}

BlockRestCounter::BlockRestCounter(std::size_t layers, Size kv_heads)
    : kv_heads_(kv_heads), fused_(layers + 2), per_tensor_(layers + 2) {}

std::size_t BlockRestCounter::slot(Size block) const {
  if (block >= 0) return static_cast<std::size_t>(block);
  return fused_.size() - (block == before_blocks ? 2 : 1);
}

/// Share of a tensor on one of `cards`.
double BlockRestCounter::part(const Divided& divided, Size cards) const {
  const double all = divided.sum().real().value();
  if (all <= 0) return 1;
  const auto n = static_cast<double>(cards);
  const double heads = std::min(n, static_cast<double>(std::max<Size>(kv_heads_, 1)));
  return (divided.everywhere.real().value() + divided.heads.real().value() / heads +
          (divided.split + divided.experts + divided.vocabulary + divided.rows).real().value() /
              n) /
         all;
}

void BlockRestCounter::add(const TensorBytes& tensor, Size block) {
  if (tensor.elements_bytes + tensor.overhead_bytes == 0) return;
  const std::size_t at = slot(block);
  const auto pieces = static_cast<double>(tensor.pieces);
  per_tensor_[at] += pieces * (rest(static_cast<double>(tensor.elements_bytes) / pieces) +
                               rest(static_cast<double>(tensor.overhead_bytes) / pieces));
  const std::string name = fused_name(tensor.name);
  Place& place = fused_[at];
  // Parts of a tensor come shortly after each other.
  auto it = std::find_if(place.rbegin(), place.rend(),
                         [&](const Fused& each) { return each.name == name; });
  if (it == place.rend()) {
    place.push_back({.name = name});
    it = place.rbegin();
  }
  for (std::size_t i = 0; i < BlockRests::cards.size(); ++i) {
    const double share = part(tensor.divided, BlockRests::cards[i]);
    it->elements[i] += share * static_cast<double>(tensor.elements_bytes);
    it->overhead[i] += share * static_cast<double>(tensor.overhead_bytes);
  }
}

BlockRests BlockRestCounter::rests() {
  BlockRests all;
  const std::size_t layers = fused_.size() - 2;
  const auto sum_up = [&](BlockRests::Sums& sums, auto&& of) {
    sums.before.assign(1, 0);
    for (std::size_t i = 0; i < layers; ++i) sums.before.push_back(sums.before.back() + of(i));
    sums.embedding = of(layers);
    sums.head = of(layers + 1);
  };
  sum_up(all.per_tensor, [&](std::size_t at) { return per_tensor_[at]; });
  for (std::size_t n = 0; n < BlockRests::cards.size(); ++n)
    sum_up(all.fused[n], [&](std::size_t at) {
      double sum = 0;
      for (const Fused& each : fused_[at]) sum += rest(each.elements[n]) + rest(each.overhead[n]);
      return sum;
    });
  return all;
}

}  // namespace headroom::model
