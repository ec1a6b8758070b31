// How long a training step takes: matrices, attention, the traffic of activations, launches, what
// moves between cards, bubbles of the pipeline, the optimizer.
//
// One pass of a card (T: its tokens; L: layers of its stage, h: their width; M: elements of
// matrices that a token is multiplied by in these layers, E: of the head; b: 2 where weights are
// trained, else 1; r: the share of forward that is made again):
//
//   matrices    2 T (M (1 + b + r) + E (1 + b)) / (peak * compute); M below 16 bit: that peak *
//               narrow. A runtime that stops early makes a layer again but for its last matrix.
//               Elements of M that tokens are routed to: that peak * compute * grouped.
//   attention   4 T L_mean d (1 + 2.5 + r) / (peak * attention)      L_mean: tokens looked at,
//               of packed sequences those of one document
//   traffic     (bytes that operations of layers write * (1 + 2 + r) * traffic + logits) /
//               bandwidth; written: what the tape makes (model/train/tape/tape.hpp), kept or not
//   weights     bytes of the stage's weights * (1 + b + r) / bandwidth; frozen 4-bit ones are also
//               unpacked
//   launches    kernels of the layers in those of a dense one * layer_s * (1 + b + r) / 3: instead
//               of the four above where it is longer
//
// A step: passes * pass * (1 + (stages - 1) / (passes * chunks)), exchanges
// (model/train/exchange.hpp) that do not hide behind `hidden` of it, and the optimizer's
// traffic. Shares of the peak are a runtime's times those of a generation of cards, of the card and
// of the runtime's kernels on that generation: the same kernels reach less of a faster card, power
// limits some more than others, and few are written for every generation.
//
// Sources: Narayanan et al., arXiv:2104.04473 (bubbles); Rajbhandari et al., arXiv:1910.02054
// (volumes of ZeRO); Korthikanti et al., arXiv:2205.05198 (recomputation, sequence parallelism);
// Dao, arXiv:2307.08691 (backward of attention: 2.5 times forward); torch.utils.checkpoint
// (early_stop of checkpoints that are not reentrant). Left out: reading data, evaluation, writing
// checkpoints, stragglers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/infer/estimate.hpp"
#include "model/train/shape.hpp"

namespace headroom::model {

/// Constants of a runtime's times, fitted to measured steps.
struct TrainingPace {
  std::string_view runtime{};  ///< of training_runtimes(); "any": all together
  Constant compute{};          ///< share of the dense peak that matrices reach
  Constant attention{};        ///< share that attention reaches
  Constant traffic{};          ///< times that what layers write is written and read
  Constant layer_s{};          ///< seconds that a host takes to launch a layer there and back
  Constant link{};             ///< share of a link's bandwidth that exchanges reach
  Constant hidden{};           ///< share of the time of passes that exchanges hide behind
  Constant narrow{};           ///< what matrices below 16 bit reach of their peak, over `compute`
  Constant grouped{};          ///< what matrices of experts reach, over `compute`
  Constant interval{1, 0.5, 2, 0, "unmeasured"};  ///< measured steps over estimated ones
};
inline constexpr Constant TrainingPace::*pace_constants[] = {
    &TrainingPace::compute, &TrainingPace::attention, &TrainingPace::traffic,
    &TrainingPace::layer_s, &TrainingPace::link,      &TrainingPace::hidden,
    &TrainingPace::narrow,  &TrainingPace::grouped};
inline constexpr std::string_view pace_names[] = {"compute", "attention", "traffic", "layer_s",
                                                  "link",    "hidden",    "narrow",  "grouped"};

/// What cards of one generation, or one card among them, reach over what all do together; of one
/// runtime, over what it does on all: its kernels may be written for a generation.
struct CardPace {
  std::string runtime{"any"};
  std::string cards{};  ///< generation_of() of them, or the name of one
  Constant compute{1, 0.5, 1.5, 0, "unmeasured"}, attention{1, 0.5, 1.5, 0, "unmeasured"};
};
/// "sm_8": NVIDIA's compute capability; of another maker its name.
std::string generation_of(const Device& card);

std::span<const TrainingPace> training_paces();
std::span<const CardPace> card_paces();
/// The row of the runtime; of all together, with a wider interval, where none of its steps was
/// measured.
const TrainingPace& training_pace(std::string_view runtime);
/// The same with shares of the peak as `card` reaches them; with a wider interval where no step was
/// measured on cards of its generation.
TrainingPace training_pace(std::string_view runtime, const Device& card);
TrainingPace on_card(TrainingPace pace, const CardPace& card);

/// Seconds of a step.
struct StepTime {
  double matrices = 0, attention = 0, traffic = 0, weights = 0;  ///< of all passes
  double launches = 0;  ///< what launching takes longer than these
  double bubble = 0;    ///< stages that wait for the first and last passes
  double exchange = 0;  ///< between cards, what does not hide
  double optimizer = 0;
  double total = 0;
  double tokens_s = 0;      ///< by all cards
  double utilization = 0;   ///< FLOPs without what is made again over what the cards could do
  std::string_view bound;   ///< which of them is longest
  bool unmeasured = false;  ///< no step of the runtime, or on such cards, was measured
};

/// Its parts by name, in the order of the fields.
std::array<std::pair<std::string_view, double>, 8> parts_of(const StepTime& time);

/// `memory` is the estimate of the same scenario, `shape` what it was worked out from.
StepTime time_of_step(const TrainingScenario& scenario, const StepShape& shape,
                      const TrainingEstimate& memory, const Machine& machine,
                      const TrainingPace& pace);

/// Into the row of a step that fits.
void put_time(Estimate& outcome, const StepTime& time);

}  // namespace headroom::model
