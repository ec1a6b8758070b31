#include "sweep/options/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

constexpr FlagGroup groups[] = {
    {"Model", "model models text-only hub-token offline load-full-model"},
    {"Custom model",
     "hidden-size layers heads kv-heads head-dim intermediate-size vocab-size positions "
     "position-embedding norm norm-placement qk-norm feed-forward biases tied-head window "
     "full-attention-every experts active-experts expert-intermediate-size shared-experts "
     "dense-layers"},
    {"Workload",
     "task precision precisions kv-precision cache-type-k cache-type-v batch prompt-tokens "
     "output-tokens prompt-tokens-p95 output-tokens-p95 context seq no-kv-cache images image-size"},
    {"Adapters",
     "lora lora-rank lora-alpha lora-targets dora modules-to-save lora-adapters qlora "
     "base-precision"},
    {"Speculative decoding", "speculate acceptance draft-model draft-precision draft-tokens"},
    {"Machine",
     "machine machines device count host gpu-memory gpu-bandwidth gpu-tflops cpu ram ram-bandwidth "
     "bus card-link disk disk-read hardware gpu-budget gpu-memory-utilization ram-budget "
     "disk-budget"},
    {"Engine",
     "runtime runtimes engines backend flash-attn threads no-mmap gpu-batches enforce-eager "
     "max-num-seqs max-num-batched-tokens factors set"},
    {"Parallelism and offload",
     "tp pp ep dp gpu-layers tensor-split split-mode main-gpu no-kv-offload cpu-moe n-cpu-moe "
     "override-tensor cpu-offload-gb"},
    {"Placement",
     "strategy max-memory offload-folder mapper policy no-split fallback-allocation no-clean"},
    {"Training",
     "from grad-accum zero checkpointing recipe mixed-precision optimizer compile fused-loss liger "
     "offload-optimizer offload-params no-zero3-init attention cp virtual-stages sequence-parallel "
     "expert-imbalance packing freeze-vision-tower token-budget probe warmup-steps probe-steps "
     "estimate-only"},
    {"Rules of thumb",
     "grad-ckpt-reduction attn-act-factor-fa attn-act-factor-no-fa mlp-act-factor logits-factor "
     "fragmentation-gib misc-overhead-gib"},
    {"Target and prices",
     "max-ttft max-tpot max-ttft-p95 max-tpot-p95 max-e2e-p99 users think-time active-share "
     "requests-s tokens-s burstiness load-factor growth months spares allow-offload strict prices "
     "acquire top"},
    {"Runs and databases",
     "dry-run jobs fresh shard keep threshold fail-if trend where columns runs view run"},
    {"Output",
     "details explain sources tensors all step plots no-plots all-plots csv kind measure "
     "log-format format "
     "out "
     "help help-all"},
};

constexpr CommonOption common[] = {
    {"machine", "--machine rtx-4090",
     "the machine (`headroom hardware list`); \"2x h100-sxm-80gb\""},
    {"machines", "--machines rtx-4090 rtx-5090", "several machines to choose from"},
    {"precision", "--precision q4_K_M", "precision of the weights: bf16, fp8, awq-int4, nf4, …"},
    {"precisions", "--precisions q8_0 q4_K_M", "several precisions to choose from"},
    {"runtime", "--runtime vllm", "the engine (`headroom runtimes` lists all)"},
    {"context", "--context 8192", "tokens of KV cache for each sequence"},
    {"batch", "--batch 8", "concurrent sequences on each replica"},
    {"prompt-tokens", "--prompt-tokens 512", "prompt tokens of each sequence"},
    {"output-tokens", "--output-tokens 128", "output tokens of each sequence"},
    {"kv-precision", "--kv-precision fp8", "precision of the KV cache"},
    {"gpu-budget", "--gpu-budget 20GiB", "GPU memory to use on each card"},
    {"tp", "--tp 4", "tensor parallel: cards that share each matrix"},
    {"gpu-layers", "--gpu-layers 40", "llama.cpp: number of last layers on the cards"},
    {"speculate", "--speculate mtp:3", "speculative decoding"},
    {"task", "--task training", "memory and time of a training step"},
    {"users", "--users 200", "concurrent sequences, all machines together"},
    {"max-ttft", "--max-ttft 500ms", "the longest acceptable time to first token"},
    {"max-tpot", "--max-tpot 50ms", "the longest acceptable time per output token"},
    {"prices", "--prices prices.toml", "rent, purchase, electricity"},
    {"step", "--step 1GiB", "distance between allocations"},
    {"plots", "--plots out", "a folder for figures"},
    {"dry-run", "--dry-run", "print the axes, the number of points and the expected size only"},
    {"shard", "--shard 1/4", "compute one of several parts of the points"},
    {"view", "--view result", "print one view to standard output"},
    {"where", "--where \"verdict = 'fits_one_gpu'\"",
     "print the points that meet a condition, as CSV"},
    {"trend", "--trend \"model = 'gpt2'\"", "follow one point over the runs"},
    {"fail-if", "--fail-if \"new.tokens_s < old.tokens_s\"", "exit code 3 if a condition holds"},
    {"measure", "--measure", "measure RAM and disk bandwidth too"},
    {"explain", "--explain", "show each term with its formula, its numbers and its source"},
    {"sources", "--sources", "show where each figure comes from"},
    {"tensors", "--tensors", "list every tensor with its shape"},
    {"kind", "--kind slurm", "the kind of output"},
    {"format", "--format json", "text, json, jsonl, csv or md"},
    {"out", "--out FILE", "write to this path"},
};

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The first `most` paragraphs of `text`, wrapped: an indented line belongs to the one before it.
std::string paragraphs(std::string_view text, std::size_t most = std::string_view::npos) {
  std::string all, paragraph;
  std::size_t printed = 0;
  while (!text.empty() && printed < most) {
    const auto end = std::min(text.find('\n'), text.size());
    paragraph += std::string(text.substr(0, end)) + ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
    if (text.starts_with(' ')) continue;
    all += wrapped(paragraph, 2, 4);
    paragraph.clear();
    ++printed;
  }
  return all;
}

