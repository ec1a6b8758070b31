// A miniature autograd: values without data that pass through operations, and the storages that
// each operation keeps for its backward. The saved tensors of a layer follow from running its
// operations here. No layer has a formula. If a dtype, a frozen weight or a fused kernel changes,
// so does the sum.
//
// The rules of each operation are torch's (tools/autograd/derivatives.yaml of 2.15). A product
// keeps the operand that the other one's gradient needs, and a softmax its result. A linear layer
// keeps its input if its weight is trained, and its weight if its input needs a gradient. A storage
// counts once, whole, however many views of it are kept. Sizes are monomials in sequences and
// tokens, so that one run serves all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

/// count * batch^b * sequence^s elements.
struct Extent {
  Size count = 1;
  std::uint8_t b = 0, s = 0;
  friend Extent operator*(Size n, Extent e) { return {n * e.count, e.b, e.s}; }
};
inline constexpr Extent constant(Size n) { return {n, 0, 0}; }
inline constexpr Extent positions(Size n) {
  return {n, 0, 1};
}  ///< n a position, whatever the batch
inline constexpr Extent tokens(Size n) { return {n, 1, 1}; }  ///< n a token
inline constexpr Extent pairs(Size n) { return {n, 1, 2}; }   ///< n a pair of tokens of a sequence
inline constexpr Extent squares(Size n) {
  return {n, 0, 2};
}  ///< n a pair of positions, whatever the batch

/// Bytes as a polynomial in the batch and the sequence length.
class Polynomial {
 public:
  void add(Extent extent, Size bytes);
  Polynomial& operator+=(const Polynomial& o);
  /// With `sequence` tokens here that attend to `all` (context parallelism keeps a share of them).
  double at(double batch, double sequence, double all) const {
    const auto row = [&](std::size_t i) {
      return terms_[i] + sequence * (terms_[i + 1] + all * terms_[i + 2]);
    };
    return row(0) + batch * row(3);
  }
  double at(double batch, double sequence) const { return at(batch, sequence, sequence); }
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

 private:
  std::array<double, 6> terms_{};  ///< [b * 3 + s]; whole numbers below 2^53
};

/// The type of elements on the tape.
enum class Held : std::uint8_t { fp32, bf16, boolean, int64, int32 };
Size bytes_of(Held held);

/// Which part of a layer a storage belongs to: `inner` lies between the two matrices of a
/// column- and row-parallel pair and is divided by tensor parallelism, `outer` by sequence
/// parallelism.
enum class Region : std::uint8_t { outer, inner };

/// The order in which the heads of [batch, heads, tokens, dim] lie in memory.
enum class Layout : std::uint8_t { by_token, by_head };

struct Value {
  int storage = -1;  ///< -1: a parameter's own, never counted
  Extent extent{};
  Held held = Held::fp32;
  bool grad = false;
  Layout layout = Layout::by_token;
  Region region = Region::outer;
};

/// Kernels of torch that differ in their saved tensors.
struct Kernels {
  bool fused_attention = true;  ///< scaled_dot_product_attention or flash attention: no scores kept
  bool flash_package = false;   ///< flash-attn: windows, soft caps and sinks are its arguments
  bool windows_in_kernel = false;  ///< a runtime's own kernels take windows: no mask
  bool sinks_in_kernel = false;    ///< … and attention sinks, of which SDPA takes none
  bool attention_by_token = true;  ///< its output lies by token (CUDA), not as its query (CPU)
  bool byte_masks =
      true;  ///< dropout keeps one byte an element (CUDA), not the tensor's type (CPU)
  bool autocast_fp32 = true;  ///< autocast raises softmax, norms and powers to fp32 (CUDA)
  bool fp32_statistics =
      true;  ///< layer norms keep mean and deviation in fp32 (CUDA), not the input's
  bool norm_statistics = true;  ///< they are kept at all (formulas of papers leave them out)
  bool fused_norms = false;     ///< Liger, Megatron: the input and one value a row, nothing else
  bool fused_gating = false;    ///< Liger, Megatron: gate and up, their product is made again
  bool gates_in_place = false;  ///< Liger, Unsloth: their gradients overwrite gate and up
  bool activation_kernels = false;  ///< torch's own for what transformers writes out (GELU by tanh)
  bool fused_rotation = false;      ///< rotates in place: no tables, no copies
  bool values_apart = false;  ///< latent attention copies values out of what it expands (Megatron)
  bool ring_attention = false;  ///< context parallelism: the output is kept besides its last copy
};

