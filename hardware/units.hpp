// Strong units. A quantity is a number with exponents of three base dimensions: bytes,
// floating-point operations and seconds. Adding unlike quantities does not compile; dividing them
// yields the right type.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace headroom {

using Size = std::int64_t;

template <int B, int F, int S>
struct Dim {};

/// A real-valued quantity. Byte counts are *not* Quantity: they are `Bytes`, exact.
template <class D>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value_(v) {}
  constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity o) { return *this = *this + o; }
  constexpr Quantity& operator-=(Quantity o) { return *this = *this - o; }
  constexpr Quantity& operator*=(double k) { return *this = *this * k; }
  constexpr Quantity& operator/=(double k) { return *this = *this / k; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(double k, Quantity q) { return Quantity(k * q.value_); }
  friend constexpr Quantity operator*(Quantity q, double k) { return Quantity(q.value_ * k); }
  friend constexpr Quantity operator/(Quantity q, double k) { return Quantity(q.value_ / k); }

 private:
  double value_ = 0;
};

template <int B1, int F1, int S1, int B2, int F2, int S2>
constexpr auto operator/(Quantity<Dim<B1, F1, S1>> a, Quantity<Dim<B2, F2, S2>> b) {
  if constexpr (B1 == B2 && F1 == F2 && S1 == S2)
    return a.value() / b.value();
  else
    return Quantity<Dim<B1 - B2, F1 - F2, S1 - S2>>(a.value() / b.value());
}
template <int B1, int F1, int S1, int B2, int F2, int S2>
constexpr auto operator*(Quantity<Dim<B1, F1, S1>> a, Quantity<Dim<B2, F2, S2>> b) {
  return Quantity<Dim<B1 + B2, F1 + F2, S1 + S2>>(a.value() * b.value());
}

using Seconds = Quantity<Dim<0, 0, 1>>;
using RealBytes = Quantity<Dim<1, 0, 0>>;
using Flops = Quantity<Dim<0, 1, 0>>;
using FlopsPerSecond = Quantity<Dim<0, 1, -1>>;
using BytesPerSecond = Quantity<Dim<1, 0, -1>>;
using Intensity = Quantity<Dim<-1, 1, 0>>;  // FLOPs a byte
using SecondsPerByte = Quantity<Dim<-1, 0, 1>>;

/// An exact count of bytes. Arithmetic is checked: overflow throws, never wraps.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t n) : n_(n) {}
  constexpr std::int64_t count() const { return n_; }
  constexpr auto operator<=>(const Bytes&) const = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) {
    std::int64_t r = 0;
    if (__builtin_add_overflow(a.n_, b.n_, &r)) overflow();
    return Bytes(r);
  }
  friend constexpr Bytes operator-(Bytes a, Bytes b) {
    std::int64_t r = 0;
    if (__builtin_sub_overflow(a.n_, b.n_, &r)) overflow();
    return Bytes(r);
  }
  friend constexpr Bytes operator*(std::int64_t k, Bytes b) {
    std::int64_t r = 0;
    if (__builtin_mul_overflow(k, b.n_, &r)) overflow();
    return Bytes(r);
  }
  constexpr Bytes& operator+=(Bytes o) { return *this = *this + o; }
  constexpr Bytes& operator-=(Bytes o) { return *this = *this - o; }
  /// The only conversion from exact to real arithmetic.
  constexpr RealBytes real() const { return RealBytes(static_cast<double>(n_)); }

 private:
  [[noreturn]] static void overflow() {
    throw std::overflow_error("a byte count exceeds 2^63 - 1");
  }
  std::int64_t n_ = 0;
};

/// A count as a real number, for inexact arithmetic.
constexpr double real_count(Size n) { return static_cast<double>(n); }
constexpr double real_count(Bytes b) { return b.real().value(); }
/// n / parts, rounded up.
constexpr Size divided_up(Size n, Size parts) { return (n + parts - 1) / parts; }
/// Smallest multiple of `multiple` that is at least `n`.
constexpr Size round_up(Size n, Size multiple) { return divided_up(n, multiple) * multiple; }
constexpr Seconds operator/(Bytes b, BytesPerSecond r) { return b.real() / r; }
constexpr Intensity operator/(Flops f, Bytes b) { return f / b.real(); }

/// Bytes of a unit, for inexact figures.
inline constexpr double MiB = 1048576, GiB = 1073741824, GB = 1e9;
inline constexpr Bytes mebibyte{std::int64_t{1} << 20};
/// A memory or disk that never binds; sums of several stay exact.
inline constexpr Bytes ample{std::int64_t{1} << 50};

namespace literals {
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<std::int64_t>(v)); }
constexpr Bytes operator""_MiB(unsigned long long v) {
  return static_cast<std::int64_t>(v) * Bytes(std::int64_t{1} << 20);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return static_cast<std::int64_t>(v) * Bytes(std::int64_t{1} << 30);
}
constexpr Bytes operator""_GB(unsigned long long v) {
  return static_cast<std::int64_t>(v) * Bytes(1'000'000'000);
}
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr FlopsPerSecond operator""_TFLOPS(long double v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
}  // namespace literals

}  // namespace headroom
