// Keys of axolotl.
#include <array>

#include "sweep/training/key_tables.hpp"

namespace headroom::sweep {
namespace {

constexpr auto axolotl_rows = std::to_array<Key>({
    {"base_model", "model"},
    {"adapter", "lora", "lora=on qlora=on = llama-adapter=? *=?"},
    {"load_in_4bit", "qlora", "true=on false="},
    {"load_in_8bit", "base-precision", "true=int8 false="},
    {"gptq", "", "false= true=?", "load_in_4bit, as --qlora"},
    {"lora_r", "lora-rank"},
    {"lora_alpha", "lora-alpha"},
    {"lora_target_linear", "lora-targets", "true=all-linear false="},
    {"lora_target_modules", "lora-targets"},
    {"lora_modules_to_save", "modules-to-save"},
    {"peft_use_dora", "dora", "true=on false="},
    {"relora", "", "false= true=?"},
    {"sequence_len", "seq"},
    {"sample_packing", "", "true= false="},
    {"micro_batch_size", "batch"},
    {"gradient_accumulation_steps", "grad-accum"},
    {"optimizer", "optimizer", optimizer_values},
    {"gradient_checkpointing", "checkpointing",
     "true=full false= offload=offloaded offload_disk=?"},
    {"activation_offloading", "checkpointing",
     "true=offloaded legacy=offloaded hidden_states=offloaded false= disk=?"},
    {"selective_checkpointing", "", "false= *=?"},
    {"layer_offloading", "", "false= true=?"},
    {"bf16", "", "true= false= auto= full="},
    {"fp16", "", "true= false="},
    {"bfloat16", "", "true= false="},
    {"float16", "", "true= false="},
    {"float32", "", "true= false="},
    {"fp8", "", "false= true=?", "false, and --precision fp8 with --runtime fsdp2"},
    {"attn_implementation", "attention",
     "sdpa=sdpa flash_attention_2=flash_attention_2 flash_attention_3=flash_attention_3 "
     "flex_attention=flash_attention_2 xformers=flash_attention_2 sage=flash_attention_2 "
     "kernels-community/vllm-flash-attn3=flash_attention_3 eager=eager"},
    {"flash_attention", "attention", "true=flash_attention_2 false="},
    {"sdp_attention", "attention", "true=sdpa false="},
    {"xformers_attention", "attention", "true=flash_attention_2 false="},
    {"flex_attention", "attention", "true=flash_attention_2 false="},
    {"sage_attention", "attention", "true=flash_attention_2 false="},
    {"eager_attention", "attention", "true=eager false="},
    {"torch_compile", "compile", "true=on auto=on false="},
    {"liger_fused_linear_cross_entropy", "fused-loss", "true=on false="},
    {"cut_cross_entropy", "fused-loss", "true=on false="},
    {"liger_rope", ""},
    {"liger_rms_norm", ""},
    {"liger_glu_activation", ""},
    {"liger_swiglu", ""},
    {"fsdp", ""},
    {"fsdp_version", ""},
    {"fsdp_config.fsdp_version", ""},
    {"fsdp_config.version", ""},
    {"fsdp_config.reshard_after_forward", ""},
    {"fsdp_config.offload_params", ""},
    {"fsdp_config.activation_checkpointing", ""},
    {"fsdp_config.auto_wrap_policy", ""},
    {"fsdp_config.min_num_params", ""},
    {"fsdp_config.sharding_strategy", ""},
    {"fsdp_config.fsdp_reshard_after_forward", ""},
    {"fsdp_config.fsdp_offload_params", ""},
    {"fsdp_config.fsdp_activation_checkpointing", ""},
    {"fsdp_config.fsdp_auto_wrap_policy", ""},
    {"fsdp_config.fsdp_sharding_strategy", ""},
    {"tensor_parallel_size", "tp"},
    {"context_parallel_size", "cp"},
    {"sequence_parallel_degree", "cp"},
    {"expert_parallel_size", "ep"},
    {"dp_shard_size", "dp"},
    {"dp_replicate_size", "", "1= *=?", "1: shards over all cards"},
    {"freeze_mm_modules", "", "true= false="},
    {"rl", "", "false= *=?", "no rl: sequences and one model"},
    {"reward_model", "", "false= true=?"},
    {"process_reward_model", "", "false= true=?"},
    {"unfrozen_parameters", "", "*=?"},
    {"lisa_n_layers", "", "*=?"},
    {"model_quantization_config", "", "*=?", "load_in_4bit, as --qlora"},
});

/// axolotl 0.19 utils/schemas/*.py, integrations/*/args.py.
constexpr std::string_view axolotl_uncounted =
    "strict resume_from_checkpoint auto_resume_from_checkpoints resize_token_embeddings_to_32x "
    "mean_resizing_embeddings shrink_embeddings embeddings_skip_upcast reinit_weights trainer_cls "
    "trl.* vllm.* ebft.* qat.* quantization.* dynamic_checkpoint.* center_rewards_coefficient "
    "num_labels dpo_use_weighting dpo_label_smoothing precompute_ref_log_probs "
    "dpo_use_liger_kernel dpo_padding_free dpo_loss_type dpo_loss_weights datasets test_datasets "
    "shuffle_merged_datasets shuffle_before_merging_datasets dataset_prepared_path "
    "dataset_shard_num dataset_shard_idx skip_prepare_dataset num_dataset_shards_to_save "
    "pretraining_dataset pretraining_dataset.* dataset_processes dataset_num_proc "
    "dataset_exact_deduplication dataset_keep_in_memory dataloader_pin_memory "
    "dataloader_num_workers dataloader_prefetch_factor dataloader_drop_last accelerator_config.* "
    "remove_unused_columns push_dataset_to_hub hf_use_auth_token device device_map device_map.* "
    "world_size local_rank ddp seed ddp_timeout ddp_bucket_cap_mb ddp_broadcast_buffers "
    "ddp_find_unused_parameters do_causal_lm_eval eval_causal_lm_metrics do_bench_eval "
    "bench_dataset bench_split metric_for_best_model greater_is_better loss_watchdog_threshold "
    "loss_watchdog_patience gc_steps torch_empty_cache_steps gc_collect_steps "
    "fp8_enable_fsdp_float8_all_gather tf32 gradient_checkpointing_kwargs "
    "gradient_checkpointing_kwargs.* excess_length_strategy eval_sequence_len min_sample_len "
    "max_prompt_len sample_packing_group_size sample_packing_bin_size sample_packing_sequentially "
    "sample_packing_mp_start_method eval_sample_packing pad_to_sequence_len pad_to_multiple_of "
    "curriculum_sampling multipack_real_batches batch_flattening use_pose pose_split_on_token_ids "
    "pose_max_context_len pose_num_chunks pretrain_multipack_buffer_size pretrain_multipack_attn "
    "pretraining_sample_concatenation streaming streaming_multipack_buffer_size "
    "flex_attn_compile_kwargs.* flash_attn_cross_entropy flash_attn_fuse_mlp flash_optimum "
    "gemma4_hybrid_attn_impl large_head_attention flash_attn_d512 sdpa_varlen fused_attn_kernel "
    "experts_implementation quantize_moe_experts scaling_softmax scaling_softmax_factor "
    "scaling_softmax_bias lora_mlp_kernel lora_qkv_kernel lora_o_kernel lora_embedding_kernel "
    "chunked_cross_entropy chunked_cross_entropy_num_chunks use_eaft eaft_alpha eaft_k tiled_mlp "
    "tiled_mlp_num_shards tiled_mlp_use_original_mlp llama4_linearized_experts deepcompile "
    "fp32_norms fp32_norm_classes fsdp_final_state_dict_type val_set_size heads_k_stride "
    "ring_attn_func special_tokens.* tokens added_tokens_overrides.* torch_compile_backend "
    "torch_compile_mode torch_compile_options.* max_steps warmup_steps warmup_ratio eval_steps "
    "evals_per_epoch eval_strategy save_steps saves_per_epoch save_strategy save_total_limit "
    "save_first_step logging_steps early_stopping_patience load_best_model_at_end save_only_model "
    "use_tensorboard profiler_steps profiler_steps_start include_tokens_per_second include_tkps "
    "neftune_noise_alpha orpo_alpha simpo_gamma cpo_alpha kto_desirable_weight "
    "kto_undesirable_weight rl_beta max_memory.* gpu_memory_limit low_cpu_mem_usage chat_template "
    "chat_template_jinja chat_template_kwargs.* eot_tokens default_system_message "
    "fix_untrained_tokens is_preprocess preprocess_iterable total_num_tokens "
    "total_supervised_tokens sample_packing_eff_est axolotl_config_path is_falcon_derived_model "
    "is_llama_derived_model is_mistral_derived_model is_qwen_derived_model plugins "
    "generate_samples num_generation_samples generation_max_new_tokens generation_temperature "
    "generation_top_p generation_top_k generation_prompt_ratio generation_do_sample "
    "base_model_config cls_model_config tokenizer_config tokenizer_use_fast tokenizer_legacy "
    "tokenizer_use_mistral_common tokenizer_type processor_type processor_kwargs.* "
    "tokenizer_save_jinja_files trust_remote_code experimental_skip_move_to_device use_kernels "
    "model_quantization_config_kwargs.* use_onebitllms output_dir hub_model_id hub_strategy "
    "hub_revision save_safetensors lora_model_dir lora_fan_in_fan_out lora_target_parameters "
    "lora_rank_pattern.* lora_alpha_pattern.* lora_dropout peft_layers_to_transform "
    "peft_layers_pattern peft.* peft_use_rslora peft_layer_replication peft_init_lora_weights "
    "peft_trainable_token_indices peft_ensure_weight_tying peft_autocast_adapter_dtype "
    "qlora_sharded_model_loading lora_on_cpu bnb_config_kwargs.* loraplus_lr_ratio "
    "loraplus_lr_embedding merge_lora merge_method batch_size eval_batch_size "
    "auto_find_batch_size train_on_inputs group_by_length learning_rate embedding_lr "
    "embedding_lr_scale weight_decay optim_args optim_args.* optim_target_modules torchdistx_path "
    "lr_scheduler lr_scheduler_kwargs.* lr_quadratic_warmup cosine_min_lr_ratio "
    "cosine_constant_lr_ratio lr_div_factor lr_groups adam_epsilon adam_epsilon2 adam_beta1 "
    "adam_beta2 adam_beta3 max_grad_norm num_epochs jagged_restart_steps "
    "jagged_restart_warmup_steps jagged_restart_anneal_steps rope_scaling.* evaluation_strategy "
    "overrides_of_model_config.* overrides_of_model_kwargs.* type_of_model revision_of_model "
    "model_type use_mlflow mlflow_tracking_uri mlflow_experiment_name mlflow_run_name "
    "hf_mlflow_log_artifacts use_wandb wandb_name wandb_run_id wandb_mode wandb_project "
    "wandb_entity wandb_watch wandb_log_model use_comet comet_api_key comet_workspace "
    "comet_project_name comet_experiment_key comet_mode comet_online comet_experiment_config.* "
    "use_ray ray_run_name ray_num_workers resources_per_worker.* use_trackio trackio_project_name "
    "trackio_run_name trackio_space_id use_otel_metrics otel_metrics_host otel_metrics_port "
    "liger_layer_norm liger_cross_entropy liger_rms_norm_gated liger_use_token_scaling kd_trainer "
    "kd_ce_alpha kd_alpha kd_temperature kd_beta moe_bnb_fast use_scattermoe use_sonicmoe "
    "expert_backend image_size image_resize_algorithm roles_to_train train_on_eos "
    "fsdp_config.sync_module_states fsdp_config.cpu_ram_efficient_loading "
    "fsdp_config.cpu_offload_pin_memory fsdp_config.use_orig_params fsdp_config.state_dict_type "
    "fsdp_config.final_state_dict_type fsdp_config.transformer_layer_cls_to_wrap "
    "fsdp_config.mixed_precision_policy fsdp_config.fsdp_transformer_layer_cls_to_wrap "
    "fsdp_config.fsdp_state_dict_type fsdp_config.fsdp_sync_module_states "
    "fsdp_config.fsdp_cpu_ram_efficient_loading fsdp_config.fsdp_use_orig_params "
    "fsdp_config.fsdp_limit_all_gathers fsdp_config.limit_all_gathers "
    "fsdp_config.fsdp_backward_prefetch fsdp_config.fsdp_forward_prefetch";

}  // namespace

const KeyTable axolotl_keys{"axolotl", axolotl_rows, axolotl_uncounted};

}  // namespace headroom::sweep
