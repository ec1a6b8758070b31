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

TEST(WayOrder, NarrowerOnesHaveToBeFasterByMoreThanTheBitsTheySave) {
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 16}, on_cards(2.4), {.bits = 4.5}));
  EXPECT_TRUE(is_before(on_cards(2.1), {.bits = 4.5}, on_cards(10), {.bits = 16}));
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 6.5}, on_cards(7), {.bits = 4.5}));
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 8.5}, on_cards(8.2), {.bits = 7}));
}

TEST(WayOrder, AWayWithoutTowersHasToBeTwiceAsFast) {
  const WayFacts text{.bits = 16, .without_towers = true};
  EXPECT_TRUE(is_before(on_cards(1.9), {.bits = 16}, on_cards(1), text));
  EXPECT_TRUE(is_before(on_cards(1), text, on_cards(2.1), {.bits = 16}));
}

TEST(WayOrder, SeveralRequestsGoByWhatIsServed) {
  // The slower answer serves more.
  EXPECT_TRUE(is_before(on_cards(10), {.bits = 16, .served_tokens_s = 900}, on_cards(5),
                        {.bits = 16, .served_tokens_s = 800}));
  const WayFacts eight{.bits = 8, .served_tokens_s = 300};
  EXPECT_TRUE(is_before(on_cards(1), eight, on_cards(1), {.bits = 4.5, .served_tokens_s = 650}));
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 4.5, .served_tokens_s = 680}, on_cards(1), eight));
}

TEST(WayOrder, OneBatchAtATimeIsBehindRequestsAsTheyCome) {
  const WayFacts batch{.one_batch = true, .bits = 16, .served_tokens_s = 900};
  EXPECT_TRUE(is_before(on_cards(1), {.bits = 8, .served_tokens_s = 300}, on_cards(1), batch));
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
  const WayFacts eight{.bits = 8, .served_tokens_s = 1130};
  EXPECT_TRUE(is_before(on_cards(1), eight, waits, {.bits = 16, .served_tokens_s = 1100}));
  EXPECT_TRUE(is_before(waits, {.bits = 16, .served_tokens_s = 1160}, on_cards(1), eight));
}

TEST(WayOrder, ServedRatesOfAnEstimateCount) {
  Estimate slow = on_cards(1), fast = on_cards(2);
  slow.served.running = fast.served.running = 8;
  slow.served.output_tokens_s = 100;
  fast.served.output_tokens_s = 200;
  EXPECT_TRUE(is_before(fast, {}, slow, {}));
  EXPECT_DOUBLE_EQ(seconds_a_token(fast), 1.0 / 200);
}

TEST(WayOrder, ATightWayHasToBeTwiceAsFast) {
  const WayFacts tight{.tight = true, .bits = 8};
  EXPECT_TRUE(is_before(on_cards(1.9), {.bits = 8}, on_cards(1), tight));
  EXPECT_TRUE(is_before(on_cards(1), tight, on_cards(2.1), {.bits = 8}));
}

TEST(WayOrder, AQuantisedCheckpointIsQuantisedAnewForHalfAsMuchSpeedAgain) {
  const WayFacts own{.bits = 4.5}, anew{.bits = 4.5, .requantised = true};
  EXPECT_TRUE(is_before(on_cards(1.4), own, on_cards(1), anew));
  EXPECT_TRUE(is_before(on_cards(1), anew, on_cards(1.6), own));
}

TEST(WayOrder, TensorsLeftInSixteenBitsDoNotWidenAFormat) {
  const auto bits = [](double of_all, const char* name) {
    return bits_per_parameter(Bytes(static_cast<Size>(of_all * 1000 / 8)), 1000, &scheme(name));
  };
  EXPECT_NEAR(bits(7.2, "q3_K_M"), 4.0, 0.01) << "a tower in 16 bit";
  EXPECT_EQ(fidelity(bits(7.2, "q3_K_M")), Fidelity::less);
  EXPECT_EQ(fidelity(bits(7.4, "q6_K")), Fidelity::four_bits) << "down_proj fell back to q8_0";
  EXPECT_EQ(fidelity(bits(8.5, "q8_0")), Fidelity::eight_bits);
  EXPECT_EQ(bits(5.5, "awq-int4"), bits(4.4, "iq4_xs")) << "formats of 4 bits are one width";
  EXPECT_NEAR(bits(3.1, "exl3-3bpw"), 3.1, 0.01);
}

TEST(WayOrder, OverASecondATokenIsBehindWhatIsUsable) {
  const WayFacts wide{.bits = 16}, two{.bits = 2.5};
  EXPECT_TRUE(is_before(offloaded(0.1), two, offloaded(1.1), wide));
  EXPECT_TRUE(is_before(offloaded(0.9), wide, offloaded(0.1), two));
  EXPECT_TRUE(is_before(offloaded(1.2), wide, offloaded(1.1), two));
}

TEST(WayOrder, BelowFourBitsEachBitHasToBeWorthSixTimesTheSpeed) {
  const WayFacts three{.bits = 3.5}, two{.bits = 2.5};
  EXPECT_TRUE(is_before(offloaded(1), three, offloaded(0.18), two));
  EXPECT_TRUE(is_before(offloaded(0.16), two, offloaded(1), three));
  const WayFacts four{.bits = 4.5};
  EXPECT_TRUE(is_before(offloaded(1), four, offloaded(0.17), three));
  EXPECT_TRUE(is_before(offloaded(0.16), three, offloaded(1), four));
}

TEST(WayOrder, NobodyWaitsForWideWeightsThatAreOffloaded) {
  EXPECT_TRUE(is_before(offloaded(0.9), {.bits = 4.5}, offloaded(1), {.bits = 16}));
  EXPECT_TRUE(is_before(offloaded(0.9), {.bits = 16}, offloaded(1), {.bits = 4.5}));
}

TEST(WayOrder, OffloadHasToBeFarWiderThanWhatFits) {
  const WayFacts three{.bits = 4}, four{.bits = 4.5}, two{.bits = 2.5};
  EXPECT_TRUE(is_before(on_cards(2.5), three, offloaded(0.04), four));
  EXPECT_TRUE(is_before(offloaded(0.04), four, on_cards(1), two));
}

}  // namespace
}  // namespace headroom::model
