// Evaluates one scenario. The switches select its terms.
#include "memory_of.hpp"

#include <stdexcept>
#include <string>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/optimizer.hpp"

namespace memory_of {
namespace {

std::string_view format_of(headroom::Size bytes_per_element) {
  switch (bytes_per_element) {
    case 4:
      return "fp32";
    case 2:
      return "bf16";
    case 1:
      return "int8";
    default:
      throw std::invalid_argument("bytes per element: found " + std::to_string(bytes_per_element) +
                                  ", expected 4, 2 or 1");
  }
}

headroom::Bytes only_if(Include include, headroom::Bytes bytes) {
  return include == Include::yes ? bytes : headroom::Bytes(0);
}

}  // namespace

Memory estimate(const headroom::model::Model& model, const headroom::Machine& machine,
                const Switches& switches) {
  namespace hm = headroom::model;
  const auto format = format_of(switches.bytes_per_element);
  const hm::QuantisedModel weights = hm::quantise(model, hm::scheme(format));
  hm::Scenario scenario;
  scenario.weights = &weights;
  scenario.machine = &machine;
  scenario.runtime = &hm::engine("transformers");
  scenario.kv_precision = &headroom::precision(format);
  scenario.batch = switches.batch;
  scenario.prompt_tokens = switches.tokens;
  scenario.output_tokens = 0;
  const hm::Estimate all = hm::evaluate(scenario);
  if (all.verdict == hm::Verdict::refused)
    throw std::invalid_argument("cannot run: " + std::string(hm::name_of(all.reason)));
  return {.weights = all.weights,
          .kv_cache = only_if(switches.kv_cache, all.kv_cache),
          .activations = only_if(switches.activations, all.activations),
          .overhead = only_if(switches.overhead, all.overhead),
          .optimizer =
              only_if(switches.optimizer, hm::optimizer_states(hm::optimizer("adamw"), model.part,
                                                               switches.bytes_per_element))};
}

}  // namespace memory_of
