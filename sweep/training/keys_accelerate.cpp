// Keys of accelerate's configuration.
#include <array>

#include "sweep/training/key_tables.hpp"

namespace headroom::sweep {
namespace {

constexpr auto accelerate_rows = std::to_array<Key>({
    {"num_processes", ""},
    {"mixed_precision", ""},
    {"distributed_type", "",
     "DEEPSPEED= FSDP= MEGATRON_LM= MULTI_GPU= NO= MULTI_CPU=? MULTI_XPU=? MULTI_HPU=? MULTI_NPU=? "
     "MULTI_MLU=? MULTI_SDAA=? MULTI_MUSA=? MULTI_NEURON=? XLA=? TPU=?"},
    {"deepspeed_config.deepspeed_config_file", ""},
    {"deepspeed_config.zero_stage", "zero"},
    {"deepspeed_config.zero3_init_flag", ""},
    {"deepspeed_config.gradient_accumulation_steps", "grad-accum", "auto= *"},
    {"deepspeed_config.offload_optimizer_device", "offload-optimizer", "none= *"},
    {"deepspeed_config.offload_param_device", "offload-params", "none= *"},
    {"fsdp_config.fsdp_version", ""},
    {"fsdp_config.fsdp_sharding_strategy", ""},
    {"fsdp_config.fsdp_reshard_after_forward", ""},
    {"fsdp_config.fsdp_offload_params", ""},
    {"fsdp_config.fsdp_activation_checkpointing", ""},
    {"fsdp_config.fsdp_auto_wrap_policy", ""},
    {"fsdp_config.sharding_strategy", ""},
    {"fsdp_config.offload_params", ""},
    {"dynamo_backend", "compile", "no= *=on"},
    {"dynamo_config.dynamo_backend", "compile", "no= *=on"},
    {"megatron_lm_config.megatron_lm_tp_degree", "tp"},
    {"megatron_lm_config.megatron_lm_pp_degree", "pp"},
    {"megatron_lm_config.megatron_lm_context_parallel_size", "cp"},
    {"megatron_lm_config.megatron_lm_expert_model_parallel_size", "ep"},
    {"megatron_lm_config.megatron_lm_num_micro_batches", "grad-accum"},
    {"megatron_lm_config.megatron_lm_sequence_parallelism", ""},
    {"megatron_lm_config.megatron_lm_recompute_activations", "checkpointing",
     "true=selective false="},
    {"megatron_lm_config.megatron_lm_recompute_granularity", "checkpointing",
     "full=full selective=selective"},
    {"megatron_lm_config.megatron_lm_recompute_method", "", "uniform= block=?"},
    {"megatron_lm_config.megatron_lm_recompute_num_layers", "", "1= *=?"},
    {"megatron_lm_config.megatron_lm_attention_backend", "attention",
     "flash=flash fused=flash unfused=eager local=eager auto= true= false="},
    {"megatron_lm_config.megatron_lm_use_distributed_optimizer", ""},
    {"megatron_lm_config.megatron_lm_optimizer_cpu_offload", "offload-optimizer",
     "true=cpu false="},
    {"megatron_lm_config.megatron_lm_use_custom_fsdp", "", "false= true=?", "false, and --zero 3"},
    {"megatron_lm_config.megatron_lm_decoder_last_pipeline_num_layers", "", "*=?"},
    {"parallelism_config.parallelism_config_tp_size", "tp"},
    {"parallelism_config.parallelism_config_cp_size", "cp"},
    {"parallelism_config.parallelism_config_sp_size", "", "1= *=?", "1: Ulysses is not described"},
    {"parallelism_config.parallelism_config_dp_shard_size", ""},
    {"parallelism_config.parallelism_config_dp_replicate_size", "", "1= *=?",
     "1: shards over all cards"},
});

/// accelerate 1.15 commands/config/config_args.py and cluster.py.
constexpr std::string_view accelerate_uncounted =
    "additional_args base_job_name command_file commands compute_environment "
    "deepspeed_config.deepspeed_exclusion_filter deepspeed_config.deepspeed_hostfile "
    "deepspeed_config.deepspeed_inclusion_filter deepspeed_config.deepspeed_moe_layer_cls_names "
    "deepspeed_config.deepspeed_multinode_launcher deepspeed_config.gradient_clipping "
    "deepspeed_config.offload_optimizer_nvme_path deepspeed_config.offload_param_nvme_path "
    "deepspeed_config.zero3_save_16bit_model downcast_bf16 "
    "dynamo_config.* ec2_instance_type enable_cpu_affinity fp8_config.* gpu_ids iam_role_name "
    "image_uri ipex_config.* machine_rank main_process_ip main_process_port "
    "main_training_function mpirun_config.* num_machines profile py_version pytorch_version "
    "rdzv_backend region sagemaker_inputs_file sagemaker_metrics_file same_network tpu_env "
    "tpu_name tpu_use_cluster tpu_use_sudo tpu_vm tpu_zone transformers_version "
    "fsdp_config.fsdp_min_num_params fsdp_config.fsdp_transformer_layer_cls_to_wrap "
    "fsdp_config.fsdp_backward_prefetch fsdp_config.fsdp_backward_prefetch_policy "
    "fsdp_config.fsdp_state_dict_type fsdp_config.fsdp_forward_prefetch "
    "fsdp_config.fsdp_use_orig_params fsdp_config.fsdp_cpu_ram_efficient_loading "
    "fsdp_config.fsdp_sync_module_states fsdp_config.fsdp_ignored_modules "
    "fsdp_config.fsdp_mixed_precision_policy fsdp_config.fsdp_limit_all_gathers "
    "fsdp_config.fsdp_cpu_offload_pin_memory megatron_lm_config.megatron_lm_gradient_clipping "
    "megatron_lm_config.megatron_lm_no_load_optim megatron_lm_config.megatron_lm_eod_mask_loss "
    "megatron_lm_config.megatron_lm_overlap_cpu_optimizer_d2h_h2d "
    "megatron_lm_config.megatron_lm_no_save_optim "
    "megatron_lm_config.megatron_lm_use_precision_aware_optimizer "
    "megatron_lm_config.megatron_lm_attention_dropout "
    "megatron_lm_config.megatron_lm_hidden_dropout "
    "megatron_lm_config.megatron_lm_attention_softmax_in_fp32 "
    "megatron_lm_config.megatron_lm_expert_tensor_parallel_size "
    "megatron_lm_config.megatron_lm_calculate_per_token_loss "
    "megatron_lm_config.megatron_lm_use_rotary_position_embeddings "
    "parallelism_config.parallelism_config_cp_comm_strategy "
    "parallelism_config.parallelism_config_cp_backend "
    "parallelism_config.parallelism_config_sp_backend "
    "parallelism_config.parallelism_config_sp_seq_length "
    "parallelism_config.parallelism_config_sp_seq_length_is_variable "
    "parallelism_config.parallelism_config_sp_attn_implementation";

}  // namespace

const KeyTable accelerate_keys{"accelerate", accelerate_rows, accelerate_uncounted};

}  // namespace headroom::sweep
