// The questions of a plan, and what makes an answer the better one.
#include <fmt/format.h>

#include <limits>
#include <tuple>
#include <vector>

#include "hardware/names.hpp"
#include "sweep/plan/plan.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

using model::Vary;

Size parameters(const Candidate& c) { return c.weights->model->profile.parameters; }
Size cards(const Candidate& c) { return static_cast<Size>(c.machine->devices.size()); }
double hourly(const Candidate& c) {
  return c.per_hour.value_or(std::numeric_limits<double>::infinity());
}

constexpr Question all_questions[] = {
    {.name = "largest-model",
     .meaning =
         "the model with the most parameters that a machine runs; without --users for one request",
     .headline = "Largest model",
     .answer = "{model} ({size}) with {way}, {sequences}",
     .one_machine = true,
     .serves_asked = true,
     .has_usual_context = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return std::tuple(parameters(a), a.weights->total, a.serving.users()) >
                  std::tuple(parameters(b), b.weights->total, b.serving.users());
         }},
    {.name = "largest-batch",
     .meaning =
         "the most sequences of one copy; of those within 5 % of the most, the first as `estimate` "
         "orders them",
     .headline = "Largest batch",
     .answer = "{batch} with {way}",
     .one_model = true,
     .one_machine = true,
     .sequences = [](const Candidate& c) { return static_cast<double>(c.serving.batch_of_copy()); },
     .better =
         [](const Candidate& a, const Candidate& b) {
           return a.serving.batch_of_copy() > b.serving.batch_of_copy();
         }},
    {.name = "longest-context",
     .meaning = "the longest context at the given batch; of ways with as much, the first as "
                "`estimate` orders them",
     .headline = "Longest context",
     .answer = "{context} with {way}",
     .vary = Vary::context,
     .one_model = true,
     .one_machine = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return a.serving.context != b.serving.context ? a.serving.context > b.serving.context
                                                         : a.order < b.order;
         }},
    {.name = "most-users",
     .meaning =
         "the most concurrent sequences, summed over all copies on a machine; of those within "
         "5 % of the most, the first as `estimate` orders them",
     .headline = "Most users",
     .answer = "{sequences} with {way}",
     .one_model = true,
     .one_machine = true,
     .sequences = [](const Candidate& c) { return c.serving.users(); },
     .better = [](const Candidate& a,
                  const Candidate& b) { return a.serving.users() > b.serving.users(); }},
    {.name = "fewest-gpus",
     .meaning =
         "the smallest number of cards; of ways on as many, the first as `estimate` orders them; "
         "without --users for one request",
     .headline = "Fewest GPUs",
     .answer = "{cards} with {way}, {sequences}",
     .one_model = true,
     .one_machine = true,
     .counts_cards = true,
     .spares = true,
     .serves_asked = true,
     .has_usual_context = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return cards(a) != cards(b) ? cards(a) < cards(b) : a.order < b.order;
         }},
    {.name = "cheapest-machine",
     .meaning =
         "the lowest cost per hour, for as many machines as the demand needs; of ways that cost as "
         "much, the first as `estimate` orders them",
     .headline = "Cheapest machine",
     .answer = "{machines}, {acquisition} for {cost} with {way}, {sequences}",
     .one_model = true,
     .priced = true,
     .spares = true,
     .has_usual_context = true,
     .better =
         [](const Candidate& a, const Candidate& b) {
           return hourly(a) != hourly(b) ? hourly(a) < hourly(b) : a.order < b.order;
         }},
    {.name = "best-precision",
     .meaning =
         "the first of the precisions that serve what is asked for, as `estimate` orders them; "
         "without --users one request",
     .headline = "Best precision",
     .answer = "{way}, {sequences}",
     .one_model = true,
     .one_machine = true,
     .ranks_precisions = true,
     .serves_asked = true,
     .has_usual_context = true,
     .better = [](const Candidate& a, const Candidate& b) { return a.place < b.place; }},
};

}  // namespace

std::span<const Question> questions() { return all_questions; }

const Question& question(std::string_view name) {
  std::vector<std::string> known;
  for (const Question& each : all_questions) {
    if (each.name == name) return each;
    known.emplace_back(each.name);
  }
  if (names_model(name))
    throw UnknownName(fmt::format(
        "'{}' is no question; the question comes before the model: headroom plan largest-batch {} "
        "--machine MACHINE",
        name, name));
  throw unknown_name("question", name, known);
}

model::Target usual_target(const Question& question) {
  model::Target target;
  target.usual = model::usual_tpot;
  if (question.vary == Vary::context) target.usual.shared = target.usual.alone;
  target.attention_replicas = true;
  return target;
}

}  // namespace headroom::sweep
