// Reads and checks a user's prices, and totals them over a machine.
#include "hardware/price.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "hardware/embedded.hpp"
#include "hardware/machine.hpp"
#include "hardware/toml_row.hpp"

namespace headroom {
namespace {

constexpr Limit max_money{1e9};
constexpr Limit max_hourly{1e6};
constexpr Limit max_kwh{100};
constexpr Limit max_pue{10};
constexpr Limit max_years{100};
constexpr Limit max_rate{1e9};
constexpr std::int64_t most_cards = 1024;  // of parse_machine

struct Kind {
  Price::Of of;
  std::string_view key;
};
constexpr std::array<Kind, 3> kinds = {
    {{Price::Of::device, "device"}, {Price::Of::host, "host"}, {Price::Of::machine, "machine"}}};

/// The catalogue's name for the item of a row. Unknown names are errors at their key.
std::string known_name(TomlRow& row, const Kind& kind, const std::string& name,
                       const Catalogue& catalogue) {
  try {
    if (kind.of == Price::Of::device) return catalogue.device(name).name;
    if (kind.of == Price::Of::host) return catalogue.host(name).name;
    return parse_machine(name, catalogue).name;
  } catch (const std::exception& error) {
    row.fail(kind.key, error.what());
  }
}

/// Reads a figure above 0: a number, or a table of expected, low and high, which goes to
/// `uncertain`. `least` is its lower limit.
struct Figures {
  TomlRow& row;
  std::string_view file;
  std::vector<Uncertain>& uncertain;

