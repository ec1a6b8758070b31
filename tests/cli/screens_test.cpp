// Output fits on a screen: at most 30 lines of at most 100 columns on a terminal. Verdicts have
// colours there, and nowhere else.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "hardware/text.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/plurals.hpp"

namespace headroom::test {
namespace {

/// Standard output and error of a shell command on a terminal, without carriage returns.
std::string on_a_terminal(const std::string& command, const std::filesystem::path& folder,
                          int* code = nullptr) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) return "no terminal";
  if (child == 0) {
    std::filesystem::current_path(folder);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    setenv("HF_HUB_OFFLINE", "1", 1);
    setenv("HOME", folder.c_str(), 1);
    setenv("DATA", source_path("tests/cli/data").c_str(), 1);
    setenv("EXAMPLES", source_path("examples").c_str(), 1);
    setenv("ROWS", source_path("tests/accuracy/canonical").c_str(), 1);
    const std::string script = "headroom() { " + program_path() + " \"$@\"; }\n" + command;
    execlp("bash", "bash", "-c", script.c_str(), nullptr);
    _exit(99);
  }
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(terminal, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  int status = 0;
  waitpid(child, &status, 0);
  if (code != nullptr && WIFEXITED(status)) *code = WEXITSTATUS(status);
  close(terminal);
  std::erase(text, '\r');
  return text;
}

/// `text` as it stays on the screen: without colours, and without lines that were cleared
/// ("\033[K").
std::string as_it_stays(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\033') {
      plain += text[i];
      continue;
    }
    i = text.find_first_of("mK", i);
    if (i == std::string::npos) break;
    if (text[i] == 'K') plain.erase(plain.rfind('\n') + 1);
  }
  return plain;
}

class Screens : public testing::TestWithParam<const char*> {
 protected:
  const Folder folder;
};

TEST_P(Screens, FitOnATerminal) {
  int code = -1;
  const std::string text = as_it_stays(on_a_terminal(GetParam(), folder.path(), &code));
  EXPECT_TRUE(code == 0 || code == 3) << text;  // 3: the answer is no
  EXPECT_GT(text.size(), 60U) << text;
  EXPECT_LE(std::ranges::count(text, '\n'), 30) << text;
  for (const auto line : words(text, "\n"))
    EXPECT_LE(text_width(line), 100U) << line << "\nof\n" << text;
  EXPECT_EQ(text.find("marginal)"), std::string::npos) << text;
  EXPECT_EQ(text.find("(sure"), std::string::npos) << text;
  EXPECT_EQ(wrong_plural(text), "") << text;
  // The footnote of numbers without measurements stands under them, and only there.
  const auto footnote = text.find("~ No measurement");
  EXPECT_EQ(footnote != std::string::npos, text.substr(0, footnote).find('~') != std::string::npos)
      << text;
}

