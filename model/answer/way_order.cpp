#include "model/answer/way_order.hpp"

#include <algorithm>
#include <cmath>

#include "model/answer/narrow_formats.hpp"

namespace headroom::model {

WayRank way_rank(const Estimate& e, bool tight) {
  if (e.verdict == Verdict::refused) return WayRank::refused;
  if (!fits(e)) return WayRank::does_not_fit;
  if (!is_on_gpus(e)) return WayRank::offload;
  return tight || e.queued > 0 ? WayRank::tight : WayRank::on_cards;
}

namespace {

constexpr double eight_bits_from = 7.5, four_bits_from = 4.25;

double to_halves(double bits) { return std::round(2 * bits) / 2; }

/// Times as fast as weights of 16 bits that others have to be to come before them.
double handicap(Fidelity of) {
  return of == Fidelity::sixteen_bits ? 1 : of == Fidelity::eight_bits ? 2 : 3;
}

/// Times as fast as one with room for all requests that a way with waiting ones has to be.
constexpr double waiting_handicap = 1.5;

}  // namespace

double bits_per_parameter(Bytes weights, double parameters, const Scheme* scheme) {
  constexpr double four_bits = 4.5, more_in_a_mix = 0.56;
  const double bits = 8 * weights.real().value() / std::max(1.0, parameters);
  if (scheme == nullptr) return to_halves(bits);
  const double capped = to_halves(std::min(bits, nominal_bits(*scheme) + more_in_a_mix));
  return is_below_four_bits(*scheme) ? capped : std::max(capped, four_bits);
}

double bits_per_parameter(const QuantisedModel& weights) {
  return bits_per_parameter(weights.total, static_cast<double>(weights.model->profile.parameters),
                            weights.scheme);
}

Fidelity fidelity(double bits) {
  if (bits >= 12) return Fidelity::sixteen_bits;
  if (bits >= eight_bits_from) return Fidelity::eight_bits;
  return bits >= four_bits_from ? Fidelity::four_bits : Fidelity::less;
}

double narrow_handicap(double bits) { return 4 * std::pow(4, four_bits_from - bits); }

double seconds_a_token(const Estimate& e, double served_tokens_s) {
  if (served_tokens_s > 0) return 1 / served_tokens_s;
  if (e.served.output_tokens_s > 0) return 1 / e.served.output_tokens_s;
  const double output = e.tokens_s * (e.total - e.ttft).value();
  return output > 0 ? e.total.value() / output : e.total.value();
}

WayPlace way_place(const Estimate& e, const WayFacts& facts) {
  WayPlace place{.rank = way_rank(e, facts.tight),
                 .slowness = seconds_a_token(e, facts.served_tokens_s)};
  const Fidelity fidelity_of = fidelity(facts.bits);
  const bool behind = fidelity_of == Fidelity::less;
  if (place.rank < WayRank::offload) {
    const bool several = facts.served_tokens_s > 0 || e.served.running > 0 || e.queued > 0;
    const bool by_rate = fidelity_of <= Fidelity::eight_bits || (several && !behind);
    if (place.rank == WayRank::tight && e.queued == 0 && facts.published &&
        fidelity_of > Fidelity::sixteen_bits) {
      place.rank = WayRank::on_cards;
      place.wary = 1;
    }
    if (e.queued > 0) place.rank = WayRank::on_cards;
    place.narrowness = by_rate ? 0 : eight_bits_from - facts.bits;
    const double wide = e.queued > 0 ? handicap(Fidelity::eight_bits) : 1;
    if (by_rate) place.slowness *= std::max(handicap(fidelity_of), wide);
    if (e.queued > 0) place.slowness *= waiting_handicap;
    const bool quantised = facts.published && fidelity_of > Fidelity::sixteen_bits;
    if (quantised && !several && place.rank == WayRank::on_cards && place.wary == 0)
      place.narrowness = -1;
  }
  if (place.rank == WayRank::offload) {
    constexpr Seconds unusable{10};
    if (e.tpot > unusable) place.narrowness = 1;
    if (behind) place.slowness *= narrow_handicap(facts.bits);
  }
  if (place.rank > WayRank::offload) place.missing = static_cast<double>(e.short_bytes.count());
  return place;
}

}  // namespace headroom::model
