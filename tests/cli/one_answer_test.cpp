// One question has one answer, whichever command is asked. For drawn points, estimate, place,
// curve, launch and a sweep have the same memory and the same speed. So has the best way of a
// report.
#include <boost/json.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "report/reports.hpp"
#include "report/way_rows.hpp"
#include "sweep_process.hpp"
#include "tests/support/sanitized.hpp"

namespace headroom::test {
namespace {

namespace json = boost::json;

struct Point {
  std::string model, machine, runtime, precision;  ///< the last two: empty where nothing is said
  std::vector<std::string> asked_of(const std::string& command) const {
    std::vector<std::string> words{command, model, "--machine", machine};
    for (const auto& [flag, value] : {std::pair{"--runtime", runtime}, {"--precision", precision}})
      if (!value.empty()) words.insert(words.end(), {flag, value});
    return words;
  }
  std::string text() const { return model + ' ' + machine + ' ' + runtime + ' ' + precision; }
};

struct Figures {
  double gpu_bytes = 0, tokens_s = 0;
};

constexpr const char* models[] = {"Qwen/Qwen3-8B",       "Qwen/Qwen3-32B",
                                  "Qwen/Qwen3-30B-A3B",  "openai/gpt-oss-20b",
                                  "openai/gpt-oss-120b", "google/gemma-3-27b-it",
                                  "llama3-70b",          "mistralai/Mixtral-8x7B-v0.1"};
constexpr const char* machines[] = {"rtx-4060",
                                    "rtx-4090",
                                    "2x rtx-3090",
                                    "2x a100-sxm-40gb",
                                    "8x h100-sxm-80gb",
                                    "4x rtx-4090 @ epyc-rome-512gb",
                                    "1x rtx-4090 + 1x rtx-3090"};
constexpr const char* macs[] = {"m4-max-64gb", "m4-pro-24gb"};
constexpr std::pair<const char*, const char*> ways[] = {
    {"llama.cpp", "q4_K_M"}, {"llama.cpp", "q8_0"}, {"llama.cpp", ""}, {"vllm", "auto"},
    {"vllm", "fp8"},         {"sglang", "auto"},    {"", "q4_K_M"},    {"", ""}};

class OneAnswer : public SweepProcess {
 protected:
  static Point drawn(std::mt19937& random) {
    const auto one_of = [&](const auto& all) { return all[random() % std::size(all)]; };
    const auto [runtime, precision] = one_of(ways);
    return {one_of(models), one_of(machines), runtime, precision};
  }
  static std::vector<Point> drawn_points() {
    std::mt19937 random(27);
    // The first one fits because the engine is asked for fewer sequences than its usual number.
    std::vector<Point> points{{"Qwen/Qwen3-32B", "rtx-4090", "vllm", "awq-int4"}};
    while (points.size() < 40) points.push_back(drawn(random));
    for (const char* mac : macs)
      for (const char* model : {"Qwen/Qwen3-8B", "openai/gpt-oss-20b", "Qwen/Qwen2-VL-2B-Instruct"})
        points.push_back({model, mac, "", ""});
    points.push_back({"Qwen/Qwen3-30B-A3B", macs[0], "mlx-lm", ""});
    return points;
  }
  std::optional<json::value> answer(const Point& point, const std::string& command) {
    std::vector<std::string> words = point.asked_of(command);
    words.emplace_back("--json");
    const std::string says = ask(words).second;
    const auto start = says.find('{');  // after notes
    if (start == std::string::npos) return std::nullopt;
    boost::system::error_code error;
    json::stream_parser parser;
    parser.write_some(says.data() + start, says.size() - start, error);
    if (error || !parser.done()) return std::nullopt;
    return parser.release();
  }
  static Figures figures(const json::value& row) {
    return {row.at("gpu_bytes").to_number<double>(), row.at("tokens_s").to_number<double>()};
  }
};

void expect_equal(const Figures& a, const Figures& b, const std::string& what) {
  EXPECT_NEAR(a.gpu_bytes, b.gpu_bytes, 1e-9 * a.gpu_bytes) << what;
  EXPECT_NEAR(a.tokens_s, b.tokens_s, 1e-9 * a.tokens_s) << what;
}

/// "…: 22.00 GiB (… to … GiB); 28.4 tokens/s."
Figures of_script(const std::string& script) {
  Figures found;
  const auto number_after = [&](const std::string& text) {
    const auto at = script.find(text);
    return at == std::string::npos ? 0.0 : std::stod(script.substr(at + text.size()));
  };
  found.gpu_bytes = number_after("loaded card: ") * (1 << 30);
  found.tokens_s = number_after("GiB); ");
  return found;
}

/// A grid for each point.
std::string spec_of(const std::vector<std::pair<Point, Figures>>& points) {
  std::string spec = "[run]\nname = 'all'\n";
  for (const auto& [point, figures] : points)
    spec += "[[grid]]\nmodels = '" + point.model + "'\nmachines = '" + point.machine +
            "'\nruntimes = '" + point.runtime + "'\nprecisions = '" + point.precision + "'\n";
  return spec;
}

TEST_F(OneAnswer, EveryCommandHasTheSameFigures) {
  std::map<std::string, int> compared;
  std::vector<std::pair<Point, Figures>> in_a_sweep;
  const std::vector<Point> points = drawn_points();
  for (const Point& point : points) {
    const auto estimate = answer(point, "estimate");
    ASSERT_TRUE(estimate) << point.text();
    const json::value& result = estimate->at("result");
    const std::string verdict(result.at("verdict").as_string());
    if (&point == points.data()) {
      EXPECT_EQ(verdict, "fits_one_gpu");
    }
    if (!verdict.starts_with("fits_")) continue;
    const Figures expected = figures(result);
    ++compared["estimate"];
    in_a_sweep.emplace_back(Point{point.model, std::string(result.at("machine").as_string()),
                                  std::string(result.at("runtime").as_string()),
                                  std::string(result.at("precision").as_string())},
                            expected);
    const auto place = answer(point, "place");
    ASSERT_TRUE(place) << point.text();
    for (const json::value& strategy : place->at("strategies").as_array())
      if (strategy.at("name").as_string() == "speed-optimised") {
        expect_equal(expected, figures(strategy), "place " + point.text());
        ++compared["place"];
      }
    const auto curve = answer(point, "curve");
    ASSERT_TRUE(curve) << point.text();
    expect_equal(expected, figures(curve->at("lines").at(0).at("points").as_array().back()),
                 "curve " + point.text());
    const auto [code, script] = ask(point.asked_of("launch"));
    if (code != 0) continue;
    const Figures launched = of_script(script);
    EXPECT_NEAR(launched.gpu_bytes, expected.gpu_bytes, 0.006 * (1 << 30)) << script;
    EXPECT_NEAR(launched.tokens_s, expected.tokens_s, 6e-3 * expected.tokens_s) << script;
    ++compared["launch"];
  }
  EXPECT_GE(compared["estimate"], 25);
  EXPECT_GE(compared["place"], 25);
  EXPECT_GE(compared["launch"], 20);

  std::ofstream(folder / "all.toml") << spec_of(in_a_sweep);
  const auto [code, says] =
      ask({"sweep", (folder / "all.toml").string(), "--out", (folder / "out").string()});
  ASSERT_EQ(code, 0) << says;
  const Table rows =
      Database(database("out")).query("SELECT gpu_bytes, tokens_s FROM result ORDER BY point", 1);
  ASSERT_EQ(rows.rows.size(), in_a_sweep.size());
  for (std::size_t i = 0; i < in_a_sweep.size(); ++i) {
    const auto& row = rows.rows[i];
    expect_equal(in_a_sweep[i].second,
                 {static_cast<double>(std::get<std::int64_t>(row[0])), std::get<double>(row[1])},
                 "sweep " + in_a_sweep[i].first.text());
  }
}

/// Each card has a budget of its own, whether or not a command names one for all.
TEST_F(OneAnswer, UnlikeCardsHaveTheSameFigures) {
  int compared = 0, number = 0;
  for (const char* model : {"Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-32B", "openai/gpt-oss-120b",
                            "llama3-70b", "mistralai/Mixtral-8x7B-v0.1"})
    for (const char* machine : {"1x rtx-4090 + 1x rtx-3060-12gb", "1x rtx-5090 + 1x gtx-1080-ti",
                                "1x rtx-5090 + 1x rtx-4090", "1x a100-sxm-80gb + 1x rtx-4090",
                                "2x rtx-4090 + 1x rtx-3060-12gb"})
      for (const char* runtime : {"llama.cpp", "vllm", "transformers", ""}) {
        if (number++ % stride != 0) continue;
        const Point point{model, machine, runtime, ""};
        const auto estimate = answer(point, "estimate");
        ASSERT_TRUE(estimate) << point.text();
        const json::value& result = estimate->at("result");
        if (!std::string(result.at("verdict").as_string()).starts_with("fits_")) continue;
        const Figures expected = figures(result);
        const auto place = answer(point, "place"), curve = answer(point, "curve");
        ASSERT_TRUE(place && curve) << point.text();
        // Cards that would wait for weights are left alone.
        const bool cpu_alone = expected.gpu_bytes == 0;
        for (const json::value& strategy : place->at("strategies").as_array())
          if (strategy.at("name").as_string() ==
              (cpu_alone ? "CPU and disk only" : "speed-optimised"))
            expect_equal(expected, figures(strategy), "place " + point.text());
        const json::array& points = curve->at("lines").at(0).at("points").as_array();
        expect_equal(expected, figures(cpu_alone ? points.front() : points.back()),
                     "curve " + point.text());
        ++compared;
      }
  EXPECT_GE(compared, 60 / stride);
}

/// A default that is typed has the answer of the same default left out.
TEST_F(OneAnswer, TypedDefaultsChangeNothing) {
  const auto result = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "estimate");
    words.emplace_back("--json");
    const json::value all = json::parse(ask(words).second);
    return all.at("result");
  };
  const std::vector<std::string> small{"llama2-13b",      "--precision", "q8_0",
                                       "--runtime",       "llama.cpp",   "--machine",
                                       "rtx-4060-ti-16gb"};
  auto typed = small;
  typed.insert(typed.end(), {"--prompt-tokens", "512", "--output-tokens", "128"});
  EXPECT_EQ(result(typed), result(small));
  // A longer prompt never needs less memory.
  typed[8] = "2000";
  EXPECT_EQ(result(typed).at("kv_cache_bytes"), result(small).at("kv_cache_bytes"));

