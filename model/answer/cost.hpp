// Cost of a machine by the hour and of its tokens, bought or rented.
//
// Prices are the user's (hardware/price.hpp). A result that needs an absent price is absent. Money
// is in the currency of the prices.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "hardware/price.hpp"
#include "model/infer/service.hpp"

namespace headroom::model {

/// How a machine is come by: bought new (the user's price, else list price), second-hand, or rented
/// by the hour.
enum class Acquisition { buy, used, rent };
inline constexpr Acquisition acquisitions[] = {Acquisition::buy, Acquisition::used,
                                               Acquisition::rent};
std::string_view name_of(Acquisition acquisition);

inline constexpr double hours_per_month = 730.5;  ///< 365.25 days / 12
inline constexpr double hours_per_year = 8766;

/// Watts of all cards at their power limits and of the host under load. A card whose figure
/// includes its host stands for both. Absent where a figure is not known. Source: the catalogue's
/// rows. Left out: what a card draws below its limit while it waits for memory, so that this is the
/// most, not the mean.
std::optional<double> power_w(const Machine& machine);
/// As above. Cards that are rented share the host with those of other customers, and have as large
/// a part of its power as of its cards. A host that may hold any number of cards is theirs.
std::optional<double> power_w(const Machine& machine, Acquisition acquisition);

/// Money for a calendar hour of a machine that is at work for `utilisation` of it.
struct HourlyCost {
  double capital = 0;  ///< the purchase price; rented: the rent
  double energy = 0;   ///< rented: 0, the rent includes it
  double total() const { return capital + energy; }
};
/// The share of the time at work that the prices state; 1 where they do not.
double utilisation_of(const Prices& prices);

/// Bought: price / (amortisation years * 8766) + watts / 1000 * PUE * price of a kWh * utilisation.
/// Rented: the rent. PUE 1 where it is not given. Absent where the price, the years, the
/// electricity or the power is. Left out: the energy of idle hours, interest, staff.
std::optional<HourlyCost> hourly_cost(const Prices& prices, const Machine& machine,
                                      Acquisition acquisition);

/// A fact that hourly_cost() needs and does not have.
struct MissingCost {
  enum class Fact { price, electricity, years, power } fact = Fact::price;
  std::string of;      ///< price: the machine; power: the device or host; else empty
  std::string reason;  ///< price: the key that would state it; power: why none is known; else empty

  bool operator==(const MissingCost&) const = default;
};
/// All that is missing: empty exactly where hourly_cost() has a value.
std::vector<MissingCost> missing_costs(const Prices& prices, const Machine& machine,
                                       Acquisition acquisition);
/// For a line: "no power_w of m3-max-128gb: Apple publishes none for laptops".
std::string to_text(const MissingCost& missing);

/// Money for one purchase; absent for rent and where a price is missing.
std::optional<double> purchase(const Prices& prices, const Machine& machine,
                               Acquisition acquisition);

/// Money for a request, for a million prompt tokens and for a million output tokens.
struct TokenCost {
  double request = 0, input_per_million = 0, output_per_million = 0;
};
/// By definition an output token costs as much as so many prompt tokens. A split by the machine's
/// time would make output cheaper where prompts take longer. Source: prices of APIs in 2025, USD a
/// million: OpenAI GPT-4.1 2 and 8, Amazon Nova Pro 0.80 and 3.20, DeepSeek-V3 0.27 and 1.10.
inline constexpr double output_weight = 4;
/// Tokens of machines that cost `hourly` and serve `requests_s` together for `utilisation` of the
/// time:
///
///   request = hourly / (3600 * utilisation * requests a second)
///   in      = request / (prompt tokens + 4 * output tokens) * 10^6
///   out     = 4 * in
TokenCost token_cost(double hourly, double utilisation, double requests_s,
                     const Scenario& scenario);

/// Output tokens for a joule, all of the machine running: requests/s * output tokens / watts.
double tokens_per_joule(const Scenario& scenario, const Service& service, Size replicas,
                        double watts);

/// Months after which owning (a purchase and `owned` an hour of energy) has cost less than paying
/// `other_per_hour`: purchase / (730.5 * (other_per_hour - energy per hour)). Absent: never.
std::optional<double> break_even_months(double purchase, const HourlyCost& owned,
                                        double other_per_hour);

/// Hourly cost of these requests at an API's prices: requests/s * utilisation * 3600 * (prompt and
/// output tokens at their price).
double api_per_hour(const ApiPrice& api, double utilisation, const Scenario& scenario,
                    double requests_per_second);

}  // namespace headroom::model
