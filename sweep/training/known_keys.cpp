// Keys of training tools' files that --from knows and does not count.
#include "sweep/training/known_keys.hpp"

#include <algorithm>

#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

/// transformers 5.24 training_args.py and before, TRL 1.16 sft_config.py and model_config.py.
constexpr std::string_view of_trainer =
    "accelerator_config accelerator_config.* activation_checkpointing "
    "activation_checkpointing_kwargs activation_checkpointing_kwargs.* activation_offloading "
    "adam_beta1 adam_beta2 adam_epsilon assistant_only_loss attn_implementation "
    "auto_find_batch_size average_tokens_across_devices batch_eval_metrics bf16_full_eval "
    "bnb_4bit_quant_storage bnb_4bit_quant_type chat_template_path completion_only_loss "
    "data_seed dataloader_drop_last dataloader_in_order dataloader_multiprocessing_context "
    "dataloader_num_workers dataloader_persistent_workers dataloader_pin_memory "
    "dataloader_prefetch_factor dataset_batch_size dataset_config dataset_kwargs.* dataset_name "
    "dataset_num_proc dataset_streaming dataset_test_split dataset_text_field "
    "dataset_train_split ddp_backend ddp_broadcast_buffers ddp_bucket_cap_mb "
    "ddp_find_unused_parameters ddp_static_graph ddp_timeout debug disable_tqdm dispatch_batches "
    "do_eval do_predict do_train dtype enable_jit_checkpoint eos_token eval_accumulation_steps "
    "eval_delay eval_do_concat_batches eval_on_start eval_packing eval_steps eval_strategy "
    "eval_use_gather_object evaluation_strategy fp16_backend fp16_full_eval fp16_opt_level "
    "fsdp_config fsdp_min_num_params fsdp_transformer_layer_cls_to_wrap full_determinism "
    "generation_config generation_max_length generation_num_beams gradient_checkpointing_kwargs "
    "gradient_checkpointing_kwargs.* greater_is_better group_by_length half_precision_backend "
    "hub_always_push hub_model_id hub_private_repo hub_revision hub_strategy hub_token "
    "ignore_bias_buffers ignore_data_skip include_for_metrics include_inputs_for_metrics "
    "include_num_input_tokens_seen include_tokens_per_second jit_mode_eval label_names "
    "label_smoothing_factor learning_rate length_column_name liger_kernel_config "
    "liger_kernel_config.* load_best_model_at_end load_in_4bit load_in_8bit local_rank log_level "
    "log_level_replica log_on_each_node logging_dir logging_first_step logging_nan_inf_filter "
    "logging_steps logging_strategy lora_dropout lora_modules_to_save lora_r lora_target_modules "
    "lora_target_parameters lora_task_type loss_type lr_scheduler_kwargs lr_scheduler_kwargs.* "
    "lr_scheduler_type max_grad_norm max_steps metric_for_best_model model_init_kwargs.* "
    "model_revision mp_parameters neftune_noise_alpha no_cuda num_train_epochs optim_args "
    "optim_target_modules output_dir overwrite_output_dir packing packing_strategy "
    "pad_to_multiple_of pad_token padding_free parallelism_config parallelism_config.* "
    "past_index per_device_eval_batch_size predict_with_generate prediction_loss_only project "
    "push_to_hub push_to_hub_model_id push_to_hub_organization push_to_hub_token ray_scope "
    "remove_unused_columns report_to restore_callback_states_from_checkpoint "
    "resume_from_checkpoint router_aux_loss_coef run_name save_on_each_node save_only_model "
    "save_safetensors save_steps save_strategy save_total_limit seed sharded_ddp shuffle_dataset "
    "skip_memory_metrics sortish_sampler split_batches tf32 torch_compile torch_compile_backend "
    "torch_compile_mode torch_dtype torch_empty_cache_steps torchdynamo tpu_metrics_debug "
    "tpu_num_cores trackio_bucket_id trackio_space_id trackio_static_space_id "
    "train_sampling_strategy truncation_mode trust_remote_code use_bnb_nested_quant use_cache "
    "use_cpu use_ipex use_mps_device use_peft use_rslora warmup_ratio warmup_steps weight_decay";

