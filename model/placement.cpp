#include "model/placement.hpp"

#include <algorithm>
#include <cmath>

#include "model/activation.hpp"
#include "model/kv_cache.hpp"

namespace headroom::model {
namespace {

Size layer_count(const Scenario& s) {
  return static_cast<Size>(s.weights->layers_before.size()) - 1;
}

Bytes scaled(Bytes bytes, double factor) {
  return Bytes(static_cast<Size>(static_cast<double>(bytes.count()) / factor));
}
Bytes whole(double bytes) { return Bytes(static_cast<Size>(bytes)); }
Bytes share(Bytes bytes, Size shards) { return Bytes((bytes.count() + shards - 1) / shards); }

Size card_count(const Scenario& s) {
  return std::min(static_cast<Size>(s.machine->devices.size()), Plan::most_cards);
}

/// Room on a card for weights, caches and activations, after the context and the allocator's share.
Bytes room(const Scenario& s, Size card, double factor) {
  const Bytes budget = scaled(card_budget(s, static_cast<std::size_t>(card)), factor);
  const Bytes left = budget - whole(s.runtime->context_bytes.value);
  if (left < Bytes(0)) return Bytes(0);
  return scaled(left, 1.0 + s.runtime->fragmentation.value);
}

/// The head's bytes where it is: its own, or a copy of a tied embedding that is kept elsewhere
/// (llama.cpp duplicates token_embd as the output tensor).
Bytes head_bytes(const Scenario& s, Where embedding, Where head) {
  const bool copied = s.weights->model->profile.tied_head && embedding != head;
  return s.weights->head + (copied ? whole(s.weights->head_read) : Bytes(0));
}

/// Split by layers: fills cards in order with as many layers as fit.
class LayerSplit {
 public:
  LayerSplit(const Scenario& s, double factor)
      : s_(s), factor_(factor), layers_(layer_count(s)), tokens_(reserved_tokens(s)) {
    work_ = activations(s, 1) + logits(s, 1);
    head_ = head_bytes(s, s.runtime->input_on_cpu ? Where::cpu : Where::card, Where::card);
    for (const Bytes& bytes : s.weights->layer) largest_ = std::max(largest_, bytes);
  }

  Plan plan() {
    Plan plan =
        s_.runtime->offload == Offload::compute ? last_layers_on_cards() : first_layers_on_cards();
    if (plan.feasible()) place_in_host(plan);
    return plan;
  }

 private:
  Bytes weights_of(Size first, Size last) const { return layer_bytes(*s_.weights, {first, last}); }

  /// Furthest layer that cards reach when they hold layers from `first` on; `head` included when
  /// all of them fit. `extra`: what the first card holds beside. Returns layers + 1 for the head.
  Size reach(Size first, Bytes extra, bool head_too, Plan& plan) const {
    Size at = first;
    plan.cards = 0;
    plan.cut[0] = first;
    bool head_done = false;
    for (Size card = 0; card < card_count(s_) && !head_done; ++card) {
      Bytes left = room(s_, card, factor_) - work_;
      if (card == 0) left -= extra;
      if (left < Bytes(0)) left = Bytes(0);
      Size low = at, high = layers_;  // low fits, find the largest that does
      while (low < high) {
        const Size middle = (low + high + 1) / 2;
        if (weights_of(at, middle) + kv_cache(s_, tokens_, at, middle) <= left)
          low = middle;
        else
          high = middle - 1;
      }
      left -= weights_of(at, low) + kv_cache(s_, tokens_, at, low);
      const bool used = low > at;
      at = low;
      if (at == layers_ && head_too && head_ <= left) {
        head_done = true;
        plan.cards = card + 1;
      } else if (used || card == 0) {
        plan.cards = card + 1;
      }
      plan.cut[static_cast<std::size_t>(card) + 1] = at;
    }
    if (plan.cards < card_count(s_) + 1)
      for (Size card = plan.cards; card > 0 && card < Plan::most_cards; ++card)
        plan.cut[static_cast<std::size_t>(card) + 1] = at;
    return at + (head_done ? 1 : 0);
  }

  bool card_can_work(Bytes extra) const {
    return card_count(s_) > 0 && room(s_, 0, factor_) >= work_ + extra;
  }

