// Additional tables of `headroom place`: layers on cards by context for llama.cpp, and vLLM's
// parallel sizes with the cache that each leaves.
//
//   Layers on the cards by context; all 80 with the output are -ngl 81:
//   context  -ngl  fullest card  host memory  first token  tokens/s
//      2048    81     20.42 GiB     1.05 GiB       997 ms      18.8
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"
#include "sweep/place/answer.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using namespace model;

std::string size_text(Size size) { return size > 0 ? std::to_string(size) : std::string("-"); }
std::string speed_text(const Estimate& e) {
  return fits(e) ? three_digits(e.tokens_s) : std::string("-");
}
json::value finite_number(double value) {
  return std::isfinite(value) ? json::value(value) : json::value(nullptr);
}

bool has_experts(const Answer& answer) {
  return answer.given.model->profile.routing.experts > 0 && answer.given.layer_split == nullptr;
}

std::string outcome_words(const Estimate& e) {
  if (e.verdict == Verdict::refused)
    return "refused: " + std::string(report::reason_words(e.reason));
  if (!fits(e)) return fmt::format("does not fit: {} short", to_text(e.short_bytes));
  if (e.verdict == Verdict::fits_cpu_offload) return "fits with CPU offload";
  return "fits on " + counted(e.gpus_used, "GPU");
}

}  // namespace

std::string contexts_text(const Answer& answer) {
  if (answer.contexts.empty()) return {};
  const bool experts = has_experts(answer);
  const Size layers = counted_layers(*answer.given.weights->model).size();
  std::vector<std::vector<std::string>> rows;
  for (const LayersAtContext& at : answer.contexts) {
    const Estimate& e = at.estimate;
    std::vector<std::string> row{std::to_string(at.context)};
    if (fits(e))
      row.insert(row.end(), {std::to_string(at.gpu_layers), to_text(e.gpu_bytes),
                             to_text(e.cpu_bytes), duration(e.ttft.value()), speed_text(e)});
    else
      row.insert(row.end(), {"-", "-", outcome_words(e), "-", "-"});
    if (experts) {
      const bool fits = at.cpu_moe >= 0;
      row.push_back(fits ? std::to_string(at.cpu_moe) : "-");
      row.push_back(fits ? to_text(at.with_cpu_moe.gpu_bytes) : "-");
      row.push_back(fits ? to_text(at.with_cpu_moe.cpu_bytes) : "-");
      row.push_back(fits ? speed_text(at.with_cpu_moe) : "-");
    }
    rows.push_back(std::move(row));
  }
  std::vector<std::string> header{"context",     "-ngl",        "fullest card",
                                  "host memory", "first token", "tokens/s"};
  if (experts)
    header.insert(header.end(), {"--n-cpu-moe", "fullest card", "host memory", "tokens/s"});
  return fmt::format(
             "Most layers on the cards, by context (all {} and the output: -ngl {}){}:\n", layers,
             layers + 1,
             experts
                 ? fmt::format(
                       "; or -ngl {} with the experts of the fewest first layers in host memory",
                       layers + 1)
                 : std::string()) +
         aligned(header, std::vector<bool>(header.size(), true), rows) + '\n';
}

std::string splits_text(const Answer& answer) {
  if (answer.splits.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const ParallelSplit& split : answer.splits) {
    const Estimate& e = split.estimate;
    rows.push_back({std::to_string(split.tensor), std::to_string(split.pipeline),
                    size_text(split.expert), outcome_words(e),
                    split.weights > Bytes(0) ? to_text(split.weights) : "-",
                    split.room ? to_text(split.room->available) : "-",
                    split.room ? std::to_string(split.room->blocks) : "-",
                    split.room ? fmt::format("{:.2f}", split.room->sequences) : "-",
                    fits(e) ? duration(e.ttft.value()) : "-", speed_text(e)});
  }
  const Scenario& s = answer.given.scenario;
  return fmt::format(
             "Splits over the cards (tensor, pipeline and expert parallel); the KV cache takes the "
             "rest of each budget after weights and activations, in blocks of {} tokens:\n",
             s.runtime->cache.block_tokens) +
         aligned({"tp", "pp", "ep", "", "weights on a card", "cache room", "blocks",
                  fmt::format("x {} tokens", s.cached_tokens()), "first token", "tokens/s"},
                 {true, true, true, false, true, true, true, true, true, true}, rows) +
         '\n';
}

json::array contexts_json(const Answer& answer) {
  json::array rows;
  for (const LayersAtContext& at : answer.contexts) {
    const Estimate& e = at.estimate;
    json::object row{{"context", at.context},
                     {"verdict", name_of(e.verdict)},
                     {"gpu_layers", fits(e) ? json::value(at.gpu_layers) : json::value(nullptr)},
                     {"gpu_bytes", e.gpu_bytes.count()},
                     {"cpu_bytes", e.cpu_bytes.count()},
                     {"ttft_s", finite_number(e.ttft.value())},
                     {"tokens_s", e.tokens_s}};
    if (has_experts(answer)) {
      const bool fits = at.cpu_moe >= 0;
      row["n_cpu_moe"] = fits ? json::value(at.cpu_moe) : json::value(nullptr);
      row["n_cpu_moe_gpu_bytes"] = at.with_cpu_moe.gpu_bytes.count();
      row["n_cpu_moe_cpu_bytes"] = at.with_cpu_moe.cpu_bytes.count();
      row["n_cpu_moe_tokens_s"] = at.with_cpu_moe.tokens_s;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json::array splits_json(const Answer& answer) {
  json::array rows;
  for (const ParallelSplit& split : answer.splits) {
    const Estimate& e = split.estimate;
    json::object row{{"tensor_parallel", split.tensor},
                     {"pipeline_parallel", split.pipeline},
                     {"expert_parallel", split.expert},
                     {"verdict", name_of(e.verdict)},
                     {"reason", name_of(e.reason)},
                     {"weights_bytes", split.weights.count()},
                     {"gpu_bytes", e.gpu_bytes.count()},
                     {"ttft_s", finite_number(e.ttft.value())},
                     {"tokens_s", e.tokens_s}};
    if (split.room) {
      row["cache_room_bytes"] = split.room->available.count();
      row["cache_blocks"] = split.room->blocks;
      row["cache_tokens"] = split.room->tokens;
      row["cache_sequences"] = split.room->sequences;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headroom::sweep
