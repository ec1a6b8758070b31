#include "model/engine/engine_fields.hpp"

#include <type_traits>

namespace headroom::model {
namespace {

template <auto member>
Choice choice(std::span<const std::string_view> words) {
  using Enum = std::remove_reference_t<decltype(member(std::declval<Engine&>()))>;
  return {words, [](Engine& e) { return static_cast<std::size_t>(member(e)); },
          [](Engine& e, std::size_t i) { member(e) = static_cast<Enum>(i); }};
}

// clang-format off
namespace words_of {
constexpr std::string_view backends[] = {"own", "vulkan"};
constexpr std::string_view rotaries[] = {"computed", "shared", "each"};
constexpr std::string_view positions[] = {"last", "all"};
constexpr std::string_view windows[] = {"whole", "capped", "hybrid_kv_pool", "share"};
constexpr std::string_view scan_states[] = {"as_model", "fp32"};
constexpr std::string_view separate_formats[] = {"never", "quantised", "unless_latent", "always"};
constexpr std::string_view growths[] = {"reserved", "by_layer", "reallocate_all"};
constexpr std::string_view blocks[] = {"exact", "per_tensor", "fused"};
constexpr std::string_view fp32_checkpoints[] = {"fp32", "fp16", "bf16"};
constexpr std::string_view without_bf16[] = {"computed", "refused", "fp16"};
constexpr std::string_view latent_copies[] = {"none", "packed", "all"};
constexpr std::string_view towers[] = {"loaded", "optional", "left_out"};
constexpr std::string_view adapters[] = {"unknown", "loaded", "slots"};
constexpr std::string_view offloads[] = {"none", "stream", "compute"};
constexpr std::string_view host_weights[] = {"copied", "fetched", "mapped"};
constexpr std::string_view prefills[] = {"on_cpu", "on_card", "faster"};
constexpr std::string_view splits[] = {"layers", "tensors"};
constexpr std::string_view spreads[] = {"none", "all", "some"};
constexpr std::string_view launches[] = {"overlapped", "added"};
constexpr std::string_view flash[] = {"always", "on", "off", "never"};
constexpr std::string_view products[] = {"in_registers", "in_memory", "in_memory_each_pass", "in_memory_or_bytes", "bytes"};
constexpr std::string_view admissions[] = {"slots", "whole", "as_needed"};
constexpr std::string_view predictors[] = {"none", "each_once", "up_to_modules", "multiples", "any"};
constexpr std::string_view families[] = {"plain", "bitsandbytes", "gptq", "awq", "fp8", "fp4", "gguf",
                                         "compressed_tensors", "mlx", "exl2", "exl3", "gguf_ik"};
}  // namespace words_of

constexpr NumberLimits at_least_one{1};
#define AT(member) ([](Engine& e) -> auto& { return e.member; })
#define ONE_OF(member, words) choice<AT(member)>(words_of::words)
const EngineField rows_of_fields[] = {
    {"", "cards", "cards that it has kernels for: makers, of NVIDIA from a compute capability on, of AMD by architecture", AT(cards)},
    {"", "backend", "own: CUDA, ROCm, SYCL or Metal kernels; vulkan: shaders", ONE_OF(backend, backends)},
    {"", "libraries", "engines of one word call the same kernel libraries", AT(libraries)},
    {"", "with_vulkan", "the row of the same engine built for Vulkan", AT(with_vulkan)},
    {"", "with_divided_matrices", "the row of the same engine when cards divide each matrix", AT(with_divided_matrices)},
    {"", "usual_precisions", "precisions that are compared when none is asked for; auto: the checkpoint's own", AT(usual_precisions)},
    {"", "asked_precisions", "precisions that are compared too where the engine is asked for and the checkpoint is not quantised", AT(asked_precisions)},
    {"", "asked_precisions_cards", "cards on which they are", AT(asked_precisions_cards)},
    {"", "registry", "the engine whose registry lists its classes", AT(registry)},
    {"", "classes", "classes that it runs", AT(classes)},
    {"", "encoder_decoders", "classes of encoder-decoders that it runs", AT(encoder_decoders)},

    {"memory", "utilization", "share of a card's memory used when no budget is given", AT(memory.utilization), share_of_rate},
    {"memory", "reserve", "by a card's memory: sizes of passes and graphs, and what weights and caches leave free", AT(memory.pool.reserve)},
    {"memory", "reserve_token_bytes", "left free for each token of a prefill pass", AT(memory.pool.token_bytes)},
    {"memory", "reserve_sequence_bytes", "left free for each sequence of the largest captured decode batch", AT(memory.pool.sequence_bytes)},
    {"memory", "reserve_replica_bytes", "left free for each such sequence and replica of the attention", AT(memory.pool.replica_bytes)},
    {"memory", "reserve_graph_bytes", "left free for each captured size of a prefill pass", AT(memory.pool.graph_bytes)},
    {"memory", "reserve_latent_bytes", "left free for captured prefill passes where the cache keeps latents", AT(memory.pool.latent_graph_bytes)},
    {"memory", "reserve_graphs_with_drafts", "prefill passes are captured with proposed tokens too", AT(memory.pool.graphs_with_drafts)},
    {"memory", "reserve_draft_model_bytes", "left free for a draft model", AT(memory.pool.draft_model_bytes)},
    {"memory", "reserve_draft_head_bytes", "left free for modules or a head that propose tokens", AT(memory.pool.draft_head_bytes)},
    {"memory", "vision_share", "part of the share that remains with a vision tower", AT(memory.pool.vision_share), share_of_rate},
    {"memory", "vision_by_size", "a large vision tower lowers the share further", AT(memory.pool.vision_by_size)},
    {"memory", "long_context_share", "part of the share that remains on AMD cards beyond 8192 tokens of context", AT(memory.pool.long_context_share), share_of_rate},
    {"memory", "state_ratio", "bytes of the share for recurrent states by bytes for keys and values; 0: as needed", AT(memory.pool.state_ratio)},
    {"memory", "state_slots", "slots for the recurrent states of a sequence, where they have their own bytes", AT(memory.pool.state_slots), at_least_one},
    {"memory", "margin_bytes", "left free on each card when no budget is given", AT(memory.margin_bytes)},
    {"memory", "margin_share", "share of each card's memory that is left free, likewise", AT(memory.margin_share), part_of_whole},
    {"memory", "start_sequences", "sequences sampled by the profiling pass at start; 0: no such pass", AT(memory.start_pass.sequences)},
    {"memory", "start_tokens", "tokens of the profiling pass; 0: one whole context", AT(memory.start_pass.tokens)},
    {"memory", "start_sequences_on_large", "sequences of that pass on cards of 70 GiB or more", AT(memory.start_pass.sequences_on_large)},
    {"memory", "start_tokens_on_large", "tokens of that pass on cards of 70 GiB or more", AT(memory.start_pass.tokens_on_large)},
    {"memory", "start_tokens_on_largest", "tokens of that pass on cards of 160 GiB or more; 0: as on large cards", AT(memory.start_pass.tokens_on_largest)},
    {"memory", "counts_host", "where card and host have one memory, the process in it counts for the card", AT(memory.start_pass.counts_host)},
    {"memory", "spreads_video", "that pass keeps a row for each token of the longest video, time stamps too", AT(memory.start_pass.spreads_video)},
    {"memory", "unified_is_small", "a GB10 has the sizes of small cards", AT(memory.start_pass.unified_is_small)},
    {"memory", "start_least_tokens", "minimum tokens of that pass", AT(memory.start_pass.min_tokens)},
    {"memory", "sampling_bytes", "bytes of one logit with its copies while tokens are drawn", AT(memory.start_pass.sampling_bytes)},
    {"memory", "residual_copies", "copies of every token's hidden state that exist together", AT(memory.residual_copies)},
    {"memory", "widest_share", "share of gate, up and their product that exists together", AT(memory.widest_share), part_of_whole},
    {"memory", "graph", "one allocator plans all tensors of a pass: widths by GraphWidth, not widest_share", AT(memory.graph)},
    {"memory", "activation_bytes", "bytes of an activation; 0: as the arithmetic", AT(memory.activation_bytes)},
    {"memory", "score_bytes", "bytes of an attention score with its copies, where it is in memory", AT(memory.score_bytes)},
    {"memory", "mask_bytes", "bytes of an element of the attention mask; twice as many where scores are in memory; 0: no mask", AT(memory.mask_bytes)},
    {"memory", "cache_copies", "makers of cards whose attention copies a layer's keys and values to 16 bit, if they are stored otherwise", AT(memory.cache_copies)},
    {"memory", "logits", "positions for which prefill computes logits", ONE_OF(memory.logits, positions)},
    {"memory", "logits_bytes", "bytes of one logit with its copies", AT(memory.logits_bytes)},
    {"memory", "returned_bytes", "part of logits_bytes that is copied to the first card", AT(memory.returned_bytes)},
    {"memory", "rotary", "tables of cosines and sines", ONE_OF(memory.rotary, rotaries)},

    {"cache", "formats", "formats of keys and values (the engine's names)", AT(cache.formats)},
    {"cache", "formats_source", "source of the formats", AT(cache.formats_source)},
    {"cache", "separate", "whether keys and values may have different formats", ONE_OF(cache.separate, separate_formats)},
    {"cache", "follows_checkpoint", "quantisation methods whose checkpoints decide the format of the KV cache", AT(cache.follows_checkpoint)},
    {"cache", "windows", "tokens that sliding-window layers hold", ONE_OF(cache.windows, windows)},
    {"cache", "window_share", "share of the context that layers with a window hold where windows is share", AT(cache.window_share), share_of_rate},
    {"cache", "share_classes", "classes with windows that hold such a share; layers of others hold the whole context", AT(cache.share_classes)},
    {"cache", "window_slack", "tokens that a capped window cache has in addition to the window", AT(cache.window_slack)},
    {"cache", "window_views", "after a pass windows are slices, whose storage is that of all its tokens", AT(cache.window_views)},
    {"cache", "block_tokens", "tokens of one block of KV memory", AT(cache.block_tokens), at_least_one},
    {"cache", "growth", "how caches reach their size", ONE_OF(cache.growth, growths)},
    {"cache", "state_bytes", "bytes of one element of recurrent state", AT(cache.state_bytes), at_least_one},
    {"cache", "scan_states", "type of the states that scans carry from token to token", ONE_OF(cache.scan_states, scan_states)},
    {"cache", "newest_input", "convolutions keep the newest token's input too, which no step needs", AT(cache.newest_input)},
    {"cache", "windowed_classes", "those of its classes whose sliding windows it applies (none listed: all)", AT(cache.windowed_classes)},
    {"cache", "expanded_classes", "classes of MLA whose K and V it stores expanded", AT(cache.expanded_classes)},
    {"cache", "index_values_classes", "classes whose indexer's keys it stores with values as wide", AT(cache.index_values_classes)},
    {"cache", "passes_ahead", "passes scheduled in addition to running ones, whose tokens windows keep; 0: one pass counts", AT(cache.passes_ahead)},
    {"cache", "states_limit_sequences", "refuses more sequences than it has pages of recurrent states", AT(cache.states_limit_sequences)},
    {"cache", "state_pages", "pages of a pool that a sequence holds for each recurrent layer", AT(cache.state_pages), at_least_one},
    {"cache", "latent", "MLA stores the latent, not expanded K and V", AT(cache.latent)},
    {"cache", "pads_expanded", "expanded K and V of MLA have heads of a power of two", AT(cache.pads_expanded)},
    {"cache", "duplicates_mla_values", "MLA stores the latent's values a second time", AT(cache.duplicates_mla_values)},
    {"cache", "repeated_heads", "stores K and V for each query head where transformers does", AT(cache.repeated_heads)},
    {"cache", "sparse_in_fp8", "sparse attention's caches have the FP8 formats of its kernels", AT(cache.sparse_in_fp8)},
    {"cache", "group_padding", "layers of a hybrid pool are one group a kind if the kinds differ by less than this factor", AT(cache.group_padding), at_least_one},
    {"cache", "compressed_window_share", "share of the context cached by windows that accompany compressed entries (0: the window)", AT(cache.compressed_window_share), part_of_whole},
    {"cache", "optional", "can generate without a KV cache", AT(cache.optional)},
    {"cache", "rejects_beyond_max_positions", "refuses a context beyond the model's positions", AT(cache.rejects_beyond_max_positions)},

    {"weights", "formats", "formats of weights that it runs", AT(weights.formats)},
    {"weights", "checkpoints", "methods of quantised checkpoints: cards that run them as they are stored, and what happens elsewhere", AT(weights.checkpoints)},
    {"weights", "made_at_start", "schemes that it makes of 16-bit checkpoints while it loads, with its word", AT(weights.made_at_start)},
    {"weights", "fp32_checkpoints", "type in which checkpoints in fp32 are loaded unless another is asked for", ONE_OF(weights.fp32_checkpoints, fp32_checkpoints)},
    {"weights", "without_bf16", "weights in bf16 on cards without it: computed; refused unless none is asked for, then fp16; fp16", ONE_OF(weights.without_bf16, without_bf16)},
    {"weights", "never_fp16", "model types that are computed in fp32 on cards without bf16", AT(weights.never_fp16)},
    {"weights", "never_split", "formats in `formats` that are never divided between cards and host", AT(weights.never_split)},
    {"weights", "whole_share", "share of a card's budget that weights in `never_split` take at most", AT(weights.whole_share), part_of_whole},
    {"weights", "blocks", "how weights lie in a card's memory", ONE_OF(weights.blocks, blocks)},
    {"weights", "vocabulary_multiple", "rows of the vocabulary are padded to a multiple of this", AT(weights.vocabulary_multiple), at_least_one},
    {"weights", "expert_tiles", "padding of experts in MXFP4", AT(weights.expert_tiles)},
    {"weights", "fuses_at_start", "q, k and v, and experts, are copied into one matrix at start", AT(weights.fuses_at_start)},
    {"weights", "latent_copies", "matrices that expand MLA's latent and have a copy in 16 bit: none; packed: quantised ones; all", ONE_OF(weights.latent_copies, latent_copies)},
    {"weights", "modules_alone", "bitsandbytes leaves experts that one parameter stacks in 16 bit", AT(weights.modules_alone)},
    {"weights", "unties_fp8", "a tied head of an FP8 checkpoint is loaded in addition to the embedding", AT(weights.unties_fp8)},
    {"weights", "reads_ahead", "threads read all files to the end before weights are copied", AT(weights.reads_ahead)},
    {"weights", "repacks_on_cpu", "weights on the CPU are in memory twice", AT(weights.repacks_on_cpu)},
    {"weights", "towers", "towers of images and sound: loaded; optional: an option leaves them out; left_out", ONE_OF(weights.towers, towers)},
    {"weights", "adapters", "how low-rank adapters are stored in memory", ONE_OF(weights.adapters, adapters)},
    {"weights", "adapter_ranks", "ranks of adapter slots", AT(weights.adapter_ranks), at_least_one},
    {"weights", "adapter_bytes", "bytes of an element of an adapter", AT(weights.adapter_bytes)},

    {"offload", "mode", "none; stream: weights go to the card on each pass; compute: on the CPU", ONE_OF(offload.mode, offloads)},
    {"offload", "disk", "runs with weights on disk", AT(offload.disk)},
    {"offload", "cpu", "runs without any card", AT(offload.cpu)},
    {"offload", "input_on_cpu", "the token embedding stays in host memory", AT(offload.input_on_cpu)},
    {"offload", "output_first", "the output goes to a card first, before the last layer; else it follows all layers", AT(offload.output_first)},
    {"offload", "tables_on_host", "tables in layers, of which a token looks up a few rows, stay in host memory", AT(offload.tables_on_host)},
    {"offload", "supports_cpu_offload", "a given part of a card's weights can stay in host memory", AT(offload.supports_cpu_offload)},
    {"offload", "offloads_experts", "experts may be in host memory while their layer is on a card", AT(offload.offloads_experts)},
    {"offload", "experts_on_cpu_by_default", "experts are in host memory, all else on cards", AT(offload.experts_on_cpu_by_default)},
    {"offload", "host_weights", "how weights in host memory are loaded", ONE_OF(offload.host_weights, host_weights)},
    {"offload", "prefill", "where prefill multiplies matrices of the host", ONE_OF(offload.prefill, prefills)},
    {"offload", "prefill_tokens", "passes of fewer tokens stay on the CPU", AT(offload.prefill_tokens)},
    {"offload", "prefetches", "streams weights while the layer before is computed", AT(offload.prefetches)},
    {"offload", "batch_in_parts", "sequences may go through each layer in parts", AT(offload.batch_in_parts)},
    {"offload", "dots_on_cpu", "the CPU multiplies formats without tiles row by row", AT(offload.dots_on_cpu)},

    {"parallel", "split", "how cards share a model", ONE_OF(parallel.split, splits)},
    {"parallel", "tensor_parallel_layers", "cards of a layer split divide each layer's matrices", AT(parallel.tensor_parallel_layers)},
    {"parallel", "split_mode", "its own word for dividing each matrix, where that is an option", AT(parallel.split_mode)},
    {"parallel", "parts_may_differ", "any number of cards divides a model, into parts that may differ", AT(parallel.parts_may_differ)},
    {"parallel", "part_multiple", "parts of feed-forwards end at multiples of so many columns; 0: even parts", AT(parallel.part_multiple)},
    {"parallel", "shared_experts_whole", "each card has all of the experts that every token uses", AT(parallel.shared_experts_whole)},
    {"parallel", "undivided_classes", "those of its classes whose matrices it does not divide", AT(parallel.undivided_classes)},
    {"parallel", "stage_a_box", "of several boxes each has a stage of layers, where no division is asked for", AT(parallel.stage_a_box)},
    {"parallel", "reduce_cards", "cards that its all-reduce runs on, where not all: others hand over by copies", AT(parallel.reduce_cards)},
    {"parallel", "bus_kernel_cards", "most cards on a bus with an all-reduce kernel of its own; 1: over links alone; 0: NCCL", AT(parallel.bus_kernel_cards)},
    {"parallel", "reduces_in_host_memory", "its all-reduce on NVIDIA's cards goes through memory of the host, whatever links they have", AT(parallel.reduces_in_host_memory)},
    {"parallel", "attention_replicas", "replicas of the attention share all other matrices", AT(parallel.attention_replicas)},
    {"parallel", "expert_spread", "cards over which expert parallelism spreads experts", ONE_OF(parallel.expert_spread, spreads)},

    {"kernels", "launch", "kernel launches: hidden behind the card's work, or added", ONE_OF(kernels.launch, launches)},
    {"kernels", "graphs", "decode steps are captured as CUDA graphs", AT(kernels.graphs)},
    {"kernels", "graph_tokens", "longer contexts are decoded without graphs; 0: as short ones", AT(kernels.graph_tokens)},
    {"kernels", "flash", "flash attention; on and off: the default, which an option overrides", ONE_OF(kernels.flash, flash)},
    {"kernels", "attention_rows", "queries of a head in a block of prefill attention", AT(kernels.attention_rows)},
    {"kernels", "product_tile", "tokens of a prompt multiplied at a time; 0: few", AT(kernels.product_tile)},
    {"kernels", "layer_kernels", "kernels of a layer in prefill; 0: not described", AT(kernels.layer_kernels)},
    {"kernels", "activations_in_memory", "norms, sums and conversions are kernels of their own", AT(kernels.activations_in_memory)},
    {"kernels", "whole_tiles", "matrix units multiply single tokens too, by tiles of many rows", AT(kernels.whole_tiles)},
    {"kernels", "matrix_units", "products of many tokens use matrix units", AT(kernels.matrix_units)},
    {"kernels", "half_accumulate", "16-bit products are summed in 16 bit", AT(kernels.half_accumulate)},
    {"kernels", "sparse_attention", "reads the tokens that an indexer picks, not all", AT(kernels.sparse_attention)},
    {"kernels", "repeats_kv", "K and V are copied for each query head before attention", AT(kernels.repeats_kv)},
    {"kernels", "per_expert_kernels", "kernels of each expert are called in turn", AT(kernels.per_expert_kernels)},
    {"kernels", "packed_products", "how packed weights are multiplied in prefill", ONE_OF(kernels.packed_products, products)},
    {"kernels", "dequant_bytes_per_element", "bytes moved for a packed element that PyTorch unpacks", AT(kernels.dequant_bytes_per_element)},
    {"kernels", "gptq_bytes_kernels", "additional kernels for each product of 8-bit GPTQ", AT(kernels.gptq_bytes_kernels)},

    {"serving", "continuous_batching", "the next request starts as soon as one ends", AT(serving.continuous_batching)},
    {"serving", "most_sequences", "sequences that it starts with at most; 0: as many as memory holds", AT(serving.most_sequences)},
    {"serving", "separate_prefill", "prefill runs in passes of its own", AT(serving.separate_prefill)},
    {"serving", "admission", "memory that a waiting request needs to start", ONE_OF(serving.admission, admissions)},
    {"serving", "default_contexts", "context reserved unless another is asked for, by the cards' memory", AT(serving.default_contexts)},
    {"serving", "shared_context", "concurrent sequences share the default context", AT(serving.shared_context)},
    {"serving", "prefill_chunk", "tokens of a prefill pass; 0: the whole prompt", AT(serving.prefill_chunk)},
    {"serving", "long_prefill_chunk", "tokens of a prefill pass beyond 32768 tokens; 0: as others", AT(serving.long_prefill_chunk)},
    {"serving", "chunk_option", "its option for the tokens of a prefill pass", AT(serving.chunk_option)},
    {"serving", "draft_vocabulary", "rows by which a draft's vocabulary may differ; -1: no drafts", AT(serving.draft_vocabulary), {-1}},
    {"serving", "draft_states", "recurrent states go back to before a proposed token", AT(serving.draft_states)},
    {"serving", "predictors", "how often the checkpoint's own modules (MTP) propose in a step", ONE_OF(serving.predictors, predictors)},
    {"serving", "block_heads", "heads proposing a block in one pass that it runs: dflash, dspark", AT(serving.block_heads)},
    {"serving", "options", "how its command differs: NEW OWN by another name, NEW - without it, NEW alone refused", AT(serving.options)},
};
#undef ONE_OF
#undef AT
// clang-format on

}  // namespace

std::span<const EngineField> engine_fields() { return rows_of_fields; }
std::span<const std::string_view> scheme_family_words() { return words_of::families; }

}  // namespace headroom::model
