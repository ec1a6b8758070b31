// The text of a row that says on which cards an engine runs quantised checkpoints.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "hardware/text.hpp"
#include "model/engine/weight_policy.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view unpacked_words = "else 16 bit";
constexpr std::string_view no_cards = "none";

/// The text before `mark`, which is removed from `rest` with the mark.
std::string_view cut(std::string_view& rest, std::string_view mark) {
  const auto at = rest.find(mark);
  const std::string_view before = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + mark.size());
  return before;
}

}  // namespace

CheckpointSupport parse_checkpoint_support(std::string_view text) {
  std::string_view rest = text;
  CheckpointSupport support;
  for (const std::string_view method : words(cut(rest, ": "))) support.methods.push_back(method);
  if (support.methods.empty())
    throw std::invalid_argument(fmt::format("found '{}', expected methods such as fp8", text));
  if (rest.empty()) return support;
  std::string_view cards = cut(rest, "; ");
  if (rest == unpacked_words)
    support.elsewhere = WithoutKernels::unpacked;
  else if (!rest.empty())
    throw std::invalid_argument(fmt::format("found '{}', expected \"{}\"", rest, unpacked_words));
  support.cards.emplace();
  if (cards == no_cards) return support;
  while (!cards.empty()) support.cards->push_back(read_cards(cut(cards, ", ")));
  return support;
}

std::string cards_text(const CheckpointSupport& support) {
  if (!support.cards) return "any";
  if (support.cards->empty()) return std::string(no_cards);
  return text_of(*support.cards);
}

std::string text_of(const CheckpointSupport& support) {
  const std::string methods = fmt::format("{}", fmt::join(support.methods, " "));
  if (!support.cards) return methods;
  const bool unpacks = support.elsewhere == WithoutKernels::unpacked;
  return fmt::format("{}: {}{}{}", methods, cards_text(support), unpacks ? "; " : "",
                     unpacks ? unpacked_words : "");
}

}  // namespace headroom::model
