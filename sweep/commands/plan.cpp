// headroom plan: the inverse questions.
#include "sweep/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <span>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "report/whole_file.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/engine_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/scenario_options.hpp"
#include "sweep/options/target_options.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/comparison.hpp"
#include "sweep/plan/runnable_models.hpp"
#include "sweep/plan/screen.hpp"
#include "sweep/plan/stock.hpp"
#include "sweep/portfolio/report.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/terminal.hpp"

namespace headroom::sweep {
namespace {

const char* const no_prices =
    "no machine has a price: each needs a purchase price with power, electricity and amortisation "
    "years, or a rent";

const char* const no_rents =
    "the shipped reference prices have rents, and none for this; --prices FILE states others";

const char* const rented_cards_hold_all =
    "rented cards hold all weights: these rents name no host, so its memory is unknown; a price of "
    "\"1x rtx-4090 @ HOST\" names one";

/// The user's, or for a question about money the shipped rents.
std::optional<Prices> prices_of(const Options& options, const Question& asked,
                                const Catalogue& catalogue) {
  if (options.given("prices")) {
    const std::string file = options.text("prices");
    return read_prices(read_text_file(file, "prices in TOML"), file, catalogue);
  }
  return asked.priced ? std::optional(reference_prices(catalogue)) : std::nullopt;
}

std::vector<model::Acquisition> acquisitions_of(const Options& options, bool priced) {
  constexpr std::string_view names[] = {"buy", "used", "rent"};
  if (!options.given("acquire"))
    return {std::begin(model::acquisitions), std::end(model::acquisitions)};
  if (!priced) throw UsageError("--acquire has no effect without --prices");
  const std::string name = options.one_of("acquire", names, "buy");
  return {static_cast<model::Acquisition>(std::ranges::find(names, name) - names)};
}

/// Refuses what a question finds by itself.
void refuse_found(const Options& options, const Question& asked) {
  const auto refuse = [&](std::initializer_list<std::string_view> flags, std::string_view why) {
    for (const auto flag : flags)
      if (options.given(flag))
        throw UsageError(fmt::format("--{} has no effect on plan {}: {}", flag, asked.name, why));
  };
  if (asked.vary == model::Vary::context)
    return refuse({"context", "prompt-tokens", "prompt-tokens-p95"},
                  "the context is the answer, and the prompt fills it; --output-tokens is left");
  if (asked.sequences != nullptr) refuse({"batch"}, "the number of sequences is the answer");
}

/// plan portfolio FILE: everything is in the file.
int run_portfolio(const Options& options) {
  for (const auto part : std::views::split(plan_command.help.flags, ' ')) {
    const std::string flag(part.begin(), part.end());
    constexpr std::string_view understood[] = {"format",  "out",     "hub-token",
                                               "offline", "factors", "set"};
    if (std::ranges::find(understood, flag) == std::end(understood) && options.given(flag))
      throw UsageError(fmt::format("--{} has no effect on plan portfolio: FILE sets it", flag));
  }
  if (options.operands().size() != 2)
    throw UsageError(
        fmt::format("plan portfolio: one FILE, found {}", options.operands().size() - 1));
  const Format format = format_of(options);
  const Engines engines(options);
  const Portfolio portfolio =
      read_portfolio(options.operands()[1], Hub(hub_flags(options)), engines);
  for (const std::string& each : unused_apis(portfolio))
    fmt::print(stderr,
               "note: no load is called '{}' or has a model of that name, so its API price is not "
               "used\n",
               without_controls(each));
  const auto plans = plan_portfolio(portfolio);
  if (plans.empty()) throw UsageError(no_prices);
  if (options.given("out")) {
    const std::filesystem::path folder = options.text("out");
    const auto write = [&](const std::filesystem::path& into) {
      return write_portfolio(portfolio, plans, into);
    };
    for (const auto& each : report::write_folder(folder, write))
      fmt::print(stderr, "{}\n", (folder / each).string());
  }
  fmt::print("{}", format == Format::text ? portfolio_words(portfolio, plans)
                                          : formatted(portfolio_table(portfolio, plans), format));
  return plans.front().qualifies() ? done : answer_is_no;
}

/// plan --machine …: what runs there, over the catalogue.
int run_without_question(const Options& options) {
  constexpr std::string_view of_questions =
      "model machines users requests-s tokens-s " HEADROOM_TARGET_FLAGS
      " allow-offload strict prices acquire details";
  for (const auto part : std::views::split(of_questions, ' '))
    if (const std::string flag(part.begin(), part.end()); options.given(flag))
      throw UsageError(
          fmt::format("--{} belongs to a question; `headroom plan --help` lists them", flag));
  constexpr std::string_view naming[] = {"machine", "device", "host", "cpu", "gpu-memory"};
  if (std::ranges::none_of(naming, [&](auto flag) { return options.given(flag); }))
    throw UsageError(
        "which question? `headroom plan --help` lists them; with a --machine alone, plan lists "
        "what runs there");
  return runnable_models(options, {.ttft = options.read("max-ttft", parse_seconds),
                                   .tpot = options.read("max-tpot", parse_seconds)});
}

/// The winner of a ranking of machines at the pessimistic ends of intervals, where it is another
/// than `usual`; else empty.
std::string strict_answer(const Question& asked, const Choices& choices,
                          const model::Scenario& request, model::Target target,
                          const Candidate& usual) {
  if (target.strict || !asked.priced || !usual.qualifies()) return {};
  target.strict = true;
  const auto candidates = ranked(asked, choices, request, target);
  const Candidate& best = candidates.front();
  if (!best.qualifies()) return "that nothing here qualifies";
  if (best.machine == usual.machine) return {};
  return fmt::format("{}{}, {} for {}, with {}",
                     best.machines > 1 ? fmt::format("{} of ", best.machines) : "",
                     best.machine->name, acquisition_words(*best.acquisition),
                     cost_words(*choices.prices, best), way_words(*best.weights, *best.engine));
}

/// The request of a question, at which ways are compared.
model::Scenario asked_request(const Options& options, const Engines& engines, const Question& asked,
                              const model::Target& target) {
  model::Scenario request = request_of(options, engines);
  set_sequences(options, engines, request);
  set_spread(options, target, request);
  if (asked.ranks_precisions && !target.at_random())
    request.batch = std::max(request.batch, target.users);
  return request;
}

int run_plan(const Options& options) {
  std::vector<std::string> operands = options.operands();
  if (operands.empty()) return run_without_question(options);
  if (operands.front() == "portfolio") return run_portfolio(options);
  const Question& asked = question(operands.front());
  refuse_found(options, asked);
  operands.erase(operands.begin());
  if (options.given("model")) operands.insert(operands.begin(), options.text("model"));
  const Format format = format_of(options);
  if (options.given("details") && format != Format::text)
    throw UsageError("--details has no effect here: csv, md and json have every column always");
  const model::Target target = target_of(options, usual_target(asked));
  const Engines engines(options);
  const model::Scenario request = asked_request(options, engines, asked, target);
  const auto catalogue = catalogue_of(options.texts("hardware"));
  const auto prices = prices_of(options, asked, *catalogue);
  const PlanStock stock = stock_of(options, asked, operands, engines, request, target, *catalogue,
                                   prices ? &*prices : nullptr);
  Choices choices;
  choices.combinations = stock.combinations;
  choices.acquisitions = acquisitions_of(options, prices.has_value());
  choices.prices = prices ? &*prices : nullptr;
  choices.has_usual_context = stock.has_usual_context;
  choices.spares = options.whole("spares", 0);
  const auto candidates = ranked(asked, choices, request, target);
  std::vector<std::string> without = stock.left_out, assumed = stock.assumed;
  const auto unknown = [&](const Candidate& c) { return rents_unknown_host(choices, c); };
  if (target.offload && std::ranges::any_of(candidates, unknown))
    assumed.emplace_back(rented_cards_hold_all);
  for (auto& line : left_out(choices)) without.push_back(std::move(line));
  if (candidates.empty()) {
    const std::string first = without.empty() ? "" : fmt::format(" ({})", without.front());
    throw UsageError((options.given("prices") ? no_prices : no_rents) + first);
  }
  // Files have every candidate; a screen has few.
  const Size usual = format == Format::text ? 10 : std::ssize(candidates);
  const auto most = static_cast<std::size_t>(options.whole("top", usual));
  if (format != Format::text) {
    emit(options, formatted(plan_table(candidates, most), format));
  } else {
    const PlanScreen screen{
        .question = asked,
        .candidates = candidates,
        .target = target,
        .prices = choices.prices,
        .has_own_prices = options.given("prices"),
        .has_chosen_ways = stock.has_chosen_ways,
        .has_chosen_weights = stock.has_chosen_weights,
        .has_usual_context = stock.has_usual_context,
        .models = stock.models.size(),
        .machines = stock.machines.size(),
        .rows = most,
        .assumed = assumed,
        .left_out = without,
        .strict_answer = strict_answer(asked, choices, request, target, candidates.front())};
    emit(options, options.given("details") ? plan_details(screen) : plan_screen(screen));
  }
  return candidates.front().qualifies() ? done : answer_is_no;
}

}  // namespace

const Command plan_command = {
    {.name = "plan",
     .summary = "find the best model, batch, context, machine or precision for a target",
     .operands = "[QUESTION [MODEL… | FILE] [MACHINE]]",
     .operand_help = "QUESTION: largest-model, largest-batch, longest-context, most-users, "
                     "fewest-gpus, cheapest-machine, best-precision or portfolio. Without one: "
                     "the models that run.",
     .flags = "model " HEADROOM_MACHINE_FLAGS
              " machines precision precisions kv-precision cache-type-k cache-type-v batch "
              "prompt-tokens output-tokens context engines "
              "runtime max-num-seqs "
              "max-ttft "
              "max-tpot " HEADROOM_TARGET_FLAGS
              " factors set users requests-s tokens-s allow-offload strict prices acquire top "
              "hub-token offline "
              "details format out",
     .examples =
         "headroom plan --machine local\n"
         "headroom plan largest-model --machine rtx-4090\n"
         "headroom plan cheapest-machine llama3-70b --users 50 --think-time 60s --max-ttft-p95 2s\n"
         "headroom plan longest-context llama3-8b rtx-4090\n"
         "headroom plan most-users llama3-8b --machine '4x l40s' --runtime vllm --max-tpot 50ms\n"
         "headroom plan fewest-gpus llama3-70b --device h100-sxm-80gb --runtime vllm --users 64\n"
         "headroom plan cheapest-machine llama3-70b --users 200 --max-tpot 60ms\n"
         "headroom plan best-precision Qwen/Qwen3-32B --machine rtx-4090 --max-tpot 100ms "
         "--strict\n"
         "headroom plan portfolio examples/purchase.toml --out out/purchase",
     .columns =
         "without a QUESTION: catalogue models that run on --machine, as `curve --all`; with "
         "--max-tpot\n"
         "  and --max-ttft those that are quick enough\n"
         "portfolio: FILE has models, loads, machines and prices;\n"
         "  --out DIR receives purchase.html with everything, purchase.md, purchase.csv, a page "
         "for each\n"
         "  model and figures\n"
         "without --runtime or --precisions: each model on each machine runs as `estimate` "
         "chooses;\n"
         "  best-precision compares those that `estimate` compares; --precisions names others;\n"
         "  most-users, largest-batch and longest-context take any of 4 bits or more\n"
         "weights below 4 bits answer only where no others do\n"
         "without limits on decoding: one sequence has 1 token/s at least, each of several 5\n"
         "without --context: 8,192 tokens, as in `estimate`; for several just prompt and output\n"
         "without --prices, cheapest-machine takes shipped rents, which age; their sources are "
         "named\n"
         "prices (examples/prices/example.toml): each figure is a number, or { expected, low, high "
         "}:\n"
         "  draws of a portfolio are from that range, and its tornado plot spans it\n"
         "rank, model, precision, runtime, machine; cards of a copy, copies, replicas of its "
         "attention;\n"
         "batch of a copy or replica, users of all; ttft_s, tpot_s; tokens_s and requests_s of all "
         "copies,\n"
         "tokens_s of decoding alone for longest-context and for copies with one sequence; "
         "asked_batch, asked_ttft_s,\n"
         "asked_tpot_s: at the demand; asked_load: share of its capacity that a copy works;\n"
         "asked_ttft_p95_s, asked_tpot_p95_s, asked_e2e_p99_s: of the slowest requests; "
         "room_bytes free on the most loaded card; binds: the limit\n"
         "that one more sequence would exceed, binds_times by how much; machines for the demand,\n"
         "machines_spare with one more; acquisition, purchase, cost_per_hour of all machines;\n"
         "cost_per_million_in and _out: at the demand, else at capacity; an output token counts as "
         "4;\n"
         "cost_per_request; tokens_per_joule; measured_here: measured times of the engine with "
         "such\n"
         "  weights on this card, measured: on any card\n"
         "portfolio: rank, fleet, acquisition, weights, machines, where; purchase, cost_per_hour "
         "and its\n"
         "80 % interval (empty: not served there); cost_per_million_in and _out; _out_all: cost "
         "of\n"
         "an output token with everything included; cost_over_years; break_even_api_months and\n"
         "_rent_months; tokens_per_joule; wins: draws in which the plan is the cheapest;\n"
         "beaten_by_first: draws in which the first plan is cheaper; times_of_load: multiple of "
         "the\n"
         "load that the budget pays for; missed\n"
         "budget in FILE: money for purchases and for the rent of `years`; budget_per_hour: for "
         "one hour,\n"
         "everything included",
     .exit_codes =
         "0 done\n1 failed: a file that cannot be read\n2 usage: an option or a name that "
         "is not understood\n3 no: nothing qualifies; the closest is named"},
    run_plan};

}  // namespace headroom::sweep
