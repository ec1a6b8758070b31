// Texts that a condition compares with columns, so that one that never matches is an error.
#include <algorithm>
#include <array>
#include <cctype>

#include "report/condition.hpp"

namespace headroom::report {
namespace {

struct Token {
  enum Kind { name, text, sign } kind;
  std::string value;  ///< of names in lower case, of texts without quotes
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
      all.push_back({Token::name, value});
    } else {
      if (!std::isspace(static_cast<unsigned char>(c))) all.push_back({Token::sign, {c}});
      ++i;
    }
  }
  return all;
}

/// The token after a comparison that begins at `at`; `at` where there is none.
std::size_t after_comparison(const std::vector<Token>& tokens, std::size_t at) {
  std::size_t end = at;
  while (end < tokens.size() && tokens[end].kind == Token::sign &&
         std::string_view("=<>!").find(tokens[end].value) != std::string_view::npos)
    ++end;
  const auto is_word = [&](std::size_t i, std::string_view word) {
    return i < tokens.size() && tokens[i].kind == Token::name && tokens[i].value == word;
  };
  if (end == at && is_word(end, "is")) ++end;
  if (is_word(end, "not")) ++end;
  if (is_word(end, "in")) ++end;
  return end;
}

}  // namespace

std::vector<ComparedText> compared_texts(std::string_view expression) {
  const auto tokens = tokens_of(expression);
  std::vector<ComparedText> all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::name) continue;
    std::size_t at = after_comparison(tokens, i + 1);
    if (at == i + 1) {
      // 'refused' = verdict, where verdict may stand after its row and a point
      std::size_t first = i;
      if (i >= 2 && tokens[i - 1].value == "." && tokens[i - 2].kind == Token::name) first = i - 2;
      for (std::size_t back = 1; back <= 3 && back < first; ++back)
        if (tokens[first - back - 1].kind == Token::text &&
            after_comparison(tokens, first - back) == first)
          all.push_back({tokens[i].value, tokens[first - back - 1].value});
      continue;
    }
    const bool list = at < tokens.size() && tokens[at].value == "(";
    if (list) ++at;
    for (; at < tokens.size() && tokens[at].kind == Token::text; ++at) {
      all.push_back({tokens[i].value, tokens[at].value});
      if (!list || at + 1 >= tokens.size() || tokens[++at].value != ",") break;
    }
  }
  return all;
}

}  // namespace headroom::report
