// Columns of training: its axes, and the outcome of a step on the fullest card.
#include <fmt/format.h>

#include "model/infer/estimate.hpp"
#include "model/train/training.hpp"
#include "report/column_rows.hpp"
#include "report/packed_field.hpp"

namespace headroom::report {
namespace {

using model::Estimate;
using model::StepOutcome;

Column axis(std::string_view name, std::string_view unit, std::string_view heading, SqlType type,
            std::string_view meaning) {
  return {name,
          unit,
          heading,
          meaning,
          ColumnKind::axis,
          type,
          DisplayUnit::plain,
          {},
          {},
          AppliesTo::training};
}

bool training(const Estimate& e) { return e.task == model::Task::training; }

Column outcome(std::string_view name, std::string_view unit, std::string_view heading, SqlType type,
               OfEstimate origin, std::string_view expression, std::string_view meaning,
               DisplayUnit shown) {
  return {name,
          unit,
          heading,
          meaning,
          ColumnKind::outcome,
          type,
          shown,
          origin,
          fmt::format("(SELECT {} FROM training_outcome WHERE id = o.id)", expression),
          AppliesTo::training};
}

template <Bytes StepOutcome::*field>
Column bytes(std::string_view name, std::string_view heading, std::string_view meaning) {
  return outcome(
      name, "B", heading, SqlType::integer,
      +[](const Estimate& e) { return training(e) ? Cell((e.step.*field).count()) : Cell(); }, name,
      meaning, DisplayUnit::gib);
}

std::string moments() {
  std::string sql = "CASE WHEN gradients_bytes > 0 THEN CASE " + packed::moment.sql();
  for (int i = 0; i <= static_cast<int>(model::Peak::sum); ++i) {
    std::string words(name_of(static_cast<model::Peak>(i)));
    for (auto at = words.find('\''); at != words.npos; at = words.find('\'', at + 2))
      words.insert(at, 1, '\'');
    sql += fmt::format(" WHEN {} THEN '{}'", i, words);
  }
  return sql + " END END";
}

}  // namespace

void add_training_axes(std::vector<Column>& all) {
  using enum SqlType;
  all.push_back(axis("adapters", "", "method", text,
                     "full: every weight is trained; lora, dora: adapters on frozen weights; "
                     "qlora, qdora: adapters on frozen weights in nf4"));
  all.push_back(axis("rank", "", "rank", integer, "rank of adapters"));
  all.push_back(axis("targets", "", "targets", text,
                     "modules that have adapters; usual: those that PEFT chooses"));
  all.push_back(axis("sequence", "tokens", "sequence", integer, "tokens in a sequence"));
  all.push_back(
      axis("accumulated", "", "passes", integer, "passes that accumulate gradients before a step"));
  all.push_back(axis("optimizer", "", "optimizer", text, "optimizer of the step"));
  all.push_back(axis("recipe", "", "recipe", text,
                     "precisions of weights, gradients and states; usual: as the engine does"));
  all.push_back(axis("matrices", "", "matrices", text,
                     "format in which layers multiply; usual: 16 bit, or fp32 if the recipe is"));
  all.push_back(axis("zero", "", "ZeRO", integer,
                     "state sharded across replicas: 1 states, 2 gradients, 3 weights; at least "
                     "the engine's own"));
  all.push_back(axis("checkpointing", "", "checkpointing", text,
                     "none, selective or full: which activations backward recomputes"));
  all.push_back(axis("attention", "", "attention", text,
                     "sdpa or flash: a fused kernel; flash_attention_2: one without masks; "
                     "eager: separate kernels that keep the scores"));
  all.push_back(axis("kernels", "", "kernels", text,
                     "usual, fused-loss: logits in chunks, liger: norms, gating and rotation too"));
  all.push_back(axis("offload", "", "offload", text,
                     "state in host memory or on disk: none, optimizer, params (both), "
                     "optimizer-nvme, params-nvme"));
  all.push_back(
      axis("virtual_stages", "", "chunks", integer, "chunks of layers on each pipeline stage"));
  all.push_back(axis("context_parallel", "", "CP", integer, "cards that divide a sequence"));
}

void add_training_columns(std::vector<Column>& all) {
  using enum SqlType;
  all.push_back(bytes<&StepOutcome::master>("master_weights_bytes", "master weights",
                                            "fp32 copies that the optimizer updates"));
  all.push_back(
      bytes<&StepOutcome::gradients>("gradients_bytes", "gradients", "gradients of the weights"));
  all.push_back(bytes<&StepOutcome::states>("optimizer_bytes", "optimizer", "optimizer states"));
  all.push_back(bytes<&StepOutcome::loss>("loss_bytes", "logits and loss",
                                          "logits and loss at the peak, if they are alive then"));
  all.push_back(bytes<&StepOutcome::working>(
      "working_bytes", "working",
      "gradients of activations, and the layer that is being recomputed"));
  all.push_back(bytes<&StepOutcome::exchanged>(
      "exchanged_bytes", "exchanged", "gathered weights, buckets of gradients, workspaces"));
  all.push_back(
      bytes<&StepOutcome::stepping>("stepping_bytes", "stepping", "temporaries of the optimizer"));
  all.push_back(outcome(
      "peak_at", "", "peak at", text,
      +[](const Estimate& e) {
        return e.step.gradients.count() > 0 ? Cell(name_of(static_cast<model::Peak>(e.step.moment)))
                                            : Cell();
      },
      moments(), "moment of the peak; not all terms are alive then", DisplayUnit::plain));
  all.push_back(outcome(
      "step_s", "s", "step", real,
      +[](const Estimate& e) { return training(e) ? finite(e.step.time.value()) : Cell(); },
      "step_s", "time of a step with all its passes; empty: not known", DisplayUnit::seconds));
  all.push_back(outcome(
      "mfu", "", "MFU", real,
      +[](const Estimate& e) {
        return training(e) && e.step.utilization > 0 ? Cell(e.step.utilization) : Cell();
      },
      "nullif(mfu, 0)",
      "FLOPs of forward and backward, without what is made again, over what the cards could do in "
      "that time (MFU)",
      DisplayUnit::percent));
}

}  // namespace headroom::report
