// DeepSpeed's JSON configurations. Keys: DeepSpeed's documentation, "Configuration JSON" and
// "Inference API".
#include <boost/json.hpp>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

void need_16_bit(const LaunchPoint& point) {
  if (point.scheme().family != model::SchemeFamily::plain)
    throw std::invalid_argument("DeepSpeed takes 16 or 32 bit weights: choose fp16, bf16 or fp32");
}

}  // namespace

std::string deepspeed_inference(const LaunchPoint& point) {
  need_16_bit(point);
  const model::Scenario& s = point.scenario;
  const model::Plan split = model::place(s, 1.0);
  if (split.stages * split.replicas > 1)
    throw std::invalid_argument(
        "init_inference divides matrices alone: --tp without --pp and --dp");
  return pretty(json::object{{"dtype", point.scheme().name == "fp32"   ? "fp32"
                                       : point.scheme().name == "fp16" ? "fp16"
                                                                       : "bf16"},
                             {"tensor_parallel", json::object{{"tp_size", split.shards}}},
                             {"max_out_tokens", s.cached_tokens()},
                             {"replace_with_kernel_inject", false}});
}

std::string deepspeed_zero3(const LaunchPoint& point) {
  need_16_bit(point);
  const model::Estimate& e = point.estimate();
  const bool on_disk = e.layers_disk > 0;
  json::object offload{{"device", on_disk ? "nvme" : "cpu"}, {"pin_memory", true}};
  if (on_disk) offload["nvme_path"] = "./offload";
  json::object zero{{"stage", 3}};
  if (on_disk || e.layers_cpu > 0) zero["offload_param"] = std::move(offload);
  const auto switch_of = [&](std::string_view name) {
    return json::object{{"enabled", point.scheme().name == name}};
  };
  return pretty(json::object{{"train_micro_batch_size_per_gpu", point.scenario.batch},
                             {"fp16", switch_of("fp16")},
                             {"bf16", switch_of("bf16")},
                             {"zero_optimization", std::move(zero)}});
}

}  // namespace headroom::sweep
