#include "sweep/launch/training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/infer/scenario/verdict.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/launch/kinds.hpp"
#include "sweep/launch/training_settings.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/advice_words.hpp"

namespace headroom::sweep {
namespace {

constexpr TrainingKind training_table[] = {
    {"trainer", "train.py", "trainer deepspeed fsdp fsdp2",
     "Python: transformers' Trainer, with PEFT, DeepSpeed or FSDP", trainer_script},
    {"deepspeed", "deepspeed.json", "trainer deepspeed",
     "DeepSpeed's configuration: ZeRO, offload, buckets", deepspeed_training},
    {"llama-factory", "llama_factory.yaml", "llama-factory", "YAML of LLaMA-Factory",
     llama_factory_file},
    {"axolotl", "axolotl.yaml", "trainer deepspeed fsdp fsdp2", "YAML of axolotl", axolotl_file},
    {"accelerate", "accelerate.yaml", "trainer deepspeed fsdp fsdp2",
     "accelerate's configuration of processes, types and sharding", accelerate_file},
};

bool starts(const TrainingKind& kind, const model::TrainingRuntime& runtime) {
  return fmt::format(" {} ", kind.runtimes).find(fmt::format(" {} ", runtime.name)) !=
         std::string::npos;
}

/// The first kind that is made for the runtime. Throws std::invalid_argument where there is none.
const TrainingKind& training_kind_for(const model::TrainingScenario& step) {
  sharding_of(step);
  return *std::ranges::find_if(
      training_table, [&](const TrainingKind& kind) { return starts(kind, *step.runtime); });
}

std::string write_step(const TrainingKind& kind, const TrainingPoint& point) {
  if (!starts(kind, *point.step().runtime))
    throw std::invalid_argument(fmt::format("--runtime is {}, but this file is for {}",
                                            point.step().runtime->name, kind.runtimes));
  return kind.write(point);
}

/// Throws std::invalid_argument with what would help where the step does not fit.
void refuse_unfit(const TrainingPoint& point) {
  if (fits(*point.answer.outcome)) return;
  std::string help;
  for (const model::Change& change : advice_of(point.given, point.answer.memory).changes)
    if (change.fits && help.empty()) help = "; " + change_flags(change) + " would fit";
  throw std::invalid_argument(fmt::format("{} ({}){}",
                                          model::name_of(point.answer.outcome->verdict),
                                          model::name_of(point.answer.outcome->reason), help));
}

}  // namespace

int launch_training(const Options& options) {
  const GivenTraining given = training_of(options);
  if (given.machine->devices.empty())
    throw UsageError("the machine has no card: these files train on cards");
  const TrainingAnswer answer = answer_of(given);
  const TrainingPoint point{given, answer};
  const std::string kind = options.text("kind");
  try {
    refuse_unfit(point);
    if (kind == "all")
      return write_kinds(options, training_table,
                         [&](const TrainingKind& each) { return write_step(each, point); });
    const TrainingKind& chosen = kind.empty()
                                     ? training_kind_for(given.scenario)
                                     : kind_named(training_table, "kind of --task training", kind);
    emit(options, write_step(chosen, point));
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "headroom: no {}: {}\n", kind.empty() ? "file" : kind, e.what());
    return answer_is_no;
  }
  return done;
}

}  // namespace headroom::sweep
