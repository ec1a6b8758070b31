#include "model/answer/extra_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "hardware/units.hpp"
#include "model/answer/advice.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/towers.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/timeline/load.hpp"

namespace headroom::model {
namespace {

Term of_adapters(const QuantisedModel& w, const Engine& runtime) {
  if (runtime.weights.adapters == AdapterMemory::slots)
    return bytes_between(
        "adapters", real_count(w.adapters), real_count(w.adapters), real_count(w.adapters_most),
        "adapters * sum over linear layers of rank * (slices * in + out) * bytes",
        "high: with slots for the embedding and the head, which some models' classes request",
        "vLLM 0.19 lora/layers/base_linear.py create_lora_weights");
  return bytes_between(
      "adapters", real_count(w.adapters) / 2, real_count(w.adapters), real_count(w.adapters),
      "adapters * sum over adapted modules of rank * (in + out) * bytes",
      fmt::format("{} bytes an element; low: kept in 16 bit", runtime.weights.adapter_bytes),
      "PEFT 0.21 autocast_adapter_dtype; llama.cpp convert_lora_to_gguf.py with outtype f32");
}

void add_draft(const Scenario& s, const Plan& plan, std::vector<Term>& terms) {
  const Draft& draft = *s.draft;
  if (draft.weights == nullptr) return;
  const DraftUse use = draft_on_card(s, plan.shards, true);
  terms.push_back(
      exact_bytes("draft_weights", draft.weights->total,
                  draft.proposer == Proposer::modules
                      ? "sum over tensors of the checkpoint's own modules, as for weights"
                      : "sum over the draft model's tensors, as for weights",
                  fmt::format("{} in {}; {} of them on a card", draft.weights->model->name,
                              draft.weights->scheme->name, to_text(use.weights)),
                  draft.weights->scheme->source));
  terms.push_back(exact_bytes(
      "draft_kv_cache", use.kv_cache, "its caches on one card, of as many tokens as the model's",
      fmt::format("batch {}, context {}", s.batch, s.cached_tokens()),
      "vLLM 0.19 v1/core/kv_cache_utils.py; llama.cpp common/speculative.cpp"));
}

Term of_images(const Scenario& s, const Plan& plan) {
  Scenario one = s, all = s;
  one.images.count = one.batch = 1;
  Engine one_pass = *s.runtime;
  one_pass.serving.prefill_chunk = 0;
  all.runtime = &one_pass;
  return bytes_between(
      "image_activations", real_count(tower_activations(one, plan.shards)),
      real_count(tower_activations(s, plan.shards)),
      real_count(tower_activations(all, plan.shards)),
      "patches * (residual copies * hidden + share * widest) * bytes, within activations",
      fmt::format("{} images of {} patches a sequence, tower of width {}; low: one at a time, "
                  "high: all together",
                  s.images.count, s.images.patches, s.images.hidden),
      "model/infer/memory/activation.hpp");
}

/// Host memory outside the process's own: the page cache, and memory that may not be paged out.
void add_host(const Scenario& s, const Plan& plan, std::vector<Term>& terms) {
  const double file = bytes_read(s, plan).value();
  const HostUse host = host_use(s, plan);
  const double left = std::max(0.0, real_count(s.machine->host.ram - host.total()));
  terms.push_back(bytes_between(
      "host_mapped", 0, std::min(file, left), file,
      "the checkpoint's files, mapped as they are read",
      "page cache: the system frees it when memory is short, so no total includes it; layers on "
      "the CPU count their part as weights",
      "llama.cpp llama-mmap.cpp, on unless no-mmap is given; safetensors opens files by mmap"));
  const bool tables = s.runtime->parallel.split == Split::tensors && tables_on_host(s) > Bytes(0);
  if (s.cpu_offload > Bytes(0) || tables)
    terms.push_back(exact_bytes(
        "host_pinned", host.weights, "weights that cards read over the bus: locked pages",
        counted(plan.cards, "card"), "vLLM 0.19: offloaded weights in pinned memory"));
}

void add_cache_room(const Scenario& s, const Plan& plan, std::vector<std::string>& notes) {
  const auto room = cache_room(s, plan);
  if (!room) return;
  const auto say = [&](std::string text) { notes.push_back(std::move(text)); };
  if (room->blocks == 0)
    return say(
        fmt::format("no memory is left for the KV cache: {} would not start", s.runtime->name));
  // Blocks of compressed caches hold pages of different numbers of tokens.
  const bool compressed = s.weights->model->profile.compressed;
  say(fmt::format("KV cache: {} left on the fullest card, {}{} tokens", to_text(room->available),
                  compressed ? std::string()
                             : fmt::format("{} blocks of {} tokens, ", room->blocks, room->block),
                  room->tokens));
  if (const Size logged = room->blocks * room->block;
      !compressed && 10 * room->tokens > 11 * logged)
    say(fmt::format("its log counts every token in every layer, windows or not: {} tokens",
                    logged));
  say(fmt::format("maximum concurrency for {} tokens: {:.2f}x", s.cached_tokens(),
                  room->sequences));
  if (room->longest < s.cached_tokens())
    say(fmt::format("{} would not start: one sequence of {} tokens needs {}; at most {} tokens",
                    s.runtime->name, s.cached_tokens(), to_text(room->one_sequence),
                    room->longest));
}

void add_share(const Scenario& s, const std::vector<DeviceUse>& devices,
               std::vector<std::string>& notes) {
  double share = 0;
  for (const DeviceUse& use : devices) {
    if (use.where != Where::card) continue;
    const Device& card = s.machine->devices[static_cast<std::size_t>(use.card)];
    share = std::max(share, real_count(use.total) / real_count(usable_memory(card)));
  }
  if (share == 0) return;
  const std::string_view place = share <= 0.75 ? "below" : share <= 0.80 ? "within" : "above";
  notes.push_back(fmt::format(
      "the fullest card is {:.0f} % full: {} the 75 to 80 % that leave a margin for peaks",
      100 * share, place));
}

}  // namespace

std::vector<Term> extra_terms(const Scenario& s, const Plan& plan) {
  std::vector<Term> terms;
  if (s.weights->adapters > Bytes(0)) terms.push_back(of_adapters(*s.weights, *s.runtime));
  if (s.draft != nullptr) add_draft(s, plan, terms);
  if (s.images.count > 0) terms.push_back(of_images(s, plan));
  add_host(s, plan, terms);
  return terms;
}

std::vector<std::string> room_notes(const Scenario& s, const Plan& plan,
                                    const std::vector<DeviceUse>& devices) {
  std::vector<std::string> notes;
  add_cache_room(s, plan, notes);
  if (const Bytes least = min_card(s); least > Bytes(0)) {
    const Device& device = s.machine->devices.front();
    notes.push_back(fmt::format(
        "a single card would need {} to hold everything: {:.2f} of the memory of {}",
        to_text(least), real_count(least) / real_count(usable_memory(device)), device.name));
  }
  if (plan.feasible()) add_share(s, devices, notes);
  return notes;
}

}  // namespace headroom::model
