// Keys of LLaMA-Factory.
#include <array>

#include "sweep/training/key_tables.hpp"

namespace headroom::sweep {
namespace {

constexpr auto llama_factory_rows = std::to_array<Key>({
    {"model_name_or_path", "model"},
    // Preferences run pairs of sequences, and most of them a second model (train/dpo, kto, ppo,
    // rm).
    {"stage", "", "sft= pt= dpo=? rm=? kto=? ppo=?"},
    {"finetuning_type", "lora", "lora=on full= oft=? freeze=?"},
    {"lora_rank", "lora-rank"},
    {"lora_alpha", "lora-alpha"},
    {"lora_target", "lora-targets", "all=all-linear *"},
    {"additional_target", "modules-to-save"},
    {"use_dora", "dora", "true=on false="},
    {"quantization_bit", "base-precision", "4=nf4 8=int8"},
    {"quantization_method", "", "bnb= bitsandbytes= hqq=? eetq=?"},
    {"cutoff_len", "seq"},
    {"flash_attn", "attention",
     "fa2=flash_attention_2 sdpa=sdpa fa3=flash_attention_3 auto= disabled=eager"},
    {"enable_liger_kernel", "liger", "true=on false="},
    {"pure_bf16", "recipe", "true=pure-16bit false="},
    {"disable_gradient_checkpointing", "checkpointing", "true=none false="},
    {"neat_packing", "", "true= false="},
    {"freeze_vision_tower", "", "true= false="},
    {"use_unsloth", "runtime", "true=unsloth false="},
    {"use_unsloth_gc", "checkpointing", "true=offloaded false="},
    {"use_galore", "", "false= true=?", "false, and --optimizer galore"},
    {"use_apollo", "", "false= true=?", "false, and --optimizer apollo"},
    {"use_badam", "", "false= true=?"},
    {"use_muon", "", "false= true=?", "false, and --optimizer"},
    {"use_adam_mini", "", "false= true=?", "false, and --optimizer"},
    {"use_llama_pro", "", "false= true=?"},
    {"use_mca", "", "false= true=?", "false, and --runtime megatron"},
    {"use_kt", "", "false= true=?"},
    {"fp8", "", "false= true=?", "false, and --precision fp8 with --runtime fsdp2"},
});

/// LLaMA-Factory 0.9.5 hparams.
constexpr std::string_view llama_factory_uncounted =
    "adapter_folder adapter_name_or_path add_special_tokens add_tokens apollo_layerwise "
    "apollo_proj apollo_proj_type apollo_rank apollo_scale apollo_scale_front apollo_scale_type "
    "apollo_target apollo_update_interval asft_alpha audio_sampling_rate badam_mask_mode "
    "badam_mode badam_start_block badam_switch_interval badam_switch_mode badam_update_ratio "
    "badam_verbose block_diag_attn buffer_size cache_dir compute_accuracy compute_dtype "
    "create_new_adapter crop_to_patches data_shared_file_system dataset dataset_dir "
    "default_system device_map disable_shuffling do_sample double_quantization download_mode "
    "dpo_label_smoothing eaft_alpha early_stopping_steps enable_thinking enable_torch_profiler "
    "eval_dataset eval_num_beams eval_on_each_dataset export_device export_dir "
    "export_hub_model_id export_legacy_format export_quantization_bit export_quantization_dataset "
    "export_quantization_maxlen export_quantization_nsamples export_size fp8_backend "
    "fp8_enable_fsdp_float8_all_gather freeze_extra_modules freeze_language_model "
    "freeze_multi_modal_projector freeze_trainable_layers freeze_trainable_modules "
    "galore_layerwise galore_proj_type galore_rank galore_scale galore_target "
    "galore_update_interval hf_hub_token hyper_parallel_args ignore_pad_token_for_loss "
    "image_do_pan_and_scan image_max_pixels image_min_pixels image_resolution "
    "include_effective_tokens_per_second infer_backend infer_dtype init_special_tokens "
    "interleave_probs kt_expert_checkpoint_path kt_lora_expert_intermediate_size "
    "kt_lora_expert_num kt_use_lora_experts kt_weight_path kto_chosen_weight kto_rejected_weight "
    "lang ld_alpha length_penalty loraplus_lr_embedding loraplus_lr_ratio low_cpu_mem_usage "
    "mask_history master_addr master_port max_new_tokens max_samples media_dir mix_strategy "
    "mixture_of_depths model_max_length module_dropout moe_aux_loss_coef ms_hub_token n_shot "
    "new_special_tokens_config num_beams offload_folder oft_block_size oft_rank oft_target "
    "om_hub_token overwrite_cache pissa_convert pissa_init pissa_iter plot_loss ppo_buffer_size "
    "ppo_epochs ppo_score_norm ppo_target ppo_whiten_rewards pref_bco_weight pref_beta pref_ftx "
    "pref_loss preprocessing_batch_size preprocessing_num_workers preserve_thinking "
    "print_param_status profile_modules profiler_active_steps profiler_output_dir "
    "profiler_profile_memory profiler_record_shapes profiler_repeat profiler_wait_steps "
    "profiler_warmup_steps profiler_with_stack quantization_device_map quantization_type "
    "ray_init_kwargs ray_init_kwargs.* ray_num_workers ref_model ref_model_adapters "
    "ref_model_quantization_bit repetition_penalty reserved_label_len resize_vocab reward_model "
    "reward_model_adapters reward_model_quantization_bit reward_model_type rope_scaling "
    "rope_scaling.* save_dir sglang_config sglang_config.* sglang_lora_backend sglang_maxlen "
    "sglang_mem_fraction sglang_tp_size shift_attn simpo_gamma skip_special_tokens "
    "split_special_tokens streaming swanlab_api_key swanlab_lark_secret swanlab_lark_webhook_url "
    "swanlab_logdir swanlab_mode swanlab_project swanlab_run_name swanlab_workspace task_dir "
    "temperature template tokenized_path tool_format top_k top_p train_from_scratch "
    "train_on_prompt upcast_layernorm upcast_lmhead_output use_asft_loss use_audio_in_video "
    "use_dft_loss use_eaft_loss use_fast_tokenizer use_hyper_parallel use_kv_cache "
    "use_reentrant_gc use_swanlab use_v1_kernels val_size video_fps video_max_pixels video_maxlen "
    "video_min_pixels vllm_config vllm_config.* vllm_enforce_eager vllm_gpu_util "
    "vllm_max_lora_rank vllm_maxlen";

}  // namespace

const KeyTable llama_factory_keys{"LLaMA-Factory", llama_factory_rows, llama_factory_uncounted};

}  // namespace headroom::sweep
