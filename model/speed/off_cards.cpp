// What a pass takes off the cards: on the CPU, over the host's bus, from the disk.
#include <algorithm>

#include "model/placement/layer_split.hpp"
#include "model/speed/stretches.hpp"

namespace headroom::model {
namespace {

/// What experts cost on a card says nothing of the CPU, whose rates are measured on experts.
double cpu_seconds(const Scenario& s, Work work) {
  work.expert_bytes = work.padding = 0;
  return seconds(s, work, cpu_rate(s));
}

/// What is computed on the CPU, or copied to the card for it where a large batch makes that quicker
/// (llama.cpp ggml-backend op offload, batches of 32 tokens or more). Cards that divide matrices
/// each copy their own share.
void add_on_host(const Scenario& s, const Plan& plan, const Pass& pass,
                 const std::vector<Item>& items, const Work& work, PassTime& time, Record* record) {
  const double cpu = cpu_seconds(s, work);
  const bool card = !s.machine->devices.empty() && card_budget(s, 0) > Bytes(0);
  if (s.runtime->copies_for_prefill && card && pass.tokens >= 32) {
    const auto cards =
        static_cast<double>(s.runtime->copies_to_each ? std::max<Size>(1, plan.cards) : Size{1});
    const double copies = work.weight_bytes / (cards * bus_rate(s));
    const Rate rate = card_rate(s, s.machine->devices[0]);
    const double there = seconds(s, work, rate) / cards;
    if (copies + there < cpu) {
      time.stream += copies;
      time.cards += there;
      if (record == nullptr) return;
      Stretch bus{.over = Over::bus, .items = items, .seconds = copies, .moved = work.weight_bytes};
      for (Item& item : bus.items) item.moved = item.work.weight_bytes;
      record->push_back(std::move(bus));
      record->push_back(
          {.over = Over::cards, .last = 1, .items = items, .rate = rate, .seconds = there});
      return;
    }
  }
  time.cpu += cpu;
  if (record != nullptr && cpu > 0)
    record->push_back({.over = Over::cpu, .items = items, .rate = cpu_rate(s), .seconds = cpu});
}

}  // namespace

void add_offloaded(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time,
                   Record* record) {
  const bool streams = s.runtime->offload == Offload::stream;
  Work work;
  double moved = 0, from_disk = 0;
  std::vector<Item> items, on_disk;
  for (const Where where : {Where::cpu, Where::disk}) {
    Work here;
    double modules = 0;
    std::vector<Item> there;
    for_pieces_in(plan, where, [&](const Piece& piece) {
      here = here + work_of(s, pass, piece);
      modules += streamed_bytes(s, pass, piece);
      if (record == nullptr) return;
      for_layers(pass, piece, [&](const Piece& one) {
        there.push_back({Item::Kind::layer, one, work_of(s, pass, one), state_read(s, pass, one),
                         streamed_bytes(s, pass, one)});
      });
    });
    if (plan.head == where) {
      here = here + head_work(s, pass);
      modules += s.weights->head_read;
      if (record != nullptr)
        there.push_back({Item::Kind::head, {}, head_work(s, pass), 0, s.weights->head_read});
    }
    if (plan.embedding == where) {
      const double embedding = s.weights->embedding.real().value();
      modules += embedding;
      if (record != nullptr) there.push_back({Item::Kind::embedding, {}, {}, 0, embedding});
    }
    if (where == Where::disk) {
      from_disk = streams ? modules : here.weight_bytes;
      on_disk = there;
    }
    work = work + here;
    moved += modules;
    items.insert(items.end(), there.begin(), there.end());
  }
  if (from_disk > 0) {
    time.disk = from_disk / disk_rate(s);
    if (record != nullptr) {
      if (!streams)
        for (Item& item : on_disk) item.moved = item.work.weight_bytes;
      record->push_back(
          {.over = Over::disk, .items = on_disk, .seconds = time.disk, .moved = from_disk});
    }
  }
  if (!plan.computes_on_card || !streams)
    return add_on_host(s, plan, pass, items, work, time, record);
  if (!caches_on_cards(s)) {
    moved += work.cache_bytes;
    work.cache_bytes = work.repeated = 0;
    for (Item& item : items) {
      item.moved += item.work.cache_bytes;
      item.work.cache_bytes = item.work.repeated = item.state = 0;
    }
  }
  const Rate rate = card_rate(s, s.machine->devices[0]);
  const double bus = moved / bus_rate(s), there = seconds(s, work, rate);
  time.stream += bus;
  time.cards += there;
  if (record == nullptr) return;
  record->push_back({.over = Over::bus, .items = items, .seconds = bus, .moved = moved});
  record->push_back(
      {.over = Over::cards, .last = 1, .items = items, .rate = rate, .seconds = there});
}

void add_left_on_host(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time,
                      Record* record) {
  const Range run = intersect(plan.on_cards, pass.layers);
  std::vector<Item> items;
  if (plan.partly_on_host) {
    if (record != nullptr)
      for_layers(pass, Piece{run}, [&](const Piece& piece) {
        items.push_back({Item::Kind::layer, piece, host_work(s, pass, piece.layers)});
      });
    add_on_host(s, plan, pass, items, host_work(s, pass, plan.on_cards), time, record);
  }
  if (caches_on_cards(s) || pass.prompt > 0) return;
  Work attention;
  attention.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
  const bool streams = s.runtime->offload == Offload::stream;  // copied to the card like weights
  const double taken = streams ? attention.cache_bytes / bus_rate(s) : cpu_seconds(s, attention);
  (streams ? time.stream : time.cpu) += taken;
  if (record == nullptr) return;
  items.clear();
  for_layers(pass, Piece{run}, [&](const Piece& piece) {
    Item item{Item::Kind::layer, piece};
    item.work.cache_bytes = item.moved =
        kv_read(s, pass.cached, piece.layers.first, piece.layers.last);
    item.state = state_read(s, pass, piece);
    items.push_back(item);
  });
  record->push_back({.over = streams ? Over::bus : Over::cpu,
                     .items = items,
                     .rate = cpu_rate(s),
                     .seconds = taken,
                     .moved = attention.cache_bytes});
}

}  // namespace headroom::model
