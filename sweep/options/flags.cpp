// The alias table itself.
#include "sweep/options/flags.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace headroom::sweep {
namespace {

using enum Takes;

constexpr Flag flag_table[] = {
    {"model", "--model-id", one, "MODEL", "the model, as an option instead of by position"},
    {"hidden-size", "--model-embd --n-embd --d-model", one, "N",
     "a custom model: width of its residual stream"},
    {"layers", "--model-layer --num-hidden-layers --num-layers --n-layer", one, "N",
     "… how many layers"},
    {"heads", "--model-head --num-attention-heads --n-head", one, "N",
     "… query heads (hidden size / 64)"},
    {"kv-heads", "--num-key-value-heads --num-kv-heads", one, "N",
     "… key-value heads (one for each query head)"},
    {"head-dim", "", one, "N", "… width of a head (hidden size / heads)"},
    {"intermediate-size", "--ffn-hidden-size --n-inner", one, "N",
     "… width of the feed-forward (4 x hidden size; gated: needed)"},
    {"vocab-size", "--model-vocab", one, "N", "… vocabulary (50257)"},
    {"positions", "--model-positions --max-position-embeddings --n-positions", one, "N",
     "… longest context (learned: 512; else no limit)"},
    {"position-embedding", "", one, "KIND", "… learned (default), rotary or none"},
    {"norm", "", one, "KIND", "… layer (default) or rms"},
    {"norm-placement", "", one, "WHERE", "… pre (default), post, both or parallel"},
    {"qk-norm", "", one, "KIND", "… norms of queries and keys: none (default), head or layer"},
    {"feed-forward", "--mlp", one, "KIND", "… plain (default) or gated"},
    {"biases", "", many, "PART", "… none (default), all, or some of qkv out mlp norm head"},
    {"tied-head", "--tie-word-embeddings", one, "BOOL",
     "… true (default): the head is the embedding"},
    {"window", "--sliding-window", one, "N", "… sliding window in tokens (none)"},
    {"full-attention-every", "", one, "N", "… every N-th layer is without the window (none)"},
    {"experts", "--num-experts --num-local-experts --n-routed-experts", one, "N",
     "… experts of a layer (none)"},
    {"active-experts", "--num-experts-per-tok", one, "N", "… how many of them a token uses"},
    {"expert-intermediate-size", "--moe-intermediate-size", one, "N",
     "… width of one expert (the intermediate size)"},
    {"shared-experts", "--n-shared-experts", one, "N", "… experts that every token uses (0)"},
    {"dense-layers", "--first-k-dense-replace", one, "N", "… first layers without experts (0)"},
    {"task", "--mode", one, "TASK", "inference (default), or training: memory of one step"},
    {"precision", "--dtype --dtypes", one, "NAME",
     "what the weights are held in (auto); training: bf16, fp16, fp32, or fp8, fp8-block, mxfp8, "
     "nvfp4 in the matrices of layers"},
    {"kv-precision", "--kv-cache-dtype -ctk -ctv", one, "NAME",
     "what the key-value cache is held in (16 bit)"},
    {"batch", "--batch-size --per-device-batch --micro-batch-size -b", one, "N",
     "sequences at once, on each replica (1)"},
    {"prompt-tokens", "--isl", one, "N", "tokens in (512)"},
    {"output-tokens", "--osl", one, "N", "tokens out (128)"},
    {"prompt-tokens-p95", "--isl-p95", one, "N",
     "the longest of 95 % of the prompts; --prompt-tokens is the median then"},
    {"output-tokens-p95", "--osl-p95", one, "N", "likewise of the outputs"},
    {"context", "--max-model-len --ctx-size -c", one, "N",
     "tokens of cache a sequence (prompt + output)"},
    {"seq", "--seq-len --seq-length", one, "N",
     "the same as --context in inference; sequence length in training"},
    {"no-kv-cache", "", nothing, "", "compute the whole prefix again for every token"},
    {"machine", "--gpu", one, "MACHINE", "\"2x a100-sxm-40gb @ dual-epyc-120gb\""},
    {"device", "", one, "NAME", "one kind of card, with --count and --host"},
    {"count", "", one, "N", "how many cards (1)"},
    {"host", "", one, "NAME", "the box they sit in (the card's usual host)"},
    {"gpu-memory", "", one, "BYTES", "a card from its specification: memory (8GB, 8GiB)"},
    {"gpu-bandwidth", "", one, "RATE", "… its memory bandwidth (900GB/s)"},
    {"gpu-tflops", "--gpu-flops", one, "RATE", "… its dense 16-bit peak (312TFLOPS)"},
    {"ram", "", one, "BYTES",
     "… memory of its host; so with those below, also in place of a named host's"},
    {"ram-bandwidth", "", one, "RATE", "… bandwidth of that memory"},
    {"bus", "--pcie-bandwidth", one, "RATE", "… host to card, one direction"},
    {"card-link", "", one, "RATE", "… card to card, one direction"},
    {"disk", "", one, "BYTES", "… disk space"},
    {"disk-read", "", one, "RATE", "… sequential read of the disk"},
    {"hardware", "", many, "FILE",
     "TOML files of your own devices and hosts, over the shipped ones"},
    {"gpu-budget", "", one, "BYTES",
     "what the process may use on each card, as nvidia-smi shows it (all of it)"},
    {"gpu-memory-utilization", "", one, "SHARE", "the same as a share of the card, 0.9"},
    {"ram-budget", "", one, "BYTES", "what it may use of the host's memory (all of it)"},
    {"disk-budget", "", one, "BYTES", "what it may use of the disk (all of it)"},
    {"runtime", "--engine", one, "NAME", "the engine (transformers)"},
    {"backend", "", one, "NAME",
     "llama.cpp: what it is built for: cuda, rocm (hip), sycl, metal (the cards' own), or vulkan"},
    {"flash-attn", "", one, "ON", "llama.cpp: on or off: scores of prompts stand in memory (on)"},
    {"threads", "-t", one, "N",
     "llama.cpp, ktransformers: threads of the CPU (its physical cores)"},
    {"gpu-batches", "--num-gpu-batches", one, "N",
     "flexgen: parts of the batch that go through each layer in turn, copied once for all (1)"},
    {"enforce-eager", "--disable-cuda-graph", nothing, "",
     "vllm, sglang, tensorrt-llm: kernels are launched one by one, without CUDA graphs"},
    {"tp", "--tensor-parallel-size -tp", one, "N",
     "cards that share each matrix (as the runtime splits)"},
    {"pp", "--pipeline-parallel-size -pp", one, "N", "stages of layers that follow each other (1)"},
    {"ep", "--expert-parallel-size -ep", one, "N",
     "cards that a layer's experts are spread over, whole: vllm tp × dp, sglang and tensorrt-llm a "
     "divisor of tp (split like other matrices)"},
    {"dp", "--data-parallel-size -dp", one, "N",
     "replicas of the model, each with --batch sequences of its own (1)"},
    {"factors", "", one, "FILE",
     "a factor profile over the shipped constants of engines, as `headroom calibrate` writes it; "
     "in "
     "training: rules of thumb in place of terms (examples/factors)"},
    {"set", "", many, "NAME=VALUE",
     "constants of every engine by hand: decode_bandwidth=0.8 (`headroom runtimes` lists them); in "
     "training: such a rule, TERM_scale or TERM_gib"},
    {"hub-token", "--token --hf-token", one, "TOKEN",
     "for gated and private models of the hub (HF_TOKEN, else its token file)"},
    {"offline", "", nothing, "", "models of the hub from caches alone (HF_HUB_OFFLINE)"},
    {"gpu-layers", "-ngl --n-gpu-layers", one, "N",
     "llama.cpp: how many of the last layers go to cards, one more with the output; all, auto"},
    {"tensor-split", "-ts", one, "SHARES",
     "llama.cpp: each card's share of the layers, 3,1 (memory)"},
    {"split-mode", "-sm", one, "MODE", "llama.cpp: layer, row or none (layer)"},
    {"main-gpu", "-mg", one, "I", "llama.cpp: the card of --split-mode none (0)"},
    {"no-kv-offload", "-nkvo", nothing, "",
     "llama.cpp, flexgen, zero-inference: the cache stays in host memory"},
    {"cpu-moe", "-cmoe", nothing, "", "llama.cpp: all experts stay in host memory"},
    {"n-cpu-moe", "-ncmoe", one, "N", "llama.cpp: the experts of the first N layers do"},
    {"override-tensor", "-ot", many, "REGEX=CPU", "llama.cpp: the tensors of that name do"},
    {"cpu-offload-gb", "", one, "GIB", "vllm: what of each card's weights stays in host memory"},
    {"load-full-model", "", nothing, "", "accepted, and never needed: metadata is enough"},
    {"max-memory", "", many, "DEVICE=BYTES",
     "what a device may hold of weights and buffers: 0=6GiB, cpu=25GiB"},
    {"strategy", "", one, "NAME", "the strategy whose map is printed (the recommended one)"},
    {"offload-folder", "", one, "FOLDER",
     "where weights on disk would go: its free space and permissions are checked"},
    {"mapper", "", one, "NAME", "accelerate (default) or transformers"},
    {"policy", "", one, "NAME", "plain, sequential, auto, balanced, balanced_low_0 (auto)"},
    {"no-split", "", one, "CLASSES", "classes that are never split, or none (the model's)"},
    {"fallback-allocation", "", nothing, "", "accelerate's fallback_allocation"},
    {"no-clean", "", nothing, "", "one entry a module, as the walk left them"},
    {"lora", "", nothing, "",
     "low-rank adapters of rank 8: trained instead of the weights, or served beside them"},
    {"lora-rank", "--max-lora-rank", one, "N", "rank of low-rank adapters (8)"},
    {"lora-alpha", "", one, "N", "their scale: alpha / rank multiplies what they add (16)"},
    {"lora-targets", "--lora-target-modules", many, "NAMES",
     "modules they go beside: names, endings of paths, all-linear (PEFT's for the model)"},
    {"dora", "", nothing, "", "train the length of each output too (DoRA)"},
    {"modules-to-save", "--additional-target", many, "NAMES",
     "modules trained whole beside adapters: embed_tokens lm_head"},
    {"from", "", one, "FILE",
     "flags from TrainingArguments or DeepSpeed JSON, LLaMA-Factory or accelerate YAML"},
    {"lora-adapters", "--max-loras", one, "N", "adapters in memory at once, at inference (1)"},
    {"draft-model", "-md --model-draft --speculative-model --assistant-model", one, "MODEL",
     "a smaller model that proposes tokens (speculative decoding)"},
    {"draft-precision", "", one, "NAME", "what its weights are held in (auto)"},
    {"draft-tokens", "--num-speculative-tokens --draft-max", one, "N",
     "tokens it proposes a step (5)"},
    {"acceptance", "--acceptance-rate", one, "SHARE", "share of them that are kept, 0.7"},
    {"images", "", one, "N",
     "images in every prompt (training: sequence) of a vision-language model"},
    {"image-size", "", one, "WxH", "their size in pixels before they are scaled, 1920x1080"},
    {"explain", "", nothing, "", "each term with its formula, the numbers put in and its source"},
    {"machines", "", many, "MACHINE", "several machines to choose from"},
    {"precisions", "", many, "NAME", "several precisions to choose from (auto)"},
    {"runtimes", "", many, "NAME", "several engines beside each other"},
    {"all", "", nothing, "", "every model of the catalogue: what of it runs here"},
    {"step", "", one, "STEP", "how far apart allocations are: layer (default), or bytes: 1GiB"},
    {"plots", "", one, "FOLDER", "figures too: PNG, SVG, and the .gp and .dat that draw them"},
    {"max-ttft", "", one, "TIME", "the longest time to first token: 500ms, 2s"},
    {"max-tpot", "", one, "TIME", "the longest time per output token: 50ms"},
    {"users", "", one, "N", "sequences at once, all machines together"},
    {"requests-s", "", one, "X", "requests a second, all machines together"},
    {"tokens-s", "", one, "X", "output tokens a second, all machines together"},
    {"allow-offload", "", nothing, "", "weights in host memory and on disk count as served too"},
    {"strict", "", nothing, "", "by the pessimistic end of every interval"},
    {"prices", "", one, "FILE", "your prices.toml: rent, purchase, electricity"},
    {"acquire", "", one, "HOW", "buy, used or rent (each that has a price)"},
    {"top", "", one, "N", "rows of the table (10)"},
    {"kind", "", one, "KIND", "what to write (the runtime's own)"},
    {"measure", "", nothing, "", "RAM and disk bandwidth too, measured for two seconds each"},
    {"tensors", "", nothing, "", "every tensor with its shape instead of the totals"},
    {"dry-run", "", nothing, "", "only the axes, the number of points and the expected size"},
    {"jobs", "-j", one, "N", "threads that evaluate (all cores)"},
    {"fresh", "", nothing, "", "compute every point, also those that an earlier run has"},
    {"shard", "", one, "K/N", "the K-th of N parts of the points, into a database of its own"},
    {"keep", "", one, "N", "how many complete runs stay (30)"},
    {"threshold", "", one, "SHARE", "numbers that change by less are not listed (0.01)"},
    {"fail-if", "", one, "SQL", "over old.COLUMN and new.COLUMN; exit code 3 where it holds"},
    {"trend", "", one, "SQL", "one point over the runs: the condition that selects it"},
    {"where", "", one, "SQL", "only points for which this holds, over the columns of result"},
    {"columns", "", many, "NAME", "these columns (all)"},
    {"log-format", "", one, "FORMAT", "messages as text or as json, one object a line (text)"},
    {"no-plots", "", nothing, "", "tables only"},
    {"runs", "", nothing, "", "the runs that the database holds"},
    {"view", "", one, "NAME", "one question, answered to standard output"},
    {"run", "", one, "ID", "a run of the database (the latest complete one)"},
    {"fit", "", nothing, "", "the constants of engines that bring estimates nearest to the rows"},
    {"leave-one-out", "", nothing, "", "also each source by constants fitted to the others"},
    {"models", "", one, "DIR", "a folder of further config.json files, named after their models"},
    {"format", "--json=json", one, "FORMAT", "text, json, jsonl, csv or md (text)"},
    {"out", "-o", one, "PATH", "write there instead of to standard output"},
    {"help", "-h", nothing, "", "this text"},

    // ---- known, not in this version ---------------------------------------------------------
    {"grad-accum", "--gradient-accumulation-steps", one, "N", "passes before a step (1)"},
    {"zero", "--zero-stage -z", one, "0..3",
     "what data parallel cards share out: states, gradients, weights (0)"},
    {"checkpointing",
     "--gradient-checkpointing=full --grad-checkpointing=full --grad-checkpoint=full -ca=full", one,
     "HOW", "activations made again in backward: none (default), selective or full"},
    {"recipe", "", one, "NAME",
     "pure-16bit, autocast, fp32-master, fp32-gradients, sharded-fp32 or fp32 (the runtime's)"},
    {"mixed-precision", "", nothing, "", "the same as --recipe autocast"},
    {"optimizer", "", one, "NAME", "adamw, adamw-8bit, adafactor, lion, sgd, … (adamw)"},
    {"compile", "", nothing, "",
     "torch.compile: norms, gating and rotation keep no steps between; selective recomputation "
     "only what is needed"},
    {"fused-loss", "", nothing, "", "logits in chunks, never whole"},
    {"liger", "", nothing, "", "Liger kernels: fused norms, gating, rotation and loss"},
    {"offload-optimizer", "--cpu-offload-optimizer=cpu", one, "WHERE",
     "optimizer states and master weights in host memory: cpu, or on disk: nvme"},
    {"offload-params", "", one, "WHERE", "shards of weights in host memory: cpu (with --zero 3)"},
    {"attention", "--flash-attention=flash/eager --flashattn=flash/eager -fa=flash/eager", one,
     "KERNEL", "flash (default), or eager: scores are kept"},
    {"cp", "--context-parallel-size -cp", one, "N", "cards that divide a sequence's tokens (1)"},
    {"virtual-stages", "--virtual-pipeline-stages", one, "N",
     "chunks of layers on each stage: the interleaved schedule (1)"},
    {"sequence-parallel", "", one, "BOOL",
     "with --tp: what lies between matrices divided by tokens (the runtime's)"},
    {"expert-imbalance", "", one, "X", "rows of the busiest card's experts over an even share (1)"},
    {"packing", "", one, "TOKENS",
     "sequences are packed from documents of TOKENS on average, each attending to itself alone"},
    {"freeze-vision-tower", "", nothing, "", "the vision tower's weights are not trained"},
    {"token-budget", "", one, "N",
     "how many days N tokens take: a number, 300B, 15T (needs --machine)"},
    {"qlora", "", nothing, "", "the same over frozen weights in nf4"},
    {"grad-ckpt-reduction", "", one, "X", "share of activations that checkpointing leaves"},
    {"attn-act-factor-fa", "", one, "X",
     "attention with flash: tokens x hidden x layers x X elements"},
    {"attn-act-factor-no-fa", "", one, "X", "attention with scores, likewise, beside the scores"},
    {"mlp-act-factor", "", one, "X", "feed-forward: tokens x hidden x layers x X elements"},
    {"logits-factor", "", one, "X", "logits and loss: tokens x vocabulary x X bytes"},
    {"fragmentation-gib", "", one, "X", "GiB of fragmentation"},
    {"misc-overhead-gib", "", one, "X", "GiB beside everything"},
    {"probe", "", nothing, "",
     "also the command that measures the step on a GPU (examples/probe.py)"},
    {"warmup-steps", "", one, "N", "with --probe: steps before it measures (3)"},
    {"probe-steps", "", one, "N", "with --probe: steps that it measures (6)"},
    {"estimate-only", "", nothing, "", "accepted; no command to measure with, even beside --probe"},
};

/// Calls `visit(spelling, fixed value)` for each alias of `flag` until it returns true.
template <class F>
bool any_alias(const Flag& flag, F&& visit) {
  std::string_view rest = flag.aliases;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto alias = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = alias.find('=');
    const bool fixes = equals != std::string_view::npos;
    if (visit(alias.substr(0, equals), fixes ? alias.substr(equals + 1) : std::string_view{}))
      return true;
  }
  return false;
}

}  // namespace

std::span<const Flag> flags() { return flag_table; }

const Flag* find_flag(std::string_view name) {
  for (const Flag& flag : flag_table)
    if (flag.name == name) return &flag;
  return nullptr;
}

Spelling find_spelling(std::string_view spelling) {
  for (const Flag& flag : flag_table) {
    if (spelling.starts_with("--") && spelling.substr(2) == flag.name) return {&flag, {}};
    Spelling found;
    if (any_alias(flag, [&](std::string_view alias, std::string_view fixed) {
          if (alias != spelling) return false;
          found = {&flag, fixed};
          return true;
        }))
      return found;
  }
  return {};
}

std::vector<std::string> spellings() {
  std::vector<std::string> all;
  for (const Flag& flag : flag_table) {
    all.push_back("--" + std::string(flag.name));
    any_alias(flag, [&](std::string_view alias, std::string_view) {
      all.emplace_back(alias);
      return false;
    });
  }
  return all;
}

}  // namespace headroom::sweep
