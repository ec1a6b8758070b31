// Invalid operations do not compile, and overflow throws.
#include "hardware/units.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <limits>

namespace headroom {
namespace {

template <class A, class B>
concept addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept comparable = requires(A a, B b) { a < b; };

static_assert(addable<Bytes, Bytes> && addable<Seconds, Seconds>);
static_assert(!addable<Bytes, Seconds> && !addable<Seconds, Flops>);
static_assert(!addable<Bytes, int> && !addable<Seconds, double>);
static_assert(!addable<Bytes, RealBytes>, "exact and real bytes meet only through real()");
static_assert(!comparable<Bytes, Seconds> && !comparable<BytesPerSecond, FlopsPerSecond>);
static_assert(!std::convertible_to<double, Seconds> && !std::convertible_to<Size, Bytes>);

static_assert(std::same_as<decltype(Bytes(1) / BytesPerSecond(1)), Seconds>);
static_assert(std::same_as<decltype(Flops(1) / FlopsPerSecond(1)), Seconds>);
static_assert(std::same_as<decltype(Flops(1) / Bytes(1)), Intensity>);
static_assert(std::same_as<decltype(FlopsPerSecond(1) / BytesPerSecond(1)), Intensity>);
static_assert(std::same_as<decltype(BytesPerSecond(1) * Seconds(1)), RealBytes>);
static_assert(std::same_as<decltype(Seconds(6) / Seconds(2)), double>);

using namespace literals;
static_assert(1_GiB == Bytes(1'073'741'824) && 1_GB == Bytes(1'000'000'000));
static_assert(1024_MiB == 1_GiB && 1_GB < 1_GiB);

constexpr Size most = std::numeric_limits<Size>::max();

TEST(Units, BytesDivideIntoSeconds) { EXPECT_DOUBLE_EQ((80_GB / 2000.0_GBps).value(), 0.04); }

TEST(Units, OverflowThrowsAndItsNeighbourDoesNot) {
  EXPECT_EQ((Bytes(most - 1) + Bytes(1)).count(), most);
  EXPECT_THROW(Bytes(most) + Bytes(1), std::overflow_error);
  EXPECT_THROW(Bytes(-most) - Bytes(2), std::overflow_error);
  EXPECT_EQ((2 * Bytes(most / 2)).count(), most - 1);
  EXPECT_THROW(2 * Bytes(most / 2 + 1), std::overflow_error);
}

}  // namespace
}  // namespace headroom
