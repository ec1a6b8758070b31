// Reads a purchase.toml.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "hardware/text_file.hpp"
#include "hardware/toml_row.hpp"
#include "model/engine/default_cache.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "report/curve.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/portfolio/portfolio.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/spec/spec.hpp"

namespace headroom::sweep {
namespace {

constexpr std::size_t max_loads = 12;
constexpr Limit max_tokens{1e9}, max_users{1e9}, max_rate{1e12}, max_money{1e12};

Size whole(TomlRow& row, std::string_view key, Limit limit, Size fallback) {
  const auto value = row.positive(key, limit);
  if (!value) return fallback;
  if (*value != std::floor(*value)) row.fail(key, "found a fraction; expected a whole number");
  return static_cast<Size>(*value);
}

/// Result of `read` for a text. Its error becomes an error about the key.
template <class Read>
auto named(TomlRow& row, std::string_view key, const std::string& text, Read&& read) {
  try {
    return read(text);
  } catch (const std::runtime_error& e) {
    row.fail(key, e.what());
  } catch (const std::invalid_argument& e) {
    row.fail(key, e.what());
  }
}

std::optional<Seconds> seconds(TomlRow& row, std::string_view key) {
  const auto text = row.text(key);
  if (!text) return std::nullopt;
  return named(row, key, *text, [](const std::string& t) { return parse_seconds(t); });
}

/// How requests come, and limits on the slowest.
void read_arrivals(TomlRow& row, const Portfolio& p, model::Load& load) {
  model::Target& target = load.target;
  model::Scenario& s = load.request;
  const auto limit = [&](std::string_view key) {
    const auto found = seconds(row, key);
    return found ? found->value() : model::LateLimits::none;
  };
  target.late = {limit("max_ttft_p95"), limit("max_tpot_p95"), limit("max_e2e_p99")};
  const auto spread = [&](std::string_view key, Size median) {
    const Size found = whole(row, key, max_tokens, 0);
    if (found > 0 && found < median)
      row.fail(key, fmt::format("found {}; expected at least the median, {}", found, median));
    return found;
  };
  s.prompt_tokens_p95 = spread("prompt_tokens_p95", s.prompt_tokens);
  s.output_tokens_p95 = spread("output_tokens_p95", s.output_tokens);
  target.load_factor = p.load_factor;
  const bool rate = target.requests_s > 0 || target.output_tokens_s > 0;
  const auto think = seconds(row, "think_time");
  if (think && (rate || target.users == 0))
    row.fail("think_time", "found beside a rate; expected users, who pause between requests");
  target.think = think ? think->value() : 0;
  const auto burstiness = row.positive("burstiness", Limit{1e6});
  if (burstiness && !rate)
    row.fail("burstiness", "found without requests_s or tokens_s, whose arrivals it describes");
  target.burstiness = burstiness.value_or(1);
  const auto active = row.positive("active_share", Limit{1});
  if (active && target.users == 0) row.fail("active_share", "found without users");
  const bool slowest = target.late.any() || rate || think;
  for (const auto key : {"prompt_tokens_p95", "output_tokens_p95"})
    if (row.has(key) && !slowest)
      row.fail(key, "found without a limit on the slowest, a rate or think_time; expected one");
  target.users = static_cast<Size>(
      std::ceil(p.growth * active.value_or(1) * static_cast<double>(target.users) - 1e-9));
  target.requests_s *= p.growth;
  target.output_tokens_s *= p.growth;
}

model::Load read_load(const toml::table& table, Portfolio& p, const Hub& hub,
                      const Engines& engines, bool strict, const std::string& usual_runtime) {
  TomlRow row(table, p.file);
  model::Load load;
  const std::string name = row.required_text("model");
  load.name = row.text("name").value_or(name);
  p.models.push_back(std::make_unique<model::Model>(
      named(row, "model", name, [&](const std::string& t) { return resolve_model(t, hub); })));
  const model::Model& m = *p.models.back();
  if (!m.writes())
    row.fail("model",
             fmt::format("found {}, which writes no text; expected a model that does", m.name));
  model::Scenario& s = load.request;
  s.runtime = named(row, "runtime", row.text("runtime").value_or(usual_runtime),
                    [&](const std::string& t) { return &engines.named(t); });
  const std::string held = row.text("precision").value_or("auto");
  const model::Scheme* asked = named(row, "precision", held, [&](const std::string& t) {
    return t == "auto" ? nullptr : &model::scheme(t);
  });
  const model::Scheme& scheme = model::loaded_scheme(m, asked, *s.runtime, *p.machines.front());
  for (const auto& machine : p.machines)
    if (&model::loaded_scheme(m, asked, *s.runtime, *machine) != &scheme)
      row.fail(
          "precision",
          fmt::format("found {}, which {} loads differently on {} and {}; expected one that is "
                      "the same on all machines, such as bf16",
                      held, s.runtime->name, p.machines.front()->name, machine->name));
  p.weights.push_back(
      std::make_unique<model::QuantisedModel>(model::loaded_weights(m, scheme, *s.runtime)));
  if (!p.weights.back()->refusal.empty()) row.fail("precision", p.weights.back()->refusal);

  s.weights = p.weights.back().get();
  s.kv_precision =
      named(row, "kv_precision", row.text("kv_precision").value_or("auto"), model::asked_cache);
  s.prompt_tokens = whole(row, "prompt_tokens", max_tokens, s.prompt_tokens);
  s.output_tokens = whole(row, "output_tokens", max_tokens, s.output_tokens);
  s.context = whole(row, "context", max_tokens, 0);
  if (s.context > 0 && s.context < s.prompt_tokens + s.output_tokens)
    row.fail("context",
             fmt::format("found {}; expected at least prompt_tokens + output_tokens", s.context));

  model::Target& target = load.target;
  target.ttft = seconds(row, "max_ttft");
  target.tpot = seconds(row, "max_tpot");
  target.usual = model::usual_tpot;
  target.attention_replicas = true;
  target.users = whole(row, "users", max_users, 0);
  target.requests_s = row.positive("requests_s", max_rate).value_or(0);
  target.output_tokens_s = row.positive("tokens_s", max_rate).value_or(0);
  target.strict = strict;
  read_arrivals(row, p, load);
  if (target.users == 0 && target.requests_s == 0 && target.output_tokens_s == 0)
    row.fail("users", "missing; expected at least one of users, requests_s and tokens_s");
  row.finish();
  return load;
}

std::vector<model::Acquisition> read_acquisitions(TomlRow& row) {
  std::vector<model::Acquisition> all;
  for (const auto& text : row.texts("acquire")) {
    const auto found = std::ranges::find(
        model::acquisitions, text, [](model::Acquisition each) { return model::name_of(each); });
    if (found == std::end(model::acquisitions))
      row.fail("acquire", fmt::format("found '{}'; expected buy, used or rent", text));
    all.push_back(*found);
  }
  if (all.empty()) all.assign(std::begin(model::acquisitions), std::end(model::acquisitions));
  return all;
}

}  // namespace

Portfolio read_portfolio(const std::filesystem::path& file, const Hub& hub,
                         const Engines& engines) try {
  Portfolio p;
  p.file = file.string();
  p.text = read_text_file(p.file, "a portfolio in TOML");
  const auto beside = [&](const std::string& name) { return (file.parent_path() / name).string(); };
  const toml::table root = parse_toml(p.text, p.file);
  TomlRow row(root, p.file);
  p.name = row.text("name").value_or(file.stem().string());
  std::vector<std::string> overlays;
  for (const auto& each : row.texts("hardware")) overlays.push_back(beside(each));
  const auto held = catalogue_of(overlays);
  const Catalogue& catalogue = *held;
  const std::string prices = beside(row.required_text("prices"));
  p.prices = read_prices(read_text_file(prices, "prices in TOML"), prices, catalogue);
  p.acquisitions = read_acquisitions(row);
  p.offload = row.flag("offload").value_or(true);
  p.share_cards = row.flag("share_cards").value_or(true);
  p.budget = row.positive("budget", max_money);
  p.budget_per_hour = row.positive("budget_per_hour", max_money);
  p.years = row.positive("years", Limit{100}).value_or(p.prices.amortisation_years.value_or(3));
  p.draws = whole(row, "draws", Limit{100000}, 200);
  p.seed = static_cast<std::uint64_t>(whole(row, "seed", Limit{1e15}, 1));
  p.change = row.positive("change", Limit{0.99}).value_or(0.2);
  p.load_factor = row.positive("load_factor", Limit{1}).value_or(model::usual_load_factor);
  const auto growth = row.positive("growth", Limit{1});
  const auto months = row.positive("months", Limit{1200});
  if (months && !growth) row.fail("months", "found without growth, the demand's share a month");
  p.growth = std::pow(1 + growth.value_or(0), months.value_or(12));
  p.spares = whole(row, "spares", Limit{1000}, 0);
  const bool strict = row.flag("strict").value_or(false);
  const std::string runtime = row.text("runtime").value_or("vllm");
  const auto machines = row.texts("machines");
  if (machines.empty()) row.fail("machines", "missing; expected the machines to choose from");
  for (const auto& text : machines) {
    p.machines.push_back(std::make_unique<Machine>(named(
        row, "machines", text, [&](const std::string& t) { return parse_machine(t, catalogue); })));
    for (std::size_t i = 0; i + 1 < p.machines.size(); ++i)
      if (p.machines[i]->name == p.machines.back()->name)
        row.fail("machines", fmt::format("found '{}' twice", p.machines.back()->name));
    engines.measured(*p.machines.back());
  }
  p.assumed = engines.assumed(p.machines.front().get());
  const auto loads = row.tables("load");
  if (loads.empty() || loads.size() > max_loads)
    row.fail("load", fmt::format("found {}; expected from 1 to {}", loads.size(), max_loads));
  for (const toml::table* each : loads) {
    p.loads.push_back(read_load(*each, p, hub, engines, strict, runtime));
    const std::string page = report::file_name(p.loads.back().name);
    if (page.empty() || page == "purchase")
      row.fail("load", fmt::format("found the name '{}', which no file can have; choose another",
                                   p.loads.back().name));
    for (std::size_t i = 0; i + 1 < p.loads.size(); ++i)
      if (report::file_name(p.loads[i].name) == page)
        row.fail("load", fmt::format("found '{}' twice; rename one", page));
  }
  row.finish();
  return p;
} catch (const SpecError&) {
  throw;
} catch (const HubError&) {
  throw;
} catch (const std::runtime_error& e) {
  throw SpecError(e.what());
}

}  // namespace headroom::sweep
