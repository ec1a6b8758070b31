// One block of deflate (RFC 1951) with a Huffman code of its own.
#include "report/gzip_rows.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace headroom::report {
namespace {

constexpr std::size_t least_match = 6, most_match = 258, farthest = 32'768;
constexpr std::size_t end_of_block = 256, first_length = 257;
constexpr std::size_t symbol_count = 286, distance_count = 30;
constexpr int longest_code = 15;

/// A byte, or so many bytes as stand `distance` before.
struct Token {
  std::uint16_t length;  ///< 0: a byte
  std::uint16_t byte_or_distance;
};

/// A symbol of deflate's alphabets, and the bits after its code.
struct Symbol {
  std::size_t number;
  int extra_bits;
  std::uint64_t extra;
};

/// RFC 1951, 3.2.5: each step of a power of two has four symbols of lengths and two of distances.
Symbol symbol_of_length(std::size_t length) {
  if (length == most_match) return {symbol_count - 1, 0, 0};
  const std::size_t n = length - 3;
  if (n < 8) return {first_length + n, 0, 0};
  const int bits = static_cast<int>(std::bit_width(n)) - 3;
  return {first_length + 4 * static_cast<std::size_t>(bits) + (n >> bits), bits,
          n & ((std::size_t{1} << bits) - 1)};
}

Symbol symbol_of_distance(std::size_t distance) {
  const std::size_t n = distance - 1;
  if (n < 4) return {n, 0, 0};
  const int bits = static_cast<int>(std::bit_width(n)) - 2;
  return {2 * static_cast<std::size_t>(bits) + (n >> bits), bits,
          n & ((std::size_t{1} << bits) - 1)};
}

/// Number of equal bytes from `a` and from `b` on, before `end` of the latter.
std::size_t equal_bytes(std::string_view text, std::size_t a, std::size_t b, std::size_t end) {
  const std::size_t start = b;
  while (b + 8 <= end && std::memcmp(text.data() + a, text.data() + b, 8) == 0) a += 8, b += 8;
  while (b < end && text[a] == text[b]) ++a, ++b;
  return b - start;
}

/// The place after the next `c`; `end`: there is none.
std::size_t after(std::string_view text, char c, std::size_t from, std::size_t end) {
  const auto* found = static_cast<const char*>(std::memchr(text.data() + from, c, end - from));
  return found ? static_cast<std::size_t>(found - text.data()) + 1 : end;
}

void add_match(std::vector<Token>& tokens, std::size_t length, std::size_t distance) {
  while (length > 0) {
    std::size_t part = std::min(length, most_match);
    if (length > part && length - part < 3) part -= 3;  // a rest has at least three bytes
    tokens.push_back({static_cast<std::uint16_t>(part), static_cast<std::uint16_t>(distance)});
    length -= part;
  }
}

/// Repetitions of the row before, and bytes up to the end of a field that differs.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 8);
  for (std::size_t row = 0, before = 0; row < text.size();) {
    const std::size_t end = after(text, '\n', row, text.size());
    std::size_t from = before;
    for (std::size_t at = row; at < end;) {
      if (from < row && at - from < farthest) {
        const std::size_t same = equal_bytes(text, from, at, end);
        if (same >= least_match) {
          add_match(tokens, same, at - from);
          at += same;
          from += same;
        }
      }
      for (char c = 0; at < end && c != ','; ++at) {
        c = text[at];
        tokens.push_back({0, static_cast<unsigned char>(c)});
      }
      if (from < row) from = after(text, ',', from, row);
    }
    before = row;
    row = end;
  }
  return tokens;
}

/// Lengths of a Huffman code's words. `counts` has at least two that are not 0.
std::vector<int> code_lengths(std::vector<std::uint64_t> counts) {
  using Node = std::pair<std::uint64_t, std::size_t>;
  for (;;) {
    std::priority_queue<Node, std::vector<Node>, std::greater<>> roots;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) roots.emplace(counts[i], i);
    std::vector<std::size_t> parents(counts.size());
    while (roots.size() > 1) {
      const auto [one, a] = roots.top();
      roots.pop();
      const auto [other, b] = roots.top();
      roots.pop();
      parents[a] = parents[b] = parents.size();
      roots.emplace(one + other, parents.size());
      parents.push_back(0);
    }
    std::vector<int> depths(parents.size());
    for (std::size_t i = parents.size() - 1; i-- > 0;)
      if (parents[i] > 0) depths[i] = depths[parents[i]] + 1;
    depths.resize(counts.size());
    if (std::ranges::max(depths) <= longest_code) return depths;
    for (std::uint64_t& each : counts) each = (each + 1) / 2;  // flatter, until none is too long
  }
}

