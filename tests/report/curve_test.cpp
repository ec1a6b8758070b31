// Curves: the knee by its definition, and scripts that redraw their figure without the program.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "fixture.hpp"
#include "model/infer/intervals.hpp"
#include "report/chart.hpp"
#include "report/chart_labels.hpp"
#include "report/knee.hpp"
#include "report/plot.hpp"
#include "report/text_plot.hpp"

namespace headroom::report {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST(Knee, IsTheSmallestAllocationWithinFivePercentOfTheBest) {
  const std::vector<double> x{0, 2, 4, 8, 16}, y{1, 2, 9.4, 9.5, 10};
  const auto knee = find_knee(x, y, End::open);
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->index, 3u);
  EXPECT_DOUBLE_EQ(knee->marginal_before, 8.5 / 8);
  EXPECT_DOUBLE_EQ(knee->marginal_after, 0.5 / 8);
}

TEST(Knee, PointsThatDoNotRunAreNoPartOfIt) {
  const std::vector<double> x{0, 1, 2, 3}, y{none, 0, 5, 5};
  const auto knee = find_knee(x, y, End::open);
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->index, 2u);
  EXPECT_EQ(knee->marginal_before, 0);
}

TEST(Knee, NoneWhereTheCurveStillRisesOrNothingRuns) {
  const std::vector<double> x{0, 1, 2}, rising{1, 2, 3}, nothing{none, 0, none};
  EXPECT_FALSE(find_knee(x, rising, End::open));
  EXPECT_FALSE(find_knee(x, nothing, End::complete));
  EXPECT_FALSE(find_knee({}, {}, End::complete));
}

TEST(Knee, TheLastPointWhereEverythingIsOnGpusThere) {
  const std::vector<double> x{0, 1, 2}, rising{1, 2, 3};
  const auto knee = find_knee(x, rising, End::complete);
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->index, 2u);
  EXPECT_EQ(knee->marginal_after, 0);
}

TEST(Returns, DiminishWhereNoLaterGiBAddsOnePercentOfTheBest) {
  // 3 % more over the four GiB after 4: less than 1 % a GiB. The half GiB from 3.5 to 4 counts as a
  // whole one.
  const std::vector<double> x{0, 2, 3.5, 4, 6, 8}, y{none, 50, 97, 97.5, 99, 100};
  EXPECT_EQ(returns_diminished(x, y), 2u);
  const std::vector<double> rising{1, 2, 4, 8, 16, 32};
  EXPECT_EQ(returns_diminished(x, rising), 5u);
  const std::vector<double> nothing(6, none);
  EXPECT_FALSE(returns_diminished(x, nothing));
}

/// bf16 does not fit below 6 GiB and rises to the end; int8 has its knee at 12 GiB.
Figure sample() {
  Figure figure{"it's_a.sample",
                "org/model on 1x card @ host",
                "batch 1",
                1,
                {{"bf16", {}, {}}, {"int8", {}, {}}}};
  const model::TimeIntervals times{.load = {0.25, 4, 0}, .ttft = {0.4, 3, 0}, .tpot = {0.5, 2, 0}};
  for (int g = 0; g <= 16; ++g) {
    const bool fits = g >= 6;
    const double bf16 = fits ? 40.0 / (20 - g) : none, int8 = g < 12 ? 10.0 / (13 - g) : 30;
    figure.curves[0].points.push_back(
        {g * 1.0, bf16, fits ? 3.0 / bf16 : none, fits ? 20.0 : none, fits, times});
    figure.curves[1].points.push_back({g * 1.0, int8, 3.0 / int8, 10.0, true, times});
  }
  figure.curves[1].knee = Knee{12, 2.4, 0};
  return figure;
}

std::string first_bytes(const std::filesystem::path& file, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(count));
  return bytes;
}

TEST(Chart, DataSaysWhereTheKneeIsAndWhatDoesNotFit) {
  const std::string data = chart_data(sample());
  EXPECT_NE(data.find("\n5 NaN NaN NaN NaN NaN NaN 1\n"), std::string::npos);
  EXPECT_NE(data.find("\n12 30 0.1 10 30 0.1 10 0\n"), std::string::npos);
}

