// Costs: rent, purchase and second-hand prices, electricity, and API prices. List prices are facts
// and stand in the catalogue. Everything here comes from the user's prices.toml, or is a reference
// rent that is shipped. A figure there is a number, or { expected, low, high } if it is uncertain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

struct Machine;

/// Prices of one item, in the file's currency. Unknown prices are absent.
struct Price {
  enum class Of { device, host, machine } of = Of::device;
  std::string name;  ///< catalogue name, or a machine's canonical name
  std::optional<double> buy, used, rent_per_hour;
  std::vector<int> counts;  ///< numbers of such devices that are machines to choose from
  bool names_host = false;  ///< a host, or a machine as "CARDS @ HOST"
  std::string source, date;
};

/// A provider's price for a million tokens of a model.
struct ApiPrice {
  std::string model, provider;
  double input_per_million = 0, output_per_million = 0;
  std::optional<double> cached_per_million;
  std::string source, date;
};

struct Prices;

/// An uncertain figure of the file. It lies between `low` and `high` in 8 of 10 cases; both are
/// factors on the expected value.
struct Uncertain {
  std::string name;       ///< "rtx-4090, buy"; "electricity_per_kwh"
  std::size_t price = 0;  ///< index into the prices, for `of_price`
  std::optional<double> Price::*of_price = nullptr;
  std::optional<double> Prices::*of_all = nullptr;  ///< otherwise this member
  double low = 1, high = 1;
};

/// A user's prices. Missing figures are absent, and costs that need them stay empty.
struct Prices {
  std::string currency = "USD";
  double per_usd = 1;  ///< currency units for one US dollar; list prices are in dollars
  std::optional<double> electricity_per_kwh;
  /// facility power divided by machine power, at least 1
  std::optional<double> power_usage_effectiveness;
  std::optional<double> utilisation;  ///< share of time in use, above 0 and at most 1
  std::optional<double> amortisation_years;
  std::vector<Price> prices;
  std::vector<ApiPrice> apis;
  std::vector<Uncertain> uncertain;
  /// Summary of the given assumptions for readers: "0.15 USD for a kWh, at work 50 % of the time,
  /// paid off over 3 years; from prices.toml".
  std::string assumptions;

  /// Price of a device, host or machine by its catalogue or canonical name. Null if there is none.
  const Price* find(Price::Of of, std::string_view name) const;
  /// The figure that `which` describes.
  double& figure(const Uncertain& which);
};

/// Reads a prices.toml, called `file` in errors. Throws std::runtime_error naming file, line, key,
/// what was found and what is allowed. Names that `catalogue` lacks are errors with the nearest
/// names.
Prices read_prices(std::string_view toml, std::string_view file, const Catalogue& catalogue);

/// Shipped rents with their sources, for questions about money without a file of the user's. They
/// state neither electricity nor prices to buy. Throws as read_prices.
Prices reference_prices(const Catalogue& catalogue);

/// Machines that the file prices as a whole, and each number of cards in `counts`. In order of the
/// file.
std::vector<std::string> priced_machines(const Prices& prices);

/// The row that states the machine's rent: its own, or of its cards the first's. Null where
/// rent_per_hour() is absent.
const Price* rent_row(const Prices& prices, const Machine& machine);

/// True if the row of the machine's rent names no host, so that the memory rented with the cards is
/// unknown.
bool rents_unknown_host(const Prices& prices, const Machine& machine);

/// Purchase price of `machine` in the file's currency: its own price, that of each of its equal
/// boxes, or the sum over cards and
/// host. Each uses `buy`, else its list price. Absent if any part has neither.
std::optional<double> purchase_price(const Prices& prices, const Machine& machine);

/// Second-hand price: the machine's own, that of its equal boxes, or the sum of `used` over cards
/// and host. Absent if any part has no such price.
std::optional<double> used_price(const Prices& prices, const Machine& machine);

/// Rent for one hour: the machine's own, that of its equal boxes, or the sum over its cards if each
/// has a rent. A rented card includes its host. Absent otherwise.
std::optional<double> rent_per_hour(const Prices& prices, const Machine& machine);

}  // namespace headroom
