// What a pass takes off the cards: on the CPU, over the host's bus, from the disk.
#include <algorithm>
#include <utility>

#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/stretches.hpp"

namespace headroom::model {
namespace {

double cpu_seconds(const Rate& cpu, const Work& all, const Work& attention) {
  return seconds(matrices_on_cpu(all, attention), cpu) + cpu_attention_seconds(attention, cpu);
}

/// Times that a pass goes on from a card to the CPU or back: through the layers in their order, and
/// to a head in host memory.
struct Crossings {
  double layers = 0, head = 0;
};
Crossings crossings(const Plan& plan, const Pass& pass) {
  if (!plan.computes_on_card) return {};
  if (plan.assignment == nullptr) return {1, 1};
  const Assignment& a = *plan.assignment;
  Crossings count;
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

/// What a pass takes of host layers or tensors.
struct OnHost {
  double tokens;              ///< that go through them
  const Work& work;           ///< of all
  const Work& attention;      ///< among it
  double crossings;           ///< from a card to the CPU or back, where it is computed on the CPU
  std::vector<Item> items{};  ///< where a record is kept
};

void add_on_cpu(const Rate& cpu, const Work& work, const Work& attention, std::vector<Item> items,
                PassTime& time, Record* record) {
  const double taken = cpu_seconds(cpu, work, attention);
  time.cpu += taken;
  if (record != nullptr && taken > 0)
    record->push_back(
        {.over = Over::cpu, .items = std::move(items), .rate = cpu, .seconds = taken});
}

/// On the CPU, or on cards after copying: what is multiplied by weights is sent to a card, and
/// attention follows it, caches too (ggml-backend.cpp, ggml_backend_sched_split_graph: Qwen2.5-32B
/// with no layer on an RTX 4090 takes 2048 tokens in 1.8 s). Cards that divide matrices each copy
/// their own share.
void add_on_host(const Scenario& s, const Speeds& speeds, const Plan& plan, OnHost&& host,
                 PassTime& time, Record* record) {
  const Work& work = host.work;
  if (work.weight_bytes <= 0 && work.cache_bytes <= 0) return;
  if (const PrefillOffload prompts = host_prompts(s, host.tokens);
      prompts != PrefillOffload::on_cpu) {
    const bool shared = prompts == PrefillOffload::faster;
    const auto cards = static_cast<double>(shared ? std::max<Size>(1, plan.cards) : Size{1});
    const double copied = work.weight_bytes + work.cache_bytes;
    const double copies = copied / (cards * speeds.bus);
    const Rate& rate = speeds.card(0).rate;
    const double there = seconds(work, rate) / cards;
    if (prompts == PrefillOffload::on_card ||
        copies + there < cpu_seconds(speeds.cpu, work, host.attention) +
                             host.crossings * s.runtime->offload.device_handoff_s.value) {
      time.stream += copies;
      time.cards += there;
      if (record == nullptr) return;
      Stretch bus{.over = Over::bus, .items = host.items, .seconds = copies, .moved = copied};
      for (Item& item : bus.items) item.moved = item.work.weight_bytes + item.work.cache_bytes;
      record->push_back(std::move(bus));
      record->push_back({.over = Over::cards,
                         .last = 1,
                         .items = std::move(host.items),
                         .rate = rate,
                         .seconds = there});
      return;
    }
  }
  add_crossings(s, host.crossings, time, record);
  add_on_cpu(speeds.cpu, work, host.attention, std::move(host.items), time, record);
}

/// Whether anything of the model is there.
bool is_any_in(const Plan& plan, Where where) {
  const Range layers = where == Where::cpu ? plan.on_cpu : plan.on_disk;
  return plan.assignment != nullptr || layers.size() > 0 || plan.head == where ||
         plan.embedding == where;
}

/// What of the model is off the cards, item by item.
struct Items {
  std::vector<Item> layers, head;  ///< the embedding is among the layers
  std::vector<Item> on_disk;       ///< of both
};
Items items_off_cards(const Scenario& s, const Plan& plan, const Pass& pass) {
  Items items;
  for (const Where where : {Where::cpu, Where::disk}) {
    std::vector<Item> here;
    for_pieces_in(plan, where, [&](const LayerSpan& all) {
      for_layers(pass, all, [&](const LayerSpan& piece) {
        here.push_back({Item::Kind::layer, piece, work_of(s, pass, piece),
                        state_read(s, pass, piece), streamed_bytes(s, pass, piece)});
      });
    });
    if (plan.embedding == where)
      here.push_back({Item::Kind::embedding, {}, {}, 0, s.weights->embedding.real().value()});
    items.layers.insert(items.layers.end(), here.begin(), here.end());
    if (plan.head == where)
      items.head.push_back({Item::Kind::head, {}, head_work(s, pass), 0, s.weights->head_read});
    if (where == Where::cpu) continue;
    items.on_disk = std::move(here);
    if (plan.head == where) items.on_disk.push_back(items.head.front());
  }
  return items;
}

}  // namespace

void add_offloaded(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                   PassTime& time, Record* record) {
  const bool streams = s.runtime->offload.mode == Offload::stream;
  Work work, head, attention;
  double moved = 0, from_disk = 0;
  for (const Where where : {Where::cpu, Where::disk}) {
    if (!is_any_in(plan, where)) continue;
    Work here;
    double modules = 0;
    for_pieces_in(plan, where, [&](const LayerSpan& piece) {
      const LayerWork layers = layer_work(s, pass, piece);
      here = here + layers.all;
      if (streams)
        modules += streamed_bytes(s, pass, piece);
      else
        attention = attention + layers.attention;
    });
    if (plan.head == where) {
      head = head_work(s, pass);
      modules += s.weights->head_read;
    }
    if (plan.embedding == where) modules += s.weights->embedding.real().value();
    if (where == Where::disk) {
      from_disk = streams ? modules : here.weight_bytes;
      if (plan.head == where && !streams) from_disk += head.weight_bytes;
    }
    work = work + here;
    moved += modules;
  }
  Items items;
  if (record != nullptr) items = items_off_cards(s, plan, pass);
  if (from_disk > 0) {
    time.disk = from_disk / disk_rate(s);
    if (record != nullptr) {
      if (!streams)
        for (Item& item : items.on_disk) item.moved = item.work.weight_bytes;
      record->push_back({.over = Over::disk,
                         .items = std::move(items.on_disk),
                         .seconds = time.disk,
                         .moved = from_disk});
    }
  }
  if (!plan.computes_on_card || !streams) {
    const Crossings times = crossings(plan, pass);
    add_on_host(s, speeds, plan,
                {.tokens = pass.tokens,
                 .work = work,
                 .attention = attention,
                 .crossings = times.layers * pass.weight_reads,
                 .items = std::move(items.layers)},
                time, record);
    return add_on_host(s, speeds, plan,
                       {.tokens = pass.logit_rows,
                        .work = head,
                        .attention = {},
                        .crossings = times.head,
                        .items = std::move(items.head)},
                       time, record);
  }
  work = work + head;
  std::vector<Item>& all = items.layers;
  all.insert(all.end(), items.head.begin(), items.head.end());
  if (!caches_on_cards(s)) {
    moved += work.cache_bytes;
    work.cache_bytes = work.repeated = 0;
    for (Item& item : all) {
      item.moved += item.work.cache_bytes;
      item.work.cache_bytes = item.work.repeated = item.state = 0;
    }
  }
  const Rate& rate = speeds.card(0).rate;
  const double bus = moved / speeds.bus, there = seconds(work, rate);
  time.stream += bus;
  time.cards += there;
  if (record == nullptr) return;
  record->push_back({.over = Over::bus, .items = all, .seconds = bus, .moved = moved});
  record->push_back(
      {.over = Over::cards, .last = 1, .items = std::move(all), .rate = rate, .seconds = there});
}

void add_left_on_host(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                      PassTime& time, Record* record) {
  const Range run = intersect(plan.on_cards, pass.layers);
  std::vector<Item> items;
  if (plan.partly_on_host) {
    if (record != nullptr)
      for_layers(pass, LayerSpan{run}, [&](const LayerSpan& piece) {
        items.push_back({Item::Kind::layer, piece, host_work(s, pass, piece.layers)});
      });
    const double crossings = 2 * pass.weight_reads * host_layers(s, pass, plan.on_cards);
    add_on_host(s, speeds, plan,
                {.tokens = pass.tokens,
                 .work = host_work(s, pass, plan.on_cards),
                 .attention = {},
                 .crossings = crossings,
                 .items = std::move(items)},
                time, record);
  }
  const bool streams =
      s.runtime->offload.mode == Offload::stream;  // copied to the card like weights
  if (caches_on_cards(s) || (streams && pass.prompt > 0)) return;
  Work attention = attention_work(s, pass, run);
  if (streams) attention = {.cache_bytes = attention.cache_bytes};
  const double taken =
      streams ? attention.cache_bytes / speeds.bus : cpu_seconds(speeds.cpu, attention, attention);
  (streams ? time.stream : time.cpu) += taken;
  if (!streams)
    add_crossings(s, 2 * pass.weight_reads * static_cast<double>(run.size()), time, record);
  if (record == nullptr) return;
  items.clear();
  for_layers(pass, LayerSpan{run}, [&](const LayerSpan& piece) {
    Item item{Item::Kind::layer, piece};
    item.work = attention_work(s, pass, piece.layers);
    if (streams) item.work = {.cache_bytes = item.work.cache_bytes};
    item.moved = item.work.cache_bytes;
    item.state = state_read(s, pass, piece);
    items.push_back(item);
  });
  record->push_back({.over = streams ? Over::bus : Over::cpu,
                     .items = items,
                     .rate = speeds.cpu,
                     .seconds = taken,
                     .moved = attention.cache_bytes});
}

}  // namespace headroom::model
