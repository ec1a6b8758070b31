#include "model/train/optimizer_rules.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "hardware/units.hpp"

namespace headroom::model::optimizer_rules {
namespace {

Size product(const Shape& s) {
  return std::accumulate(s.begin(), s.end(), Size{1}, std::multiplies<>{});
}
Size blocks(const Shape& s, Size of) { return divided_up(product(s), of); }
Shape ones(const Shape& s) { return Shape(s.size(), 1); }
Shape without(Shape s, std::size_t from_the_end) {
  s.erase(s.end() - static_cast<std::ptrdiff_t>(from_the_end));
  return s;
}
Shape with_one(Shape s, std::size_t from_the_end) {
  s[s.size() - from_the_end] = 1;
  return s;
}
bool in_blocks(const Shape& s, Size of) { return product(s) >= 4096 && product(s) % of == 0; }

}  // namespace

Shape scalar(const Shape&, Size, Size) { return {}; }
Shape single(const Shape&, Size, Size) { return {1}; }
Shape flat(const Shape& p, Size, Size) { return {product(p)}; }
Shape half_flat(const Shape& p, Size, Size) { return {product(p) / 2}; }
Shape twice(const Shape& p, Size, Size) {
  Shape s = p;
  s.insert(s.begin(), 2);
  return s;
}
Shape rows(const Shape& p, Size, Size) { return without(p, 1); }
Shape columns(const Shape& p, Size, Size) { return without(p, 2); }
Shape kept_rows(const Shape& p, Size, Size) { return with_one(p, 1); }
Shape kept_columns(const Shape& p, Size, Size) { return with_one(p, 2); }
Shape first(const Shape& p, Size, Size) { return {p[0]}; }
Shape behind_first(const Shape& p, Size, Size) { return {product(p) / p[0]}; }
Shape first_kept(const Shape& p, Size, Size) { return {p[0], 1}; }
Shape behind_kept(const Shape& p, Size, Size) { return {1, product(p) / p[0]}; }
Shape unit_matrix(const Shape&, Size, Size) { return {1, 1}; }
Shape first_of_ones(const Shape& p, Size, Size) {
  Shape s = ones(p);
  s[0] = p[0];
  return s;
}
Shape one_of_first(const Shape& p, Size, Size) {
  Shape s = p;
  s[0] = 1;
  return s;
}
Shape square(const Shape& p, Size, Size i) {
  const Size side = p[static_cast<std::size_t>(i)];
  return {side, side};
}
Shape only(const Shape& p, Size, Size i) {
  Shape s = ones(p);
  s[static_cast<std::size_t>(i)] = p[static_cast<std::size_t>(i)];
  return s;
}
Shape smaller_square(const Shape& p, Size, Size) {
  const Size side = std::min(p[0], p[1]);
  return {side, side};
}
Shape projector(const Shape& p, Size rank, Size) {
  return p[0] < p[1] ? Shape{p[0], std::min(rank, p[0])} : Shape{std::min(rank, p[1]), p[1]};
}
Shape projected(const Shape& p, Size rank, Size) {
  return p[0] < p[1] ? Shape{std::min(rank, p[0]), p[1]} : Shape{p[0], std::min(rank, p[1])};
}
Shape blocks_of_32(const Shape& p, Size, Size) { return {blocks(p, 32)}; }
Shape blocks_of_128(const Shape& p, Size, Size) { return {blocks(p, 128)}; }
Shape blocks_of_256(const Shape& p, Size, Size) { return {blocks(p, 256)}; }
Shape twice_blocks_of_256(const Shape& p, Size, Size) { return {2, blocks(p, 256)}; }
Shape table_of_16(const Shape&, Size, Size) { return {16}; }
Shape table_of_256(const Shape&, Size, Size) { return {256}; }

bool is_matrix(const Shape& p, Size) { return p.size() == 2; }
bool not_matrix(const Shape& p, Size) { return p.size() != 2; }
bool has_sides(const Shape& p, Size) { return p.size() >= 2; }
bool is_vector(const Shape& p, Size) { return p.size() < 2; }
bool from_4096(const Shape& p, Size) { return product(p) >= 4096; }
bool below_4096(const Shape& p, Size) { return product(p) < 4096; }
bool whole_blocks_128(const Shape& p, Size) { return in_blocks(p, 128); }
bool no_blocks_128(const Shape& p, Size) { return !in_blocks(p, 128); }
bool whole_blocks_256(const Shape& p, Size) { return in_blocks(p, 256); }
bool no_blocks_256(const Shape& p, Size) { return !in_blocks(p, 256); }

bool is_16bit(const Shape&, Size parameter_bytes) { return parameter_bytes == 2; }
bool is_32bit(const Shape&, Size parameter_bytes) { return parameter_bytes == 4; }

}  // namespace headroom::model::optimizer_rules
