// Norms, step by step as each kind writes them.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// A weight converted to fp32: a copy that the product keeps.
Value raised_weight(Tape& tape, Size width) {
  return tape.to(tape.parameter(constant(width), tape.mode().trained), Held::fp32);
}

/// x · rsqrt(mean(x²)), the square of an fp32 copy of x.
Value normalised(Tape& tape, const Value& multiplied, const Value& squared, Extent rows) {
  tape.power(squared);
  const Value root = tape.keeps_result(tape.make(rows, Held::fp32, squared.grad, squared.region));
  return tape.multiply(multiplied, root);
}

Value rms(Tape& tape, const Value& x, const NormSpec& use, Extent rows) {
  const Value weight = tape.parameter(constant(use.width), tape.mode().trained);
  const Value wide = tape.to(x, Held::fp32);
  if (use.kind == NormKind::rms_factor) {
    tape.power(wide);
    const Value root = tape.keeps_result(tape.make(rows, Held::fp32, wide.grad, wide.region));
    return tape.multiply(x, tape.to(root, x.held));
  }
  if (use.kind == NormKind::rms_residual) {
    Value y = normalised(tape, x, wide, rows);
    y = tape.to(y, tape.mode().parameters);
    return tape.multiply(y, weight);
  }
  const Value y = normalised(tape, wide, wide, rows);
  switch (use.kind) {
    case NormKind::rms_plus_1: {
      const Value shifted = tape.make(constant(use.width), Held::fp32, tape.mode().trained);
      return tape.to(tape.multiply(y, shifted), x.held);
    }
    case NormKind::rms_fp32:
      return tape.to(tape.multiply(y, weight), x.held);
    case NormKind::rms_raised:
      return tape.to(tape.multiply(y, raised_weight(tape, use.width)), x.held);
    case NormKind::rms_raised_result:
      return tape.multiply(y, raised_weight(tape, use.width));
    case NormKind::rms_plain:
      return tape.to(y, x.held);
    default:
      return tape.multiply(tape.to(y, x.held), weight);
  }
}

/// Mean and deviation in Python: two differences, one squared, one scaled.
Value written_out(Tape& tape, const Value& x, const NormSpec& use, Extent rows) {
  const Value wide = tape.to(x, Held::fp32);
  const Value y = normalised(tape, tape.like(wide), tape.like(wide), rows);
  return tape.to(tape.multiply(y, raised_weight(tape, use.width)), x.held);
}

}  // namespace

Value run_norm(Tape& tape, const Value& x, const NormSpec& use, Extent rows) {
  const bool trained = tape.mode().trained;
  if (tape.mode().kernels.fused_norms && use.kind != NormKind::layer) {
    if (x.grad || trained) {
      tape.save(x);
      tape.save(rows, Held::fp32, x.region);
    }
    Value y = tape.like(x);
    y.grad = x.grad || trained;
    return y;
  }
  switch (use.kind) {
    case NormKind::layer:
      return tape.layer_norm(x, rows, trained);
    case NormKind::layer_fp32:
      return tape.to(tape.layer_norm(tape.to(x, Held::fp32), rows, false), x.held);
    case NormKind::layer_plus_1: {
      Value shifted = tape.make(constant(use.width), tape.mode().parameters, trained);
      Value y = x;
      if (tape.mode().autocast) y = tape.to(x, Held::bf16), shifted = tape.to(shifted, Held::bf16);
      if (x.grad) tape.save(shifted);
      const Value saved = y;
      if (x.grad || trained) {
        tape.save(saved);
        tape.save(2 * rows, tape.mode().kernels.fp32_statistics ? Held::fp32 : saved.held,
                  x.region);
      }
      Value result = tape.like(saved);
      result.grad = x.grad || trained;
      return result;
    }
    case NormKind::written_out:
      return written_out(tape, x, use, rows);
    default:
      return rms(tape, x, use, rows);
  }
}

}  // namespace headroom::model
