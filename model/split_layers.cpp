#include <algorithm>

#include "model/activation.hpp"
#include "model/kv_cache.hpp"
#include "model/split.hpp"

namespace headroom::model {
namespace {

class LayerFill {
 public:
  LayerFill(const Scenario& s, double factor)
      : s_(s),
        w_(*s.weights),
        factor_(factor),
        layers_(std::ssize(s.weights->layer)),
        cards_(card_count(s)),
        cache_(s, reserved_tokens(s)),
        work_(activations(s, 1) + logits(s, 1)) {}

  Plan plan() const {
    Plan plan =
        s_.runtime->offload == Offload::compute ? last_layers_on_cards() : first_layers_on_cards();
    if (plan.feasible()) place_in_host(plan);
    const auto& whole = s_.runtime->whole_only;
    if (std::find(whole.begin(), whole.end(), w_.scheme->family) == whole.end() || is_whole(plan))
      return plan;
    Plan cpu = on_cpu_only();
    if (cpu.feasible()) place_in_host(cpu);
    if (cpu.feasible() && is_whole(cpu)) return cpu;
    if (plan.feasible()) {
      plan.reason = Reason::no_offload;
      plan.short_bytes = w_.total - layer_bytes(w_, plan.on_cards);
    }
    return plan;
  }

 private:
  static std::size_t index(Size i) { return static_cast<std::size_t>(i); }

