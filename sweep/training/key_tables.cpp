#include "sweep/training/key_tables.hpp"

#include <algorithm>

#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

/// The Trainer's settings, DeepSpeed's and accelerate's stand in one file; axolotl has its own.
std::vector<const KeyTable*> tables_of(const KeyTable& table) {
  if (&table == &axolotl_keys) return {&axolotl_keys, &deepspeed_keys};
  return {&trainer_keys, &deepspeed_keys, &llama_factory_keys, &accelerate_keys};
}

bool names(std::string_view row, std::string_view key) {
  return row.ends_with(".*") ? key.starts_with(row.substr(0, row.size() - 1)) : row == key;
}

/// Keys, or beginnings of keys, that change no memory.
constexpr std::string_view without_memory =
    "output_dir learning_rate num_train_epochs num_epochs max_steps lr_scheduler warmup logging "
    "save_ saves_ eval seed report_to dataset overwrite preprocessing dataloader weight_decay "
    "adam_ max_grad_norm ddp_timeout template do_train plot_loss val_ resume run_name push_to_hub "
    "lora_dropout gradient_clipping steps_per_print wall_clock optimizer.params scheduler "
    "machine_rank main_ num_machines rdzv compute_environment debug downcast same_network use_cpu "
    "tpu max_samples trust_remote_code chat_template wandb_ mlflow_ hub_ test_datasets "
    "train_on_inputs special_tokens zero_allow_untested_optimizer fp16.loss_scale "
    "fp16.initial_scale fp16.hysteresis fp16.consecutive fp16.min_loss bf16.check_grad "
    "zero_optimization.stage3_gather_16bit zero_optimization.gather_16bit gpu_ids "
    "deepspeed_config.gradient_clipping deepspeed_config.zero3_save deepspeed_config.zero3_init "
    "deepspeed_config.deepspeed_multinode deepspeed_config.deepspeed_hostfile "
    "fsdp_config.fsdp_state_dict_type fsdp_config.state_dict_type "
    "fsdp_config.fsdp_transformer_layer_cls fsdp_config.transformer_layer_cls "
    "fsdp_config.fsdp_sync_module fsdp_config.sync_module fsdp_config.fsdp_cpu_ram "
    "fsdp_config.cpu_ram megatron_lm_config.megatron_lm_gradient_clipping";

}  // namespace

const Key* row_of(const KeyTable& table, std::string_view key) {
  for (const KeyTable* each : tables_of(table)) {
    const auto row = std::ranges::find(each->rows, key, &Key::key);
    if (row != each->rows.end()) return &*row;
  }
  return nullptr;
}

bool is_known_key(const KeyTable& table, std::string_view key) {
  return std::ranges::any_of(tables_of(table), [&](const KeyTable* each) {
    const auto all = headroom::words(each->uncounted);
    return std::ranges::any_of(all, [&](std::string_view row) { return names(row, key); });
  });
}

std::vector<std::string> known_keys(const KeyTable& table) {
  std::vector<std::string> all;
  for (const KeyTable* each : tables_of(table)) {
    for (const Key& row : each->rows) all.emplace_back(row.key);
    for (const std::string_view key : headroom::words(each->uncounted)) all.emplace_back(key);
  }
  return all;
}

bool is_harmless(std::string_view key) {
  const auto all = headroom::words(without_memory);
  return std::ranges::any_of(all, [&](std::string_view start) { return key.starts_with(start); });
}

}  // namespace headroom::sweep
