// Constants found by a calibration, and the profiles that store them.
#include "tests/sweep/accuracy/calibration_fixture.hpp"

namespace headroom::sweep {
namespace {

const Factor* found(const Calibration& c, std::string_view name) {
  for (const FittedConstant& each : c.constants)
    if (each.factor.name == name) return &each.factor;
  return nullptr;
}

TEST(Calibration, BringsKnownConstantsBack) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  const Calibration c = calibrate(known.subjects());
  ASSERT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_NEAR(found(c, "decode_bandwidth")->value, 0.6, 0.6 * 0.03);
  ASSERT_TRUE(found(c, "byte_compute"));
  EXPECT_NEAR(found(c, "byte_compute")->value, 0.3, 0.3 * 0.03);
  EXPECT_EQ(found(c, "decode_bandwidth")->cards, "ada");
  EXPECT_EQ(found(c, "decode_bandwidth")->width, "4-bit");
  EXPECT_GT(errors_of(c.rows, &FittedRow::before).median, 0.1);
  EXPECT_LT(errors_of(c.rows, &FittedRow::after).median, 0.02);
  EXPECT_LT(errors_of(c.rows, &FittedRow::left_out).median, 0.05);
  EXPECT_TRUE(c.supported());
}

TEST(Calibration, OutliersHaveLittleWeight) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  known.subjects()[0].measured *= 4;
  known.subjects()[7].measured *= 4;
  const Calibration c = calibrate(known.subjects());
  ASSERT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_NEAR(found(c, "decode_bandwidth")->value, 0.6, 0.6 * 0.06);
}

TEST(Calibration, UndeterminedConstantsAreReportedNotFitted) {
  Synthetic one({"Llama-2-13b"}, slower);
  auto decode = one.subjects();
  std::erase_if(decode, [](const ScoredRow& s) { return s.group == "prefill"; });
  const Calibration c = calibrate(decode);
  EXPECT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_FALSE(found(c, "kernel_s"));
  EXPECT_FALSE(found(c, "byte_compute"));
  const auto said = std::ranges::find_if(
      c.not_fitted, [](const NotFitted& n) { return n.name == "kernel_s (ada, 4-bit)"; });
  ASSERT_NE(said, c.not_fitted.end());
  EXPECT_NE(said->why.find("cannot separate it from decode_bandwidth"), std::string::npos);
  decode.resize(2);
  EXPECT_TRUE(calibrate(decode).constants.empty());
}

// One model's decoding determines only one constant. If the bandwidth would exceed its bound, the
// search lowers the overhead instead.
TEST(Calibration, ConstantAtItsBoundIsReplacedByARelatedOne) {
  constexpr double true_overhead = 1e-6;
  Synthetic one({"Llama-2-7b"}, [](model::Engine& r) {
    r.kernels.efficiency[ada][four].kernel_s.value = true_overhead;
  });
  auto decode = one.subjects();
  std::erase_if(decode, [](const ScoredRow& s) { return s.group == "prefill"; });
  const Calibration c = calibrate(decode);
  EXPECT_FALSE(found(c, "decode_bandwidth"));
  ASSERT_TRUE(found(c, "kernel_s"));
  EXPECT_NEAR(found(c, "kernel_s")->value, true_overhead, 0.1 * true_overhead);
  EXPECT_TRUE(c.supported());
  for (const NotFitted& each : c.not_fitted)
    EXPECT_NE(each.name, "kernel_s (ada, 4-bit)") << "fitted, and said not to be";
}

TEST(Calibration, NoConstantEndsAtItsBound) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-72B"}, slower);
  for (ScoredRow& each : known.subjects()) each.measured *= 100;
  for (const FittedConstant& each : calibrate(known.subjects()).constants)
    for (const Bounds& bounds : constant_bounds())
      if (bounds.name == each.factor.name) {
        EXPECT_GT(each.factor.value, bounds.low * 1.01) << bounds.name;
        EXPECT_LT(each.factor.value, bounds.high * 0.99) << bounds.name;
      }
}