std::string heading(const CommandHelp& command) {
  return fmt::format("headroom {}: {}\n\nUsage: headroom {}{}{} [options]\n", command.name,
                     command.summary, command.name, command.operands.empty() ? "" : " ",
                     command.operands) +
         (command.operand_help.empty() ? "" : wrapped(command.operand_help, 2, 4));
}

/// Two columns: `left`, and `right` wrapped beside it.
std::string row(std::string_view left, std::string_view right) {
  constexpr std::size_t second = 31;
  const std::string text = wrapped(right, second, second);
  if (text_width(left) + 3 > second) return fmt::format("  {}\n{}", left, text);
  return fmt::format("  {:<{}}{}", left, second - 2, text.substr(second));
}

}  // namespace

std::span<const FlagGroup> flag_groups() { return groups; }
std::span<const CommonOption> common_options() { return common; }

std::vector<const Flag*> flags_of(const CommandHelp& command, const FlagGroup& group) {
  const auto mine = words(command.flags);
  std::vector<const Flag*> found;
  for (const auto name : words(group.flags))
    if (of_every_command(name) || has(mine, name)) found.push_back(find_flag(name));
  return found;
}

std::string usage_of(const Flag& flag) {
  std::string text = "--" + std::string(flag.name);
  if (flag.takes != Takes::nothing) text += ' ' + std::string(flag.value);
  return flag.takes == Takes::many ? text + "…" : text;
}

std::vector<std::string> other_spellings(const Flag& flag) {
  std::vector<std::string> all;
  for (const auto alias : words(flag.aliases)) all.emplace_back(alias.substr(0, alias.find('=')));
  return all;
}

std::string help_text(const CommandHelp& command) {
  const auto mine = words(command.flags);
  const std::string full = full_help_text(command);
  if (std::ranges::count(full, '\n') <= screen_lines) return full;
  std::string text = heading(command) + "\nCommon options:\n";
  for (const CommonOption& option : common)
    if (has(mine, option.flag)) text += row(option.example, option.meaning);
  return text + "\nExamples:\n" + paragraphs(command.examples, 3) +
         fmt::format("\n`headroom {} --help-all` lists all {} options, columns and exit codes.\n",
                     command.name, mine.size());
}

std::string full_help_text(const CommandHelp& command) {
  std::string text = heading(command);
  for (const FlagGroup& group : groups) {
    const auto all = flags_of(command, group);
    if (all.empty()) continue;
    text += fmt::format("\n{}:\n", group.title);
    for (const Flag* flag : all) {
      std::string meaning(flag->meaning);
      if (!flag->aliases.empty())
        meaning += fmt::format("; also {}", fmt::join(other_spellings(*flag), ", "));
      text += row(usage_of(*flag), meaning);
    }
  }
  return text + "\nExamples:\n" + paragraphs(command.examples) + "\nColumns:\n" +
         paragraphs(command.columns) + "\nExit codes:\n" + paragraphs(command.exit_codes);
}

}  // namespace headroom::sweep