/// How values are held and which kernels run.
struct TapeMode {
  Held parameters = Held::bf16;
  bool autocast = false;      ///< matrices in bf16 over fp32 parameters
  bool trained = true;        ///< the weights of the model; adapters are always trained
  bool tower_trained = true;  ///< gradients run through the vision tower
  bool one_sequence = false;  ///< a batch of one: reshapes need no copy
  double attention_dropout = 0, hidden_dropout = 0;
  bool frozen_inputs = false;  ///< frozen products keep their inputs too, in 16 bit
  bool frozen_inputs_as_they_are = false;
  bool quantised_layers = false;  ///< matrices of layers return their input's type (4 bit)
  bool wide_head = true;          ///< the head is held as `parameters` say; else in 16 bit
  double imbalance = 1;           ///< rows of this card's experts over an even share
  /// Every second matrix product and attention's output are kept, whatever needs them; all else is
  /// made again (torchtitan's selective recomputation).
  bool keeps_products = false;
  bool compiled = false;  ///< only results that are needed, not those that only go into a sum
  /// Matrices of layers keep their inputs quantised to so many bits an element; 0: as they are.
  double operand_bits = 0;
  Kernels kernels{};
  /// For the head, which no format converts.
  TapeMode outside_layers() const {
    TapeMode mode = *this;
    mode.operand_bits = 0, mode.quantised_layers = mode.frozen_inputs = false;
    return mode;
  }
};

class Tape {
 public:
  explicit Tape(TapeMode mode) : mode_(mode) {}
  const TapeMode& mode() const { return mode_; }
  /// Says whether what follows is attention without a fused kernel, which writes its scores.
  void unfused(bool attention) { unfused_ = attention; }

  // ---- values -----------------------------------------------------------------------------------
  Value make(Extent extent, Held held, bool grad, Region region = Region::outer,
             Layout layout = Layout::by_token);
  /// A tensor like `x`, in a storage of its own.
  Value like(const Value& x) { return make(x.extent, x.held, x.grad, x.region, x.layout); }
  Value parameter(Extent extent, bool trained) const;
  /// A tensor that another layer made, which keeps it.
  static Value elsewhere(Extent extent, Held held) {
    return {.extent = extent, .held = held, .grad = true};
  }
  /// Part of the storage of `x`.
  static Value view(Value x, Extent extent) { return x.extent = extent, x; }
  void save(const Value& x);
  /// For passes that keep only chosen results: `x` is one of them.
  void keep(const Value& x);
  /// Keeps the input of a matrix of a layer, once however many matrices it goes into.
  void save_operand(const Value& x);
  /// Keeps a storage that no other operation sees.
  void save(Extent extent, Held held, Region region) { save(make(extent, held, false, region)); }

  // ---- operations
  // ---------------------------------------------------------------------------------
  Value to(const Value& x, Held held);
  /// x·Wᵀ, `in` × `out` elements of W; `rows` of x. A weight cast by autocast is kept. `to`: where
  /// the result lies.
  Value linear(const Value& x, Size in, Size out, Extent rows, bool trained, Region to);
  Value linear(const Value& x, Size in, Size out, Extent rows, bool trained) {
    return linear(x, in, out, rows, trained, x.region);
  }
  /// As above for a matrix that is never quantised: routers, gates of one column.
  Value linear_as_is(const Value& x, Size in, Size out);
  Value add(const Value& a, const Value& b);
  Value scale(const Value& x) { return like(x); }  ///< by a number, or a shift: nothing is kept
  Value multiply(const Value& a, const Value& b);  ///< the result is shaped as `a`
  Value power(const Value& x);
  Value keeps_input(const Value& x);   ///< silu, gelu, clamp, softplus, …
  Value keeps_result(const Value& x);  ///< relu, tanh, sigmoid, exp, rsqrt, …
  Value softmax(const Value& x, bool in_fp32);
  Value dropout(const Value& x, double share);
  Value layer_norm(const Value& x, Extent rows, bool trained);
  /// Both operands of a batched product, as they are kept: cast by autocast, copied where a reshape
  /// needs it.
  Value product(const Value& a, const Value& b, Extent result);
  Value by_head(const Value& x);   ///< contiguous by head
  Value by_token(const Value& x);  ///< contiguous by token
  Value raised(const Value& x);    ///< fp32 where autocast raises it

  // ---- what was kept
  // -----------------------------------------------------------------------------
  struct Sums {
    Polynomial outer, inner;                  ///< activations
    Polynomial weights_outer, weights_inner;  ///< low-precision copies of weights
  };
  /// Storages kept so far that `since` did not have.
  Sums saved(std::size_t since = 0) const;
  /// Sums of the storages that each pass writes, kept or not. Tables of positions are not included,
  /// nor scores that a fused kernel never writes.
  Sums made(std::size_t since = 0) const;
  std::size_t mark() const { return storages_.size(); }

 private:
  struct Storage {
    Extent extent;
    Held held;
    Region region;
    bool kept = false, weight = false, quantised = false;
    bool unfused = false;  ///< made while unfused_ is true
  };
  template <class Counts>
  Sums sums(std::size_t since, Counts counts) const;
  TapeMode mode_;
  int products_ = 0;
  bool unfused_ = false;
  std::vector<Storage> storages_;
};

}  // namespace headroom::model