  Plan on_cpu_only() const {
    Plan plan;
    plan.cards = 0;
    plan.computes_on_card = false;
    plan.on_cards = {0, 0};
    plan.on_cpu = {0, layers_};
    plan.on_disk = {layers_, layers_};
    plan.embedding = plan.head = Where::cpu;
    if (!s_.runtime->cpu) {
      plan.reason = s_.machine->devices.empty() ? Reason::no_gpu : Reason::gpu_memory;
      plan.short_bytes = s_.weights->total;
    }
    return plan;
  }

  /// Weights streamed through the first card: the first layers stay, the rest passes through.
  Plan first_layers_on_cards() const {
    Plan plan;
    plan.computes_on_card = true;
    const Bytes embedding = s_.runtime->input_on_cpu ? Bytes(0) : s_.weights->embedding;
    if (card_can_work(embedding) && reach(0, embedding, true, plan) == layers_ + 1) {
      plan.on_cards = {0, layers_};
      plan.on_cpu = plan.on_disk = {layers_, layers_};
      return plan;
    }
    if (card_count(s_) == 0) return on_cpu_only();
    // Offloaded layers run on the first card: their caches live there, and the largest passes
    // through a buffer.
    const Bytes buffer = std::max({largest_, s_.weights->head, s_.weights->embedding});
    auto extra = [&](Size kept) {
      return buffer + (kept > 0 ? embedding : Bytes(0)) + kv_cache(s_, tokens_, kept, layers_);
    };
    auto fits = [&](Size kept, Plan& trial) {
      return card_can_work(extra(kept)) && reach(0, extra(kept), false, trial) >= kept;
    };
    if (!fits(0, plan)) return on_cpu_only();
    Size low = 0, high = layers_;
    while (low < high) {
      const Size middle = (low + high + 1) / 2;
      if (fits(middle, plan))
        low = middle;
      else
        high = middle - 1;
    }
    fits(low, plan);
    for (Size card = 0; card <= plan.cards; ++card)
      plan.cut[static_cast<std::size_t>(card)] =
          std::min(plan.cut[static_cast<std::size_t>(card)], low);
    while (plan.cards > 1 && plan.cut[static_cast<std::size_t>(plan.cards) - 1] == low)
      --plan.cards;
    plan.on_cards = {0, low};
    plan.on_cpu = {low, layers_};
    plan.on_disk = {layers_, layers_};
    plan.embedding = low > 0 ? Where::card : Where::cpu;
    plan.head = Where::cpu;
    plan.stage_buffer = buffer;
    return plan;
  }

  /// Layers computed where they are: the last ones on the cards, the first ones on the CPU.
  Plan last_layers_on_cards() const {
    Plan plan;
    plan.embedding = s_.runtime->input_on_cpu ? Where::cpu : Where::card;
    if (card_count(s_) == 0 || !card_can_work(Bytes(0))) return on_cpu_only();
    auto fits = [&](Size first, Plan& trial) {
      return reach(first, Bytes(0), true, trial) == layers_ + 1;
    };
    Size low = 0, high = layers_;  // smallest first layer that lets the rest and the head fit
    while (low < high) {
      const Size middle = (low + high) / 2;
      if (fits(middle, plan))
        high = middle;
      else
        low = middle + 1;
    }
    if (!fits(low, plan)) return on_cpu_only();  // not even the head
    if (low == layers_) return on_cpu_only();    // the head alone is not worth a card
    plan.computes_on_card = true;
    plan.on_cards = {low, layers_};
    plan.on_cpu = {0, low};
    plan.on_disk = {low, low};
    plan.head = Where::card;
    return plan;
  }

