#include "sweep/options/prompt_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/checkpoint/position_table.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

void fit_prompt(const Options& options, const model::Model& m, model::Scenario& s,
                std::vector<std::string>& assumed) {
  if (!m.writes() && options.given("output-tokens"))
    throw UsageError(fmt::format("--output-tokens: {} writes no tokens; leave it out", m.name));
  if (options.given("prompt-tokens") || says_context(options)) return;
  if (m.encoder_decoder || !model::has_position_table(m)) return;
  const Size positions = m.shape.positions;
  if (m.writes() && s.output_tokens >= positions && !options.given("output-tokens"))
    s.output_tokens = std::max<Size>(1, positions / 5);  // one to four, as usually
  const Size room = positions - (m.writes() ? s.output_tokens : 0);
  if (room < 1 || room >= s.prompt_tokens) return;
  s.prompt_tokens = room;
  assumed.push_back(
      fmt::format("{} prompt and {} output tokens, for which the model has learned positions "
                  "(--prompt-tokens, --output-tokens)",
                  room, s.output_tokens));
}

}  // namespace headroom::sweep