/// Bits from the lowest of a byte on.
class BitWriter {
 public:
  /// At most 32 bits.
  void add(std::uint64_t value, int bits) {
    waiting_ |= value << filled_;
    filled_ += bits;
    if (filled_ >= 32) flush(4);
  }
  void end_byte() { flush((filled_ + 7) / 8); }
  std::string take() {
    end_byte();
    return std::move(bytes_);
  }

 private:
  void flush(int count) {
    std::array<char, 4> low;
    for (char& byte : low) {
      byte = static_cast<char>(waiting_ & 0xff);
      waiting_ >>= 8;
    }
    bytes_.append(low.data(), static_cast<std::size_t>(count));
    filled_ = std::max(filled_ - 8 * count, 0);
  }
  std::string bytes_;
  std::uint64_t waiting_ = 0;
  int filled_ = 0;
};

/// A Huffman code as deflate numbers it (RFC 1951, 3.2.2), each word with its first bit lowest.
class Code {
 public:
  explicit Code(const std::vector<std::uint64_t>& counts) {
    for (const int length : code_lengths(counts)) words_.push_back({0, length});
    std::uint32_t next = 0;
    for (int length = 1; length <= longest_code; ++length, next <<= 1)
      for (Word& word : words_)
        if (word.length == length) word.bits = reversed(next++, length);
  }
  void add_lengths(BitWriter& out) const {
    for (const Word& word : words_)
      out.add(reversed(static_cast<std::uint32_t>(word.length), 4), 4);
  }
  void add(BitWriter& out, std::size_t symbol) const {
    out.add(words_[symbol].bits, words_[symbol].length);
  }
  void add(BitWriter& out, const Symbol& symbol) const {
    add(out, symbol.number);
    out.add(symbol.extra, symbol.extra_bits);
  }

 private:
  static std::uint32_t reversed(std::uint32_t word, int bits) {
    std::uint32_t other = 0;
    for (int i = 0; i < bits; ++i) other |= (word >> i & 1) << (bits - 1 - i);
    return other;
  }
  struct Word {
    std::uint32_t bits;
    int length;
  };
  std::vector<Word> words_;
};

void add_deflated(BitWriter& out, const std::vector<Token>& tokens) {
  std::vector<std::uint64_t> of_symbols(symbol_count), of_distances(distance_count);
  of_symbols[end_of_block] = of_symbols['0'] = 1;  // a code has at least two words
  of_distances[0] = of_distances[1] = 1;
  for (const Token& each : tokens) {
    ++of_symbols[each.length > 0 ? symbol_of_length(each.length).number : each.byte_or_distance];
    if (each.length > 0) ++of_distances[symbol_of_distance(each.byte_or_distance).number];
  }
  const Code code(of_symbols), distance_code(of_distances);
  out.add(1, 1);  // the last block
  out.add(2, 2);  // with codes of its own
  out.add(symbol_count - first_length, 5);
  out.add(distance_count - 1, 5);
  out.add(19 - 4, 4);
  for (int i = 0; i < 19; ++i) out.add(i < 3 ? 0 : 4, 3);  // lengths 0 to 15 in four bits each
  code.add_lengths(out);
  distance_code.add_lengths(out);
  for (const Token& each : tokens) {
    if (each.length == 0) {
      code.add(out, each.byte_or_distance);
      continue;
    }
    code.add(out, symbol_of_length(each.length));
    distance_code.add(out, symbol_of_distance(each.byte_or_distance));
  }
  code.add(out, end_of_block);
  out.end_byte();
}

}  // namespace

std::string gzip_rows(std::string_view text) {
  BitWriter out;
  for (const int byte : {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})
    out.add(static_cast<std::uint64_t>(byte), 8);
  add_deflated(out, tokens_of(text));
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  out.add(crc32_z(0, bytes, text.size()), 32);
  out.add(text.size() & 0xffff'ffff, 32);
  return out.take();
}

}  // namespace headroom::report
