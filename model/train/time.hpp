// Time of a training step: matrices, attention, activation traffic, kernel launches, communication,
// pipeline bubbles and the optimizer.
//
// One pass of a card. T: its tokens. L: layers of its stage, h: their width. M: matrix elements
// that a token is multiplied by in these layers, E: in the head. b: 2 for trained weights, else 1.
// r: share of forward that is recomputed.
//
//   matrices    2 T (M (1 + b + r) + E (1 + b)) / (peak * compute); M below 16 bit: that peak *
//               narrow. A runtime that stops early recomputes a layer without its last matrix.
//               Elements of M that tokens are routed to: that peak * compute * grouped.
//   attention   4 T L_mean d (1 + 2.5 + r) / (peak * attention)      L_mean: attended tokens, of
//               packed sequences those of one document
//   traffic     (bytes that operations of layers write * (1 + 2 + r) * traffic + logits) /
//               bandwidth; written: what the tape makes (model/train/tape/tape.hpp), kept or not
//   weights     bytes of the stage's weights * (1 + b + r) / bandwidth; frozen 4-bit weights are
//               also unpacked
//   launches    kernels of the layers relative to a dense layer * layer_s * (1 + b + r) / 3;
//               replaces the four above where it is longer
//
// A step takes passes * pass * (1 + (stages - 1) / (passes * chunks)), plus exchanges
// (model/train/exchange.hpp) that `hidden` of it does not cover, plus the optimizer's traffic.
// Shares of the peak are a runtime's share times shares of the card generation, of the card, and of
// the runtime's kernels on that generation. Kernels reach less of a faster card, power limits cards
// differently, and few kernels are written for every generation.
//
// Sources: Narayanan et al., arXiv:2104.04473 (bubbles); Rajbhandari et al., arXiv:1910.02054
// (volumes of ZeRO); Korthikanti et al., arXiv:2205.05198 (recomputation, sequence parallelism);
// Dao, arXiv:2307.08691 (backward of attention: 2.5 times forward); torch.utils.checkpoint
// (early_stop of checkpoints that are not reentrant). Left out: reading data, evaluation, writing
// checkpoints, stragglers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/infer/estimate.hpp"
#include "model/train/shape.hpp"
#include "model/train/step_timeline.hpp"

namespace headroom::model {

/// Time constants of a runtime, fitted to measured steps.
struct TrainingPace {
  std::string_view runtime{};  ///< of training_runtimes(); "any": all runtimes together
  Constant compute{};          ///< share of the dense peak that matrices reach
  Constant attention{};        ///< share that attention reaches
  Constant traffic{};          ///< factor on the bytes that layers write, for reads and writes
  Constant layer_s{};          ///< seconds in which a host launches a layer's forward and backward
  Constant link{};             ///< share of link bandwidth that exchanges reach
  Constant hidden{};           ///< share of pass time that exchanges can hide behind
  Constant narrow{};           ///< share of peak for matrices below 16 bit, relative to `compute`
  Constant grouped{};          ///< share of peak for expert matrices, relative to `compute`
  Constant interval{1, 0.5, 2, 0, "unmeasured"};  ///< measured over estimated step time
};
inline constexpr Constant TrainingPace::*pace_constants[] = {
    &TrainingPace::compute, &TrainingPace::attention, &TrainingPace::traffic,
    &TrainingPace::layer_s, &TrainingPace::link,      &TrainingPace::hidden,
    &TrainingPace::narrow,  &TrainingPace::grouped};
inline constexpr std::string_view pace_names[] = {"compute", "attention", "traffic", "layer_s",
                                                  "link",    "hidden",    "narrow",  "grouped"};

/// Throughput of one card generation or card, relative to the average of all cards. With a runtime,
/// relative to that runtime on all cards, because its kernels may target a generation.
struct CardPace {
  std::string runtime{"any"};
  std::string cards{};  ///< a generation_of() or the name of a card
  Constant compute{1, 0.5, 1.5, 0, "unmeasured"}, attention{1, 0.5, 1.5, 0, "unmeasured"};
};
/// "sm_8" from NVIDIA's compute capability; for other makers the card's name.
std::string generation_of(const Device& card);

std::span<const TrainingPace> training_paces();
std::span<const CardPace> card_paces();
/// The row of the runtime. Without measured steps of it, the row of all runtimes with a wider
/// interval.
const TrainingPace& training_pace(std::string_view runtime);
/// As above with the peak shares of `card`. The interval is wider if no step was measured on its
/// generation.
TrainingPace training_pace(std::string_view runtime, const Device& card);
TrainingPace on_card(TrainingPace pace, const CardPace& card);

/// A step on the slowest card.
struct StepTime {
  StepTimeline timeline;    ///< the source of all other times
  double tokens_s = 0;      ///< all cards together
  double utilization = 0;   ///< model FLOPs, without recomputation, over the cards' peak
  StepGroup bound{};        ///< the longest
  bool unmeasured = false;  ///< no step of the runtime or on such cards was measured

  Seconds total() const { return timeline.total; }
  Seconds of(StepGroup group) const { return timeline.of(group); }
};

/// True if matrices that are not quantised are multiplied in fp32 and not in 16 bit. Recipes say
/// so, and bf16 is computed so on cards without units for it (pytorch pull request 148322).
bool multiplies_in_fp32(const TrainingScenario& scenario, const Device& card);

/// `memory` is the estimate of the same scenario; `shape` is its input.
StepTime time_of_step(const TrainingScenario& scenario, const StepShape& shape,
                      const TrainingEstimate& memory, const Machine& machine,
                      const TrainingPace& pace);

/// Adds the time to the row of a step that fits.
void put_time(Estimate& outcome, const StepTime& time);

}  // namespace headroom::model
