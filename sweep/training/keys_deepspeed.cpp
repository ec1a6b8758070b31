// Keys of DeepSpeed's configuration.
#include <array>

#include "sweep/training/key_tables.hpp"

namespace headroom::sweep {
namespace {

constexpr auto deepspeed_rows = std::to_array<Key>({
    {"train_micro_batch_size_per_gpu", "batch", "auto= *"},
    {"zero_optimization.stage", "zero"},
    {"zero_optimization.offload_optimizer.device", "offload-optimizer", "none= *"},
    {"zero_optimization.offload_param.device", "offload-params", "none= *"},
    {"bf16.enabled", "", "true= false= auto="},
    {"fp16.enabled", "", "true= false= auto="},
    {"data_types.grad_accum_dtype", "recipe", "fp32=fp32-gradients bf16= fp16="},
    {"optimizer.type", "optimizer", optimizer_values},
    {"tensor_parallel.autotp_size", "tp", "0= 1= *"},
    {"sequence_parallel_size", "", "1= *=?", "1: Ulysses is not described"},
});

/// DeepSpeed 0.16 runtime/config.py, runtime/zero/config.py and offload_config.py.
constexpr std::string_view deepspeed_uncounted =
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
    "scheduler.type seq_parallel_communication_data_type sparse_attention.* sparse_gradients "
    "steps_per_print tensor_parallel.* tensorboard.* timers.* torch_autocast.* "
    "use_data_before_expert_parallelism wall_clock_breakdown wandb.* "
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
    "zero_optimization.offload_optimizer.pipeline_write zero_optimization.offload_optimizer.ratio "
    "zero_optimization.offload_optimizer.super_offload "
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

}  // namespace

const KeyTable deepspeed_keys{"DeepSpeed", deepspeed_rows, deepspeed_uncounted};

}  // namespace headroom::sweep
