#include "sweep/options/training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "model/train/factors.hpp"
#include "model/train/rank.hpp"
#include "model/train/tape/tower.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/options/extra_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/training/import.hpp"

namespace headroom::sweep {
namespace {

void refuse_inference_flags(const Options& options) {
  for (const auto* flag : {"kv-precision",
                           "prompt-tokens",
                           "output-tokens",
                           "context",
                           "no-kv-cache",
                           "gpu-budget",
                           "gpu-memory-utilization",
                           "ram-budget",
                           "disk-budget",
                           "lora-adapters",
                           "prompt-tokens-p95",
                           "output-tokens-p95",
                           "draft-model",
                           "draft-precision",
                           "draft-tokens",
                           "acceptance",
                           "backend",
                           "flash-attn",
                           "threads",
                           "gpu-batches",
                           "enforce-eager"})
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect on --task training", flag));
}

int zero_of(const Options& options, const model::TrainingRuntime& runtime) {
  constexpr std::string_view stages[] = {"0", "1", "2", "3"};
  const int asked = options.one_of("zero", stages, stages[runtime.zero]).front() - '0';
  if (asked < runtime.zero)
    throw UsageError(fmt::format("--zero {}: {} shares out at least as ZeRO {} does", asked,
                                 runtime.name, runtime.zero));
  return asked;
}

/// The format of 8 and 4 bit that --precision names; null: another precision.
const model::MatrixFormat* matrices_of(const Options& options) {
  const std::string precision = options.text("precision", "bf16");
  const auto known =
      std::ranges::find(model::matrix_formats(), precision, &model::MatrixFormat::name);
  return known != model::matrix_formats().end() ? &*known : nullptr;
}

/// The recipe that is asked for, or the runtime's for --precision and what is shared out.
const model::Recipe& recipe_of(const Options& options, const model::TrainingScenario& s,
                               GivenTraining& given) {
  if (s.matrices != nullptr)
    options.exclusive({"recipe", "mixed-precision"});
  else
    options.exclusive({"recipe", "mixed-precision", "precision"});
  if (options.given("recipe")) return model::recipe(options.text("recipe"));
  if (options.given("mixed-precision")) return model::recipe("autocast");
  const std::string precision = options.text("precision", "bf16");
  const model::Recipe* found = nullptr;
  if (s.matrices != nullptr)
    found = &model::usual_recipe(*s.runtime, s.zero, given.adapter != nullptr);
  else if (precision == "fp32" || precision == "float32")
    found = &model::recipe("fp32");
  else if (precision == "bf16" || precision == "fp16" || precision == "bfloat16" ||
           precision == "float16")
    found = &model::usual_recipe(*s.runtime, s.zero, given.adapter != nullptr);
  else
    throw UsageError(fmt::format(
        "--precision: found '{}'; training computes in bf16, fp16 or fp32, matrices of layers in "
        "fp8, fp8-block, mxfp8 or nvfp4 too (--qlora holds the base in 4 bit)",
        precision));
  const model::Recipe& row = *found;
  given.assumed.push_back(fmt::format("recipe {}: {} (--recipe)", row.name, row.meaning));
  return row;
}

/// Only a factor that the scenario uses may be set: the others would have no effect.
void check_factors(const model::TrainingScenario& s) {
  const auto has = [&](std::string_view key) { return s.factors.contains(key); };
  const auto refuse = [](std::string_view key, std::string_view why) {
    throw UsageError(fmt::format("factor {} has no effect: {}", key, why));
  };
  if (has("attention_factor_fused") && !s.fused_attention)
    refuse("attention_factor_fused", "attention keeps its scores; attention_factor_scores has");
  if (has("attention_factor_scores") && s.fused_attention)
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

double real(const Options& options, std::string_view flag, double fallback) {
  if (!options.given(flag)) return fallback;
  const std::string text = options.text(flag);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("--{}: found '{}', expected a number", flag, text));
  return value;
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
    given.assumed.push_back(fmt::format("{} sequence parallelism beside --tp (--sequence-parallel)",
                                        usual ? "with" : "without"));
}

void read_kernels(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  constexpr std::string_view how[] = {"none", "selective", "full"};
  const std::string again = options.one_of("checkpointing", how, "none");
  s.recomputation = again == "full"        ? model::Recomputation::full
                    : again == "selective" ? model::Recomputation::selective
                                           : model::Recomputation::none;
  constexpr std::string_view kernels[] = {"flash", "eager"};
  s.fused_attention = options.one_of("attention", kernels, "flash") == "flash";
  if (!options.given("attention"))
    given.assumed.emplace_back("attention in a fused kernel: no scores are kept (--attention)");
  s.fused_loss = options.given("fused-loss") || options.given("liger");
  s.fused_kernels = options.given("liger");
  s.compiled = options.given("compile");
  if (s.compiled && s.runtime->selective != model::Selective::but_every_2nd_mm)
    throw UsageError("--compile has no effect but with --runtime fsdp2 in this version");
  s.imbalance = real(options, "expert-imbalance", 1);
  if (s.imbalance != 1 && s.model->profile.routing.experts == 0)
    throw UsageError("--expert-imbalance has no effect: the model has no experts");
}

void read_images(const Options& options, model::TrainingScenario& s, GivenTraining& given) {
  const auto images = images_of(options, *s.model, "seq");
  s.tower_frozen = options.given("freeze-vision-tower");
  if (s.tower_frozen && s.adapter != nullptr)
    throw UsageError("--freeze-vision-tower has no effect beside adapters: all else is frozen");
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
    throw UsageError(fmt::format("--seq: {} tokens do not hold {} images of {} tokens each ({})",
                                 s.sequence, images->count, images->each.tokens, tokens));
  const auto tower = model::vision_tower(*s.model);
  s.images = {images->count, images->each.patches + (tower ? tower->class_tokens : 0)};
  given.assumed.push_back(
      fmt::format("of the {} tokens of a sequence {} are those of {} image{}; {} patches each ({})",
                  s.sequence, tokens, images->count, images->count == 1 ? "" : "s",
                  s.images.patches, s.model->images.source));
}

/// "300B", "1.5e9": whole tokens from 1 on; 0 where nothing is given.
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
}

/// examples/probe.py runs one card, a plain loop and torch's AdamW.
std::string probe_of(const Options& options, const model::TrainingScenario& s) {
  for (const auto* flag : {"warmup-steps", "probe-steps"}) options.requires_flag(flag, "probe");
  if (!options.given("probe") || options.given("estimate-only")) return {};
  if (s.parallel.cards() > 1 || s.base != nullptr)
    throw UsageError("--probe: examples/probe.py measures one card without quantised weights");
  std::string text =
      fmt::format("examples/probe.py {} --batch {} --seq {} --attention {}", s.model->name, s.batch,
                  s.sequence, s.fused_attention ? "flash" : "eager");
  if (s.recomputation == model::Recomputation::full) text += " --checkpointing full";
  if (s.adapter != nullptr) text += fmt::format(" --lora-rank {}", options.whole("lora-rank", 8));
  return text + fmt::format(" --warmup-steps {} --probe-steps {}", options.whole("warmup-steps", 3),
                            options.whole("probe-steps", 6));
}

}  // namespace