constexpr const char* screens[] = {
    "headroom Qwen/Qwen3-32B rtx-4090",
    "headroom estimate Qwen/Qwen3-8B --machine rtx-4090 --batch 16",
    "headroom estimate Qwen/Qwen3-8B --machine '4x l40s' --dp 4 --batch 64",
    "headroom estimate openai/gpt-oss-120b --machine rtx-4090",
    "headroom estimate meta-llama/Llama-3.3-70B-Instruct --machine '8x h100-sxm-80gb' --batch 64",
    "headroom estimate deepseek-ai/DeepSeek-V3 --machine '8x h200-sxm-141gb' --batch 64",
    "headroom estimate zai-org/GLM-5 --machine '8x mi355x' --batch 32",
    "headroom estimate moonshotai/Kimi-K2-Instruct --machine rtx-4090 --precision fp8",
    "headroom estimate Qwen/Qwen3-8B --task training --machine rtx-4090 --lora-rank 16",
    "headroom plan most-users moonshotai/Kimi-K2.6 --machine '8x h200'",
    "headroom plan cheapest-machine deepseek-ai/DeepSeek-V3 --users 200 --max-tpot 60ms",
    ("headroom plan cheapest-machine deepseek-ai/DeepSeek-V3.2 --requests-s 4 --prompt-tokens 4000 "
     "--output-tokens 500"),
    "headroom plan largest-model --machine rtx-4090 --allow-offload",
    "headroom estimate facebook/opt-30b --gpu-memory 8GB --ram 32GB --disk 500GB",
    "headroom estimate deepseek-ai/DeepSeek-V3 --machine rtx-4060",
    "headroom estimate Qwen/Qwen3-8B",
    "headroom estimate llama3-8b --task training --qlora --machine rtx-4090",
    "headroom estimate llama2-7b --task training --zero 2 --dp 8 --checkpointing full",
    ("headroom estimate llama3-70b --task training --runtime megatron --tp 8 --pp 4 "
     "--grad-accum 16 --machine '32x h100-sxm-80gb'"),
    "headroom curve Qwen/Qwen3-32B --machine rtx-4090",
    "headroom curve llama2-7b --machine rtx-4060 --precisions fp16 int8",
    "headroom estimate Qwen/Qwen3.5-27B --task training --machine rtx-4090",
    "headroom estimate Qwen/Qwen3-8B --task training --qlora --seq 1536 --machine rtx-4090",
    "headroom estimate Qwen/Qwen3-8B --machine h100-sxm-80gb --runtime sglang",
    "headroom plan longest-context Qwen/Qwen3-32B rtx-4090",
    ("headroom plan fewest-gpus Llama-3.3-70B h100-sxm-80gb --users 150 --max-tpot 50ms --runtime "
     "vllm"),
    "headroom curve facebook/opt-30b --gpu-memory 8GB --ram 32GB --disk 500GB",
    "headroom place facebook/opt-30b --gpu-memory 8GB --ram 32GB --disk 500GB",
    "headroom place Qwen/Qwen3-32B --machine '2x rtx-3090'",
    "headroom plan --machine rtx-4090",
    "headroom plan largest-model --machine rtx-4090",
    "headroom plan largest-batch Qwen/Qwen3-8B --machine rtx-4090",
    "headroom plan longest-context llama3-8b --machine rtx-4090",
    "headroom plan cheapest-machine llama3-70b --max-tpot 50ms --users 32",
    ("headroom plan cheapest-machine Qwen/Qwen3-32B --requests-s 4 --prompt-tokens 1500 "
     "--output-tokens 300 --max-ttft-p95 2s --max-tpot-p95 50ms"),
    ("headroom plan cheapest-machine Qwen/Qwen3-32B --users 2000 --think-time 60s --active-share "
     "20% --max-ttft-p95 2s --growth 5% --spares 1"),
    "headroom plan cheapest-machine llama3.3-70b --users 50 --max-ttft 2s",
    "headroom plan portfolio $EXAMPLES/purchase.toml",
    "headroom params Qwen/Qwen3-8B deepseek-ai/DeepSeek-V3",
    "headroom models",
    "headroom models qwen3",
    "headroom models show Qwen/Qwen3-8B",
    "headroom hardware",
    "headroom hardware rtx",
    "headroom hardware amd",
    "headroom hardware epyc",
    "headroom hardware show a100-sxm-40gb",
    "headroom runtimes",
    "headroom runtimes vllm",
    "headroom runtimes llama.cpp",
    "headroom doctor",
    "headroom accuracy $ROWS/*.csv",
    ("headroom sweep $DATA/small.toml && sed 's/\"rtx-4090\", \"cpu\"/\"rtx-4080\", \"cpu\"/' "
     "$DATA/small.toml > small.toml && headroom sweep small.toml"),
    ("(headroom sweep $DATA/small.toml && sed 's/\"rtx-4090\", \"cpu\"/\"rtx-4080\", \"cpu\"/' "
     "$DATA/small.toml > small.toml && headroom sweep small.toml) > /dev/null && headroom diff"),
    "headroom --help",
    "headroom estimate --help"};

INSTANTIATE_TEST_SUITE_P(, Screens, testing::ValuesIn(screens),
                         [](const auto& one) { return "screen_" + std::to_string(one.index); });

TEST(Colours, AreForTerminalsThatWantThem) {
  const Folder folder;
  const std::string ask = "headroom Qwen/Qwen3-32B rtx-4090";
  const auto painted = [&](const std::string& command) {
    return on_a_terminal(command, folder.path()).find('\033') != std::string::npos;
  };
  EXPECT_TRUE(painted(ask));
  EXPECT_FALSE(painted(ask + " | cat"));
  EXPECT_FALSE(painted(ask + " --out x && cat x"));
  EXPECT_FALSE(painted(ask + " --json"));
  EXPECT_FALSE(painted("NO_COLOR=1; export NO_COLOR; " + ask));
  EXPECT_TRUE(painted("NO_COLOR=; export NO_COLOR; " + ask));
  EXPECT_FALSE(painted("TERM=dumb; " + ask));
}

TEST(Lists, AreWholeInPipes) {
  const Folder folder;
  for (const std::string command : {"models", "hardware"}) {
    const std::string bare = on_a_terminal("headroom " + command + " | cat", folder.path());
    EXPECT_GT(std::ranges::count(bare, '\n'), 200) << command;
    for (const auto line : words(bare, "\n")) EXPECT_LE(text_width(line), 100U) << line;
    EXPECT_EQ(bare, on_a_terminal("headroom " + command + " list", folder.path())) << command;
  }
}

}  // namespace
}  // namespace headroom::test
