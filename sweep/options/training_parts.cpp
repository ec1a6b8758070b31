#include "sweep/options/training_parts.hpp"

#include <fmt/format.h>

#include <charconv>

#include "hardware/quantity_text.hpp"
#include "model/train/factors.hpp"
#include "model/train/tape/tower.hpp"
#include "sweep/options/extra_options.hpp"

namespace headroom::sweep {
namespace {

double imbalance_of(const Options& options) {
  if (!options.given("expert-imbalance")) return 1;
  const std::string text = options.text("expert-imbalance");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 1 && value <= 1000))
    throw UsageError(fmt::format(
        "--expert-imbalance: found '{}', expected a number from 1 (even) to 1000", text));
  return value;
}

}  // namespace

void check_factors(const model::TrainingScenario& s) {
  const auto has = [&](std::string_view key) { return s.factors.contains(key); };
  const auto refuse = [](std::string_view key, std::string_view why) {
    throw UsageError(fmt::format("factor {} has no effect: {}", key, why));
  };
  if (has("attention_factor_fused") && !s.fuses_attention())
    refuse("attention_factor_fused", "attention keeps its scores; attention_factor_scores has");
  if (has("attention_factor_scores") && s.fuses_attention())
    refuse("attention_factor_scores", "attention is fused; --attention eager keeps scores");
  if (has("recomputation_factor") && s.recomputation == model::Recomputation::none)
    refuse("recomputation_factor", "nothing is recomputed (--checkpointing full)");
  if (has("fused_loss_factor") && !s.fused_loss)
    refuse("fused_loss_factor", "the loss is not fused (--fused-loss)");
  if (has("base_bytes") && s.adapter == nullptr)
    refuse("base_bytes", "no weight is frozen (--lora, --qlora)");
  if (has("deepspeed_gib") && s.zero == 0)
    refuse("deepspeed_gib", "nothing is shared out (--zero)");
}

void read_parallelism(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  model::Parallelism& p = s.parallel;
  p = {.replicas = options.whole("dp", 1),
       .tensor = options.whole("tp", 1),
       .stages = options.whole("pp", 1),
       .chunks = options.whole("virtual-stages", 1),
       .experts = options.whole("ep", 1),
       .context = options.whole("cp", 1)};
  constexpr std::string_view words[] = {"true", "false"};
  const bool usual = s.runtime->sequence_parallel && p.tensor > 1;
  p.sequence = options.one_of("sequence-parallel", words, usual ? "true" : "false") == "true";
  if (p.tensor > 1 && !options.given("sequence-parallel"))
    given.assumed.push_back(fmt::format("{} sequence parallelism with --tp (--sequence-parallel)",
                                        usual ? "with" : "without"));
}

void read_attention(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  constexpr auto words = model::attention_words;
  const std::string word = options.one_of("attention", words, "flash");
  s.attention = model::attention_kernel(
      static_cast<std::size_t>(std::ranges::find(words, word) - words.begin()));
  const bool asked = options.given("attention");
  // Documents have a kernel of flash-attn alone, and `flash` is any fused kernel.
  if (options.given("packing") && word == "flash")
    s.attention = model::AttentionKernel::flash_attention;
  if (s.attention != model::AttentionKernel::sdpa) return;
  const model::AttentionSupport has = model::attention_support(*s.model);
  const bool by_runtime = has.sinks && s.runtime->takes_sinks();
  if (!has.sdpa && !by_runtime)
    given.assumed.emplace_back(
        has.sinks ? "attention keeps its scores: SDPA takes no attention sinks, and transformers "
                    "runs them eager (--attention flash_attention_3)"
                  : "attention keeps its scores: its class has no kernel of SDPA (--attention)");
  else if (!asked)
    given.assumed.emplace_back("attention in a fused kernel: no scores are kept (--attention)");
}

