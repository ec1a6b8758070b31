#include "sweep/accuracy/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::sweep {
namespace {

using enum Statistic;

constexpr auto figures = std::to_array<std::pair<std::string_view, Statistic>>({
    {"allocated_peak", allocated_peak},
    {"allocated_held", resident_allocated},
    {"card_used", card_used},
    {"all_but_cache", all_but_cache},
    {"card_cache", card_cache},
    {"weights", Statistic::weights},
    {"card_weights", card_weights},
    {"host_weights", host_weights},
    {"host_used", host_used},
    {"cache_token", cache_token},
    {"cache_left", cache_left},
    {"cache_tokens", cache_tokens},
    {"card_left", card_left},
    {"concurrency", concurrency},
    {"loaded", loaded},
    {"step", step},
    {"generation", generation},
    {"prefill", Statistic::prefill},
    {"serving_step", serving_step},
    {"serving_first", serving_first},
    {"serving_rate", serving_rate},
    {"load", load},
    {"load_warm", load_warm},
    {"load_weights", load_weights},
    {"load_weights_warm", load_weights_warm},
});

constexpr auto forms =
    std::to_array<std::pair<std::string_view, Form>>({{"amount", Form::amount},
                                                      {"rate_of_prompt", Form::rate_of_prompt},
                                                      {"rate_of_output", Form::rate_of_output},
                                                      {"rate_of_both", Form::rate_of_both},
                                                      {"per_output", Form::per_output},
                                                      {"per_sequence", Form::per_sequence}});

}  // namespace

bool is_memory(Statistic statistic) { return statistic < step; }

bool is_left(Statistic statistic) { return statistic == cache_left || statistic == card_left; }

Quantity quantity_of(const Measurement& row) {
  const std::string& written = row["figure"];
  const std::string name = written.substr(0, written.find(':'));
  const auto figure = std::ranges::find(figures, name, [](const auto& f) { return f.first; });
  if (figure == figures.end()) throw Skipped(Skip::statistic, fmt::format("figure '{}'", written));
  const auto form = std::ranges::find(forms, row["form"], [](const auto& f) { return f.first; });
  if (form == forms.end()) throw Skipped(Skip::statistic, fmt::format("form '{}'", row["form"]));
  const auto card =
      name == written ? std::nullopt : leading_number(written.substr(name.size() + 1));
  return {figure->second, form->second, static_cast<std::size_t>(card.value_or(0))};
}

double seconds(const Quantity& quantity, double value, const model::Scenario& s) {
  const auto prompt = static_cast<double>(s.batch * s.prompt_tokens);
  const auto output = static_cast<double>(s.batch * s.output_tokens);
  // A rate of decode alone is of one step, in which each sequence gets a token.
  const bool one_step = quantity.statistic == step || quantity.statistic == serving_step;
  if (one_step && quantity.form == Form::rate_of_output)
    return static_cast<double>(s.batch) / value;
  switch (quantity.form) {
    case Form::amount:
      return value;
    case Form::rate_of_prompt:
      return prompt / value;
    case Form::rate_of_output:
      return output / value;
    case Form::rate_of_both:
      return (prompt + output) / value;
    case Form::per_output:
      return value * static_cast<double>(s.output_tokens);
    case Form::per_sequence:
      return value * output;
  }
  return value;
}

}  // namespace headroom::sweep
