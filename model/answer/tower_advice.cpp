// The change that leaves towers of images and sound out.
#include "model/answer/advice_changes.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/text_only.hpp"

namespace headroom::model {

std::optional<Advice> text_only(const Scenario& s) {
  const Model& whole = *s.weights->model;
  const bool may =
      s.runtime->weights.towers == Towers::optional && s.images.count == 0 && !whole.text_only;
  if (!may || !has_towers(whole)) return {};
  const Model text = without_towers(whole);
  const QuantisedModel weights = quantise(text, *s.weights->scheme);
  Scenario changed = s;
  changed.weights = &weights;
  const Estimate e = evaluate(changed);
  if (!all_on_gpus(e)) return {};
  return Advice{.kind = Advice::Kind::text_only,
                .then = after_change(e),
                .before = s.weights->total - weights.total};
}

}  // namespace headroom::model
