// Texts that a condition compares with columns, so that one that never matches is an error.
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <tuple>

#include "report/condition.hpp"

namespace headroom::report {
namespace {

/// Words that count as signs.
constexpr std::string_view comparing_words[] = {"is", "not", "in", "and", "or"};

struct Token {
  enum Kind { name, text, sign } kind;
  std::string value;  ///< names in lower case, texts without quotes
};

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<Token> tokens_of(std::string_view expression) {
  std::vector<Token> all;
  for (std::size_t i = 0; i < expression.size();) {
    const char c = expression[i];
    std::string value;
    if (c == '\'') {
      for (++i; i < expression.size(); ++i) {
        if (expression[i] == '\'' && expression.substr(i + 1, 1) != "'") break;
        if (expression[i] == '\'') ++i;  // two quotes are one
        value += expression[i];
      }
      ++i;
      all.push_back({Token::text, value});
    } else if (is_name_character(c)) {
      for (; i < expression.size() && is_name_character(expression[i]); ++i)
        value += static_cast<char>(std::tolower(static_cast<unsigned char>(expression[i])));
      const bool of_row =
          all.size() >= 2 && all.back().value == "." && all.back().kind == Token::sign;
      if (of_row) all.resize(all.size() - 2);  // a column needs no row before it here
      const bool word = std::ranges::find(comparing_words, value) != std::end(comparing_words);
      all.push_back({word ? Token::sign : Token::name, value});
    } else {
      if (!std::isspace(static_cast<unsigned char>(c))) all.push_back({Token::sign, {c}});
      ++i;
    }
  }
  return all;
}

/// The signs from `at` on, and the place after them.
std::pair<std::string, std::size_t> signs_from(const std::vector<Token>& tokens, std::size_t at) {
  std::string all;
  for (; at < tokens.size() && tokens[at].kind == Token::sign; ++at) all += tokens[at].value;
  return {all, at};
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

}  // namespace

std::vector<ComparedText> compared_texts(std::string_view expression) {
  const auto tokens = tokens_of(expression);
  std::vector<ComparedText> all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::sign) continue;
    auto [signs, at] = signs_from(tokens, i + 1);
    if (at >= tokens.size() || tokens[at].kind == tokens[i].kind) continue;
    const bool list = is_one_of(signs, {"in(", "notin("});
    if (!list && !is_one_of(signs, {"=", "==", "<>", "!=", "is", "isnot"})) continue;
    if (tokens[i].kind == Token::text) {  // 'refused' = verdict
      if (!list) all.push_back({tokens[at].value, tokens[i].value});
      continue;
    }
    all.push_back({tokens[i].value, tokens[at].value});
    while (list) {
      std::tie(signs, at) = signs_from(tokens, at + 1);
      if (signs != "," || at >= tokens.size() || tokens[at].kind != Token::text) break;
      all.push_back({tokens[i].value, tokens[at].value});
    }
  }
  return all;
}

}  // namespace headroom::report
