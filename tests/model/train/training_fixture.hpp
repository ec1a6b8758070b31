// A small model's step on cards of round figures, for tests of training.
#pragma once

#include "model/describe/config.hpp"
#include "model/train/rank.hpp"

namespace headroom::model {

inline Model llama() {
  return make_model("llama",
                    parse_config(R"({"architectures": ["LlamaForCausalLM"],
      "model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
      "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 4,
      "vocab_size": 32000, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5})",
                                 "llama.json"),
                    "");
}

struct Fixture {
  Model model = llama();
  QuantisedModel plain = counted(model);
  Adapter adapter = adapt(model, {.rank = 8, .targets = {"q_proj", "v_proj"}});
  TrainingScenario step(std::string_view runtime = "trainer") const {
    TrainingScenario s;
    s.model = &model;
    s.plain = &plain;
    s.optimizer = &optimizer("adamw");
    s.runtime = &training_runtime(runtime);
    s.zero = s.runtime->zero;
    s.recipe = &usual_recipe(*s.runtime, s.zero, Trained::weights);
    return s;
  }
};

inline Machine cards(int n, Bytes memory) {
  using namespace literals;
  Machine machine;
  Device card;
  card.name = "card";
  set_memory(card, memory);
  card.bandwidth = BytesPerSecond(1e12);
  card.bf16 = card.fp16 = FlopsPerSecond(100e12);
  card.fp32 = FlopsPerSecond(20e12);
  card.link = BytesPerSecond(100e9);
  card.link_kind = "link";
  machine.devices.assign(static_cast<std::size_t>(n), card);
  machine.host.ram = 1_GiB;
  machine.host.disk = Bytes(0);
  return machine;
}

}  // namespace headroom::model
