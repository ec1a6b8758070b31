// Nights of a small spec whose every part is a file of its own, for tests of what has changed.
#pragma once

#include <sqlite3.h>

#include <map>

#include "sweep_process.hpp"
#include "tests/support/unbroken.hpp"

namespace headroom::test {

inline constexpr std::string_view night_config = R"({"architectures": ["LlamaForCausalLM"],
  "model_type": "llama", "hidden_size": 256, "intermediate_size": 1024, "vocab_size": 32000,
  "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4,
  "max_position_embeddings": 2048, "torch_dtype": "float16"})";
inline constexpr std::string_view night_card = R"([[device]]
name = "own-card"
title = "Own"
vendor = "nvidia"
bandwidth_gbs = 300
memory_mib = 8000
fp16_tflops = 20
host_bus_gbs = 15
source = "made up"
date = "2026-11-21"
)";
inline constexpr std::string_view night_prices = R"(currency = "USD"
[[price]]
device = "own-card"
buy = 1800
)";

class Unchanged : public SweepProcess {
 protected:
  Unchanged() {
    write("tiny/config.json", night_config);
    write("card.toml", night_card);
    write("prices.toml", night_prices);
    write("engines.toml", read_text_file(source_path("tests/cli/data/engines.toml")));
    write("nights.toml",
          "[run]\nname = 'nights'\nhardware = ['card.toml']\nengines = ['engines.toml']\n"
          "[prices]\nfile = 'prices.toml'\n[[grid]]\nmodels = ['gpt2', '" +
              (folder / "tiny").string() +
              "']\nruntimes = ['transformers', 'our-vllm']\nmachines = ['own-card']\n"
              "gpu_budgets = ['50%-100%+25%']\n");
  }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  void replace(const std::string& name, const std::string& old, const std::string& now) const {
    std::string text = read_text_file(folder / name);
    ASSERT_NE(text.find(old), std::string::npos) << name;
    write(name, text.replace(text.find(old), old.size(), now));
  }
  std::string night(const std::vector<std::string>& also = {}) {
    std::vector<std::string> command{"sweep", (folder / "nights.toml").string(), "--out",
                                     out().string()};
    command.insert(command.end(), also.begin(), also.end());
    const auto [code, words] = ask(command);
    EXPECT_EQ(code, 0) << words;
    return unbroken(words);
  }
  bool unchanged(const std::vector<std::string>& also = {}) {
    return night(also).find("nothing changed since run") != std::string::npos;
  }
  fs::path out() const { return folder / "out"; }
  /// Content by file, without the database and README.md.
  std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(out()))
      if (entry.is_regular_file() && entry.path().extension() != ".sqlite" &&
          entry.path().filename() != "README.md")
        all[fs::relative(entry.path(), out()).string()] = read_text_file(entry.path().string());
    return all;
  }
  void sql(const std::string& statement) const {
    sqlite3* file = nullptr;
    sqlite3_open((out() / "results.sqlite").c_str(), &file);
    ASSERT_EQ(sqlite3_exec(file, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(file);
    sqlite3_close(file);
  }
  std::vector<report::RunSummary> runs() const { return Database(out() / "results.sqlite").runs(); }
};

}  // namespace headroom::test