  /// All weights on cards, or all in host memory.
  static bool is_whole(const Plan& plan) {
    if (plan.on_disk.size() > 0) return false;
    return plan.on_cards.size() > 0 ? plan.on_cpu.size() == 0 && plan.head == Where::card
                                    : !plan.computes_on_card;
  }
  /// Room on a card for weights and caches, after the context, the allocator's share and the work.
  Bytes room(Size card) const {
    const Bytes budget = scaled(card_budget(s_, index(card)), factor_);
    const Bytes left = budget - Bytes(static_cast<Size>(s_.runtime->context_bytes.value));
    return scaled(left, 1.0 + s_.runtime->fragmentation.value) - work_;
  }
  Bytes held(Size first, Size last) const {
    return layer_bytes(w_, {first, last}) + cache_(first, last);
  }
  /// The largest `last` such that [first, last) takes at most `left`; `first` where none does.
  Size fill(Size first, Bytes left) const {
    Size low = first, high = layers_;
    while (low < high) {
      const Size middle = (low + high + 1) / 2;
      if (held(first, middle) <= left)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  /// The smallest `first` such that [first, last) takes at most `left`.
  Size fill_backwards(Size last, Bytes left) const {
    Size low = 0, high = last;
    while (low < high) {
      const Size middle = (low + high) / 2;
      if (held(middle, last) <= left)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  Plan on_cpu_only() const {
    Plan plan;
    plan.on_cards = {0, 0};
    plan.on_cpu = {0, layers_};
    plan.on_disk = {layers_, layers_};
    plan.embedding = plan.head = Where::cpu;
    if (!s_.runtime->cpu) {
      plan.reason = s_.machine->devices.empty() ? Reason::no_gpu : Reason::gpu_memory;
      plan.short_bytes = w_.total;
    }
    return plan;
  }

  /// Cards filled from layer 0 on, the first holding `extra` beside. Returns the layer reached and
  /// notes cuts and cards in `plan`.
  Size fill_forward(Bytes extra, Plan& plan, Bytes& left) const {
    Size at = 0;
    plan.cut[0] = 0;
    plan.cards = 0;
    for (Size card = 0; card < cards_ && at < layers_; ++card) {
      left = room(card) - (card == 0 ? extra : Bytes(0));
      const Size next = fill(at, left);
      left -= held(at, next);
      if (next > at || card == 0) plan.cards = card + 1;
      at = next;
      plan.cut[index(card) + 1] = at;
    }
    return at;
  }

  /// Weights streamed through the first card: the first layers stay, the rest passes through.
  Plan first_layers_on_cards() const {
    if (cards_ == 0) return on_cpu_only();
    Plan plan;
    plan.computes_on_card = true;
    const Bytes embedding = s_.runtime->input_on_cpu ? Bytes(0) : w_.embedding;
    plan.embedding = s_.runtime->input_on_cpu ? Where::cpu : Where::card;
    Bytes left;
    if (room(0) >= embedding && fill_forward(embedding, plan, left) == layers_) {
      // The head goes where the last layers are, or alone on the next card.
      const Bytes head = head_bytes(s_, plan.embedding, Where::card);
      bool placed = head <= left;
      if (!placed && plan.cards < cards_ && head <= room(plan.cards)) {
        plan.cut[index(++plan.cards)] = layers_;
        placed = true;
      }
      if (placed) {
        plan.on_cards = {0, layers_};
        plan.on_cpu = plan.on_disk = {layers_, layers_};
        return plan;
      }
    }
    return stream(plan, embedding);
  }

  /// Offloaded layers run on the first card: their caches live there, and weights pass through a
  /// buffer as large as the largest of them. Keeping m layers needs room for the caches of the
  /// others, which only grows as m falls, so the most that can stay is reached from above.
  Plan stream(Plan& plan, Bytes embedding) const {
    Bytes buffer = std::max(w_.head, w_.embedding), left;
    for (const Bytes& bytes : w_.layer) buffer = std::max(buffer, bytes);
    if (room(0) < buffer + cache_(0, layers_)) return on_cpu_only();
    Size kept = layers_;
    for (Size reached = 0; kept > 0; kept = reached) {
      const Bytes extra = buffer + embedding + cache_(kept, layers_);
      reached = room(0) < extra ? 0 : std::min(kept, fill_forward(extra, plan, left));
      if (reached == kept) break;
    }
    if (kept == 0) {
      plan.cards = 1;
      plan.cut[0] = plan.cut[1] = 0;
    }
    for (Size card = 0; card <= plan.cards; ++card)
      plan.cut[index(card)] = std::min(plan.cut[index(card)], kept);
    while (plan.cards > 1 && plan.cut[index(plan.cards) - 1] == kept) --plan.cards;
    plan.on_cards = {0, kept};
    plan.on_cpu = {kept, layers_};
    plan.on_disk = {layers_, layers_};
    if (kept == 0) plan.embedding = Where::cpu;
    plan.head = Where::cpu;
    plan.stage_buffer = buffer;
    return plan;
  }

  /// Layers computed where they are: the last ones on the cards, the first ones on the CPU.
  Plan last_layers_on_cards() const {
    Plan plan;
    plan.embedding = s_.runtime->input_on_cpu ? Where::cpu : Where::card;
    Size first = layers_;
    for (Size cards = 1; cards <= cards_ && first > 0; ++cards) {
      first = layers_;
      plan.cards = cards;
      plan.cut[index(cards)] = layers_;
      for (Size card = cards - 1; card >= 0; --card) {
        Bytes left = room(card);
        if (card == cards - 1) left -= head_bytes(s_, plan.embedding, Where::card);
        if (card == 0 && !s_.runtime->input_on_cpu) left -= w_.embedding;
        if (left >= Bytes(0))
          first = fill_backwards(first, left);
        else if (card == cards - 1)
          break;  // not even the head
        plan.cut[index(card)] = first;
      }
    }
    if (cards_ == 0 || first == layers_) return on_cpu_only();
    plan.computes_on_card = true;
    plan.on_cards = {first, layers_};
    plan.on_cpu = {0, first};
    plan.on_disk = {first, first};
    return plan;
  }

  /// What is not on cards goes to host memory, and what that cannot hold to disk.
  void place_in_host(Plan& plan) const {
    Bytes limit = scaled(std::min(s_.ram_budget, s_.machine->host.ram), factor_);
    if (cards_ > 0 && s_.machine->devices[0].unified_memory)
      for (Size card = 0; card < plan.cards; ++card) limit -= card_use(s_, plan, card).total();
    const HostUse use = host_use(s_, plan);
    if (use.total() <= limit) return;
    // The tail of the CPU's layers goes to disk; the embedding and the head stay in memory.
    const Bytes layers_room = limit - (use.total() - layer_bytes(w_, plan.on_cpu));
    if (layers_room < Bytes(0) || !s_.runtime->disk) {
      plan.reason = Reason::ram;
      plan.short_bytes = s_.runtime->disk ? Bytes(0) - layers_room : use.total() - limit;
      return;
    }
    Size low = plan.on_cpu.first, high = plan.on_cpu.last;
    while (low < high) {
      const Size middle = (low + high + 1) / 2;
      if (layer_bytes(w_, {plan.on_cpu.first, middle}) <= layers_room)
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
  const Weights& w_;
  double factor_;
  Size layers_, cards_;
  CacheBytes cache_;
  Bytes work_;
};

}  // namespace

Plan split_layers(const Scenario& scenario, double memory_factor) {
  return LayerFill(scenario, memory_factor).plan();
}

}  // namespace headroom::model