  /// What is not on cards goes to host memory, and what that cannot hold to disk.
  void place_in_host(Plan& plan) const {
    const Bytes ram = scaled(std::min(s_.ram_budget, s_.machine->host.ram), factor_);
    HostUse use = host_use(s_, plan);
    Bytes limit = ram;
    if (!s_.machine->devices.empty() && s_.machine->devices[0].unified_memory)
      for (Size card = 0; card < plan.cards; ++card) limit -= card_use(s_, plan, card).total();
    if (use.total() <= limit) return;
    const Bytes fixed = use.total() - use.weights;
    if (fixed > limit) {
      plan.reason = Reason::ram;
      plan.short_bytes = fixed - limit;
      return;
    }
    if (!s_.runtime->disk) {
      plan.reason = Reason::ram;
      plan.short_bytes = use.total() - limit;
      return;
    }
    // The tail of the CPU's range goes to disk; the embedding and the head stay in memory.
    const Bytes layers_room = limit - fixed - (use.weights - layer_bytes(*s_.weights, plan.on_cpu));
    if (layers_room < Bytes(0)) {
      plan.reason = Reason::ram;
      plan.short_bytes = Bytes(0) - layers_room;
      return;
    }
    Size low = plan.on_cpu.first, high = plan.on_cpu.last;
    while (low < high) {
      const Size middle = (low + high + 1) / 2;
      if (weights_of(plan.on_cpu.first, middle) <= layers_room)
        low = middle;
      else
        high = middle - 1;
    }
    plan.on_disk = {low, plan.on_cpu.last};
    plan.on_cpu.last = low;
    const Bytes disk = std::min(s_.disk_budget, s_.machine->host.disk);
    if (disk_use(s_, plan) > disk) {
      plan.reason = Reason::disk;
      plan.short_bytes = disk_use(s_, plan) - disk;
    }
  }

  const Scenario& s_;
  double factor_;
  Size layers_;
  CachedTokens tokens_;
  Bytes work_, largest_, head_;
};

/// Whether `shards` cards can split the heads: Megatron-LM (arXiv:1909.08053 section 3); kv heads
/// are repeated where there are fewer of them than cards.
bool divides(const Model& model, Size shards) {
  const Size query = model.shape.query_heads, kv = model.shape.kv_heads;
  if (shards == 1) return true;
  if (query == 0 || query % shards != 0) return false;
  return kv == 0 || kv % shards == 0 || shards % kv == 0;
}

/// Split by tensors: every card holds its share of every layer; stages follow each other.
class TensorSplit {
 public:
  TensorSplit(const Scenario& s, double factor) : s_(s), factor_(factor), layers_(layer_count(s)) {}

  Plan plan() const {
    Plan plan;
    const Size stages = std::max<Size>(1, s_.pipeline_parallel);
    if (s_.machine->devices.empty()) return refused(Reason::no_gpu);
    if (stages > layers_) return refused(Reason::layers_not_divisible);
    if (s_.tensor_parallel > 0) {
      if (!divides(*s_.weights->model, s_.tensor_parallel))
        return refused(Reason::heads_not_divisible);
      if (s_.tensor_parallel * stages > card_count(s_)) return refused(Reason::not_enough_gpus);
      return with(s_.tensor_parallel, stages);
    }
    if (stages > card_count(s_)) return refused(Reason::not_enough_gpus);
    for (Size shards = 1; shards * stages <= card_count(s_); ++shards) {
      if (!divides(*s_.weights->model, shards)) continue;
      plan = with(shards, stages);
      if (plan.feasible()) return plan;
    }
    return plan;
  }

 private:
  static Plan refused(Reason reason) {
    Plan plan;
    plan.reason = reason;
    return plan;
  }

  Plan with(Size shards, Size stages) const {
    Plan plan;
    plan.shards = shards;
    plan.stages = stages;
    plan.cards = shards * stages;
    plan.computes_on_card = true;
    plan.on_cards = {0, layers_};
    plan.on_cpu = plan.on_disk = {layers_, layers_};
    for (Size stage = 0; stage <= stages; ++stage)
      plan.cut[static_cast<std::size_t>(stage)] = stage * layers_ / stages;
    for (Size card = 0; card < plan.cards; ++card) {
      const Bytes budget = scaled(card_budget(s_, static_cast<std::size_t>(card)), factor_);
      const Bytes use = card_use(s_, plan, card).total();
      if (use <= budget) continue;
      plan.reason = Reason::gpu_memory;
      plan.short_bytes = std::max(plan.short_bytes, use - budget);
    }
    const Bytes ram = std::min(s_.ram_budget, s_.machine->host.ram);
    if (plan.feasible() && host_use(s_, plan).total() > ram) {
      plan.reason = Reason::ram;
      plan.short_bytes = host_use(s_, plan).total() - ram;
    }
    return plan;
  }

