// What the user pays: rent, purchase and second-hand prices, electricity, and what an API asks.
// List prices are facts and live in the catalogue; everything here comes from the user's
// prices.toml. A figure there is a number, or { expected, low, high } where it is not sure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

struct Machine;

/// Prices of one thing, in the file's currency. What is absent is not known.
struct Price {
  enum class Of { device, host, machine } of = Of::device;
  std::string name;  ///< catalogue name, or a machine's canonical name
  std::optional<double> buy, used, rent_per_hour;
  std::string source, date;
};

/// What a provider asks for a million tokens of a model.
struct ApiPrice {
  std::string model, provider;
  double input_per_million = 0, output_per_million = 0;
  std::optional<double> cached_per_million;
  std::string source, date;
};

struct Prices;

/// A figure of the file that is not sure: between `low` and `high` in 8 of 10 cases, both as
/// factors on what is expected.
struct Uncertain {
  std::string name;       ///< "rtx-4090, buy"; "electricity_per_kwh"
  std::size_t price = 0;  ///< index, of `of_price`
  std::optional<double> Price::*of_price = nullptr;
  std::optional<double> Prices::*of_all = nullptr;  ///< else this one
  double low = 1, high = 1;
};

/// A user's prices. What is absent is not known, and costs that need it stay empty.
struct Prices {
  std::string currency = "USD";
  double per_usd = 1;  ///< units of the currency for one US dollar: list prices are in dollars
  std::optional<double> electricity_per_kwh;
  std::optional<double> power_usage_effectiveness;  ///< facility power over machine power, from 1
  std::optional<double> utilisation;                ///< share of the time at work, above 0 to 1
  std::optional<double> amortisation_years;
  std::vector<Price> prices;
  std::vector<ApiPrice> apis;
  std::vector<Uncertain> uncertain;
  /// "0.15 USD for a kWh, at work 50 % of the time, paid off over 3 years; from prices.toml": what
  /// is given, for readers.
  std::string assumptions;

  /// The price of a device, a host or a machine by its catalogue or canonical name; null: none.
  const Price* find(Price::Of of, std::string_view name) const;
  /// The figure that `which` is of.
  double& figure(const Uncertain& which);
};

/// Reads a prices.toml, called `file` in errors. Throws std::runtime_error naming file, line, key,
/// what was found and what is allowed; names that `catalogue` lacks are errors with the nearest.
Prices read_prices(std::string_view toml, std::string_view file, const Catalogue& catalogue);

/// Money for one purchase of `machine`, in the file's currency: each card and the host at `buy`,
/// else at list price; or the machine's own price. Absent where any part has neither.
std::optional<double> purchase_price(const Prices& prices, const Machine& machine);

/// The same second-hand: each card and the host at `used`, or the machine's own. Absent where any
/// part has no such price.
std::optional<double> used_price(const Prices& prices, const Machine& machine);

/// Money for one hour of rent: the machine's own rent, else the sum over its cards where every one
/// has a rent (a rented card brings its host). Absent otherwise.
std::optional<double> rent_per_hour(const Prices& prices, const Machine& machine);

}  // namespace headroom