  const auto on = [&](const char* machine) {
    return result(
        {"llama3.3-70b", "--precision", "q4_K_M", "--runtime", "llama.cpp", "--machine", machine});
  };
  EXPECT_EQ(on("rtx-4090 @ desktop-ddr5-64gb"), on("rtx-4090"));
}

/// A spec that names neither engine nor precision, and its page.
TEST_F(OneAnswer, TheBestWayOfAReportIsTheWayOfAnEstimate) {
  const auto list = [](const auto& names) {
    std::string text;
    for (const char* name : names) text += '\'' + std::string(name) + "',";
    return text;
  };
  std::ofstream(folder / "all.toml") << "[[grid]]\nmodels = [" << list(models) << "]\nmachines = ["
                                     << list(machines) << list(macs) << "]\n"
                                     << "[[grid]]\n"  // far larger than the cards: the CPU alone
                                     << "models = ['deepseek-ai/DeepSeek-V4.1-Flash',"
                                     << "'facebook/opt-30b', 'MiniMaxAI/MiniMax-M3']\n"
                                     << "machines = ['h200-sxm-141gb', 'rtx-4060',"
                                     << "'2x h200-sxm-141gb', 'b200-sxm-180gb']\n";
  const auto [code, says] = ask(
      {"sweep", (folder / "all.toml").string(), "--no-plots", "--out", (folder / "out").string()});
  ASSERT_EQ(code, 0) << says;
  const Database database(this->database("out"));
  const report::Source source = report::source_of(database, 1);
  int number = 0, compared = 0;
  for (const auto& machine : report::by_machine(source.shown))
    for (const auto& here : machine.models) {
      if (number++ % stride != 0) continue;
      const report::ModelRow& best = report::best_way(here);
      const Point point{best.model, machine.machine, "", ""};
      const auto estimate = answer(point, "estimate");
      ASSERT_TRUE(estimate) << point.text();
      const json::value& result = estimate->at("result");
      if (!std::string(result.at("verdict").as_string()).starts_with("fits_")) continue;
      EXPECT_EQ(best.runtime, std::string(result.at("runtime").as_string())) << point.text();
      EXPECT_EQ(best.held, std::string(result.at("precision").as_string())) << point.text();
      const model::Estimate& e = best.roomiest().estimate;
      expect_equal(figures(result), {static_cast<double>(e.gpu_bytes.count()), e.tokens_s},
                   point.text());
      ++compared;
    }
  EXPECT_GE(compared, 40 / stride);
}

}  // namespace
}  // namespace headroom::test
