// RWKV-4 (arXiv:2305.13048) with its kernel for training. Source: transformers 5.23
// models/rwkv/modeling_rwkv.py, RwkvSelfAttention, RwkvLinearAttention and RwkvFeedForward. Without
// the kernel it keeps several states of every token in fp32.
#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// Each token and the one before it, which is a tensor of its own.
struct Shifted {
  Value now, before;
};
Shifted shifted(Tape& tape, const Value& x) { return {x, tape.like(x)}; }

/// w · now + (1 - w) · before, with a trained w of each channel.
Value interpolated(Tape& tape, const Shifted& of, Size width) {
  const bool trained = tape.mode().trained;
  const Value w = tape.parameter(constant(width), trained);
  const Value rest = tape.make(constant(width), tape.mode().parameters, trained);
  return tape.add(tape.multiply(of.now, w), tape.multiply(of.before, rest));
}

}  // namespace

Value run_rwkv(Tape& tape, const Value& x, const MixerUse& u) {
  const Shifted of = shifted(tape, x);
  const auto projected = [&] {
    return column_parallel(tape, interpolated(tape, of, u.hidden), u.hidden, u.inner);
  };
  const Value key = projected(), value = projected();
  const Value gate = tape.keeps_result(projected());
  tape.save(constant(u.inner), Held::fp32, Region::inner);  // exponents of the decay
  tape.save(key), tape.save(value);
  const Value mixed = tape.like(value);
  tape.save(mixed);
  return row_parallel(tape, tape.multiply(gate, mixed), u.inner, u.hidden);
}

Value run_shifted(Tape& tape, const Value& x, const FeedForwardUse& u) {
  const Shifted of = shifted(tape, x);
  const Value key = column_parallel(tape, interpolated(tape, of, u.hidden), u.hidden, u.inner);
  const Value squared = tape.power(tape.keeps_result(key));
  const Value value = row_parallel(tape, squared, u.inner, u.hidden);
  const Value asked = interpolated(tape, of, u.hidden);
  const Value gate =
      tape.keeps_result(tape.linear(asked, u.hidden, u.hidden, tokens(1), tape.mode().trained));
  return tape.multiply(gate, value);
}

}  // namespace headroom::model