TEST(Chart, BandsAndJumpsAreDrawnWhereAskedFor) {
  Figure figure = sample();
  EXPECT_EQ(chart_script(figure).find("filledcurves"), std::string::npos);
  figure.bands = true;
  figure.curves[1].marks.push_back({12, "last layer"});
  figure.curves[1].between = Between::step;
  const std::string script = chart_script(figure), data = chart_data(figure);
  EXPECT_NE(script.find("data index 2 using 1:2:3 with filledcurves"), std::string::npos);
  EXPECT_NE(script.find("'last layer' at graph 0."), std::string::npos);
  EXPECT_NE(script.find("with steps"), std::string::npos);
  // 30 tokens/s from 12 GiB on, times 0.5 to 2 of what is expected; 5 up to there.
  EXPECT_NE(data.find("\n12 2.5 10 "), std::string::npos);
  EXPECT_NE(data.find("\n12 15 60 "), std::string::npos);
  // 0.1 s to the first token and 10 s to load, each by its own interval.
  EXPECT_NE(data.find(" 0.04"), std::string::npos);
  EXPECT_NE(data.find(" 2.5 40\n"), std::string::npos);
}

TEST(Chart, LabelsDoNotOverlapOrLeaveThePanel) {
  std::vector<Box> taken;
  for (int i = 0; i < 12; ++i) {
    const Box box = label_place(i < 6 ? 3 : 780, 120, 30, i % 2 == 0, taken);
    EXPECT_GE(box.left, 0);
    EXPECT_LE(box.right, panel_width);
    EXPECT_GE(box.bottom, 0);
    EXPECT_LE(box.top, panel_height);
    for (const Box& other : taken) EXPECT_FALSE(box.meets(other)) << i;
    taken.push_back(box);
  }
}

TEST(TextPlot, HasASymbolForEachCurveAndCrossesWhereMemoryIsShort) {
  const std::string text = text_plot(sample());
  EXPECT_NE(text.find("tokens/s (logarithmic)\n"), std::string::npos);
  EXPECT_NE(text.find("16 GiB"), std::string::npos);
  EXPECT_NE(text.find("o bf16; * int8; x does not run"), std::string::npos);
  EXPECT_NE(text.find("30 |"), std::string::npos);
}

TEST(Plot, TheScriptRedrawsTheFigureWithoutTheProgram) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  Folder folder;
  const auto written = draw({sample()}, folder.path());
  ASSERT_EQ(written.size(), 4u);
  const auto png = folder / "it's_a.sample.png", svg = folder / "it's_a.sample.svg";
  EXPECT_EQ(first_bytes(png, 4), "\x89PNG");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 4);
  const auto size = std::filesystem::file_size(svg);
  std::filesystem::remove(png);
  std::filesystem::remove(svg);
  const std::string command =
      "cd '" + folder.path().string() + "' && gnuplot \"it's_a.sample.gp\" >messages 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(std::filesystem::file_size(folder / "messages"), 0u) << "gnuplot warned";
  EXPECT_EQ(first_bytes(png, 4), "\x89PNG");
  EXPECT_EQ(std::filesystem::file_size(svg), size);
}

TEST(Plot, AFigureThatIsThereIsNotDrawnAgain) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  const Folder folder;
  Figure figure = sample();
  const auto png = folder / "it's_a.sample.png", svg = folder / "it's_a.sample.svg";
  const auto files = draw({figure}, folder.path());
  std::ofstream(png) << "kept";
  EXPECT_EQ(draw({figure}, folder.path()), files);
  EXPECT_EQ(first_bytes(png, 4), "kept");
  std::filesystem::remove(svg);
  draw({figure}, folder.path());
  EXPECT_EQ(first_bytes(png, 4), "\x89PNG") << "a picture was missing";
  EXPECT_TRUE(std::filesystem::exists(svg));
  std::ofstream(png) << "kept";
  figure.curves[0].label += " again";
  draw({figure}, folder.path());
  EXPECT_EQ(first_bytes(png, 4), "\x89PNG") << "a label changed";
}

TEST(Plot, EveryCurveAndAxisIsInTheFigure) {
  if (!gnuplot_found()) GTEST_SKIP() << "gnuplot is not installed";
  Folder folder;
  draw({sample()}, folder.path());
  const auto file = folder / "it's_a.sample.svg";
  const std::string svg = first_bytes(file, std::filesystem::file_size(file));
  for (const char* text :
       {"org/model on 1x card @ host", "batch 1", "bf16, still rising at the end",
        "int8, knee at 12 GiB: 30.0 tokens/s (15.0 to 60.0)", "GPU allocation (GiB)",
        "output tokens/s", "time to first token (s)", "load time (s)", "does not run"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace headroom::report
