// FSDP's settings of accelerate, the Trainer and axolotl. Sources: accelerate 1.15
// utils/dataclasses.py FullyShardedDataParallelPlugin, commands/launch.py; transformers 5.24
// training_args.py _process_fsdp_args (version 2 by default, layers are wrapped); axolotl 0.19
// utils/schemas/validation.py (version 1 by default), utils/trainer.py setup_fsdp_envs.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "sweep/training/importing.hpp"

namespace headroom::sweep {
namespace {

/// A setting of fsdp_config under its names of the three tools.
const Setting* fsdp_setting(const Settings& settings, std::string_view name) {
  return settings.first_of({fmt::format("fsdp_config.fsdp_{}", name),
                            fmt::format("fsdp_config.{}", name), fmt::format("fsdp_{}", name)});
}

bool uses_fsdp(const Settings& settings) {
  if (settings.is_from(accelerate_keys)) {
    const Setting* type = settings.find("distributed_type");
    return type != nullptr && lower(type->value) == "fsdp";
  }
  if (settings.is_from(axolotl_keys) && std::ranges::any_of(settings.all, [](const Setting& each) {
        return each.key.starts_with("fsdp_config.");
      }))
    return true;
  const Setting* fsdp = settings.find("fsdp");
  return fsdp != nullptr && !fsdp->value.empty() && lower(fsdp->value) != "false";
}

constexpr std::string_view weights_stay =
    "weights that stay gathered after forward are not estimated; ZeRO 2 is (--runtime deepspeed "
    "--zero 2)";
constexpr std::string_view full_copies =
    "every card holds all states then, as --runtime trainer without FSDP";
constexpr std::string_view in_groups =
    "copies of sharded groups are not estimated; on one machine FULL_SHARD is the same";

/// Throws UsageError for every strategy but FULL_SHARD. They are numbered as torch numbers them.
void check_strategy(const Setting& setting, std::string_view written, std::string_view full) {
  const std::string word = lower(std::string(written));
  if (word == "full_shard" || word == "1") return;
  if (word == "shard_grad_op" || word == "2") refuse_setting(setting, weights_stay, full);
  if (word == "no_shard" || word == "3") refuse_setting(setting, full_copies, full);
  if (word == "hybrid_shard" || word == "4" || word == "hybrid_shard_zero2" || word == "5")
    refuse_setting(setting, in_groups, full);
  refuse_setting(setting, "", full);
}

/// "fsdp" of the Trainer: true, or words of an older form. True if they offload.
bool read_words(const Setting& setting) {
  bool offloads = false;
  if (says_yes(setting.value)) return false;
  for (const std::string_view word : headroom::words(setting.value, " ,")) {
    if (word == "auto_wrap") continue;
    if (word == "offload")
      offloads = true;
    else
      check_strategy(setting, word, "full_shard, auto_wrap and offload");
  }
  return offloads;
}

void check_resharding(const Settings& settings, bool second) {
  if (const Setting* strategy = fsdp_setting(settings, "sharding_strategy"); strategy && !second)
    check_strategy(*strategy, strategy->value, "FULL_SHARD");
  const Setting* reshard = fsdp_setting(settings, "reshard_after_forward");
  if (reshard == nullptr || says_yes(reshard->value)) return;
  if (!second) return check_strategy(*reshard, reshard->value, "FULL_SHARD");
  refuse_setting(*reshard, weights_stay, "true");
}

void check_wrapping(const Settings& settings, const Setting& asked) {
  const Setting* policy = fsdp_setting(settings, "auto_wrap_policy");
  constexpr std::string_view by_layer = "TRANSFORMER_BASED_WRAP";
  if (policy != nullptr) {
    if (lower(policy->value) != lower(std::string(by_layer)))
      refuse_setting(*policy, "units other than layers are not estimated", by_layer);
  } else if (settings.is_from(accelerate_keys)) {
    throw UsageError(
        fmt::format("{}: key 'fsdp_config.fsdp_auto_wrap_policy': absent, expected {}: accelerate "
                    "gathers all weights at once without it, which is not estimated",
                    asked.file, by_layer));
  }
}

}  // namespace

void import_fsdp(const Settings& settings, Importing& to) {
  const Setting* asked =
      settings.find(settings.is_from(accelerate_keys) ? "distributed_type" : "fsdp");
  const Setting* version = fsdp_setting(settings, "version");
  if (!uses_fsdp(settings)) {
    for (const Setting& each : settings.all)
      if (each.key.starts_with("fsdp_config.") && row_of(*settings.table, each.key) != nullptr)
        to.ignore(each.key, "no FSDP", Ignored::Matters::no);
    return;
  }
  bool offloads = false;
  if (asked == nullptr)
    asked = version != nullptr ? version : &settings.all.front();
  else if (!settings.is_from(accelerate_keys))
    offloads = read_words(*asked);
  if (version != nullptr && version->value != "1" && version->value != "2")
    refuse_setting(*version, "", "1 or 2");
  const bool second = version != nullptr
                          ? version->value == "2"
                          : settings.is_from(trainer_keys) || settings.is_from(llama_factory_keys);
  check_resharding(settings, second);
  check_wrapping(settings, *asked);
  to.supply_for(version != nullptr ? *version : *asked, "runtime", second ? "fsdp2" : "fsdp");
  // Weights go to host memory with their gradients and states.
  for (const auto* name : {"offload_params", "cpu_offload"})
    if (const Setting* offload = fsdp_setting(settings, name))
      offloads = offloads || says_yes(offload->value);
  if (offloads)
    for (const auto* flag : {"offload-params", "offload-optimizer"})
      to.supply(flag, "cpu", "FSDP's offload");
  if (const Setting* again = fsdp_setting(settings, "activation_checkpointing");
      again != nullptr && says_yes(again->value))
    to.supply_for(*again, "checkpointing", "full");
}

}  // namespace headroom::sweep
