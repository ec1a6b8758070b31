// Time of a pass for tensors in host memory and on disk: on the CPU, and over the host's bus.
#include <algorithm>
#include <utility>
#include <vector>

#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/segments.hpp"

namespace headroom::model {
namespace {

using Items = std::vector<LayerItem>;

/// Number of handoffs from a card to the CPU or back in a pass. Layers run in their order; a head
/// in host memory comes last.
struct Handoffs {
  double layers = 0, head = 0;
};
Handoffs handoffs(const Plan& plan, const Pass& pass) {
  if (!plan.computes_on_card) return {};
  if (plan.assignment == nullptr) return {1, 1};
  const Assignment& a = *plan.assignment;
  Handoffs count;
  bool on_card = a.layer[static_cast<std::size_t>(pass.layers.first)] >= 0;
  const auto go_to = [&](Spot spot) {
    count.layers += on_card != (spot >= 0) ? 1 : 0;
    on_card = spot >= 0;
  };
  for (Size layer = pass.layers.first; layer < pass.layers.last; ++layer) {
    go_to(a.layer[static_cast<std::size_t>(layer)]);
    if (!a.experts.empty()) go_to(a.experts[static_cast<std::size_t>(layer)]);
  }
  if (a.head >= 0) go_to(a.head);
  count.head = on_card ? 1 : 0;
  return count;
}

/// Work of tensors in host memory.
struct OnHost {
  double tokens;          ///< tokens of the pass
  const Work& work;       ///< attention included
  const Work& attention;  ///< attention on the CPU
  double handoffs;        ///< from a card to the CPU or back, if the CPU computes
};

template <class F>
void add_on_cpu(const Throughput& cpu, const Work& work, const Work& attention, Timeline& time,
                F&& items) {
  const Seconds taken = cpu_seconds(cpu, work, attention);
  if (taken == Seconds()) return;
  const auto segment = [&] { return Segment{.work = work, .attention = attention, .rate = cpu}; };
  time.add(Resource::cpu, taken, segment, items);
}

/// On cards after copying, where that is faster or where the engine always does so. Products go to
/// a card, and attention follows them with its caches (ggml-backend.cpp,
/// ggml_backend_sched_split_graph: Qwen2.5-32B with no layer on an RTX 4090 takes 2048 tokens in
/// 1.8 s). Cards that divide matrices each copy their own share.
template <class F>
bool add_copied(const Scenario& s, const Speeds& speeds, const Plan& plan, const OnHost& host,
                Timeline& time, F&& items) {
  const PrefillOffload prompts = host_prompts(s, host.tokens);
  if (prompts == PrefillOffload::on_cpu) return false;
  const Work& work = host.work;
  const Size at_work = prompts == PrefillOffload::faster ? std::max<Size>(1, plan.cards) : 1;
  const auto cards = static_cast<double>(at_work);
  const RealBytes copied = work.weight_bytes + work.cache_bytes;
  const Seconds copies = copied / (cards * speeds.bus);
  const Throughput& rate = speeds.card(0).rate;
  const Seconds there = seconds(work, rate) / cards;
  if (prompts != PrefillOffload::on_card &&
      !(copies + there < cpu_seconds(speeds.cpu, work, host.attention) +
                             Seconds(host.handoffs * s.runtime->offload.device_handoff_s.value)))
    return false;
  const auto on_bus = [&] { return Segment{.moved = copied}; };
  time.add(Resource::bus, copies, on_bus, [&](Items& out) {
    const std::size_t first = out.size();
    items(out);
    for (std::size_t i = first; i < out.size(); ++i)
      out[i].moved = out[i].work.weight_bytes + out[i].work.cache_bytes;
  });
  const auto on_cards = [&] {
    return Segment{.last_card = at_work, .work = 1 / cards * work, .rate = rate};
  };
  time.add(Resource::cards, there, on_cards, [&](Items& out) {
    const std::size_t first = out.size();
    items(out);
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].work = 1 / cards * out[i].work;
      out[i].state /= cards;
    }
  });
  return true;
}

template <class F>
void add_on_host(const Scenario& s, const Speeds& speeds, const Plan& plan, const OnHost& host,
                 Timeline& time, F&& items) {
  if (host.work.weight_bytes <= RealBytes() && host.work.cache_bytes <= RealBytes()) return;
  if (add_copied(s, speeds, plan, host, time, items)) return;
  add_handoffs(s, host.handoffs, time);
  add_on_cpu(speeds.cpu, host.work, host.attention, time, items);
}