TEST(Calibration, FasterThanTheHardwareIsImpossible) {
  Synthetic known({"Llama-2-7b"}, slower);
  EXPECT_EQ(impossible(known.subjects()[0]), "");
  known.subjects()[0].measured /= 1000;
  EXPECT_NE(impossible(known.subjects()[0]).find("full rates"), std::string::npos);
}

TEST(FactorProfile, ReadsAsItWasWritten) {
  FactorProfile p;
  p.machine = "1x rtx-4090 @ \"my\" host";
  p.date = "2026-01-02";
  p.files = {"a.csv", "b.json"};
  p.errors = "before";
  p.host.ram_bandwidth = BytesPerSecond(61.5e9);
  p.factors.push_back(
      {"llama.cpp", "decode_bandwidth", "ada", "4-bit", 0.6, 0.5, 0.7, 12, "a.csv"});
  p.factors.push_back({"llama.cpp", "cpu_bandwidth", "any", "any", 0.5, 0.5, 0.5, 3, "b.json"});
  const FactorProfile q = read_profile(profile_text(p), "p.toml");
  EXPECT_EQ(q.machine, p.machine);
  EXPECT_EQ(q.files, p.files);
  EXPECT_EQ(q.host.ram_bandwidth->value(), 61.5e9);
  EXPECT_FALSE(q.host.disk_read);
  ASSERT_EQ(q.factors.size(), 2u);
  EXPECT_EQ(q.factors[0].cards, "ada");
  EXPECT_EQ(q.factors[0].value, 0.6);
  EXPECT_EQ(q.factors[0].low, 0.5);
  EXPECT_EQ(q.factors[0].measurements, 12);
}

std::string refused(const std::string& text) {
  try {
    read_profile(text, "p.toml");
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(FactorProfile, WrongOnesAreRefusedByName) {
  const std::string start = "machine = \"m\"\n[[constant]]\nruntime = \"llama.cpp\"\n";
  EXPECT_NE(refused("machine = \"m\"\n").find("no [[constant]]"), std::string::npos);
  EXPECT_NE(refused(start + "name = \"decode_bandwith\"\nvalue = 0.5\n").find("decode_bandwith"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"decode_bandwidth\"\nvalue = -1\n").find("value"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"disk_bandwidth\"\nvalue = 80\n")
                .find("found 80; expected a number from 1e-06 to 1"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"queue\"\ncards = \"ada\"\nvalue = 0.5\n").find("every card"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"queue\"\nvalue = 0.5\nlow = 0.6\n")
                .find("expected low <= value <= high"),
            std::string::npos);
  const std::string queue = "name = \"queue\"\nvalue = 0.5\n";
  EXPECT_NE(refused(start + queue + "[[constant]]\nruntime = \"llama.cpp\"\n" + queue)
                .find("found 'queue' of llama.cpp twice"),
            std::string::npos);
  EXPECT_NE(refused("machine = \"m\"\nfile = 3\n").find("file"), std::string::npos);
}

// Unmeasured versions have separate constants. They must not influence the measured version.
TEST(ConstantSearch, StartsFromTheVersionThatWasMeasured) {
  Synthetic known({"Llama-2-7b"}, [](model::Engine&) {});
  std::vector<model::Engine> versions{*known.subjects().front().scenario.runtime};
  versions.push_back(versions.front());
  versions.back().name = "another version";
  for (auto& by_width : versions.back().kernels.efficiency)
    for (model::KernelEfficiency& rates : by_width) rates.decode_bandwidth.value /= 2;
  ConstantSearch search(versions, known.subjects());
  const Unknown unknown{.constant = &constant_named("decode_bandwidth"),
                        .low = 0.02,
                        .high = 1,
                        .cards = static_cast<std::size_t>(model::CardClass::ada),
                        .width = static_cast<std::size_t>(model::Width::four),
                        .rows = {}};
  const double before = *search.expected(0);
  EXPECT_FALSE(search.affected(unknown).empty());
  EXPECT_EQ(*search.expected(0), before);
  EXPECT_EQ(
      search.get(unknown),
      search.rows()[0].kernels.efficiency[unknown.cards][unknown.width].decode_bandwidth.value);
}

}  // namespace
}  // namespace headroom::sweep
