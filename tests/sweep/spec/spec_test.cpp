// Specs: accepted keys and values, and messages for the others.
#include "sweep/spec/spec.hpp"

#include <gtest/gtest.h>

#include "hardware/names.hpp"
#include "hardware/units.hpp"

namespace headroom::sweep {
namespace {

using namespace literals;

using AxisSizes = std::vector<Size>;
using Texts = std::vector<std::string>;

Spec grid_spec(std::string_view grid) {
  return parse_spec("[[grid]]\nmodels = 'm'\nmachines = 'x'\n" + std::string(grid), "s.toml");
}
std::string spec_complaint(std::string_view toml) {
  try {
    parse_spec(toml, "s.toml");
  } catch (const SpecError& e) {
    return e.what();
  }
  return "none";
}
std::string grid_complaint(std::string_view grid) {
  return spec_complaint("[[grid]]\nmodels = 'm'\nmachines = 'x'\n" + std::string(grid));
}

TEST(Spec, FillsDefaultsIn) {
  const auto spec = grid_spec("");
  ASSERT_EQ(spec.grids.size(), 1U);
  const auto& grid = spec.grids[0];
  EXPECT_EQ(grid.values("precisions"), Texts{"auto"});
  EXPECT_EQ(grid.values("runtimes"), Texts{"transformers"});
  EXPECT_EQ(grid.numbers("batches"), AxisSizes{1});
  EXPECT_EQ(grid.numbers("prompt_tokens"), AxisSizes{512});
  EXPECT_EQ(grid.numbers("output_tokens"), AxisSizes{128});
  EXPECT_EQ(spec.name, "s");
  EXPECT_EQ(spec.out, "out/s");
}

TEST(Spec, ReadsValuesListsAndRanges) {
  const auto grid = grid_spec(
                        "batches = [1, '8-64*2', 100]\nprompt_tokens = '4096-131072*2'\n"
                        "output_tokens = '1-10+4'\ncontexts = 7\nprecisions = ['a', 'b']")
                        .grids[0];
  EXPECT_EQ(grid.numbers("batches"), (AxisSizes{1, 8, 16, 32, 64, 100}));
  EXPECT_EQ(grid.numbers("prompt_tokens"), (AxisSizes{4096, 8192, 16384, 32768, 65536, 131072}));
  EXPECT_EQ(grid.numbers("output_tokens"), (AxisSizes{1, 5, 9}));
  EXPECT_EQ(grid.numbers("contexts"), AxisSizes{7});
  EXPECT_EQ(grid.values("precisions"), (Texts{"a", "b"}));
}

TEST(Spec, RunSaysWhereResultsGo) {
  const auto spec = parse_spec(
      "[run]\nname = 'night'\nout = 'there'\nhardware = 'mine.toml'\n[[grid]]\nmodels = ['m']\n"
      "machines = ['x']\n[[grid]]\nmodels = ['n']\nmachines = ['y']\n",
      "folder/s.toml");
  EXPECT_EQ(spec.name, "night");
  EXPECT_EQ(spec.out, "there");
  EXPECT_EQ(spec.hardware.at(0), "folder/mine.toml");
  EXPECT_EQ(spec.grids.size(), 2U);
}

TEST(Range, Counts) {
  EXPECT_EQ(parse_range("0-80+20"), (AxisSizes{0, 20, 40, 60, 80}));
  EXPECT_EQ(parse_range("1-5"), (AxisSizes{1, 2, 3, 4, 5}));
  EXPECT_EQ(parse_range("3-20*2"), (AxisSizes{3, 6, 12}));
  EXPECT_EQ(parse_range("1-1099511627776*2").size(), 41U);
  for (const auto* bad : {"", "x", "5-1", "1-8*1", "0-8*2", "1-8+0", "1-", "-1", "1-8*", "1.5",
                          "0-1099511627776+1", "1-2-3"})
    EXPECT_THROW(parse_range(bad), std::invalid_argument) << bad;
}

TEST(SpecError, NamesLineKeyFoundAndAllowed) {
  EXPECT_EQ(grid_complaint("batch = 3").substr(0, 50),
            "s.toml:4: unknown key 'batch' in [[grid]]; nearest");
  EXPECT_NE(grid_complaint("batch = 3").find("batches"), std::string::npos);
  EXPECT_EQ(grid_complaint("batches = []"),
            "s.toml:4: key 'batches': found [], expected at least one value");
  EXPECT_NE(grid_complaint("batches = 0").find("s.toml:4: key 'batches'"), std::string::npos);
  EXPECT_NE(grid_complaint("batches = -3").find("s.toml:4"), std::string::npos);
  EXPECT_NE(grid_complaint("batches = 1.5").find("1.5"), std::string::npos);
  EXPECT_NE(grid_complaint("batches = [4, 4]").find("given twice"), std::string::npos);
  EXPECT_NE(grid_complaint("precisions = 16").find("expected a text"), std::string::npos);
  EXPECT_NE(grid_complaint("gpu_budgets = 8").find("s.toml:4: key 'gpu_budgets'"),
            std::string::npos);
}

TEST(SpecError, NeedsAGridWithModelsAndMachines) {
  EXPECT_NE(spec_complaint("").find("no [[grid]]"), std::string::npos);
  EXPECT_NE(spec_complaint("grid = 3").find("expected [[grid]]"), std::string::npos);
  EXPECT_NE(spec_complaint("grid = []").find("expected [[grid]]"), std::string::npos);
  EXPECT_NE(spec_complaint("[[grid]]\nmodels = 'm'").find("no 'machines'"), std::string::npos);
  EXPECT_NE(spec_complaint("[[grid]]\nmachines = 'm'").find("no 'models'"), std::string::npos);
  EXPECT_NE(spec_complaint("[[grid]\n").find("s.toml:1: "), std::string::npos);
  EXPECT_NE(spec_complaint("[rnu]\n").find("nearest: run"), std::string::npos);
  for (const auto* outside : {"batches = [1]\n", "sequences = [512]\n"})
    EXPECT_NE(spec_complaint(outside).find("s.toml:1: key '"), std::string::npos) << outside;
  EXPECT_NE(spec_complaint("batches = [1]\n").find("write [[grid]] above it"), std::string::npos);
}

TEST(SpecError, AxesAreOfTheirTask) {
  for (const auto* other : {"optimizers = 'adamw'", "zero = 3"})
    EXPECT_NE(grid_complaint(other).find("unknown key"), std::string::npos);
  EXPECT_NE(grid_complaint("task = 'training'\ncontexts = 7").find("of training"),
            std::string::npos);
  EXPECT_NE(grid_complaint("task = 'serving'").find("expected \"inference\" or \"training\""),
            std::string::npos);
}

TEST(Link, NeedsAxesOfOneLength) {
  const auto linked = grid_spec(
      "batches = [1, 2]\nprecisions = ['a', 'b']\n"
      "link = ['batches', 'precisions']");
  EXPECT_EQ(linked.grids[0].link, (std::vector<Texts>{{"batches", "precisions"}}));
  const auto repeated = grid_spec(
      "batches = [1, 1]\nprecisions = ['a', 'b']\n"
      "link = ['batches', 'precisions']");
  EXPECT_EQ(repeated.grids[0].numbers("batches"), (AxisSizes{1, 1}));
  EXPECT_NE(grid_complaint("batches = [1, 2, 3]\nprecisions = ['a', 'b']\n"
                           "link = [['batches', 'precisions']]")
                .find("'batches' has 3 values and 'precisions' has 2"),
            std::string::npos);
  EXPECT_NE(grid_complaint("link = ['batches', 'models']").find("no values here"),
            std::string::npos);
  EXPECT_NE(grid_complaint("batches = 1\nlink = ['batchs', 'batches']").find("nearest: batches"),
            std::string::npos);
  EXPECT_NE(grid_complaint("gpu_budgets = '0-max+1GiB'\nlink = ['machines', 'gpu_budgets']")
                .find("(8GiB, 50%, max), without ranges"),
            std::string::npos);
}

}  // namespace
}  // namespace headroom::sweep