void read_kernels(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  constexpr auto how = model::recomputation_names;
  const auto usual = model::usual_recomputation(*s.runtime, *s.recipe);
  const std::string again =
      options.one_of("checkpointing", how, how[static_cast<std::size_t>(usual)]);
  s.recomputation = static_cast<model::Recomputation>(std::ranges::find(how, again) - how.begin());
  s.recomputation_given = options.given("checkpointing");
  if (!s.recomputation_given && usual != model::Recomputation::none)
    given.assumed.push_back(fmt::format(
        "{} recomputes all layers by itself{} (--checkpointing)",
        usual == s.runtime->recomputation ? s.runtime->name : "PEFT's preparation",
        usual == model::Recomputation::offloaded ? ", from inputs in host memory" : ""));
  read_attention(options, s, given);
  s.fused_loss = options.given("fused-loss") || options.given("liger");
  s.fused_kernels = options.given("liger");
  s.compiled = options.given("compile");
  if (s.compiled && s.runtime->selective != model::Selective::but_every_2nd_mm)
    throw UsageError("--compile works only with --runtime fsdp2 in this version");
  s.imbalance = imbalance_of(options);
  if (s.imbalance != 1 && s.model->profile.routing.experts == 0)
    throw UsageError("--expert-imbalance has no effect: the model has no experts");
}

void read_images(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  const auto images = images_of(options, *s.model, model::ImageLimits::processor, "seq");
  s.tower_frozen = options.given("freeze-vision-tower");
  if (s.tower_frozen && s.adapter != nullptr)
    throw UsageError(
        "--freeze-vision-tower has no effect with adapters, which freeze all other weights");
  if (s.tower_frozen && !model::vision_tower(*s.model))
    throw UsageError(
        fmt::format("--freeze-vision-tower: {} ({}) has no vision tower that is described",
                    s.model->name, s.model->architecture));
  if (!images) {
    if (model::vision_tower(*s.model))
      given.assumed.emplace_back("text alone: no image goes through the vision tower (--images)");
    return;
  }
  const Size tokens = images->count * images->each.tokens;
  if (tokens > s.sequence)
    throw UsageError(fmt::format("--seq: {} tokens do not hold {} of {} tokens each ({})",
                                 s.sequence, counted(images->count, "image"), images->each.tokens,
                                 tokens));
  const auto tower = model::vision_tower(*s.model);
  s.images = {images->count, images->each.patches + (tower ? tower->class_tokens : 0)};
  given.assumed.push_back(fmt::format(
      "{1} of the {0} tokens of a sequence come from {2}; {3} each ({4})", s.sequence, tokens,
      counted(images->count, "image"), counted(s.images.patches, "patch"), s.model->images.source));
}

Size token_budget_of(const Options& options) {
  if (!options.given("token-budget")) return 0;
  std::string text = options.text("token-budget");
  const std::string given = text;
  double scale = 1;
  constexpr std::pair<char, double> suffixes[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
  for (const auto& [letter, worth] : suffixes)
    if (!text.empty() && text.back() == letter) scale = worth, text.pop_back();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value * scale >= 1) ||
      value * scale > 1e18)
    throw UsageError(fmt::format(
        "--token-budget: found '{}', expected tokens from 1 to 1e18: 2000000, 300B, 15T", given));
  return static_cast<Size>(value * scale);
}

void read_offload(const Options& options, model::TrainingScenario& s) {
  constexpr std::string_view where[] = {"cpu", "nvme"};
  for (const auto& [flag, on_host] : {std::pair{"offload-optimizer", &s.optimizer_on_host},
                                      {"offload-params", &s.parameters_on_host}})
    if (options.given(flag)) {
      *on_host = true;
      if (options.one_of(flag, where, "cpu") == "nvme") s.on_disk = true;
    }
  s.loads_whole = options.given("no-zero3-init");
  if (s.loads_whole && !(s.zero >= 3 && model::runs_deepspeed(*s.runtime)))
    throw UsageError(
        "--no-zero3-init has no effect: DeepSpeed alone divides weights while they load, at --zero "
        "3");
}

void read_packing(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  if (!options.given("packing")) return;
  s.document = options.whole("packing", 1);
  if (s.attention != model::AttentionKernel::flash_attention)
    throw UsageError(fmt::format(
        "--packing needs attention in a fused kernel that knows documents (--attention "
        "flash_attention_2): {} {} of whole sequences",
        model::name_of(s.attention), s.fuses_attention() ? "has masks" : "keeps the scores"));
  if (s.document >= s.sequence)
    throw UsageError(fmt::format("--packing {} has no effect: sequences have {} tokens", s.document,
                                 s.sequence));
  given.assumed.push_back(fmt::format(
      "attention by documents of {} tokens (flash_attn_varlen_func); none is cut or padded",
      s.document));
}

}  // namespace headroom::sweep
