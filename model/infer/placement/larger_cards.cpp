#include "model/infer/placement/larger_cards.hpp"

#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"

namespace headroom::model {
namespace {

void keep_sizes_of_cards(const Scenario& s, MemoryPolicy& memory) {
  if (const CardReserve* sizes = card_reserve(s)) memory.pool.reserve = {*sizes};
  if (!has_start_pass(s)) return;
  Scenario own = s;
  own.chunk_tokens = 0;
  StartPass& start = memory.start_pass;
  start.sequences = start.sequences_on_large = usual_sequences(own);
  start.tokens = start.tokens_on_large = start.tokens_on_largest = stated_tokens(own);
}

}  // namespace

LargerCards::LargerCards(const Scenario& s) : machine(*s.machine), engine(*s.runtime), scenario(s) {
  keep_sizes_of_cards(s, engine.memory);
  if (machine.devices.empty()) machine.devices.emplace_back();
  for (Device& card : machine.devices) set_memory(card, ample);
  scenario.machine = &machine;
  scenario.runtime = &engine;
}

}  // namespace headroom::model
