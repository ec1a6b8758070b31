// Keys of transformers' TrainingArguments, and of TRL's SFTConfig and ModelConfig.
#include <array>

#include "sweep/training/key_tables.hpp"

namespace headroom::sweep {
namespace {

constexpr auto trainer_rows = std::to_array<Key>({
    {"per_device_train_batch_size", "batch"},
    {"gradient_accumulation_steps", "grad-accum", "auto= *"},
    {"gradient_checkpointing", "checkpointing",
     "true=full false= offload=offloaded unsloth=offloaded"},
    {"optim", "optimizer", optimizer_values},
    {"bf16", "", "true= false= auto="},
    {"fp16", "", "true= false= auto="},
    {"dtype", "", "auto= bfloat16= float16= float32="},
    {"torch_dtype", "", "auto= bfloat16= float16= float32="},
    {"use_liger_kernel", "liger", "true=on false="},
    {"max_length", "seq"},
    {"max_seq_length", "seq"},
    {"torch_compile", "compile", "true=on false="},
    {"activation_offloading", "", "false= true=?",
     "leave it out and type --checkpointing offloaded"},
    {"attn_implementation", "attention",
     "sdpa=sdpa eager=eager "
     "flash_attention_2=flash_attention_2 flash_attention_3=flash_attention_3 "
     "kernels-community/flash-attn2=flash_attention_2 "
     "kernels-community/vllm-flash-attn3=flash_attention_3"},
    {"use_peft", "lora", "true=on false="},
    {"lora_r", "lora-rank"},
    {"lora_target_modules", "lora-targets"},
    {"lora_modules_to_save", "modules-to-save"},
    {"load_in_4bit", "qlora", "true=on false="},
    {"load_in_8bit", "base-precision", "true=int8 false="},
    {"fsdp", ""},
    {"fsdp_config", ""},
    {"fsdp_config.version", ""},
    {"fsdp_config.reshard_after_forward", ""},
    {"fsdp_config.cpu_offload", ""},
    {"fsdp_config.activation_checkpointing", ""},
    {"fsdp_config.auto_wrap_policy", ""},
    {"parallelism_config.tp_size", "tp"},
    {"parallelism_config.cp_size", "cp"},
    {"parallelism_config.dp_shard_size", "dp"},
    {"parallelism_config.sp_size", "", "1= *=?", "1: Ulysses is not described"},
    {"parallelism_config.dp_replicate_size", "", "1= *=?", "1: shards over all cards"},
});

/// transformers 5.24 training_args.py and before, TRL 1.16 sft_config.py and model_config.py.
constexpr std::string_view trainer_uncounted =
    "accelerator_config accelerator_config.* activation_checkpointing "
    "activation_checkpointing_kwargs activation_checkpointing_kwargs.* adam_beta1 adam_beta2 "
    "adam_epsilon assistant_only_loss auto_find_batch_size average_tokens_across_devices "
    "batch_eval_metrics bf16_full_eval bnb_4bit_quant_storage bnb_4bit_quant_type "
    "chat_template_path completion_only_loss data_seed dataloader_drop_last dataloader_in_order "
    "dataloader_multiprocessing_context dataloader_num_workers dataloader_persistent_workers "
    "dataloader_pin_memory dataloader_prefetch_factor dataset_batch_size dataset_config "
    "dataset_kwargs.* dataset_name dataset_num_proc dataset_streaming dataset_test_split "
    "dataset_text_field dataset_train_split ddp_backend ddp_broadcast_buffers ddp_bucket_cap_mb "
    "ddp_find_unused_parameters ddp_static_graph ddp_timeout debug disable_tqdm dispatch_batches "
    "do_eval do_predict do_train enable_jit_checkpoint eos_token eval_accumulation_steps "
    "eval_delay eval_do_concat_batches eval_on_start eval_packing eval_steps eval_strategy "
    "eval_use_gather_object evaluation_strategy fp16_backend fp16_full_eval fp16_opt_level "
    "fsdp_min_num_params fsdp_transformer_layer_cls_to_wrap full_determinism generation_config "
    "generation_max_length generation_num_beams gradient_checkpointing_kwargs "
    "gradient_checkpointing_kwargs.* greater_is_better group_by_length half_precision_backend "
    "hub_always_push hub_model_id hub_private_repo hub_revision hub_strategy hub_token "
    "ignore_bias_buffers ignore_data_skip include_for_metrics include_inputs_for_metrics "
    "include_num_input_tokens_seen include_tokens_per_second jit_mode_eval label_names "
    "label_smoothing_factor learning_rate length_column_name liger_kernel_config "
    "liger_kernel_config.* load_best_model_at_end local_rank log_level log_level_replica "
    "log_on_each_node logging_dir logging_first_step logging_nan_inf_filter logging_steps "
    "logging_strategy lora_dropout lora_target_parameters lora_task_type loss_type "
    "lr_scheduler_kwargs lr_scheduler_kwargs.* lr_scheduler_type max_grad_norm max_steps "
    "metric_for_best_model model_init_kwargs.* model_revision mp_parameters neftune_noise_alpha "
    "no_cuda num_train_epochs optim_args optim_target_modules output_dir overwrite_output_dir "
    "packing packing_strategy pad_to_multiple_of pad_token padding_free past_index "
    "per_device_eval_batch_size predict_with_generate prediction_loss_only project push_to_hub "
    "push_to_hub_model_id push_to_hub_organization push_to_hub_token ray_scope "
    "remove_unused_columns report_to restore_callback_states_from_checkpoint "
    "resume_from_checkpoint router_aux_loss_coef run_name save_on_each_node save_only_model "
    "save_safetensors save_steps save_strategy save_total_limit seed shuffle_dataset "
    "skip_memory_metrics sortish_sampler split_batches tf32 torch_compile_backend "
    "torch_compile_mode torch_empty_cache_steps torchdynamo tpu_metrics_debug tpu_num_cores "
    "trackio_bucket_id trackio_space_id trackio_static_space_id train_sampling_strategy "
    "truncation_mode trust_remote_code use_bnb_nested_quant use_cache use_cpu use_ipex "
    "use_mps_device use_rslora warmup_ratio warmup_steps weight_decay sharded_ddp "
    "fsdp_config.min_num_params fsdp_config.transformer_layer_cls_to_wrap "
    "fsdp_config.backward_prefetch fsdp_config.backward_prefetch_policy "
    "fsdp_config.state_dict_type fsdp_config.forward_prefetch fsdp_config.use_orig_params "
    "fsdp_config.cpu_ram_efficient_loading fsdp_config.sync_module_states "
    "fsdp_config.ignored_modules fsdp_config.mixed_precision_policy fsdp_config.limit_all_gathers "
    "fsdp_config.xla fsdp_config.xla_fsdp_v2 fsdp_config.xla_fsdp_grad_ckpt "
    "fsdp_config.cpu_offload_pin_memory fsdp_config.xla_fsdp_settings.* "
    "parallelism_config.cp_comm_strategy parallelism_config.cp_backend "
    "parallelism_config.sp_backend parallelism_config.sp_seq_length "
    "parallelism_config.sp_seq_length_is_variable parallelism_config.sp_attn_implementation";

}  // namespace

const KeyTable trainer_keys{"the Trainer", trainer_rows, trainer_uncounted};

}  // namespace headroom::sweep