/// The part of the model in one place off the cards.
struct OffCards {
  Work layers, attention, head;
  RealBytes modules;  ///< bytes that a streaming engine moves, with head and embedding
};
OffCards off_cards_in(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                      Where where) {
  OffCards held;
  const bool streams = s.runtime->offload.mode == Offload::stream;
  for_pieces_in(plan, where, [&](const LayerSpan& piece) {
    const LayerSums& sums = speeds.sums(s, pass, piece);
    const LayerWork work = layer_work(s, speeds.attention, pass, sums);
    held.layers += work.all;
    if (streams)
      held.modules += sums.streamed_bytes();
    else
      held.attention += work.attention;
  });
  if (plan.head == where) {
    held.head = head_work(s, pass);
    held.modules += RealBytes(s.weights->head_read);
  }
  if (plan.embedding == where) held.modules += s.weights->embedding.real();
  return held;
}

void add_layer_items(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                     Where where, Items& items) {
  for_pieces_in(plan, where, [&](const LayerSpan& all) {
    for_layers(pass, all, [&](const LayerSpan& piece) {
      const LayerSums& sums = speeds.sums(s, pass, piece);
      items.push_back({LayerItem::Kind::layer, piece,
                       layer_work(s, speeds.attention, pass, sums).all, state_read(s, pass, sums),
                       sums.streamed_bytes()});
    });
  });
  if (plan.embedding == where)
    items.push_back({LayerItem::Kind::embedding, {}, {}, {}, s.weights->embedding.real()});
}
void add_head_item(const Scenario& s, const Plan& plan, const Pass& pass, Where where,
                   Items& items) {
  if (plan.head == where)
    items.push_back(
        {LayerItem::Kind::head, {}, head_work(s, pass), {}, RealBytes(s.weights->head_read)});
}
/// Layers and embedding, or the head.
auto layers_off_cards(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass) {
  return [&s, &speeds, &plan, &pass](Items& items) {
    for (const Where where : {Where::cpu, Where::disk})
      add_layer_items(s, speeds, plan, pass, where, items);
  };
}
auto head_off_cards(const Scenario& s, const Plan& plan, const Pass& pass) {
  return [&s, &plan, &pass](Items& items) {
    for (const Where where : {Where::cpu, Where::disk}) add_head_item(s, plan, pass, where, items);
  };
}

/// Reading from disk: what items of a streaming engine move, and `share` of the weights of others.
template <class F>
void add_read(const Scenario& s, RealBytes read, double share, Timeline& time, F&& items) {
  if (read <= RealBytes()) return;
  const auto moved = [&] { return Segment{.moved = read}; };
  time.add(Resource::disk, read / disk_rate(s), moved, [&](Items& out) {
    const std::size_t first = out.size();
    items(out);
    if (s.runtime->offload.mode == Offload::stream) return;
    for (std::size_t i = first; i < out.size(); ++i)
      out[i].moved = share * out[i].work.weight_bytes;
  });
}

/// Every module is copied to the first card and computed there, caches too where they are not on
/// cards.
void add_streamed(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                  Work work, RealBytes moved, Timeline& time) {
  const bool caches_move = !caches_on_cards(s);
  if (caches_move) {
    moved += work.cache_bytes;
    work.cache_bytes = work.kv_repeat_bytes = RealBytes();
  }
  const auto items = [&](Items& out) {
    const std::size_t first = out.size();
    layers_off_cards(s, speeds, plan, pass)(out);
    head_off_cards(s, plan, pass)(out);
    if (!caches_move) return;
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].moved += out[i].work.cache_bytes;
      out[i].work.cache_bytes = out[i].work.kv_repeat_bytes = out[i].state = RealBytes();
    }
  };
  const Throughput& rate = speeds.card(0).rate;
  time.add(
      Resource::bus, moved / speeds.bus, [&] { return Segment{.moved = moved}; }, items);
  const auto segment = [&] { return Segment{.last_card = 1, .work = work, .rate = rate}; };
  time.add(Resource::cards, seconds(work, rate), segment, items);
}

}  // namespace

