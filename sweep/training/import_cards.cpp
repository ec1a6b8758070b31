// Cards of a file: Megatron's divisions, the number of processes, all cards of a launcher; and the
// runtime. Sources: accelerate 1.15 utils/dataclasses.py MegatronLMPlugin; LLaMA-Factory 0.9.5
// launcher.py (a process on each visible card); axolotl 0.19 cli/utils/train.py.
#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/training/importing.hpp"

namespace headroom::sweep {
namespace {

std::string megatron(std::string_view name) {
  return fmt::format("megatron_lm_config.megatron_lm_{}", name);
}

/// Cards of one replica.
Size cards_of_replica(const Options& options) {
  return options.whole("tp", 1) * options.whole("pp", 1) * options.whole("cp", 1);
}

/// "num_processes" counts all cards, those of a replica included.
void read_processes(const Settings& settings, Importing& to) {
  const Setting* processes = settings.find("num_processes");
  if (processes == nullptr) return;
  const Size all = whole_number(processes->value).value_or(0),
             replica = cards_of_replica(to.options());
  if (all < 1) refuse_setting(*processes, "", "a whole number from 1");
  if (all % replica != 0)
    refuse_setting(*processes, "tensor, pipeline and context parallel cards are one replica",
                   fmt::format("a multiple of {}", replica));
  to.supply_for(*processes, "dp", std::to_string(all / replica));
}

void read_megatron(const Settings& settings, Importing& to) {
  const Setting* type = settings.find("distributed_type");
  if (type == nullptr || lower(type->value) != "megatron_lm") return;
  to.supply_for(*type, "runtime", "megatron");
  if (to.options().whole("tp", 1) > 1)
    to.supply("sequence-parallel",
              settings.is_on(megatron("sequence_parallelism")) ? "true" : "false",
              megatron("sequence_parallelism"));
  // Without the distributed optimizer every replica holds all states.
  if (to.options().whole("dp", 1) > 1 && !settings.is_on(megatron("use_distributed_optimizer")))
    throw UsageError(fmt::format(
        "{}: key '{}': expected true: copies of all states on each replica are not estimated",
        type->file, megatron("use_distributed_optimizer")));
}

bool divides_states(const Options& options) {
  const std::string runtime = options.text("runtime"), zero = options.text("zero", "0");
  return zero != "0" || runtime == "fsdp" || runtime == "fsdp2";
}

/// Launchers start a process on each card. Sharded states depend on their number, and copies not.
void read_all_cards(Importing& to) {
  const Options& options = to.options();
  if (options.given("dp")) return;
  const auto machine = machine_of(options);
  if (!machine) return;
  const auto cards = static_cast<Size>(machine->machine.devices.size());
  const Size replicas = cards / cards_of_replica(options);
  if (replicas < 2) return;
  if (divides_states(options))
    to.supply("dp", std::to_string(replicas),
              fmt::format("the launcher starts a process on each of {}", counted(cards, "card")));
  else
    to.out().taken.push_back(
        fmt::format("one card of {}, because each has a copy (--dp {} has all)", cards, replicas));
}

/// The runtime where no rule has named one.
void read_runtime(const Settings& settings, Importing& to) {
  bool deepspeed = settings.is_from(deepspeed_keys);
  for (const Setting& each : settings.all)
    deepspeed = deepspeed || each.key.starts_with("zero_optimization");
  if (const Setting* type = settings.find("distributed_type"))
    deepspeed = deepspeed || lower(type->value) == "deepspeed";
  // DeepSpeedPlugin: zero_stage is 2 where neither the file nor DeepSpeed's own says it.
  if (settings.is_from(accelerate_keys) && deepspeed && !to.options().given("zero") &&
      settings.find("deepspeed_config.deepspeed_config_file") == nullptr)
    to.supply("zero", "2", "accelerate's default");
  const bool factory = settings.is_from(llama_factory_keys);
  // LLaMA-Factory hands ZeRO to DeepSpeed, which works on one card too.
  const bool one = to.options().whole("dp", 1) == 1;
  if (!to.options().given("runtime"))
    to.supply("runtime",
              deepspeed && (!factory || one) ? "deepspeed"
              : factory                      ? "llama-factory"
                                             : "trainer",
              "the format");
  if (factory && to.options().text("runtime") != "unsloth" && !to.options().given("checkpointing"))
    to.supply("checkpointing", "full", "LLaMA-Factory checkpoints by default");
}

/// axolotl names Liger's kernels one by one; --liger is all of them.
void read_liger(const Settings& settings, Importing& to) {
  if (!settings.is_from(axolotl_keys)) return;
  const bool gating = settings.is_on("liger_glu_activation") || settings.is_on("liger_swiglu");
  if (settings.is_on("liger_rope") && settings.is_on("liger_rms_norm") && gating &&
      to.options().given("fused-loss"))
    return to.supply("liger", "on", "liger_rope, liger_rms_norm and liger_glu_activation");
  for (const auto* key : {"liger_rope", "liger_rms_norm", "liger_glu_activation", "liger_swiglu"})
    if (settings.is_on(key))
      to.ignore(key, "counted only beside all of Liger's kernels", Ignored::Matters::yes);
}

/// With accelerate's flag transformers divides weights while it loads them. Without it each card
/// first has the whole model.
void read_zero3_init(const Settings& settings, Importing& to) {
  const Setting* flag = settings.find("deepspeed_config.zero3_init_flag");
  if (flag == nullptr || says_yes(flag->value) || to.options().text("zero") != "3") return;
  to.supply_for(*flag, "no-zero3-init", "on");
}

}  // namespace

void import_cards(const Settings& settings, Importing& to) {
  read_processes(settings, to);
  read_megatron(settings, to);
  read_all_cards(to);
  read_runtime(settings, to);
  read_liger(settings, to);
  read_zero3_init(settings, to);
}

}  // namespace headroom::sweep
