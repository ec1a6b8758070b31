// Reads and checks a user's prices, and adds them up over a machine.
#include "hardware/price.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "hardware/machine.hpp"
#include "hardware/toml_row.hpp"

namespace headroom {
namespace {

constexpr Limit most_money{1e9};
constexpr Limit most_hourly{1e6};
constexpr Limit most_kwh{100};
constexpr Limit most_pue{10};
constexpr Limit most_years{100};
constexpr Limit most_rate{1e9};

struct Kind {
  Price::Of of;
  std::string_view key;
};
constexpr std::array<Kind, 3> kinds = {
    {{Price::Of::device, "device"}, {Price::Of::host, "host"}, {Price::Of::machine, "machine"}}};

/// The catalogue's name for what a row names; unknown names are errors at their key.
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

Price read_price(const toml::table& table, std::string_view file, const Catalogue& catalogue) {
  TomlRow row(table, file);
  Price price;
  for (const Kind& kind : kinds) {
    const auto name = row.text(kind.key);
    if (!name) continue;
    if (!price.name.empty())
      row.fail(kind.key, "found beside another; expected one of device, host and machine");
    price.of = kind.of;
    price.name = known_name(row, kind, *name, catalogue);
  }
  if (price.name.empty()) row.fail("device", "missing; expected one of device, host and machine");
  price.buy = row.positive("buy", most_money);
  price.used = row.positive("used", most_money);
  price.rent_per_hour = row.positive("rent_per_hour", most_hourly);
  if (!price.buy && !price.used && !price.rent_per_hour)
    row.fail("buy", "missing; expected at least one of buy, used and rent_per_hour");
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
  price.input_per_million = row.required_positive("input_per_million", most_hourly);
  price.output_per_million = row.required_positive("output_per_million", most_hourly);
  price.cached_per_million = row.positive("cached_per_million", most_hourly);
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
  return fmt::format("{}{}from {}", all, all.empty() ? "" : "; ", file);
}

}  // namespace

const Price* Prices::find(Price::Of of, std::string_view name) const {
  const auto found = std::ranges::find_if(
      prices, [&](const Price& each) { return each.of == of && each.name == name; });
  return found == prices.end() ? nullptr : &*found;
}

Prices read_prices(std::string_view toml, std::string_view file, const Catalogue& catalogue) {
  const toml::table root = parse_toml(toml, file);
  TomlRow row(root, file);
  Prices result;
  result.currency = row.text("currency").value_or("USD");
  const auto rate = row.positive("per_usd", most_rate);
  if (!rate && result.currency != "USD")
    row.fail("per_usd", fmt::format("missing; expected how many {} one US dollar is, since list "
                                    "prices are in dollars",
                                    result.currency));
  if (rate && result.currency == "USD" && *rate != 1)
    row.fail("per_usd", "expected 1, since the currency is USD");
  result.per_usd = rate.value_or(1);
  result.electricity_per_kwh = row.number("electricity_per_kwh", most_kwh);
  result.power_usage_effectiveness = row.positive("power_usage_effectiveness", most_pue);
  if (result.power_usage_effectiveness && *result.power_usage_effectiveness < 1)
    row.fail("power_usage_effectiveness", "found less than 1; expected from 1 to 10");
  result.utilisation = row.positive("utilisation", Limit{1});
  result.amortisation_years = row.positive("amortisation_years", most_years);
  for (const toml::table* each : row.tables("price")) {
    Price price = read_price(*each, file, catalogue);
    if (result.find(price.of, price.name) != nullptr)
      TomlRow(*each, file)
          .fail("price", fmt::format("found '{}' twice in this file; expected it "
                                     "once",
                                     price.name));
    result.prices.push_back(std::move(price));
  }
  for (const toml::table* each : row.tables("api")) result.apis.push_back(read_api(*each, file));
  row.finish();
  result.assumptions = assumptions_of(result, file);
  return result;
}

std::optional<double> purchase_price(const Prices& prices, const Machine& machine) {
  if (const Price* whole = prices.find(Price::Of::machine, machine.name))
    if (whole->buy) return whole->buy;
  const Price* host = prices.find(Price::Of::host, machine.host.name);
  if (host == nullptr || !host->buy) return std::nullopt;
  double sum = machine.host.boxes * *host->buy;
  for (const Device& each : machine.devices) {
    const Price* price = prices.find(Price::Of::device, each.name);
    if (price != nullptr && price->buy)
      sum += *price->buy;
    else if (each.list_price_usd)
      sum += *each.list_price_usd * prices.per_usd;
    else
      return std::nullopt;
  }
  return sum;
}

std::optional<double> used_price(const Prices& prices, const Machine& machine) {
  if (const Price* whole = prices.find(Price::Of::machine, machine.name))
    if (whole->used) return whole->used;
  const Price* host = prices.find(Price::Of::host, machine.host.name);
  if (host == nullptr || !host->used) return std::nullopt;
  double sum = machine.host.boxes * *host->used;
  for (const Device& each : machine.devices) {
    const Price* price = prices.find(Price::Of::device, each.name);
    if (price == nullptr || !price->used) return std::nullopt;
    sum += *price->used;
  }
  return sum;
}

std::optional<double> rent_per_hour(const Prices& prices, const Machine& machine) {
  if (const Price* whole = prices.find(Price::Of::machine, machine.name))
    if (whole->rent_per_hour) return whole->rent_per_hour;
  if (machine.devices.empty()) {
    const Price* host = prices.find(Price::Of::host, machine.host.name);
    return host == nullptr ? std::nullopt : host->rent_per_hour;
  }
  double sum = 0;
  for (const Device& each : machine.devices) {
    const Price* price = prices.find(Price::Of::device, each.name);
    if (price == nullptr || !price->rent_per_hour) return std::nullopt;
    sum += *price->rent_per_hour;
  }
  return sum;
}

}  // namespace headroom