/// LLaMA-Factory 0.9.5 hparams.
constexpr std::string_view of_llama_factory =
    "adapter_folder adapter_name_or_path add_special_tokens add_tokens apollo_layerwise "
    "apollo_proj apollo_proj_type apollo_rank apollo_scale apollo_scale_front apollo_scale_type "
    "apollo_target apollo_update_interval asft_alpha audio_sampling_rate badam_mask_mode "
    "badam_mode badam_start_block badam_switch_interval badam_switch_mode badam_update_ratio "
    "badam_verbose block_diag_attn buffer_size cache_dir compute_accuracy compute_dtype "
    "create_new_adapter crop_to_patches data_shared_file_system dataset dataset_dir "
    "default_system device_map disable_shuffling do_sample double_quantization download_mode "
    "dpo_label_smoothing eaft_alpha early_stopping_steps enable_thinking enable_torch_profiler "
    "eval_dataset eval_num_beams eval_on_each_dataset export_device export_dir "
    "export_hub_model_id export_legacy_format export_quantization_bit "
    "export_quantization_dataset export_quantization_maxlen export_quantization_nsamples "
    "export_size fp8 fp8_backend fp8_enable_fsdp_float8_all_gather freeze_extra_modules "
    "freeze_language_model freeze_multi_modal_projector freeze_trainable_layers "
    "freeze_trainable_modules freeze_vision_tower galore_layerwise galore_proj_type galore_rank "
    "galore_scale galore_target galore_update_interval hf_hub_token hyper_parallel_args "
    "ignore_pad_token_for_loss image_do_pan_and_scan image_max_pixels image_min_pixels "
    "image_resolution include_effective_tokens_per_second infer_backend infer_dtype "
    "init_special_tokens interleave_probs kt_expert_checkpoint_path "
    "kt_lora_expert_intermediate_size kt_lora_expert_num kt_use_lora_experts kt_weight_path "
    "kto_chosen_weight kto_rejected_weight lang ld_alpha length_penalty loraplus_lr_embedding "
    "loraplus_lr_ratio low_cpu_mem_usage mask_history master_addr master_port max_new_tokens "
    "max_samples media_dir mix_strategy mixture_of_depths model_max_length module_dropout "
    "moe_aux_loss_coef ms_hub_token n_shot neat_packing new_special_tokens_config num_beams "
    "offload_folder oft_block_size oft_rank oft_target om_hub_token overwrite_cache "
    "pissa_convert pissa_init pissa_iter plot_loss ppo_buffer_size ppo_epochs ppo_score_norm "
    "ppo_target ppo_whiten_rewards pref_bco_weight pref_beta pref_ftx pref_loss "
    "preprocessing_batch_size preprocessing_num_workers preserve_thinking print_param_status "
    "profile_modules profiler_active_steps profiler_output_dir profiler_profile_memory "
    "profiler_record_shapes profiler_repeat profiler_wait_steps profiler_warmup_steps "
    "profiler_with_stack quantization_device_map quantization_method quantization_type "
    "ray_init_kwargs ray_init_kwargs.* ray_num_workers ref_model ref_model_adapters "
    "ref_model_quantization_bit repetition_penalty reserved_label_len resize_vocab reward_model "
    "reward_model_adapters reward_model_quantization_bit reward_model_type rope_scaling "
    "rope_scaling.* save_dir sglang_config sglang_config.* sglang_lora_backend sglang_maxlen "
    "sglang_mem_fraction sglang_tp_size shift_attn simpo_gamma skip_special_tokens "
    "split_special_tokens stage streaming swanlab_api_key swanlab_lark_secret "
    "swanlab_lark_webhook_url swanlab_logdir swanlab_mode swanlab_project swanlab_run_name "
    "swanlab_workspace task_dir temperature template tokenized_path tool_format top_k top_p "
    "train_from_scratch train_on_prompt upcast_layernorm upcast_lmhead_output use_adam_mini "
    "use_apollo use_asft_loss use_audio_in_video use_badam use_dft_loss use_eaft_loss "
    "use_fast_tokenizer use_galore use_hyper_parallel use_kt use_kv_cache use_llama_pro use_mca "
    "use_muon use_reentrant_gc use_swanlab use_unsloth use_unsloth_gc use_v1_kernels val_size "
    "video_fps video_max_pixels video_maxlen video_min_pixels vllm_config vllm_config.* "
    "vllm_enforce_eager vllm_gpu_util vllm_max_lora_rank vllm_maxlen";

