// The inverse questions: which model, batch, context, machine or precision is the best that meets a
// target.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/price.hpp"
#include "model/answer/cost.hpp"
#include "model/answer/way_order.hpp"
#include "model/infer/demand.hpp"
#include "model/infer/intervals.hpp"
#include "report/table.hpp"

namespace headroom::sweep {

/// One way to run a model on a machine. Everything pointed to outlives the plan.
struct Combination {
  const model::QuantisedModel* weights = nullptr;
  const model::Engine* engine = nullptr;
  const Machine* machine = nullptr;
  model::WayPlace place{};  ///< among other ways of the model, as `estimate` orders them
  model::WayFacts facts{};  ///< those that no load changes
  bool loses_more = false;  ///< below 4 bits, as the checkpoint is not
  Bytes gpu_budget = model::unlimited;  ///< as Way has it
};

/// One combination that may be the answer, and what it serves.
struct Candidate : Combination {
  std::optional<model::Acquisition> acquisition;  ///< none: no prices
  model::Scenario scenario;                       ///< at the batch and context that are served
  model::Serving serving;
  Size machines = 0;       ///< for the demand and spares; 0: it serves nothing
  Size spares = 0;         ///< those of the machines that are kept for failures
  model::AtDemand demand;  ///< one copy, with every spare out of service
  /// On cards, but memory may not suffice: with the sequences of the demand for questions about how
  /// little it takes, else with all of `serving`.
  bool tight = false;
  model::WayPlace order{};  ///< among ways, as `estimate` orders them for those sequences
  Bytes room{};             ///< free on the fullest card of a copy, within what the process may use
  bool decodes = false;     ///< tokens_s() is of decoding, not of whole requests
  std::optional<double> purchase, per_hour;  ///< cost of all these machines
  std::optional<model::TokenCost> tokens;
  std::optional<double> tokens_per_joule;
  /// One that answers with more, and is passed over: it is slower, or it loses more. Null: none.
  std::shared_ptr<const Candidate> more;

  bool qualifies() const { return machines > 0; }
};

/// The question, and the order that ranks answers.
struct Question {
  std::string_view name;      ///< "largest-model"
  std::string_view meaning;   ///< for the help
  std::string_view headline;  ///< "Largest model"
  /// The thing that is asked for, by the names of `answer_words` in sweep/plan/screen.cpp.
  std::string_view answer;
  model::Vary vary = model::Vary::batch;
  bool one_model = false;          ///< asks about exactly one model
  bool one_machine = false;        ///< the demand must be met by one machine
  bool priced = false;             ///< ranks by money
  bool counts_cards = false;       ///< machines have one card, two and so on
  bool spares = false;             ///< how little it takes: the fewest machines for a load
  bool ranks_precisions = false;   ///< compares precisions, as `estimate` orders them
  bool serves_asked = false;       ///< no more sequences than are asked for, as in `estimate`
  bool has_usual_context = false;  ///< without a load each sequence has the usual context
  /// The number of sequences that is asked for; null: another thing is. Answers go by
  /// model::fastest_of_most().
  double (*sequences)(const Candidate&) = nullptr;
  bool (*better)(const Candidate& a, const Candidate& b) = nullptr;
};
std::span<const Question> questions();
/// Throws UnknownName with the nearest.
const Question& question(std::string_view name);

/// The target of a demand that states none: the usual limits on decoding. The longest context is
/// asked of memory, so each of several sequences may be as slow as one alone.
model::Target usual_target(const Question& question);

/// True if it answers for a number of sequences that is less than it could serve.
bool is_at_demand(const Question& question, const Candidate& candidate);

/// True if several requests are to be served at once.
bool has_load(const model::Target& target);

/// True if the best of all ways with 4 bits or more answers: several requests at once or the
/// longest context decide.
/// Otherwise the first way of `estimate` that meets the target does.
bool weighs_ways(const Question& question, const model::Target& target);

/// Choices of a plan.
struct Choices {
  /// Each list has ways to run a model on a machine, in order of preference. The first that meets
  /// the target is the candidate, the first of all where none does.
  std::vector<std::vector<Combination>> combinations;
  std::vector<model::Acquisition> acquisitions;  ///< considered where `prices` is there
  const Prices* prices = nullptr;
  bool has_usual_context = false;  ///< nothing was said about tokens
  Size spares = 0;                 ///< machines more than the demand takes
};

/// A candidate for every list and acquisition, the best first; those that do not qualify last, the
/// closest first. Weights below 4 bits are behind others, unless precisions are compared. The order
/// does not depend on the number of threads.
std::vector<Candidate> ranked(const Question& question, const Choices& choices,
                              const model::Scenario& request, const model::Target& target);

/// True if a rented card's host is not described, so that no weights may leave its memory.
bool rents_unknown_host(const Choices& choices, const Candidate& candidate);

/// A line for each machine that no candidate stands for, as its price or another fact is missing.
std::vector<std::string> left_out(const Choices& choices);

/// Requests and output tokens a second of all copies on one machine. Tokens are those of decoding
/// alone if Candidate::decodes says so.
double requests_s(const Candidate& candidate);
double tokens_s(const Candidate& candidate);
/// Output tokens a second that the demand is, of whole requests.
double demand_tokens_s(const Candidate& candidate);
/// Machines that serve: all but the spares.
inline Size serving_machines(const Candidate& c) { return c.machines - c.spares; }
/// Copies of the model on them.
inline Size serving_copies(const Candidate& c) { return serving_machines(c) * c.serving.replicas; }
/// Requests at once, or people, of these copies.
inline Size fleet_users(const Candidate& c) { return serving_copies(c) * c.serving.users_each; }
/// Output tokens a second of these copies.
inline double fleet_tokens_s(const Candidate& c) {
  return static_cast<double>(serving_machines(c)) * tokens_s(c);
}
/// Cards of the machine that no copy uses.
Size idle_cards(const Candidate& candidate);

/// "35 ms"; with the end of its interval that a strict target was held against.
std::string time_words(Seconds time, const model::Interval& interval, const model::Target& target);
/// "memory: 1.3 times what is allowed".
std::string words_of(const model::Shortfall& missed);
/// The candidates as a table, at most `most` of them.
report::Table plan_table(std::span<const Candidate> candidates, std::size_t most);

}  // namespace headroom::sweep
