#include "model/answer/way_order.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::model {

WayRank way_rank(const Estimate& e, bool tight) {
  if (e.verdict == Verdict::refused) return WayRank::refused;
  if (!fits(e)) return WayRank::does_not_fit;
  if (!is_on_gpus(e)) return WayRank::offload;
  return tight || e.queued > 0 ? WayRank::tight : WayRank::on_cards;
}

double bits_per_parameter(Bytes weights, double parameters) {
  return std::round(2 * 8 * weights.real().value() / std::max(1.0, parameters)) / 2;
}

Fidelity fidelity(double bits) {
  if (bits >= 12) return Fidelity::sixteen_bits;
  if (bits >= 7) return Fidelity::eight_bits;
  return bits >= 4.25 ? Fidelity::four_bits : Fidelity::less;
}

WayPlace way_place(const Estimate& e, bool tight, double bits) {
  WayPlace place{way_rank(e, tight), 0, 0, e.total.value()};
  constexpr double served = 16;
  if (place.rank < WayRank::offload) place.narrowness = -std::min(bits, served);
  if (place.rank == WayRank::offload) place.narrowness = fidelity(bits) == Fidelity::less ? 1 : 0;
  if (place.rank > WayRank::offload) place.missing = static_cast<double>(e.short_bytes.count());
  return place;
}

}  // namespace headroom::model
