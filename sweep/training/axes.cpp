#include "sweep/training/axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "hardware/names.hpp"
#include "sweep/grid/digits.hpp"

namespace headroom::sweep {
namespace {

using Put = Change<TrainingDraft>;
using model::TrainingScenario;

Size whole(const std::string& text) {
  Size value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <Size model::Parallelism::*member>
Put degree(const std::string& text, Names&) {
  return [n = whole(text)](TrainingDraft& d) { d.step.parallel.*member = n; };
}

Put model_value(const std::string& text, Names& names) {
  return [m = names.models.at(text)](TrainingDraft& d) { d.step.model = m; };
}
Put machine_value(const std::string& text, Names& names) {
  return [m = names.machine(text)](TrainingDraft& d) { d.machine = m; };
}
Put runtime_value(const std::string& text, Names&) {
  return [r = &model::training_runtime(text)](TrainingDraft& d) { d.step.runtime = r; };
}
Put recipe_value(const std::string& text, Names&) {
  return [r = text == "usual" ? nullptr : &model::recipe(text)](TrainingDraft& d) { d.recipe = r; };
}
Put matrices_value(const std::string& text, Names&) {
  return [m = text == "usual" ? nullptr : &model::matrix_format(text)](TrainingDraft& d) {
    d.step.matrices = m;
  };
}
Put optimizer_value(const std::string& text, Names&) {
  return [o = &model::optimizer(text)](TrainingDraft& d) { d.step.optimizer = o; };
}
Put adapters_value(const std::string& text, Names&) {
  adapter_value(text);
  return [text](TrainingDraft& d) { d.adapters = text; };
}
Put attention_value(const std::string& text, Names&) {
  const auto kernel = model::attention_kernel(one_of(text, model::attention_words));
  return [kernel](TrainingDraft& d) { d.step.attention = kernel; };
}
Put kernels_value(const std::string& text, Names&) {
  constexpr std::string_view words[] = {"usual", "fused-loss", "liger"};
  return [which = one_of(text, words)](TrainingDraft& d) {
    d.step.fused_loss = which > 0;
    d.step.fused_kernels = which > 1;
  };
}
Put checkpointing_value(const std::string& text, Names&) {
  std::optional<model::Recomputation> again;
  if (text != "usual")
    again = static_cast<model::Recomputation>(one_of(text, model::recomputation_names));
  return [again](TrainingDraft& d) { d.recomputation = again; };
}
Put offload_value(const std::string& text, Names&) {
  constexpr std::string_view words[] = {"none", "optimizer", "params", "optimizer-nvme",
                                        "params-nvme"};
  return [which = one_of(text, words)](TrainingDraft& d) {
    d.step.optimizer_on_host = which > 0;
    d.step.parameters_on_host = which == 2 || which == 4;
    d.step.on_disk = which > 2;
  };
}
Put zero_value(const std::string& text, Names&) {
  const Size stage = whole(text);
  if (stage > 3)
    throw std::invalid_argument(fmt::format("found {}; ZeRO has stages 0 to 3", stage));
  return [stage](TrainingDraft& d) { d.zero = static_cast<int>(stage); };
}

constexpr AxisValues numbers = AxisValues::numbers;
constexpr Axis<TrainingDraft> axes[] = {
    // constant: the help of sweep reads it before main
    {{"models", "", ""}, model_value},
    {{"runtimes", "", "trainer"}, runtime_value},
    {{"recipes", "recipe", "usual"}, recipe_value},
    {{"matrices", "matrices", "usual"}, matrices_value},
    {{"optimizers", "optimizer", "adamw"}, optimizer_value},
    {{"adapters", "", "full"}, adapters_value},
    {{"attention", "attention", "flash"}, attention_value},
    {{"kernels", "kernels", "usual"}, kernels_value},
    {{"checkpointing", "checkpointing", "usual"}, checkpointing_value},
    {{"tp", "tensor_parallel", "", numbers}, degree<&model::Parallelism::tensor>},
    {{"pp", "pipeline_parallel", "", numbers}, degree<&model::Parallelism::stages>},
    {{"virtual_stages", "virtual_stages", "", numbers}, degree<&model::Parallelism::chunks>},
    {{"ep", "expert_parallel", "", numbers}, degree<&model::Parallelism::experts>},
    {{"cp", "context_parallel", "", numbers}, degree<&model::Parallelism::context>},
    {{"machines", "", ""}, machine_value},
    {{"offload", "offload", "none"}, offload_value},
    {{"zero", "zero", "", numbers, 0}, zero_value},
    {{"dp", "data_parallel", "1", numbers}, degree<&model::Parallelism::replicas>},
    {{"grad_accum", "accumulated", "1", numbers}, nullptr, &TrainingScenario::accumulated},
    {{"batches", "batch", "1", numbers}, nullptr, &TrainingScenario::batch},
    {{"sequences", "sequence", "", numbers}, nullptr, &TrainingScenario::sequence},
};

}  // namespace

std::span<const Axis<TrainingDraft>> training_axes() { return axes; }

AdapterValue adapter_value(const std::string& text) {
  constexpr std::string_view methods[] = {"full", "lora", "dora", "qlora", "qdora"};
  const auto first = std::min(text.find(':'), text.size());
  const auto second = std::min(text.find(':', std::min(first + 1, text.size())), text.size());
  AdapterValue value{.method = text.substr(0, first), .request = {}};
  const std::size_t which = one_of(value.method, methods);
  value.quantised = which > 2;
  value.request.magnitudes = which == 2 || which == 4;
  if (first == text.size()) return value;
  if (which == 0) throw std::invalid_argument("full: has neither rank nor targets");
  const std::string rank = text.substr(first + 1, second - first - 1);
  const auto [end, error] =
      std::from_chars(rank.data(), rank.data() + rank.size(), value.request.rank);
  if (error != std::errc() || end != rank.data() + rank.size() || value.request.rank < 1)
    throw std::invalid_argument(
        fmt::format("found '{}', expected METHOD:RANK:TARGETS, as in lora:16:q_proj,v_proj", text));
  for (std::size_t at = second + 1; at <= text.size();) {
    const auto stop = std::min(text.find(',', at), text.size());
    if (stop > at) value.request.targets.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return value;
}

}  // namespace headroom::sweep
