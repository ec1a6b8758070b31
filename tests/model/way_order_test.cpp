// Which of two ways to run a model is before the other.
#include "model/answer/way_order.hpp"

#include <gtest/gtest.h>

#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

/// On cards, with an answer of 100 tokens in `answer_s`.
Estimate on_cards(double answer_s) {
  Estimate e;
  e.verdict = Verdict::fits_one_gpu;
  e.sure = Confidence::yes;
  e.ttft = Seconds(answer_s / 10);
  e.total = Seconds(answer_s);
  e.tpot = Seconds((answer_s - answer_s / 10) / 100);
  e.tokens_s = 1 / e.tpot.value();
  return e;
}

Estimate offloaded(double token_s) {
  Estimate e = on_cards(100 * token_s);
  e.verdict = Verdict::fits_cpu_offload;
  e.tpot = Seconds(token_s);
  return e;
}

bool is_before(const Estimate& a, const WayFacts& of_a, const Estimate& b, const WayFacts& of_b) {
  return way_place(a, of_a) < way_place(b, of_b);
}

TEST(WayOrder, EightBitsHaveToBeTwiceAsFastAsSixteen) {
  const WayFacts wide{.bits = 16}, eight{.bits = 8.5};
  EXPECT_TRUE(is_before(on_cards(10), wide, on_cards(5.1), eight));
  EXPECT_TRUE(is_before(on_cards(4.9), eight, on_cards(10), wide));
}

TEST(WayOrder, FormatsOfEightBitsAreEquallyWide) {
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 8}, on_cards(1.1), {.bits = 8.5}));
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 8.5}, on_cards(1.1), {.bits = 8}));
}

TEST(WayOrder, NarrowerOnesAreBehindHoweverFast) {
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 8}, on_cards(1), {.bits = 6.5}));
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 6.5}, on_cards(1), {.bits = 4.5}));
}

TEST(WayOrder, SeveralRequestsGoByWhatIsServed) {
  // The slower answer serves more.
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 16, .served_tokens_s = 900}, on_cards(5),
                        {.bits = 16, .served_tokens_s = 800}));
  const WayFacts eight{.bits = 8, .served_tokens_s = 300};
  EXPECT_TRUE(is_before(on_cards(1), eight, on_cards(1), {.bits = 4.5, .served_tokens_s = 440}));
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 4.5, .served_tokens_s = 460}, on_cards(1), eight));
}

TEST(WayOrder, RequestsThatWaitCountByWhatIsServed) {
  Estimate waits = on_cards(1);
  waits.queued = 45;
  waits.sure = Confidence::marginal;
  const WayFacts full{.tight = true, .bits = 16, .served_tokens_s = 1300};
  EXPECT_TRUE(is_before(waits, full, on_cards(1), {.bits = 16, .served_tokens_s = 290}));
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 8, .served_tokens_s = 2700}, waits, full));
}

TEST(WayOrder, RoomForAllRequestsIsBeforeWideWeights) {
  Estimate waits = on_cards(1);
  waits.queued = 56;
  const WayFacts wide{.bits = 16, .served_tokens_s = 928},
      eight{.bits = 8, .served_tokens_s = 1130};
  EXPECT_TRUE(is_before(on_cards(1), eight, waits, wide));
  const WayFacts fast{.bits = 16, .served_tokens_s = 1600},
      faster{.bits = 16, .served_tokens_s = 1750};
  EXPECT_TRUE(is_before(on_cards(1), eight, waits, fast));
  EXPECT_TRUE(is_before(waits, faster, on_cards(1), eight));
}

TEST(WayOrder, ServedRatesOfAnEstimateCount) {
  Estimate slow = on_cards(1), fast = on_cards(2);
  slow.served.running = fast.served.running = 8;
  slow.served.output_tokens_s = 100;
  fast.served.output_tokens_s = 200;
  EXPECT_TRUE(is_before(fast, {}, slow, {}));
  EXPECT_DOUBLE_EQ(seconds_a_token(fast), 1.0 / 200);
}

TEST(WayOrder, APublishedPrecisionIsBeforeNarrowerOnesThoughTight) {
  const WayFacts own{.tight = true, .bits = 8, .published = true};
  EXPECT_TRUE(is_before(on_cards(2), own, on_cards(1), {.bits = 4.5}));
  EXPECT_TRUE(is_before(on_cards(2), {.bits = 8}, on_cards(1), own));  // as wide, and safe
  const WayFacts plain{.tight = true, .bits = 16, .published = true};
  EXPECT_TRUE(is_before(on_cards(2), {.bits = 8}, on_cards(1), plain));
}

TEST(WayOrder, APublishedQuantisedCheckpointIsNotQuantisedAnew) {
  const WayFacts own{.bits = 4.5, .published = true};
  EXPECT_TRUE(is_before(on_cards(2), own, on_cards(1), {.bits = 4.5}));
  const WayFacts plain{.bits = 16, .published = true};
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 8}, on_cards(3), plain)) << "16 bits go by speed";
}

TEST(WayOrder, TensorsLeftInSixteenBitsDoNotWidenAFormat) {
  const auto bits = [](double of_all, const char* name) {
    return bits_per_parameter(Bytes(static_cast<Size>(of_all * 1000 / 8)), 1000, &scheme(name));
  };
  EXPECT_EQ(bits(7.2, "q3_K_M"), 4.0) << "a tower in 16 bit";
  EXPECT_EQ(fidelity(bits(7.2, "q3_K_M")), Fidelity::less);
  EXPECT_EQ(fidelity(bits(7.4, "q6_K")), Fidelity::four_bits) << "down_proj fell back to q8_0";
  EXPECT_EQ(fidelity(bits(8.5, "q8_0")), Fidelity::eight_bits);
  EXPECT_EQ(bits(5.5, "awq-int4"), bits(4.4, "iq4_xs")) << "formats of 4 bits are one width";
  EXPECT_EQ(bits(3.1, "exl3-3bpw"), 3.0);
}

TEST(WayOrder, OverTenSecondsATokenIsBehindWhatIsUsable) {
  const WayFacts wide{.bits = 16}, two{.bits = 2.5};
  EXPECT_TRUE(is_before(offloaded(0.1), two, offloaded(11), wide));
  EXPECT_TRUE(is_before(offloaded(4), wide, offloaded(0.1), two));
  EXPECT_TRUE(is_before(offloaded(11), wide, offloaded(10.5), two));
}

TEST(WayOrder, BelowFourBitsEachBitHasToBeWorthFourTimesTheSpeed) {
  const WayFacts three{.bits = 3.5}, two{.bits = 2.5};
  EXPECT_TRUE(is_before(offloaded(1), three, offloaded(0.26), two));
  EXPECT_TRUE(is_before(offloaded(0.24), two, offloaded(1), three));
  const WayFacts four{.bits = 4.5};
  EXPECT_TRUE(is_before(offloaded(1), four, offloaded(0.1), three));
  EXPECT_TRUE(is_before(offloaded(0.08), three, offloaded(1), four));
}

}  // namespace
}  // namespace headroom::model
