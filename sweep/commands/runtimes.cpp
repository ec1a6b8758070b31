// headroom runtimes: the engines, what they decide, and the constants with their evidence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/engine/runtime.hpp"
#include "model/engine/runtime_measured.hpp"
#include "model/infer/estimate.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;

/// A reader is told so; a program reads the number.
report::Value evidence(int measurements, Format format) {
  if (measurements == 0 && (format == Format::text || format == Format::markdown))
    return std::string("0, unmeasured");
  return std::int64_t{measurements};
}

std::string cache_formats(const Engine& runtime) {
  std::vector<std::string> formats;
  for (const model::CacheFormat& each : runtime.caches)
    formats.push_back(each.word.empty() || each.word == each.precision
                          ? std::string(each.precision)
                          : fmt::format("{} ({})", each.precision, each.word));
  return fmt::format("{}", fmt::join(formats, ", "));
}

std::string words(model::PackedProducts products) {
  constexpr std::string_view all[] = {
      "unpacked by the kernel that multiplies them", "unpacked into memory first",
      "unpacked into memory first; as bytes without 16-bit matrix units",
      "multiplied as bytes where the card does so fast"};
  return std::string(all[static_cast<std::size_t>(products)]);
}

report::Table table_of(const std::vector<const Engine*>& rows, Format format) {
  report::Table table{
      {"runtime", "version", "quantity", "value", "low", "high", "measurements", "source"}, {}};
  for (const Engine* r : rows) {
    const auto add = [&](std::string_view quantity, report::Value value, report::Value low,
                         report::Value high, report::Value measurements, std::string_view source) {
      table.rows.push_back({std::string(r->name), std::string(r->version), std::string(quantity),
                            std::move(value), std::move(low), std::move(high),
                            std::move(measurements), std::string(source)});
    };
    const auto policy = [&](std::string_view quantity, report::Value value) {
      add(quantity, std::move(value), {}, {}, {}, r->source);
    };
    const auto yes_no = [&](std::string_view quantity, bool value) {
      policy(quantity, std::string(value ? "yes" : "no"));
    };
    const auto constant = [&](std::string_view quantity, const Constant& c) {
      add(quantity, c.value, c.low, c.high, evidence(c.measurements, format), c.source);
    };
    policy("cards share a model by",
           std::string(r->split == model::Split::layers ? "layers" : "tensors"));
    policy("offloaded weights are",
           std::string(r->offload == model::Offload::none     ? "not possible"
                       : r->offload == model::Offload::stream ? "streamed to the card"
                                                              : "computed on the CPU"));
    yes_no("runs with weights on disk", r->disk);
    yes_no("runs without any card", r->cpu);
    policy("layers with sliding windows hold",
           std::string(r->windows == model::Windows::whole    ? "the whole context"
                       : r->windows == model::Windows::capped ? "their window"
                                                              : "pages of their window"));
    yes_no("pads experts in MXFP4 for its kernels", !r->expert_tiles.empty());
    policy("weights lie in",
           std::string(r->blocks == model::Blocks::exact   ? "memory of their size"
                       : r->blocks == model::Blocks::apart ? "blocks of PyTorch's allocator"
                                                           : "blocks, fused layer by layer"));
    yes_no("MLA keeps the latent", r->latent_cache);
    yes_no("MLA keeps the latent's values again", r->latent_values);
    yes_no("repeats kept keys and values where transformers does", r->repeated_heads);
    yes_no("sparse attention reads what it picks alone", r->sparse_attention);
    yes_no("a request that ends is followed at once", r->continuous_batching);
    policy("low-rank adapters",
           std::string(r->adapters == model::AdapterMemory::slots    ? "slots set aside"
                       : r->adapters == model::AdapterMemory::loaded ? "as loaded"
                                                                     : "not described"));
    yes_no("decodes with a draft model", r->draft_vocabulary >= 0);
    yes_no("refuses contexts beyond the positions", r->strict_positions);
    policy("tokens per cache block", r->kv_block);
    add("formats of keys and values", cache_formats(*r), {}, {}, {}, r->caches_source);
    policy("a request starts when",
           std::string(!r->continuous_batching                   ? "its batch does"
                       : r->admission == model::Admission::slots ? "a slot of the context is free"
                       : r->admission == model::Admission::whole
                           ? "the cache has room for all of it"
                           : "the cache has room for its prompt"));
    policy("whole experts are spread over",
           std::string(r->expert_spread == model::ExpertSpread::none ? "nothing"
                       : r->expert_spread == model::ExpertSpread::all
                           ? "all cards of a stage, replicas included"
                           : "a divisor of the tensor-parallel cards"));
    policy("share of a card used by default", r->utilization);
    policy("caches", std::string(r->cache_growth == model::Growth::reserved ? "reserved at once"
                                 : r->cache_growth == model::Growth::by_layer
                                     ? "grown layer by layer"
                                     : "grown with old and new side by side"));
    policy("logits of a prompt",
           std::string(r->logits == model::Positions::last ? "the last position" : "every one"));
    policy("flash attention", std::string(r->flash == model::FlashAttention::always  ? "always"
                                          : r->flash == model::FlashAttention::on    ? "unless told"
                                          : r->flash == model::FlashAttention::never ? "never"
                                                                                     : "if told"));
    policy("bytes of an attention score in memory", r->score_bytes);
    policy("packed weights of prompts", words(r->packed_products));
    for (const model::NamedConstant& each : model::named_constants()) {
      if (each.of_runtime) {
        constant(each.name, r->*each.of_runtime);
        continue;
      }
      for (std::size_t cards = 0; cards < model::card_classes; ++cards)
        for (std::size_t width = 0; width < model::widths; ++width)
          constant(fmt::format("{} {} {}", each.name, name_of(model::CardClass(cards)),
                               name_of(model::Width(width))),
                   r->rates[cards][width].*each.of_rates);
    }
  }
  return table;
}

int run_runtimes(const Options& options) {
  std::vector<const Engine*> rows;
  for (const auto& name : options.operands()) rows.push_back(&model::engine(name));
  if (rows.empty())
    for (const Engine& row : model::engines()) rows.push_back(&row);
  const Format format = format_of(options);
  emit(options, formatted(table_of(rows, format), format));
  return done;
}

}  // namespace

const Command runtimes_command = {
    {.name = "runtimes",
     .summary = "the engines: what they decide, and constants with their evidence",
     .operands = "[NAME…]",
     .flags = "format out",
     .examples = "headroom runtimes\nheadroom runtimes llama.cpp --format csv",
     .columns = "runtime, version, quantity, value, low, high (80 % interval), measurements\n"
                "(0: unmeasured), source",
     .exit_codes = usual_exit_codes},
    run_runtimes};

}  // namespace headroom::sweep