  std::optional<double> read(std::string_view key, Limit limit, Uncertain where, double least = 0) {
    const toml::table* range = row.table(key);
    const auto checked = [&](TomlRow& of, std::string_view name, double value) {
      if (value < least)
        of.fail(name,
                fmt::format("found {}; expected from {:g} to {:g}", value, least, limit.most));
      return value;
    };
    if (range == nullptr) {
      const auto value = row.positive(key, limit);
      if (value) checked(row, key, *value);
      return value;
    }
    TomlRow inner(*range, file);
    const double expected = checked(inner, "expected", inner.required_positive("expected", limit));
    const double low = checked(inner, "low", inner.required_positive("low", limit));
    const double high = checked(inner, "high", inner.required_positive("high", limit));
    inner.finish();
    if (low > expected || expected > high)
      row.fail(key, fmt::format("found low {:g}, expected {:g}, high {:g}; expected them in this "
                                "order",
                                low, expected, high));
    where.low = low / expected;
    where.high = high / expected;
    if (low < high) uncertain.push_back(std::move(where));
    return expected;
  }
};

/// Numbers of cards; empty where absent.
std::vector<int> read_counts(TomlRow& row, Price::Of of) {
  std::vector<int> counts;
  const toml::node* node = row.find("counts");
  if (node == nullptr) return counts;
  if (of != Price::Of::device) row.fail("counts", "only a device has it; machines name theirs");
  const toml::array* list = node->as_array();
  if (list != nullptr)
    for (const toml::node& each : *list)
      if (const auto count = each.value_exact<std::int64_t>();
          count && *count >= 1 && *count <= most_cards)
        counts.push_back(static_cast<int>(*count));
  if (counts.empty() || counts.size() != list->size())
    row.wrong("counts", *node, "a list of whole numbers from 1 to 1024");
  return counts;
}

Price read_price(const toml::table& table, std::string_view file, const Catalogue& catalogue,
                 std::size_t index, std::vector<Uncertain>& uncertain) {
  TomlRow row(table, file);
  Price price;
  for (const Kind& kind : kinds) {
    const auto name = row.text(kind.key);
    if (!name) continue;
    if (!price.name.empty())
      row.fail(kind.key, "found together with another; give one of device, host and machine");
    price.of = kind.of;
    price.name = known_name(row, kind, *name, catalogue);
    price.names_host = kind.of == Price::Of::host || name->find('@') != std::string::npos;
  }
  if (price.name.empty()) row.fail("device", "missing; expected one of device, host and machine");
  Figures figures{row, file, uncertain};
  const auto read = [&](std::string_view key, std::optional<double> Price::*of, Limit limit) {
    price.*of = figures.read(
        key, limit,
        {.name = fmt::format("{}, {}", price.name, key), .price = index, .of_price = of});
  };
  read("buy", &Price::buy, max_money);
  read("used", &Price::used, max_money);
  read("rent_per_hour", &Price::rent_per_hour, max_hourly);
  if (!price.buy && !price.used && !price.rent_per_hour)
    row.fail("buy", "missing; expected at least one of buy, used and rent_per_hour");
  price.counts = read_counts(row, price.of);
  price.source = row.text("source").value_or(std::string(file));
  price.date = row.text("date").value_or("");
  row.finish();
  return price;
}

ApiPrice read_api(const toml::table& table, std::string_view file) {
  TomlRow row(table, file);
  ApiPrice price;
  price.model = row.required_text("model");
  price.provider = row.required_text("provider");
  price.input_per_million = row.required_positive("input_per_million", max_hourly);
  price.output_per_million = row.required_positive("output_per_million", max_hourly);
  price.cached_per_million = row.positive("cached_per_million", max_hourly);
  price.source = row.text("source").value_or(std::string(file));
  price.date = row.text("date").value_or("");
  row.finish();
  return price;
}

std::string assumptions_of(const Prices& prices, std::string_view file) {
  std::string all;
  const auto add = [&](const std::string& words) { all += (all.empty() ? "" : ", ") + words; };
  if (prices.electricity_per_kwh)
    add(fmt::format("{} {} for a kWh", *prices.electricity_per_kwh, prices.currency));
  if (prices.power_usage_effectiveness)
    add(fmt::format("{} times the machine's power for the site",
                    *prices.power_usage_effectiveness));
  if (prices.utilisation)
    add(fmt::format("at work {:.3g} % of the time", 100 * *prices.utilisation));
  if (prices.amortisation_years)
    add(fmt::format("paid off over {} years", *prices.amortisation_years));
  if (prices.per_usd != 1)
    add(fmt::format("{} {} for a US dollar", prices.per_usd, prices.currency));
  if (!prices.uncertain.empty()) add("the expected value of every range");
  return fmt::format("{}{}from {}", all, all.empty() ? "" : "; ", file);
}

}  // namespace

const Price* Prices::find(Price::Of of, std::string_view name) const {
  const auto found = std::ranges::find_if(
      prices, [&](const Price& each) { return each.of == of && each.name == name; });
  return found == prices.end() ? nullptr : &*found;
}

double& Prices::figure(const Uncertain& which) {
  return which.of_price != nullptr ? *(prices.at(which.price).*which.of_price)
                                   : *(this->*which.of_all);
}

Prices read_prices(std::string_view toml, std::string_view file, const Catalogue& catalogue) {
  const toml::table root = parse_toml(toml, file);
  TomlRow row(root, file);
  Prices result;
  result.currency = row.text("currency").value_or("USD");
  const auto rate = row.positive("per_usd", max_rate);
  if (!rate && result.currency != "USD")
    row.fail("per_usd", fmt::format("missing; expected the number of {} in one US dollar, because "
                                    "list prices are in dollars",
                                    result.currency));
  if (rate && result.currency == "USD" && *rate != 1)
    row.fail("per_usd", "expected 1, since the currency is USD");
  result.per_usd = rate.value_or(1);
  Figures figures{row, file, result.uncertain};
  const auto read = [&](std::string_view key, std::optional<double> Prices::*of, Limit limit,
                        double least = 0) {
    result.*of = figures.read(key, limit, {.name = std::string(key), .of_all = of}, least);
  };
  // Electricity may be free, but only where it is a plain number.
  if (row.table("electricity_per_kwh") != nullptr)
    read("electricity_per_kwh", &Prices::electricity_per_kwh, max_kwh);
  else
    result.electricity_per_kwh = row.number("electricity_per_kwh", max_kwh);
  read("power_usage_effectiveness", &Prices::power_usage_effectiveness, max_pue, 1);
  read("utilisation", &Prices::utilisation, Limit{1});
  read("amortisation_years", &Prices::amortisation_years, max_years);
  for (const toml::table* each : row.tables("price")) {
    Price price = read_price(*each, file, catalogue, result.prices.size(), result.uncertain);
    if (result.find(price.of, price.name) != nullptr)
      TomlRow(*each, file)
          .fail("price", fmt::format("found '{}' twice in this file; expected it "
                                     "once",
                                     price.name));
    result.prices.push_back(std::move(price));
  }
  for (const toml::table* each : row.tables("api")) {
    ApiPrice api = read_api(*each, file);
    for (const ApiPrice& before : result.apis)
      if (before.model == api.model && before.provider == api.provider)
        TomlRow(*each, file)
            .fail("model", fmt::format("found '{}' of {} twice in this file; expected it once",
                                       api.model, api.provider));
    result.apis.push_back(std::move(api));
  }
  row.finish();
  result.assumptions = assumptions_of(result, file);
  return result;
}

Prices reference_prices(const Catalogue& catalogue) {
  return read_prices(embedded_prices()[0].bytes, "the shipped reference prices", catalogue);
}

std::vector<std::string> priced_machines(const Prices& prices) {
  std::vector<std::string> names;
  for (const Price& price : prices.prices) {
    if (price.of == Price::Of::machine) names.push_back(price.name);
    for (const int count : price.counts) names.push_back(fmt::format("{}x {}", count, price.name));
  }
  return names;
}

}  // namespace headroom
