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
constexpr double four_bits = 4.5;  ///< formats of 4 bits: scales take half a bit

double to_halves(double bits) { return std::round(2 * bits) / 2; }

/// Weights of 4 to 6 bits lose a little, which has to be worth a quarter more speed.
constexpr double a_little_loss = 1.25;

/// Times as fast as weights of 16 bits that others have to be to come before them.
double handicap(double bits) {
  switch (fidelity(bits)) {
    case Fidelity::sixteen_bits:
      return 1;
    case Fidelity::eight_bits:
      return 2;
    case Fidelity::four_bits:
      return a_little_loss * 16 / bits;
    case Fidelity::less:
      return a_little_loss * 16 / four_bits_from * narrow_handicap(bits);
  }
  return 1;
}

constexpr double tight_handicap = 2, waiting_handicap = 2, offload_handicap = 2.5,
                 towers_handicap = 2, requantised_handicap = 1.5;

}  // namespace

double bits_per_parameter(Bytes weights, double parameters, const Scheme* scheme) {
  constexpr double more_in_a_mix = 0.56;
  const double bits = 8 * weights.real().value() / std::max(1.0, parameters);
  if (scheme == nullptr) return to_halves(bits);
  const double capped = std::min(bits, nominal_bits(*scheme) + more_in_a_mix);
  return is_below_four_bits(*scheme) ? capped : std::max(to_halves(capped), four_bits);
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

double narrow_handicap(double bits) { return 1.5 * std::pow(6, four_bits_from - bits); }

double seconds_a_token(const Estimate& e, double served_tokens_s) {
  if (served_tokens_s > 0) return 1 / served_tokens_s;
  if (e.served.output_tokens_s > 0) return 1 / e.served.output_tokens_s;
  const double output = e.tokens_s * (e.total - e.ttft).value();
  return output > 0 ? e.total.value() / output : e.total.value();
}

WayPlace way_place(const Estimate& e, const WayFacts& facts) {
  const WayRank rank = way_rank(e, facts.tight);
  if (rank > WayRank::offload)
    return {.rank = rank, .missing = static_cast<double>(e.short_bytes.count())};
  double weight = handicap(facts.bits);
  if (rank == WayRank::offload) weight = offload_handicap * std::max(weight, handicap(four_bits));
  double cost = seconds_a_token(e, facts.served_tokens_s) * weight;
  if (rank == WayRank::tight) cost *= e.queued > 0 ? waiting_handicap : tight_handicap;
  if (facts.requantised) cost *= requantised_handicap;
  if (facts.without_towers) cost *= towers_handicap;
  return {.rank = WayRank::on_cards,
          .too_slow = is_too_slow(e),
          .one_batch = facts.one_batch,
          .cost = cost};
}

}  // namespace headroom::model
