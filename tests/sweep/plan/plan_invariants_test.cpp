// More of anything never makes a plan serve fewer without a word.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "sweep/program.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sanitized.hpp"

namespace headroom::sweep {
namespace {

/// The number of a plan's answer and the most that the screen names.
struct Answer {
  long number = 0;  ///< 0: nothing qualifies
  long named = 0;   ///< another way has it, in a line of its own; at least `number`
  bool below_four_bits = false;
};

long number_in(const std::string& text, const char* pattern) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern))) return 0;
  std::string digits = found[1];
  std::erase(digits, ',');
  return std::stol(digits);
}

Answer answer_to(std::vector<std::string> arguments) {
  static const test::Folder folder;
  const std::string file = (folder.path() / "plan.txt").string();
  arguments.insert(arguments.begin(), "plan");
  arguments.insert(arguments.end(), {"--out", file});
  const int code = run_program(arguments);
  EXPECT_TRUE(code == 0 || code == 3) << fmt::format("{}", arguments[1]);
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Answer answer;
  answer.number = number_in(text, "(?:Most users|Largest batch|Longest context): ([0-9,]+) ");
  answer.named = std::max(
      answer.number, number_in(text, "\n(?:More, but slower|Hardly more|Narrower): ([0-9,]+) "));
  const auto line = text.find('\n') + 1;
  answer.below_four_bits =
      text.substr(line, text.find("\n\n") - line).find("(below 4 bits)") != std::string::npos;
  return answer;
}

/// `more` is asked of more memory, cards or time than `less`. Weights below 4 bits stand in for
/// wider ones that do not fit, and may serve more.
void expect_no_fewer(const Answer& less, const Answer& more, const std::string& where) {
  if (less.below_four_bits && !more.below_four_bits && more.number > 0) return;
  EXPECT_GE(more.named, less.number) << where;
  EXPECT_GE(2 * more.number, less.number) << where;
}

/// Every so manieth of `all`.
std::vector<std::string> drawn(const std::vector<std::string>& all) {
  std::vector<std::string> some;
  for (std::size_t i = 0; i < all.size(); i += test::stride) some.push_back(all[i]);
  return some;
}

const std::vector<std::string> models =
    drawn({"Llama-3.3-70B-Instruct", "Llama-3.1-8B-Instruct", "Qwen/Qwen3-32B",
           "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-120b", "google/gemma-3-27b-it", "Qwen/Qwen3-14B"});
const std::vector<std::string> machines = {"rtx-pro-6000",  "rtx-4090",         "2x rtx-3090",
                                           "h100-sxm-80gb", "4x h100-sxm-80gb", "m4-max-128gb",
                                           "gb10",          "rtx-4060-laptop"};

TEST(PlanInvariants, ALaxerTargetServesNoFewer) {
  for (const auto& model : models)
    for (const auto& machine : machines) {
      Answer before;
      for (const char* target : {"15ms", "25ms", "40ms", "60ms", "100ms", "250ms", "10s"}) {
        const Answer now =
            answer_to({"most-users", model, "--machine", machine, "--max-tpot", target});
        expect_no_fewer(before, now, fmt::format("{} on {} within {}", model, machine, target));
        before = now;
      }
    }
}

TEST(PlanInvariants, AShorterContextServesNoFewer) {
  for (const auto& model : models)
    for (const auto& machine : machines) {
      Answer before;
      for (const char* context : {"32768", "8192", "4096", "1024"}) {
        const Answer now =
            answer_to({"most-users", model, "--machine", machine, "--context", context});
        expect_no_fewer(before, now, fmt::format("{} on {} with {}", model, machine, context));
        before = now;
      }
    }
}

TEST(PlanInvariants, MoreCardsServeNoFewer) {
  for (const auto& model : models)
    for (const char* card : {"rtx-4090 @ epyc-genoa-768gb", "h100-sxm-80gb", "mi300x"})
      for (const char* question : {"most-users", "largest-batch", "longest-context"}) {
        Answer before;
        for (const int cards : {1, 2, 3, 4, 8}) {
          const auto machine = fmt::format("{}x {}", cards, card);
          const Answer now = answer_to({question, model, "--machine", machine});
          expect_no_fewer(before, now, fmt::format("{} {} on {}", question, model, machine));
          before = now;
        }
      }
}

TEST(PlanInvariants, MoreMemoryServesNoFewer) {
  for (const auto& model : models)
    for (const auto& machines_of :
         {std::vector<std::string>{"rtx-4060-ti-8gb", "rtx-4060-ti-16gb"},
          {"m4-max-48gb", "m4-max-64gb", "m4-max-128gb"},
          {"radeon-8060s-64gb", "radeon-8060s-96gb", "radeon-8060s-128gb"},
          {"a100-sxm-40gb", "a100-sxm-80gb"},
          {"h100-sxm-80gb", "h200-sxm-141gb"}})
      for (const char* question : {"most-users", "largest-batch", "longest-context"}) {
        Answer before;
        for (const auto& machine : machines_of) {
          const Answer now = answer_to({question, model, "--machine", machine});
          expect_no_fewer(before, now, fmt::format("{} {} on {}", question, model, machine));
          before = now;
        }
      }
}

}  // namespace
}  // namespace headroom::sweep