void add_offloaded(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                   Timeline& time) {
  const bool streams = s.runtime->offload.mode == Offload::stream;
  OffCards all = off_cards_in(s, speeds, plan, pass, Where::cpu);
  RealBytes from_disk;
  if (plan.assignment != nullptr || reads_disk(plan)) {
    const OffCards disk = off_cards_in(s, speeds, plan, pass, Where::disk);
    all.layers += disk.layers;
    all.attention += disk.attention;
    all.modules += disk.modules;
    if (plan.head == Where::disk) all.head = disk.head;
    from_disk = streams ? disk.modules : disk.layers.weight_bytes + disk.head.weight_bytes;
  }
  add_read(s, from_disk, 1, time, [&](Items& items) {
    add_layer_items(s, speeds, plan, pass, Where::disk, items);
    add_head_item(s, plan, pass, Where::disk, items);
  });
  if (plan.computes_on_card && streams)
    return add_streamed(s, speeds, plan, pass, all.layers + all.head, all.modules, time);
  const Handoffs times = handoffs(plan, pass);
  add_on_host(s, speeds, plan,
              {.tokens = pass.tokens,
               .work = all.layers,
               .attention = all.attention,
               .handoffs = times.layers * pass.weight_reads},
              time, layers_off_cards(s, speeds, plan, pass));
  add_on_host(
      s, speeds, plan,
      {.tokens = pass.logit_rows, .work = all.head, .attention = {}, .handoffs = times.head}, time,
      head_off_cards(s, plan, pass));
}

namespace {

/// Caches of layers on cards that stay in host memory. A streaming engine copies those of a decode
/// step to the card; others attend on the CPU.
void add_caches_on_host(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                        Timeline& time) {
  const Range run = intersect(plan.on_cards, pass.layers);
  const bool streams = s.runtime->offload.mode == Offload::stream;
  const auto items = [&](Items& out) {
    for_layers(pass, LayerSpan{run}, [&](const LayerSpan& piece) {
      LayerItem item{LayerItem::Kind::layer, piece};
      const LayerSums& sums = speeds.sums(s, pass, piece);
      item.work = attention_work(s, speeds.attention, pass, sums);
      if (streams) item.work = {.cache_bytes = item.work.cache_bytes};
      item.moved = item.work.cache_bytes;
      item.state = state_read(s, pass, sums);
      out.push_back(item);
    });
  };
  const Work attention =
      attention_work(s, speeds.attention, pass, speeds.sums(s, pass, LayerSpan{run}));
  if (streams)
    return time.add(
        Resource::bus, attention.cache_bytes / speeds.bus,
        [&] { return Segment{.moved = attention.cache_bytes}; }, items);
  add_handoffs(s, 2 * pass.weight_reads * static_cast<double>(run.size()), time);
  add_on_cpu(speeds.cpu, attention, attention, time, items);
}

/// Tensors kept in host memory for layers on cards. A part beyond tables is read from disk.
void add_kept(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
              Timeline& time) {
  const Range run = intersect(plan.on_cards, pass.layers);
  const Work work = host_work(s, plan, pass, plan.on_cards);
  const auto items = [&](Items& out) {
    for_layers(pass, LayerSpan{run}, [&](const LayerSpan& each) {
      out.push_back({LayerItem::Kind::layer, each, host_work(s, plan, pass, each.layers)});
    });
  };
  const Bytes read = std::max(Bytes(0), plan.kept_on_disk - tables_on_host(s, plan.on_cards));
  const double share = read > Bytes(0) ? read.real() / weights_kept_on_host(s, plan).real() : 0;
  add_read(s, share * work.weight_bytes, share, time, items);
  const double handoffs = 2 * pass.weight_reads * layers_kept_on_host(s, plan, run);
  add_on_host(s, speeds, plan,
              {.tokens = pass.tokens, .work = work, .attention = {}, .handoffs = handoffs}, time,
              items);
}

}  // namespace

void add_left_on_host(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                      Timeline& time) {
  if (plan.partly_on_host) add_kept(s, speeds, plan, pass, time);
  // A streaming engine copies a prompt's caches with the weights.
  if (!caches_on_cards(s) && !(s.runtime->offload.mode == Offload::stream && pass.prompt > 0))
    add_caches_on_host(s, speeds, plan, pass, time);
}

}  // namespace headroom::model
