#include "mutation.hpp"

#include <algorithm>
#include <cctype>

namespace headroom::test {
namespace {

// Numbers at the edge of types, words that open something, and what a terminal obeys.
const std::vector<std::string> hard = {"0",
                                       "-1",
                                       "1",
                                       "255",
                                       "65536",
                                       "2147483648",
                                       "4294967295",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551616",
                                       "1e308",
                                       "-1e308",
                                       "1e-320",
                                       "0.1",
                                       "nan",
                                       "inf",
                                       "-inf",
                                       "true",
                                       "\"\"",
                                       "''",
                                       "[]",
                                       "{}",
                                       "[[]]",
                                       "[[[[[[[[[[[[[[[[",
                                       "\"1-9223372036854775807\"",
                                       "\"1-1000000000*1\"",
                                       "\"0-max+1B\"",
                                       "\"1-4096*1.0000001\"",
                                       "\"0-max+1GiB\"",
                                       "\"999999999999 TiB\"",
                                       "\"-1 GiB\"",
                                       "\"..\"",
                                       "\"/dev/zero\"",
                                       "\"/\"",
                                       "\x1b[2J",
                                       "\xff\xfe",
                                       std::string(1, '\0'),
                                       "'''",
                                       "\"\"\"",
                                       "2026-13-45",
                                       "\"999999x rtx-4090\"",
                                       "\"2x rtx-4090 @ cpu\"",
                                       "\"gpt2?layers=999999999\"",
                                       std::string(70'000, 'a'),
                                       std::string(5'000, '['),
                                       std::string(5'000, '(')};

/// Strings, numbers, names and all else.
char kind_of(char first) {
  if (first == '\'' || first == '"') return 's';
  if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-' || first == '.')
    return 'n';
  return std::isalpha(static_cast<unsigned char>(first)) != 0 ? 'a' : '?';
}

}  // namespace

Mutation::Mutation(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {
  for (const std::string& seed : seeds_)
    for (const auto& [begin, size] : words_of(seed)) words_.push_back(seed.substr(begin, size));
  std::ranges::sort(words_);
  const auto rest = std::ranges::unique(words_);
  words_.erase(rest.begin(), rest.end());
}

std::vector<Mutation::Span> Mutation::words_of(const std::string& text) {
  const auto inside = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  std::vector<Span> words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    if (text[i] == '"' || text[i] == '\'') {
      const std::size_t last = text.find_first_of(std::string{text[i], '\n'}, i + 1);
      if (last == std::string::npos || text[last] == '\n') continue;
      end = last + 1;
    } else {
      while (end < text.size() && inside(text[end])) ++end;
    }
    if (end == i) continue;
    words.push_back({i, end - i});
    i = end - 1;
  }
  return words;
}

void Mutation::change_word(std::string& text, Random& random) const {
  const auto words = words_of(text);
  if (words.empty()) return;
  const Span word = words[random() % words.size()];
  const char first = text[word.begin];
  // Mostly one of its kind, which gets further than a mistake of grammar.
  const bool any = random() % 4 == 0;
  for (int left = 50; left > 0; --left) {
    const std::string& by = random() % 2 == 0 ? hard[random() % hard.size()]  //
                                              : words_[random() % words_.size()];
    if (!any && kind_of(by.empty() ? ' ' : by.front()) != kind_of(first)) continue;
    text.replace(word.begin, word.size, by);
    return;
  }
}

void Mutation::change_line(std::string& text, Random& random) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  const std::size_t one = random() % lines.size(), other = random() % lines.size();
  switch (random() % 3) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(one));
      break;
    case 1:
      std::swap(lines[one], lines[other]);
      break;
    default:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(one), lines[other]);
  }
  text.clear();
  for (const std::string& line : lines) text += line + '\n';
}

void Mutation::change_byte(std::string& text, Random& random) {
  if (text.empty()) return;
  const std::size_t at = random() % text.size();
  switch (random() % 4) {
    case 0:
      text[at] = static_cast<char>(random() % 256);
      break;
    case 1:
      text.erase(at, 1 + random() % 8);
      break;
    case 2:
      text.insert(at, 1, "[]{}\"'=,.#\n-0"[random() % 13]);
      break;
    default:
      text.resize(at);
  }
}

void Mutation::change(std::string& text, Random& random) const {
  switch (random() % 8) {
    case 0:
      change_line(text, random);
      break;
    case 1:
      change_byte(text, random);
      break;
    default:
      change_word(text, random);
  }
}

std::string Mutation::text(unsigned seed) const {
  Random random(seed);
  std::string text = seeds_[random() % seeds_.size()];
  unsigned left = 1;
  while (left < 4 && random() % 2 == 0) ++left;
  for (; left > 0; --left) change(text, random);
  return text;
}

std::string Mutation::bytes(std::string content, unsigned seed) {
  Random random(seed);
  if (content.empty()) return content;
  switch (random() % 4) {
    case 0:
      content.resize(random() % content.size());
      break;
    case 1: {
      const std::size_t at = random() % content.size();
      const std::size_t size = std::min<std::size_t>(content.size() - at, 1 + random() % 512);
      std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
      break;
    }
    default:
      for (unsigned left = 1 + random() % 8; left > 0; --left) {
        char& byte = content[random() % content.size()];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
      }
  }
  return content;
}

}  // namespace headroom::test
