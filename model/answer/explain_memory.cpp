// The bytes behind an estimate, each with its formula.
#include "model/answer/explain_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "hardware/units.hpp"
#include "model/answer/advice.hpp"
#include "model/answer/explain.hpp"
#include "model/answer/explain_times.hpp"
#include "model/answer/extra_terms.hpp"
#include "model/answer/placement/parallel_splits.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/driver_context.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

class MemoryTerms {
 public:
  MemoryTerms(const Scenario& s, const Plan& plan, Explanation& out)
      : s_(s),
        runtime_(*s.runtime),
        profile_(s.weights->model->profile),
        factors_(interval_factors(s)),
        plan_(plan),
        out_(out) {}

  void add() {
    const QuantisedModel& w = *s_.weights;
    const bool stored = keeps_checkpoint_formats(*w.model, *w.scheme);
    const std::string_view scheme_source =
        stored ? "the headers of the checkpoint's tensors" : w.scheme->source;
    exact("weights", w.total - w.adapters,
          stored ? "sum over tensors of the bytes that their headers say"
                 : "sum over tensors of stored(format, elements)",
          fmt::format("{} parameters and {} buffer elements in {}", profile_.parameters,
                      profile_.buffers, w.scheme->name),
          scheme_source);
    exact("embeddings", w.embedding, "part of the weights: tensors before the first layer",
          fmt::format("{} elements", profile_.outside.embedding), scheme_source);
    const CachedTokens tokens = reserved_tokens(s_);
    const auto layers = static_cast<Size>(profile_.layers.size());
    const Bytes kv = kv_cache(s_, tokens, 0, layers);
    const Size decoding = profile_.decoding_before.back();
    exact("kv_cache", kv,
          "batch * (sum over layers of stored(per_token * min(context, window)) + state)",
          fmt::format("batch {}, context {}, {}, {} bytes a token at this context", s_.batch,
                      s_.cached_tokens(), counted(decoding, "layer"),
                      s_.cached_tokens() > 0
                          ? kv.count() / std::max<Size>(1, s_.batch * s_.cached_tokens())
                          : 0),
          "Pope et al., arXiv:2211.05102; MLA: arXiv:2412.19437");
    for (Term& term : extra_terms(s_, plan_)) out_.terms.push_back(std::move(term));
    if (plan_.cards == 0) return;
    Size heaviest = plan_.first_used_card;
    for (Size card = plan_.first_used_card; card < plan_.cards; ++card)
      if (card_use(s_, plan_, card).total() > card_use(s_, plan_, heaviest).total())
        heaviest = card;
    add_card_terms(heaviest);
  }

 private:
  void bytes_term(std::string name, double low, double expected, double high, std::string formula,
                  std::string numbers, std::string_view source) {
    out_.terms.push_back(bytes_between(std::move(name), low, expected, high, std::move(formula),
                                       std::move(numbers), source));
  }
  void exact(std::string name, Bytes bytes, std::string formula, std::string numbers,
             std::string_view source) {
    out_.terms.push_back(
        exact_bytes(std::move(name), bytes, std::move(formula), std::move(numbers), source));
  }

  void constant_term(std::string name, const Constant& c, std::string formula) {
    bytes_term(std::move(name), c.low, c.value, c.high, std::move(formula), evidence(c), c.source);
  }

  void add_card_terms(Size card) {
    const CardUse use = card_use(s_, plan_, card);
    const std::string on = fmt::format("gpu{}_", card);
    exact(on + "weights", use.weights, "layers on the card, embedding and head where they are",
          plan_.streaming_buffer > Bytes(0)
              ? fmt::format("including a buffer of {} for streamed weights",
                            to_text(plan_.streaming_buffer))
              : std::string(),
          s_.weights->scheme->source);
    exact(on + "kv_cache", use.kv_cache, "caches of the layers that run on the card", "",
          runtime_.source);
    const double work = real_count(use.activations);
    exact(on + "overhead_weights", use.overhead_weights,
          "part of the activations: unused ends of the allocator's blocks, rotary tables", "",
          "model/checkpoint/allocator.hpp");
    bytes_term(
        on + "activations", factors_.memory.low * work, work, factors_.memory.high * work,
        "max(feed-forward, attention, logits) of a pass, growing caches, buffers, other "
        "allocations",
        fmt::format("{} tokens, hidden {}, widest {:.0f}, {} logits", pass_tokens(s_),
                    s_.weights->model->shape.hidden_size, profile_.widest, profile_.head_rows),
        "model/infer/memory/activation.hpp");
    constant_term(on + "context", runtime_.memory.context_bytes, "driver context and libraries");
    const double threads =
        context_of_threads(runtime_, s_.machine->devices[static_cast<std::size_t>(card)]);
    if (threads != 0)
      bytes_term(on + "context_threads", threads, threads, threads,
                 "context_thread_bytes * (resident threads - 131072), part of context", "",
                 "model/infer/memory/driver_context.hpp");
    if (process_on_card(s_) > Bytes(0))
      constant_term(on + "process", runtime_.memory.host_bytes,
                    "the process in the memory that card and host share, part of context");
    if (host_on_card(s_) > Bytes(0))
      constant_term(on + "host", runtime_.memory.host_of_unified_bytes,
                    "what the host has of the memory that both share, part of context");
    if (plan_.shards > 1 && s_.machine->devices[static_cast<std::size_t>(card)].link.value() > 0)
      constant_term(on + "communication", runtime_.memory.communication_bytes,
                    "buffers of all-reduce on each of several cards, part of context");
    const double held = real_count(use.weights + use.kv_cache + use.activations);
    bytes_term(on + "fragmentation", held * runtime_.memory.fragmentation.low,
               real_count(use.fragmentation), held * runtime_.memory.fragmentation.high,
               "share * (weights + kv_cache + activations)",
               evidence(runtime_.memory.fragmentation), runtime_.memory.fragmentation.source);
    const auto end = [&](double factor) {
      return real_count(bytes_at(use.total(), use.uncertain(), factor));
    };
    bytes_term(
        on + "total", end(factors_.memory.low), real_count(use.total()), end(factors_.memory.high),
        "weights + kv_cache + activations + context + fragmentation",
        fmt::format("the most loaded card; budget {}; the interval is {:.2f} to {:.2f} times "
                    "what shapes do not give, with {:.0f} % of the total",
                    to_text(card_budget(s_, static_cast<std::size_t>(card))), factors_.memory.low,
                    factors_.memory.high, 100 * unlisted_share),
        runtime_.memory.interval.source);
  }

  const Scenario& s_;
  const Engine& runtime_;
  const Profile& profile_;
  IntervalFactors factors_;
  const Plan& plan_;
  Explanation& out_;
};

}  // namespace

void add_memory_terms(const Scenario& s, const Plan& plan, Explanation& out) {
  MemoryTerms(s, plan, out).add();
}

}  // namespace headroom::model
