#include "model/quantisation/layout.hpp"

namespace headroom::model::layout {
namespace {

constexpr Size divided_up(Size a, Size b) { return (a + b - 1) / b; }

Size groups(const Matrix& m, const Scheme& s) {
  return s.group == 0 ? 1 : divided_up(m.in, s.group);
}

}  // namespace

Bytes fp8_tensor(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * m.in + 4); }

Bytes fp8_static(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * m.in + 8); }

Bytes fp8_block(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * m.in + 4 * divided_up(m.out, s.group) * divided_up(m.in, s.group));
}

Bytes row_scaled(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 2)); }

Bytes llm_int8(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 4) + 1); }

Bytes packed_int4(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(4 * m.out * divided_up(m.in, 8) + 2 * m.out * groups(m, s) + 16);
}

Bytes bitsandbytes_4bit(const Matrix& m, const Scheme&) {
  const Size n = m.out * m.in;
  return m.count * Bytes(divided_up(n, 2) + 4 * divided_up(n, 64) + 64);
}

Bytes bitsandbytes_4bit_double(const Matrix& m, const Scheme&) {
  const Size n = m.out * m.in, blocks = divided_up(n, 64);
  return m.count * Bytes(divided_up(n, 2) + blocks + 4 * divided_up(blocks, 256) + 1024 + 4 + 64);
}

Bytes gptq(const Matrix& m, const Scheme& s) {
  const Size g = groups(m, s);
  return m.count *
         Bytes(4 * divided_up(m.in * s.bits, 32) * m.out + 4 * g * divided_up(m.out * s.bits, 32) +
               2 * g * m.out + 4 * m.in + (m.biased ? 0 : 2 * m.out));
}

Bytes awq(const Matrix& m, const Scheme& s) {
  const Size g = groups(m, s), words = divided_up(m.out, 8);
  return m.count * Bytes(4 * m.in * words + 4 * g * words + 2 * g * m.out);
}

Bytes nvfp4(const Matrix& m, const Scheme&) {
  return m.count * Bytes(9 * m.out * divided_up(m.in, 16) + 8);
}

}  // namespace headroom::model::layout
