// Inputs that go wrong by chance: the same seed gives the same bytes.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace headroom::test {

/// Makes changed copies of texts (TOML, JSON, CSV) and of bytes.
class Mutation {
 public:
  /// `seeds`: the texts to start from. Words of one get into another.
  explicit Mutation(std::vector<std::string> seeds);
  /// A text with one to four changes. Each replaces a word or a number, moves or doubles a line,
  /// changes bytes or cuts off the end.
  std::string text(unsigned seed) const;
  /// Bytes with one to eight flipped bits, a range that is zero, or a cut end.
  static std::string bytes(std::string content, unsigned seed);

 private:
  using Random = std::mt19937;
  struct Span {
    std::size_t begin = 0, size = 0;
  };
  static std::vector<Span> words_of(const std::string& text);
  void change(std::string& text, Random& random) const;
  void change_word(std::string& text, Random& random) const;
  static void change_line(std::string& text, Random& random);
  static void change_byte(std::string& text, Random& random);

  std::vector<std::string> seeds_, words_;
};

/// The number of tries of a long test: HEADROOM_ATTACKS, or enough for minutes.
inline unsigned tries() {
  const char* given = std::getenv("HEADROOM_ATTACKS");
  return given ? static_cast<unsigned>(std::atoi(given)) : 10'000;
}

}  // namespace headroom::test
