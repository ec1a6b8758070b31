// More cards or boxes either serve as much, or the answer says that fewer do better and how.
#include <boost/json.hpp>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sweep_process.hpp"
#include "tests/support/sanitized.hpp"

namespace headroom::test {
namespace {

namespace json = boost::json;

struct FewAndMore {
  const char *few, *more;
};
constexpr FewAndMore pairs[] = {{"rtx-4090", "2x rtx-4090"},
                                {"rtx-4090", "1x rtx-4090 + 1x rtx-3060-12gb"},
                                {"rtx-5090", "1x rtx-5090 + 1x gtx-1080-ti"},
                                {"rtx-5090", "1x rtx-5090 + 1x rtx-4090"},
                                {"2x rtx-3090", "4x rtx-3090"},
                                {"h100-sxm-80gb", "2x h100-sxm-80gb"},
                                {"a100-sxm-80gb", "1x a100-sxm-80gb + 1x rtx-4090"},
                                {"8x h100-sxm-80gb", "16x h100-sxm-80gb"},
                                {"dgx-spark", "2x dgx-spark"}};
constexpr const char* drawn_models[] = {"Qwen/Qwen3-8B",       "Qwen/Qwen3-32B",
                                        "Qwen/Qwen3-30B-A3B",  "openai/gpt-oss-20b",
                                        "openai/gpt-oss-120b", "google/gemma-3-27b-it",
                                        "microsoft/phi-2",     "mistralai/Mixtral-8x7B-v0.1",
                                        "llama3-70b",          "Qwen/Qwen3-235B-A22B"};
constexpr std::pair<const char*, const char*> drawn_ways[] = {
    {"llama.cpp", "q4_K_M"},  {"llama.cpp", "q8_0"},       {"vllm", "auto"}, {"sglang", "auto"},
    {"transformers", "auto"}, {"ktransformers", "q4_K_M"}, {"", ""},         {"", ""}};

class MoreCards : public SweepProcess {
 protected:
  struct Answer {
    bool fits = false;
    double tokens_s = 0;
    std::string way, notes;
  };
  Answer answer(std::vector<std::string> words) {
    words.insert(words.begin(), "estimate");
    words.emplace_back("--json");
    const std::string says = ask(words).second;
    const auto start = says.find('{');
    if (start == std::string::npos) return {};
    boost::system::error_code error;
    json::stream_parser parser;
    parser.write_some(says.data() + start, says.size() - start, error);
    if (error || !parser.done()) return {};
    const json::value all = parser.release();
    const json::value& result = all.at("result");
    Answer found;
    found.notes = json::serialize(all.at("notes")) + json::serialize(all.at("advice"));
    found.way = std::string(result.at("precision").as_string());
    found.fits = std::string(result.at("verdict").as_string()).starts_with("fits_");
    if (found.fits) found.tokens_s = result.at("tokens_s").to_number<double>();
    return found;
  }
};

TEST_F(MoreCards, ServeAsMuchOrTheAnswerSaysSo) {
  const char* asked = std::getenv("HEADROOM_DRAWS");
  const int draws = asked != nullptr ? std::atoi(asked) : 120 / stride;
  std::mt19937 random(11);
  const auto one_of = [&](const auto& all) { return all[random() % std::size(all)]; };
  int compared = 0;
  for (int i = 0; i < draws; ++i) {
    const std::string model = one_of(drawn_models);
    const FewAndMore machines = one_of(pairs);
    const auto [runtime, precision] = one_of(drawn_ways);
    const auto on = [&](const char* machine) {
      std::vector<std::string> words{model, "--machine", machine};
      if (*runtime != 0)
        words.insert(words.end(), {"--runtime", runtime, "--precision", precision});
      return answer(words);
    };
    const Answer few = on(machines.few);
    if (!few.fits) continue;
    const Answer more = on(machines.more);
    const std::string what =
        model + ' ' + runtime + ' ' + precision + ": " + machines.few + ", " + machines.more;
    ++compared;
    // Wider weights are a reason, and stand in the answer. Two percent are within its rounding.
    if (more.fits && (more.way != few.way || more.tokens_s >= 0.979 * few.tokens_s)) continue;
    EXPECT_NE(more.notes.find("alone reach"), std::string::npos)
        << what << ": " << few.tokens_s << ", " << more.tokens_s << ' ' << more.notes;
  }
  EXPECT_GE(compared, draws / 3);
}

}  // namespace
}  // namespace headroom::test