  const Scenario& s_;
  double factor_;
  Size layers_;
};

/// Share of the caches that one of `shards` cards holds: latents and lone heads are repeated.
double cache_share(const Scenario& s, Size shards) {
  if (shards == 1) return 1.0;
  Size heads = 0;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (c.kind == CacheKind::latent) return 1.0;
    if (c.kv_heads > 0) heads = heads == 0 ? c.kv_heads : std::min(heads, c.kv_heads);
  }
  if (heads == 0) return 1.0 / static_cast<double>(shards);
  return 1.0 / static_cast<double>(std::min(heads, shards));
}

}  // namespace

Bytes card_budget(const Scenario& s, std::size_t card) {
  const Bytes memory = s.machine->devices.at(card).memory;
  if (s.gpu_budget < memory) return s.gpu_budget;
  if (s.gpu_budget == all_of_it)
    return whole(std::floor(static_cast<double>(memory.count()) * s.runtime->utilization));
  return memory;
}

Bytes layer_bytes(const Weights& weights, Range range) {
  return weights.layers_before[static_cast<std::size_t>(range.last)] -
         weights.layers_before[static_cast<std::size_t>(range.first)];
}

CardUse card_use(const Scenario& s, const Plan& plan, Size card) {
  const Weights& w = *s.weights;
  const Size stage = card / plan.shards;
  const Size stages = plan.cards / plan.shards;
  const Range range{plan.cut[static_cast<std::size_t>(stage)],
                    plan.cut[static_cast<std::size_t>(stage) + 1]};
  const CachedTokens tokens = reserved_tokens(s);
  CardUse use;
  use.weights = layer_bytes(w, range);
  if (stage == 0 && plan.embedding == Where::card) use.weights += w.embedding;
  if (stage == stages - 1 && plan.head == Where::card)
    use.weights += head_bytes(s, plan.embedding, plan.head);
  use.weights = share(use.weights, plan.shards);
  if (stage == 0) use.weights += plan.stage_buffer;
  use.kv_cache = kv_cache(s, tokens, range.first, range.last);
  if (stage == 0 && plan.stage_buffer > Bytes(0))
    use.kv_cache += kv_cache(s, tokens, plan.on_cards.last, layer_count(s));
  use.kv_cache =
      whole(std::ceil(static_cast<double>(use.kv_cache.count()) * cache_share(s, plan.shards)));
  use.activations = activations(s, plan.shards) + logits(s, plan.shards);
  use.context = whole(s.runtime->context_bytes.value);
  use.fragmentation =
      whole(static_cast<double>((use.weights + use.kv_cache + use.activations).count()) *
            s.runtime->fragmentation.value);
  return use;
}

HostUse host_use(const Scenario& s, const Plan& plan) {
  HostUse use;
  use.process = whole(s.runtime->host_bytes.value);
  use.weights = layer_bytes(*s.weights, plan.on_cpu);
  if (plan.embedding == Where::cpu) use.weights += s.weights->embedding;
  if (plan.head == Where::cpu) use.weights += head_bytes(s, plan.embedding, plan.head);
  if (plan.stage_buffer == Bytes(0) && plan.on_cpu.size() + plan.on_disk.size() > 0) {
    const CachedTokens tokens = reserved_tokens(s);
    use.kv_cache = kv_cache(s, tokens, plan.on_cpu.first, plan.on_cpu.last) +
                   kv_cache(s, tokens, plan.on_disk.first, plan.on_disk.last);
    use.activations = activations(s, 1) + logits(s, 1);
  }
  return use;
}

Bytes disk_use(const Scenario& s, const Plan& plan) {
  return layer_bytes(*s.weights, plan.on_disk);
}

Plan place(const Scenario& scenario, double memory_factor) {
  return scenario.runtime->split == Split::tensors ? TensorSplit(scenario, memory_factor).plan()
                                                   : LayerSplit(scenario, memory_factor).plan();
}

}  // namespace headroom::model