/// DeepSpeed 0.16 runtime/config.py, runtime/zero/config.py and offload_config.py.
constexpr std::string_view of_deepspeed =
    "activation_checkpointing.contiguous_memory_optimization "
    "activation_checkpointing.cpu_checkpointing activation_checkpointing.number_checkpoints "
    "activation_checkpointing.partition_activations activation_checkpointing.profile "
    "activation_checkpointing.synchronize_checkpoint_boundary aio.block_size "
    "aio.intra_op_parallelism aio.overlap_events aio.queue_depth aio.single_submit "
    "aio.thread_count aio.use_gds amp.* autotuning.* bf16.bf16_master_weights_and_grads "
    "bf16.bf16_optimizer_states bf16.check_grad_overflow bf16.immediate_grad_update checkpoint.* "
    "comet.* comms_logger.* communication_data_type compile.* compression_training.* "
    "csv_monitor.* curriculum_learning.* data_efficiency.* data_types.* disable_allgather "
    "dump_state eigenvalue.* elasticity.* flops_profiler.* fp16.auto_cast "
    "fp16.consecutive_hysteresis fp16.fp16_master_weights_and_grads fp16.hysteresis "
    "fp16.initial_scale_power fp16.loss_scale fp16.loss_scale_window fp16.min_loss_scale "
    "gradient_clipping gradient_predivide_factor hybrid_engine.* memory_breakdown "
    "monitor_config.* nebula.* optimizer.legacy_fusion optimizer.params.* pipeline.* "
    "prescale_gradients progressive_layer_drop.* quantize_training.* scheduler.params.* "
    "scheduler.type seq_parallel_communication_data_type sequence_parallel_size "
    "sparse_attention.* sparse_gradients steps_per_print tensor_parallel.* tensorboard.* "
    "timers.* torch_autocast.* use_data_before_expert_parallelism wall_clock_breakdown wandb.* "
    "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer "
    "zero_optimization.allgather_bucket_size zero_optimization.allgather_partitions "
    "zero_optimization.contiguous_gradients zero_optimization.elastic_checkpoint "
    "zero_optimization.gather_16bit_weights_on_model_save "
    "zero_optimization.ignore_unused_parameters zero_optimization.leaf_module.* "
    "zero_optimization.legacy_stage1 zero_optimization.load_from_fp32_weights "
    "zero_optimization.log_trace_cache_warnings zero_optimization.max_live_parameters "
    "zero_optimization.max_reuse_distance zero_optimization.memory_efficient_linear "
    "zero_optimization.mics_hierarchical_params_gather zero_optimization.mics_shard_size "
    "zero_optimization.model_persistence_threshold "
    "zero_optimization.offload_optimizer.buffer_count "
    "zero_optimization.offload_optimizer.buffer_size "
    "zero_optimization.offload_optimizer.cpuadam_cores_perc "
    "zero_optimization.offload_optimizer.fast_init zero_optimization.offload_optimizer.nvme_path "
    "zero_optimization.offload_optimizer.pin_memory zero_optimization.offload_optimizer.pipeline "
    "zero_optimization.offload_optimizer.pipeline_read "
    "zero_optimization.offload_optimizer.pipeline_write "
    "zero_optimization.offload_optimizer.ratio zero_optimization.offload_optimizer.super_offload "
    "zero_optimization.offload_param.buffer_count zero_optimization.offload_param.buffer_size "
    "zero_optimization.offload_param.max_in_cpu zero_optimization.offload_param.nvme_path "
    "zero_optimization.offload_param.pin_memory zero_optimization.overlap_comm "
    "zero_optimization.override_module_apply zero_optimization.param_persistence_threshold "
    "zero_optimization.pipeline_loading_checkpoint zero_optimization.prefetch_bucket_size "
    "zero_optimization.reduce_bucket_size zero_optimization.reduce_scatter "
    "zero_optimization.round_robin_gradients "
    "zero_optimization.stage3_gather_16bit_weights_on_model_save "
    "zero_optimization.stage3_gather_fp16_weights_on_model_save "
    "zero_optimization.stage3_max_live_parameters zero_optimization.stage3_max_reuse_distance "
    "zero_optimization.stage3_model_persistence_threshold "
    "zero_optimization.stage3_module_granularity_threshold "
    "zero_optimization.stage3_param_persistence_threshold "
    "zero_optimization.stage3_prefetch_bucket_size "
    "zero_optimization.stage3_use_all_reduce_for_fetch_params zero_optimization.sub_group_size "
    "zero_optimization.use_multi_rank_bucket_allreduce zero_optimization.zenflow.* "
    "zero_optimization.zero_hpz_partition_size zero_optimization.zero_quantized_gradients "
    "zero_optimization.zero_quantized_nontrainable_weights "
    "zero_optimization.zero_quantized_weights";

/// accelerate 1.15 commands/config/config_args.py and cluster.py.
constexpr std::string_view of_accelerate =
    "additional_args base_job_name command_file commands compute_environment "
    "deepspeed_config.deepspeed_config_file deepspeed_config.deepspeed_exclusion_filter "
    "deepspeed_config.deepspeed_hostfile deepspeed_config.deepspeed_inclusion_filter "
    "deepspeed_config.deepspeed_moe_layer_cls_names "
    "deepspeed_config.deepspeed_multinode_launcher deepspeed_config.gradient_clipping "
    "deepspeed_config.offload_optimizer_nvme_path deepspeed_config.offload_param_nvme_path "
    "deepspeed_config.zero3_init_flag deepspeed_config.zero3_save_16bit_model downcast_bf16 "
    "dynamo_backend dynamo_config.* ec2_instance_type enable_cpu_affinity fp8_config.* "
    "fsdp_config.* gpu_ids iam_role_name image_uri ipex_config.* machine_rank main_process_ip "
    "main_process_port main_training_function megatron_lm_config.* mpirun_config.* num_machines "
    "profile py_version pytorch_version rdzv_backend region sagemaker_inputs_file "
    "sagemaker_metrics_file same_network tpu_env tpu_name tpu_use_cluster tpu_use_sudo tpu_vm "
    "tpu_zone transformers_version";

bool names(std::string_view row, std::string_view key) {
  return row.ends_with(".*") ? key.starts_with(row.substr(0, row.size() - 1)) : row == key;
}

}  // namespace

std::vector<std::string> known_keys() {
  std::vector<std::string> all;
  for (const std::string_view tool : {of_trainer, of_llama_factory, of_deepspeed, of_accelerate})
    for (const std::string_view key : headroom::words(tool)) all.emplace_back(key);
  return all;
}

bool is_known_key(std::string_view key) {
  return std::ranges::any_of(known_keys(), [&](const auto& row) { return names(row, key); });
}

}  // namespace headroom::sweep
