// The row that all others start from.
#include "model/engine/runtime_families.hpp"

namespace headroom::model {

/// What no row says otherwise.
Engine start() {
  Engine r{};
  r.vendors = of_torch;
  r.holds = torch_families;
  r.caches = caches_of_torch;
  r.caches_source = "PyTorch: caches have the type of what is computed";
  r.split = Split::layers;
  r.offload = Offload::none;
  r.launch = Launch::added;
  r.latent_cache = true;
  r.kv_block = 1;
  r.vocabulary_multiple = 1;
  r.windows = Windows::whole;
  r.rotary = Rotary::computed;
  r.blocks = Blocks::exact;
  r.state_bytes = 2;
  r.residual_copies = 2;
  r.widest_share = 1;
  r.logits = Positions::last;
  r.logits_bytes = 4;
  r.matrix_units = true;
  r.gptq_bytes_kernels = 1;
  r.utilization = 1.0;
  r.draft_vocabulary = -1;
  r.context_bytes = guess(520 * MiB, 300 * MiB, 900 * MiB);
  r.communication_bytes = guess(0, 0, 1024 * MiB);
  r.workspace_bytes = {8.125 * MiB, 8.125 * MiB, 32 * MiB, 0, "PyTorch: CUDA semantics, cuBLAS"};
  r.host_bytes = guess(1024 * MiB, 600 * MiB, 4096 * MiB);
  r.fragmentation = guess(0.02, 0.0, 0.08);
  for (auto& by_width : r.rates)
    for (Rates& rates : by_width)
      // Experts of a prompt are read once; a wider guess takes up what their few tokens lose else.
      rates = {guess(0.78, 0.40, 0.95),  guess(0.40, 0.15, 0.70), guess(0.22, 0.10, 0.40),
               guess(5e-6, 1e-6, 20e-6), guess(1.0, 0.8, 1.25),   guess(0.80, 0.30, 1.20)};
  r.score_traffic = guess(20, 8, 40);  // written, scaled and masked, read for the softmax and after
  // ggml: some fifty reads and writes of a hidden state in fp32, part of them within caches.
  r.activation_traffic = guess(120, 60, 240);
  r.queue = guess(0.1, 0.03, 0.5);
  r.request_s = guess(0.0125, 0.0025, 0.05);
  // fused_moe.py: top-k, counts, sorting, products of all experts twice, activation, sum.
  r.mixture_kernels = guess(9, 4, 25);
  r.expert_kernels = guess(1.5, 0.5, 4);     // modeling_qwen3_moe.py: for expert in experts
  r.packed_kernels = guess(0.6, 0.25, 1.5);  // a launch, where others are of modules
  r.step_s = guess(0.4e-3, 0.1e-3, 2e-3);
  r.sequence_s = guess(8e-6, 2e-6, 40e-6);
  r.expert_cost = guess(1.1, 0.7, 1.8);  // fewer are touched than by uniform routing, less evenly
  r.eager_kernel_s = guess(25e-6, 8e-6, 60e-6);  // a Python call or two, dispatch, launch
  r.score_compute = guess(0.40, 0.15, 0.70);     // FlashAttention 2 and 3 on A100 and H100
  r.repeat_bandwidth = guess(3.3e11, 1e11, 6e11);
  r.cache_cost = guess(1.5, 0.7, 4.0);
  r.stream_bandwidth = guess(0.60, 0.30, 0.85);
  r.cpu_bandwidth = guess(0.60, 0.40, 0.80);
  r.cpu_compute = guess(0.40, 0.20, 0.70);
  r.thread_bandwidth = guess(12e9, 5e9, 25e9);  // outstanding cache lines of a core / latency
  r.crossing_s = guess(100e-6, 25e-6, 400e-6);  // wait for one device, copy, start the next
  r.far_bandwidth = guess(0.50, 0.10, 0.95);
  r.disk_bandwidth = guess(0.60, 0.30, 0.90);
  r.reduce_latency_s = guess(10e-6, 5e-6, 25e-6);
  r.reduce_over_bus_s = guess(60e-6, 20e-6, 250e-6);
  r.link_bandwidth = guess(0.6, 0.3, 0.95);  // nccl-tests: a few megabytes, and very many
  r.load_read_bandwidth = guess(3.5e9, 1e9, 2e10);
  r.load_copy_bandwidth = guess(5.5e9, 1.5e9, 1.2e10);
  r.load_fixed_s = guess(3.0, 1.0, 20.0);
  r.memory_interval = guess(1, 0.90, 1.15);
  r.decode_interval = guess(1, 0.50, 2.0);
  r.prefill_interval = guess(1, 0.40, 2.5);
  r.offload_interval = guess(1, 0.40, 2.5);
  r.ram_stated_interval = {0, 0, 0, 0, "0: as offload_interval"};
  r.serving_interval = guess(1, 0.50, 2.0);
  r.first_token_interval = guess(1, 0.40, 2.5);
  r.throughput_interval = guess(1, 0.40, 2.5);
  r.load_interval = guess(1, 0.25, 4.0);
  return r;
}

Engine like(Engine r, std::string_view name, std::string_view version, std::string_view source) {
  r.name = r.family = name;
  r.version = version;
  r.source = source;
  return r;
}

}  // namespace headroom::model
