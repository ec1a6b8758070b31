// The views that ship. Arithmetic stays out of the SQL: it selects, groups and orders.
#include "report/view.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "hardware/names.hpp"

namespace headroom::report {
namespace {

constexpr View all_views[] = {
    {"verdicts", "Which verdicts do the points of the grid have?", "Number of points by verdict.",
     "SELECT machine, runtime, verdict, count(*) AS points FROM result_all WHERE run = :run "
     "GROUP BY machine, runtime, verdict ORDER BY machine, runtime, points DESC, verdict"},
    {"fastest", "What is the fastest way to run each model on each machine?",
     "The point with the most output tokens per second, over every axis of the grid.",
     "SELECT machine, model, runtime, precision, batch, verdict, gpu_bytes, ttft_s, tpot_s, "
     "max(tokens_s) AS tokens_s FROM result_all WHERE run = :run AND task IS NOT 'training' AND "
     "tokens_s > 0 GROUP BY machine, model ORDER BY machine, model"},
    {"smallest", "What is the least memory that each model runs in, on each machine?",
     "The point with the smallest use of the most loaded card among those that fit on GPUs.",
     "SELECT machine, model, runtime, precision, batch, gpus_used, min(gpu_bytes) AS gpu_bytes, "
     "tokens_s FROM result_all WHERE run = :run AND task IS NOT 'training' AND verdict IN "
     "('fits_one_gpu', 'fits_gpus') "
     "GROUP BY machine, model ORDER BY machine, model"},
    {"trainable", "What is the largest model that each machine trains, by method?",
     "The model with most parameters among the training points that fit, at its fastest.",
     "SELECT machine, adapters, rank, model, max(parameters) AS parameters, verdict, batch, "
     "sequence, zero, checkpointing, gpu_bytes, tokens_s FROM (SELECT * FROM result_all WHERE "
     "run = :run AND task = 'training' AND verdict LIKE 'fits%' ORDER BY tokens_s DESC) "
     "GROUP BY machine, adapters, rank ORDER BY machine, adapters, rank"},
    {"serving", "How many requests does each engine answer, on each machine?",
     "The point with most requests a second among those that ask for a concurrency.",
     "SELECT machine, model, runtime, precision, concurrency, serving_running, serving_ttft_s, "
     "serving_tpot_s, serving_tokens_s, max(serving_requests_s) AS serving_requests_s "
     "FROM result_all WHERE run = :run AND serving_running > 0 "
     "GROUP BY machine, model, runtime, precision ORDER BY machine, model, runtime, precision"},
};

}  // namespace

std::span<const View> views() { return all_views; }

const View& view(std::string_view name) {
  const auto found = std::ranges::find(all_views, name, &View::name);
  if (found != std::end(all_views)) return *found;
  std::vector<std::string> known;
  for (const View& v : all_views) known.emplace_back(v.name);
  throw unknown_name("view", name, known);
}

}  // namespace headroom::report
