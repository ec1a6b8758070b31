#include "model/checkpoint/quantisation/layout.hpp"

namespace headroom::model::layout {
namespace {

Size groups(const Matrix& m, const Scheme& s) {
  return s.group == 0 ? 1 : divided_up(m.in, s.group);
}

/// Integers packed along each row into int32, their scales, and the shape.
Size packed_row(const Matrix& m, const Scheme& s) {
  return 4 * m.out * divided_up(m.in, 32 / s.bits) + 2 * m.out * groups(m, s) + 16;
}
Size zero_points(const Matrix& m, const Scheme& s) {
  return 4 * divided_up(m.out * s.bits, 32) * groups(m, s);
}

}  // namespace

Bytes fp8_tensor(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * m.in + 4); }

Bytes fp8_static(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * m.in + 8); }

Bytes fp8_block(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * m.in + 4 * divided_up(m.out, s.group) * divided_up(m.in, s.group));
}

Bytes fp8_block_e8m0(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * m.in + divided_up(m.out, s.group) * divided_up(m.in, s.group));
}

Bytes row_scaled(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 2)); }

Bytes llm_int8(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 4) + 1); }

Bytes packed_ints(const Matrix& m, const Scheme& s) { return m.count * Bytes(packed_row(m, s)); }

Bytes packed_ints_short_shape(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(packed_row(m, s) - 8);
}

Bytes packed_ints_asymmetric(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(packed_row(m, s) + zero_points(m, s));
}

Bytes packed_ints_ordered(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(packed_row(m, s) + 4 * m.in);
}

Bytes packed_ints_asymmetric_ordered(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(packed_row(m, s) + zero_points(m, s) + 4 * m.in);
}

Bytes row_scaled_fp32(const Matrix& m, const Scheme&) {
  return m.count * Bytes(m.out * (m.in + 4));
}

Bytes bitsandbytes_4bit(const Matrix& m, const Scheme&) {
  const Size n = m.out * m.in;
  return m.count * Bytes(divided_up(n, 2) + 4 * divided_up(n, 64) + 64);
}

Bytes bitsandbytes_4bit_double(const Matrix& m, const Scheme&) {
  const Size n = m.out * m.in, blocks = divided_up(n, 64);
  return m.count * Bytes(divided_up(n, 2) + blocks + 4 * divided_up(blocks, 256) + 1024 + 4 + 64);
}

Bytes affine_groups(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * (4 * divided_up(m.in * s.bits, 32) + 4 * groups(m, s)));
}

Bytes auto_round(const Matrix& m, const Scheme& s) {
  const Size g = groups(m, s);
  return m.count * Bytes(4 * divided_up(m.in * s.bits, 32) * m.out +
                         4 * g * divided_up(m.out * s.bits, 32) + 2 * g * m.out);
}

Bytes gptq_model(const Matrix& m, const Scheme& s) {
  return auto_round(m, s) + m.count * Bytes(4 * m.in);
}

Bytes gptq(const Matrix& m, const Scheme& s) {
  return gptq_model(m, s) + (m.biased ? Bytes(0) : m.count * Bytes(2 * m.out));
}

Bytes awq(const Matrix& m, const Scheme& s) {
  const Size g = groups(m, s), words = divided_up(m.out, 8);
  return m.count * Bytes(4 * m.in * words + 4 * g * words + 2 * g * m.out);
}

Bytes nvfp4(const Matrix& m, const Scheme&) {
  return m.count * Bytes(9 * m.out * divided_up(m.in, 16) + 8);
}

Bytes nvfp4_weights(const Matrix& m, const Scheme&) {
  return m.count * Bytes(9 * m.out * divided_up(m.in, 16) + 4);
}

Bytes torchao_int8(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 5)); }

Bytes torchao_bytes(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * (m.in + 3 * groups(m, s)));
}

Bytes torchao_int4(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * (divided_up(m.in, 2) + 4 * groups(m, s)));
}

Bytes torchao_int4_tiles(const Matrix& m, const Scheme& s) {
  Matrix padded = m;
  padded.out = 8 * divided_up(m.out, 8);
  padded.in = 1024 * divided_up(m.in, 1024);
  return torchao_int4(padded, s);
}

Bytes exl2(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(divided_up(m.out * m.in * s.bits, 8000));
}

Bytes exl3(const Matrix& m, const Scheme& s) {
  const Size out = divided_up(m.out, 128) * 128, in = divided_up(m.in, 128) * 128;
  return m.count * Bytes(divided_up(out * in * s.bits, 8000) + 2 * (out + in) + 4);
}

}  // namespace headroom::model::layout