void refuse_training_flags(const Options& options) {
  for (std::string_view rest = HEADROOM_TRAINING_FLAGS; !rest.empty();) {
    const auto flag = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(flag.size() + 1, rest.size()));
    // Adapters are served too.
    if (options.given(flag) && flag != "lora" && flag != "lora-rank" && flag != "lora-targets")
      throw UsageError(fmt::format("--{} has no effect without --task training", flag));
  }
}

GivenTraining training_of(const Options& given_options) {
  Options options = given_options;
  const Imported imported = import_training(options);
  refuse_inference_flags(options);
  say_if_full_model(options);
  GivenTraining given;
  for (const auto& line : imported.taken) given.assumed.push_back("from the file: " + line);
  if (!imported.ignored.empty())
    given.assumed.push_back(
        fmt::format("of the file ignored: {}", fmt::join(imported.ignored, ", ")));
  model::TrainingScenario& s = given.scenario;
  s.runtime = &model::training_runtime(options.text("runtime", "trainer"));
  if (!options.given("runtime"))
    given.assumed.emplace_back("runtime trainer: transformers' Trainer (--runtime)");
  given.model =
      std::make_unique<model::Model>(resolve_model(model_given(options), Hub(hub_flags(options))));
  if (!given.model->assumed.empty())
    given.assumed.push_back(fmt::format("of the model: {}", fmt::join(given.model->assumed, ", ")));
  const model::Model& m = *given.model;
  auto adapters = adapters_of(options);
  if (!adapters && options.given("qlora")) adapters = model::AdapterRequest{};
  if (adapters) {
    given.adapter = std::make_unique<model::Adapter>(model::adapt(m, *adapters));
    given.assumed.push_back(fmt::format(
        "adapters of rank {} beside {} modules, in {}, scaled by {} / {}", adapters->rank,
        given.adapter->modules.size(), s.runtime->adapter_bytes == 4 ? "fp32" : "16 bit",
        options.whole("lora-alpha", 16), adapters->rank));
  } else if (options.given("lora-alpha")) {
    throw UsageError("--lora-alpha has no effect without --lora");
  }
  if (options.given("modules-to-save")) {
    if (!given.adapter) throw UsageError("--modules-to-save has no effect without --lora");
    s.trained_copies = copies_of(options, m);
  }
  if (options.given("qlora")) {
    given.base = std::make_unique<model::QuantisedModel>(model::quantise(m, model::scheme("nf4")));
    if (!given.base->refusal.empty()) throw UsageError("--qlora: " + given.base->refusal);
    given.assumed.emplace_back("frozen weights in nf4, blocks of 64");
  }
  given.plain = std::make_unique<model::QuantisedModel>(model::counted(m));
  s.model = given.model.get();
  s.plain = given.plain.get();
  s.base = given.base.get();
  s.adapter = given.adapter.get();
  s.zero = zero_of(options, *s.runtime);
  s.matrices = matrices_of(options);
  s.recipe = &recipe_of(options, s, given);
  if (s.matrices != nullptr)
    given.assumed.push_back(fmt::format("matrices of layers in {}: {}; all else in 16 bit",
                                        s.matrices->name, s.matrices->meaning));
  s.optimizer = &model::optimizer(options.text("optimizer", "adamw"));
  s.batch = options.whole("batch", 1);
  s.sequence = options.whole("seq", 2048);
  s.accumulated = options.whole("grad-accum", 1);
  read_parallelism(options, s, given);
  read_kernels(options, s, given);
  read_images(options, s, given);
  read_offload(options, s);
  s.factors = factors_of(options);
  check_factors(s);
  given.token_budget = token_budget_of(options);
  if (options.given("packing")) {
    s.document = options.whole("packing", 1);
    if (!s.fused_attention)
      throw UsageError(
          "--packing takes attention in a fused kernel: scores of whole sequences are "
          "kept with --attention eager");
    if (s.document >= s.sequence)
      throw UsageError(fmt::format("--packing {} has no effect: sequences have {} tokens",
                                   s.document, s.sequence));
    given.assumed.push_back(fmt::format(
        "attention by documents of {} tokens (flash_attn_varlen_func); none is cut or padded",
        s.document));
  }
  if (std::ranges::any_of(m.profile.caches, [](const model::CacheClass& c) {
        return c.kind == model::CacheKind::recurrent;
      }))
    given.assumed.emplace_back(
        "recurrent layers by their kernels (mamba-ssm, causal-conv1d, fla), as their sources say "
        "and "
        "not measured: without them every state of every token is kept");
  given.probe = probe_of(options, s);
  if (!options.given("optimizer")) given.assumed.emplace_back("optimizer adamw (torch)");
  if (!options.given("seq")) given.assumed.emplace_back("sequences of 2048 tokens (--seq)");
  if (auto machine = machine_of(options)) {
    given.machine = std::move(machine->machine);
    for (auto& line : machine->assumed) given.assumed.push_back(std::move(line));
    if (s.matrices != nullptr)
      for (const Device& card : given.machine->devices)
        if (!model::multiplies(card, *s.matrices))
          throw UsageError(fmt::format("--precision {}: {} has no units that multiply it",
                                       s.matrices->name, card.name));
    const auto cards = static_cast<Size>(given.machine->devices.size());
    if (cards < s.parallel.cards())
      throw UsageError(
          fmt::format("the run takes {} cards (dp {} x tp {} x pp {} x cp {}), and {} has {}",
                      s.parallel.cards(), s.parallel.replicas, s.parallel.tensor, s.parallel.stages,
                      s.parallel.context, given.machine->name, cards));
  }
  return given;
}

}  // namespace headroom::sweep
