// headroom place MODEL on a machine: every strategy with what it comes to, one recommendation, the
// least GPU memory, the best placement.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "sweep/commands/command.hpp"
#include "sweep/offload_folder.hpp"
#include "sweep/output.hpp"
#include "sweep/place/answer.hpp"
#include "sweep/place/place.hpp"
#include "sweep/screen/verdict_text.hpp"

namespace headroom::sweep {
namespace {

/// Options of the mapper say nothing where no device map is made.
void refuse_mapper(const Options& options, const model::Engine& runtime) {
  for (const auto flag : {"mapper", "policy", "no-split", "fallback-allocation", "no-clean"})
    if (options.given(flag) && runtime.offload.mode != model::Offload::stream)
      throw UsageError(
          fmt::format("--{} has no effect: {} takes no device map", flag, runtime.name));
}

}  // namespace

int place_by_strategy(const Options& options) {
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  GivenScenario given = scenario_of(options);
  if (!given.on_machine)
    throw UsageError(
        "how much may each device hold? give raw budgets (--max-memory 0=6GiB --max-memory "
        "cpu=25GiB), or a machine (--machine, or --gpu-memory, --ram and --disk)");
  refuse_mapper(options, *given.scenario.runtime);
  if (!given.weights->refusal.empty()) {
    fmt::print(stderr, "headroom: {}\n", refusal_text(given.scenario));
    return answer_is_no;
  }
  if (options.given("offload-folder"))
    given.scenario.disk_budget =
        std::min(given.scenario.disk_budget, space_in(options.text("offload-folder")));
  const Answer answer = answer_of(options, given);
  if (format == Format::text)
    emit(options, options.given("details") ? as_text(answer, options) : place_screen(answer));
  else if (format == Format::json)
    emit(options, pretty(as_json(answer)));
  else if (format == Format::jsonl)
    emit(options, boost::json::serialize(as_json(answer)) + '\n');
  else
    emit(options, formatted(as_table(answer), format));
  return answer.chosen < answer.strategies.size() && answer.strategies[answer.chosen].feasible
             ? done
             : answer_is_no;
}

}  // namespace headroom::sweep
