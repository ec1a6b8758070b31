#include "model/answer/training_advice.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "model/infer/estimate.hpp"
#include "model/infer/serving.hpp"
#include "model/train/outcome.hpp"
#include "model/train/shape.hpp"
#include "model/train/time.hpp"

namespace headroom::model {
namespace {

/// The peak, or more than any card has where the step cannot be.
Bytes peak_of(TrainingEvaluator& evaluate, const TrainingScenario& s) {
  try {
    return evaluate(s).peak;
  } catch (const std::invalid_argument&) {
    return unlimited;
  }
}

}  // namespace

Size largest_batch(TrainingScenario s, Bytes card) {
  TrainingEvaluator evaluate;
  return largest(Size{1} << 20, [&](Size n) {
    s.batch = n;
    return peak_of(evaluate, s) <= card;
  });
}

Size longest_sequence(TrainingScenario s, Bytes card) {
  TrainingEvaluator evaluate;
  const Size step = 64 * s.parallel.context;
  return step * largest(Size{1} << 20, [&](Size n) {
           s.sequence = n * step;
           return peak_of(evaluate, s) <= card;
         });
}

namespace {

/// True if the recipe is the engine's own.
bool has_usual_recipe(const TrainingScenario& s) {
  return s.recipe == &usual_recipe(*s.runtime, s.zero, trained_by(s));
}

/// The recipe becomes the engine's own, and recomputation what that recipe brings.
void take_usual_recipe(TrainingScenario& s) {
  s.recipe = &usual_recipe(*s.runtime, s.zero, trained_by(s));
  if (!s.recomputation_given) s.recomputation = usual_recomputation(*s.runtime, *s.recipe);
}

/// A recipe that is the engine's own becomes its own under the ZeRO stage.
void put_under_zero(TrainingScenario& s, int zero) {
  const bool usual = has_usual_recipe(s);
  s.zero = zero;
  s.runtime = &under_zero(*s.runtime, zero);
  if (usual) take_usual_recipe(s);
}

/// Shares everything out over the data-parallel cards.
void share_out(TrainingScenario& s, Size replicas) {
  put_under_zero(s, 3);
  s.parallel.replicas = replicas;
}

}  // namespace

Size fewest_replicas(TrainingScenario s, Bytes card) {
  TrainingEvaluator evaluate;
  for (Size n = 2; n <= 4096; n *= 2) {
    share_out(s, n);
    if (peak_of(evaluate, s) <= card) return n;
  }
  return 0;
}

namespace {

/// One thing that could be changed. At most one option of each `kind` makes sense.
struct Option {
  StepOption option;
  int kind;
  std::function<void(TrainingScenario&)> apply;
};

constexpr Size advised_rank = 16;

/// The tensors that adapters would have, and weights in 4 bits below them. Null if no layer takes
/// adapters, or both are there already.
struct Adapted {
  Adapter adapter;
  QuantisedModel base;
};
std::unique_ptr<Adapted> adapted(const TrainingScenario& s) {
  if (s.adapter != nullptr && s.base != nullptr) return nullptr;
  try {
    auto made = std::make_unique<Adapted>();
    if (s.adapter == nullptr)
      made->adapter = adapt(*s.model, {.rank = advised_rank, .targets = {"all-linear"}});
    made->base = frozen_base(*s.model, *s.runtime);
    return made;
  } catch (const AdapterError&) {
    return nullptr;
  }
}

using Options = std::vector<Option>;

/// True if what the step shares out or offloads is DeepSpeed's work.
bool by_deepspeed(const TrainingScenario& s) {
  return runs_deepspeed(*s.runtime) || s.runtime->zero_by_deepspeed;
}

/// States in host memory, with weights where the engine moves both, and under ZeRO 2 where it needs
/// a stage: gradients are there too.
void add_offload(const TrainingScenario& s, int kind, Options& all) {
  if (s.optimizer_on_host || (s.zero == 0 && s.adapter != nullptr)) return;
  const Offloads& can = s.runtime->offload;
  if (can.together) {
    all.push_back({{StepOption::Kind::all_on_host, 0}, kind, [](auto& c) {
                     c.optimizer_on_host = c.parameters_on_host = true;
                   }});
    return;
  }
  if (by_deepspeed(s) && !steps_on_host(*s.optimizer)) return;
  if (s.zero >= can.states) {
    all.push_back({{StepOption::Kind::optimizer_on_host, 0}, kind, [](auto& c) {
                     c.optimizer_on_host = true;
                   }});
  } else if (has_usual_recipe(s)) {
    all.push_back({{StepOption::Kind::optimizer_on_host, 2}, kind, [](auto& c) {
                     put_under_zero(c, 2);
                     c.optimizer_on_host = true;
                   }});
  }
}

/// DeepSpeed keeps an fp32 copy of 16-bit weights, and steps on the host with its own optimizers.
bool clashes(const TrainingScenario& s, StepOption::Kind a, StepOption::Kind b) {
  using enum StepOption::Kind;
  if (!by_deepspeed(s)) return false;
  const auto has = [&](StepOption::Kind kind) { return a == kind || b == kind; };
  const bool under_zero = has(zero_3) || has(more_replicas) || has(optimizer_on_host);
  return (has(pure_16bit) && under_zero) || (has(optimizer_8bit) && has(optimizer_on_host));
}

Options options_of(const TrainingScenario& s, const Adapted* made, Size cards) {
  enum { attention, loss, batch, states, share, again, host, sequence };
  Options all;
  using enum StepOption::Kind;
  const auto option = [&](StepOption::Kind what, Size amount, int kind, auto&& apply) {
    all.push_back({{what, amount}, kind, apply});
  };
  if (!s.fuses_attention())
    option(fused_attention, 0, attention, [](auto& c) { c.attention = AttentionKernel::sdpa; });
  if (s.attention != AttentionKernel::flash_attention)
    option(flash_attention, attention_support(*s.model).sinks ? 3 : 2, attention,
           [](auto& c) { c.attention = AttentionKernel::flash_attention; });
  if (!s.fused_loss) option(fused_loss, 0, loss, [](auto& c) { c.fused_loss = true; });
  if (!s.fused_kernels)
    option(fused_kernels, 0, loss, [](auto& c) { c.fused_kernels = c.fused_loss = true; });
  if (s.batch > 1)
    option(smaller_passes, s.accumulated * s.batch, batch, [](auto& c) {
      c.accumulated *= c.batch;
      c.batch = 1;
    });
  if (s.adapter == nullptr && s.optimizer->name() == "adamw")
    option(optimizer_8bit, 0, states, [](auto& c) { c.optimizer = &optimizer("adamw-8bit"); });
  if (s.adapter == nullptr && s.recipe->name != "pure-16bit" && !runs_deepspeed(*s.runtime))
    option(pure_16bit, 0, states, [](auto& c) { c.recipe = &recipe("pure-16bit"); });
  if (s.recipe->over_quantised)
    option(unraised, s.recomputation_given ? 0 : 1, states,
           [](auto& c) { c.recipe = &recipe("pure-16bit"); });
  if (s.parallel.alike() > 1 && s.zero < 3)
    option(zero_3, 0, share, [](auto& c) { share_out(c, c.parallel.replicas); });
  if (const Size replicas = s.parallel.replicas * (cards / s.parallel.cards());
      replicas > s.parallel.replicas)
    option(more_replicas, replicas, share,
           [replicas](TrainingScenario& c) { share_out(c, replicas); });
  if (!recomputes_layers(s.recomputation))
    option(recompute_all, 0, again,
           [](auto& c) { c.recomputation = Recomputation::full, c.recomputation_given = true; });
  add_offload(s, host, all);
  option(shorter_sequence, s.sequence / 2, sequence,
         [](auto& c) { c.sequence = std::max<Size>(1, c.sequence / 2); });
  if (made == nullptr) return all;
  if (s.adapter != nullptr) {
    if (made->base.refusal.empty())
      option(quantised_base, 0, states, [made](TrainingScenario& c) {
        const bool usual = has_usual_recipe(c);
        c.base = &made->base;
        if (usual) take_usual_recipe(c);
      });
    return all;
  }
  const auto adapters = [made](TrainingScenario& c) {
    c.adapter = &made->adapter;
    take_usual_recipe(c);
  };
  option(lora, advised_rank, states, adapters);
  if (made->base.refusal.empty())
    option(qlora, advised_rank, states,
           [made, adapters](TrainingScenario& c) { c.base = &made->base, adapters(c); });
  return all;
}

void sort(std::vector<Change>& all) {
  std::ranges::stable_sort(all, [](const Change& a, const Change& b) {
    return std::pair(!a.fits, a.time) < std::pair(!b.fits, b.time);
  });
}

}  // namespace

std::vector<Change> changes_that_save(const TrainingScenario& s, const Machine& machine) {
  constexpr std::size_t most_pairs = 5;
  const Bytes card = smallest_card(machine);
  TrainingEvaluator evaluate;
  /// Memory of a step, and the seconds that a token takes.
  const auto cost_of = [&](const TrainingScenario& step) {
    const TrainingEstimate e = evaluate(step);
    const StepTime time =
        time_of_step(step, evaluate.shape(), e, machine,
                     training_pace(step.runtime->paced_as(), machine.devices.front()));
    return std::tuple{e.peak, e.peak_high, e.host, 1 / time.tokens_s};
  };
  const auto [now, high_now, host_now, time_now] = cost_of(s);
  const auto price = [&](std::vector<Change>& all, Change change,
                         std::initializer_list<const Option*> options) {
    TrainingScenario changed = s;
    for (const Option* option : options) option->apply(changed);
    try {
      const auto [peak, high, host, time] = cost_of(changed);
      if (peak >= now) return;
      change.peak = peak;
      change.peak_high = high;
      change.saved = now - peak;
      change.host = host;
      change.time = time / time_now;
      change.fits = peak <= card;
      all.push_back(std::move(change));
    } catch (const std::invalid_argument&) {
      // The change does not go with the rest.
    }
  };
  const std::unique_ptr<Adapted> made = adapted(s);
  const Options options = options_of(s, made.get(), std::ssize(machine.devices));
  std::vector<Change> all, pairs;
  for (const Option& each : options) price(all, {.options = {each.option}}, {&each});
  sort(all);
  if (!all.empty() && all.front().fits) return all;
  for (std::size_t i = 0; i < options.size(); ++i)
    for (std::size_t j = i + 1; j < options.size(); ++j) {
      const Option &a = options[i], &b = options[j];
      if (a.kind == b.kind || clashes(s, a.option.kind, b.option.kind)) continue;
      price(pairs, {.options = {a.option, b.option}}, {&a, &b});
    }
  std::erase_if(pairs, [](const Change& pair) { return !pair.fits; });
  sort(pairs);
  pairs.resize(std::min(pairs.size(), most_pairs));
  all.insert(all.begin(), pairs.begin(), pairs.end());
  return all;
}

}  // namespace headroom::model
