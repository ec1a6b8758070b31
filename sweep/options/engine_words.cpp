#include "sweep/options/engine_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <initializer_list>
#include <optional>

#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

using Arguments = std::vector<std::string>;
using Names = std::initializer_list<std::string_view>;

/// Options that only llama.cpp's programs have (common/arg.cpp).
constexpr std::string_view of_llama_cpp[] = {"-ngl",
                                             "--n-gpu-layers",
                                             "--gpu-layers",
                                             "-ub",
                                             "--ubatch-size",
                                             "-ot",
                                             "-ctk",
                                             "--cpu-moe",
                                             "-ctv",
                                             "--n-cpu-moe",
                                             "--override-tensor",
                                             "-fa",
                                             "-ts",
                                             "-cmoe",
                                             "-ncmoe",
                                             "-sm",
                                             "-nkvo",
                                             "-np",
                                             "--parallel",
                                             "--ctx-size"};

std::string_view flag_of(std::string_view argument) {
  return argument.substr(0, argument.find('='));
}

auto find(Arguments& all, Names names) {
  return std::ranges::find_if(all, [&](const std::string& each) {
    return std::ranges::find(names, flag_of(each)) != names.end();
  });
}

/// Takes an option and its value out of `all`. Nothing where it is not given.
std::optional<std::string> take(Arguments& all, Names names) {
  const auto found = find(all, names);
  if (found == all.end()) return std::nullopt;
  if (const auto equals = found->find('='); equals != std::string::npos) {
    std::string value = found->substr(equals + 1);
    all.erase(found);
    return value;
  }
  if (found + 1 == all.end()) throw UsageError(fmt::format("{} needs a value", *found));
  std::string value = *(found + 1);
  all.erase(found, found + 2);
  return value;
}

bool take_switch(Arguments& all, Names names) {
  const auto found = find(all, names);
  if (found == all.end()) return false;
  all.erase(found);
  return true;
}

Size positive_count(std::string_view flag, const std::string& text) {
  const auto value = whole_number(text);
  if (!value || *value < 1)
    throw UsageError(fmt::format("{}: found '{}', expected a whole number from 1", flag, text));
  return *value;
}

const Names tensor_names = {"--tp", "-tp", "--tensor-parallel-size", "--tp-size"};
const Names data_names = {"--dp", "-dp", "--data-parallel-size", "--dp-size"};

/// vLLM shares experts over the cards of all replicas (config/parallel.py). SGLang's --tp counts
/// the cards of all replicas of the attention (layers/dp_attention.py).
void read_parallel(Arguments& all) {
  if (take_switch(all, {"--enable-expert-parallel"})) {
    Arguments rest = all;
    const auto tensor = take(rest, tensor_names), data = take(rest, data_names);
    if (!tensor)
      throw UsageError(
          "--enable-expert-parallel needs --tp, or write --ep N with the cards that share the "
          "experts (tp x dp)");
    const Size cards = positive_count("--tp", *tensor) * (data ? positive_count("--dp", *data) : 1);
    if (cards > 1) all.push_back(fmt::format("--ep={}", cards));
  }
  if (!take_switch(all, {"--enable-dp-attention"})) return;
  const auto tensor = take(all, tensor_names), data = take(all, data_names);
  take(all, {"--ep", "-ep", "--expert-parallel-size", "--ep-size"});
  const Size cards = tensor ? positive_count("--tp", *tensor) : 0,
             replicas = data ? positive_count("--dp", *data) : 0;
  if (replicas < 2 || cards % replicas != 0)
    throw UsageError(
        "--enable-dp-attention needs SGLang's --tp, all cards, and --dp, replicas of the "
        "attention, a divisor of it above 1: --tp 8 --dp 8");
  for (const auto& [flag, value] :
       {std::pair{"tp", cards / replicas}, {"dp", replicas}, {"ep", cards}})
    all.push_back(fmt::format("--{}={}", flag, value));
}

std::string proposed(std::string_view method, const std::string& model, const std::string& tokens) {
  return fmt::format("--speculate={}:{}{}{}", method, model, model.empty() ? "" : ":", tokens);
}

/// The value of a key of vLLM's JSON as text; empty where it is not given.
std::string value_of(const boost::json::object& config, std::string_view key) {
  const auto* value = config.if_contains(key);
  if (value == nullptr) return {};
  return value->is_string() ? std::string(value->as_string()) : boost::json::serialize(*value);
}

/// vLLM's --spec-method, --spec-model and --spec-tokens: the same keys apart, which vLLM adds to
/// those of the JSON (engine/arg_utils.py).
void read_apart(Arguments& all, boost::json::object& config) {
  constexpr std::pair<std::string_view, std::string_view> keys[] = {
      {"--spec-method", "method"},
      {"--spec-model", "model"},
      {"--spec-tokens", "num_speculative_tokens"}};
  for (const auto& [name, key] : keys)
    if (const auto value = take(all, {name})) config[key] = *value;
}

/// vLLM's --speculative-config (config/speculative.py).
void read_vllm_speculation(Arguments& all) {
  const auto given = take(all, {"--speculative-config", "-sc"});
  boost::json::object apart;
  read_apart(all, apart);
  if (!given && apart.empty()) return;
  const std::string text = given.value_or("{}");
  boost::system::error_code failed;
  const boost::json::value parsed = boost::json::parse(text, failed);
  if (failed || !parsed.is_object())
    throw UsageError(
        fmt::format("--speculative-config: found '{}', expected JSON such as "
                    R"('{{"method":"mtp","num_speculative_tokens":2}}')",
                    text));
  boost::json::object config = parsed.as_object();
  for (const auto& each : apart) config[each.key()] = each.value();
  const std::string method = value_of(config, "method"), model = value_of(config, "model"),
                    tokens = value_of(config, "num_speculative_tokens");
  const bool modules = method == "mtp" || method.ends_with("_mtp");
  if (tokens.empty())
    throw UsageError("--speculative-config: \"num_speculative_tokens\" is not given");
  if (modules || method == "ngram")
    all.push_back(proposed(modules ? "mtp" : method, "", tokens));
  else if (!model.empty() && (method.empty() || method == "draft_model"))
    all.push_back(proposed("draft", model, tokens));
  else if (!model.empty() && (method == "eagle3" || method == "dflash"))
    all.push_back(proposed(method, model, tokens));
  else
    throw UsageError(fmt::format(
        "--speculative-config: found method '{}', expected mtp or ngram, or draft_model, eagle3 or "
        "dflash with \"model\"",
        method));
}

/// SGLang's --speculative-algorithm (speculative/spec_info.py). EAGLE of a checkpoint with modules
/// for further tokens is their use. A chain of steps proposes a token in each.
void read_sglang_speculation(Arguments& all) {
  const auto algorithm = take(all, {"--speculative-algorithm", "--speculative-algo"});
  if (!algorithm) return;
  const auto steps = take(all, {"--speculative-num-steps"}),
             width = take(all, {"--speculative-eagle-topk"}),
             drafts = take(all, {"--speculative-num-draft-tokens"}),
             path = take(all, {"--speculative-draft-model-path", "--speculative-draft-model"});
  if (width && *width != "1")
    throw UsageError("--speculative-eagle-topk: trees of proposals are not described; 1 is");
  const std::string name = lower(*algorithm), model = path.value_or("");
  const std::string tokens =
      steps    ? *steps
      : drafts ? std::to_string(positive_count("--speculative-num-draft-tokens", *drafts) -
                                (name == "ngram" ? 0 : 1))
               : "";
  if (tokens.empty())
    throw UsageError(
        fmt::format("--speculative-algorithm {} needs --speculative-num-steps N", *algorithm));
  if (name == "ngram" || ((name == "eagle" || name == "nextn") && model.empty()))
    all.push_back(proposed(name == "ngram" ? name : "mtp", "", tokens));
  else if ((name == "eagle3" || name == "standalone") && !model.empty())
    all.push_back(proposed(name == "eagle3" ? name : "draft", model, tokens));
  else
    throw UsageError(fmt::format(
        "--speculative-algorithm: found '{}', expected NEXTN or EAGLE for the checkpoint's own "
        "modules, NGRAM, or EAGLE3 or STANDALONE with --speculative-draft-model-path",
        *algorithm));
}

/// llama.cpp's --spec-type (common/arg.cpp).
void read_llama_speculation(Arguments& all) {
  const auto type = take(all, {"--spec-type"});
  if (!type) return;
  const bool lookup = type->starts_with("ngram");
  if (!lookup && *type != "draft-mtp")
    throw UsageError(
        fmt::format("--spec-type: found '{}', expected draft-mtp or ngram-simple; a draft model is "
                    "--model-draft",
                    *type));
  const auto tokens = take(all, {"--spec-draft-n-max", "--draft-max"});
  if (!tokens) throw UsageError(fmt::format("--spec-type {} needs --spec-draft-n-max N", *type));
  all.push_back(proposed(lookup ? "ngram" : "mtp", "", *tokens));
}

/// llama.cpp's -fa, with or without a value (common/arg.cpp). "auto" is its default.
void read_flash(Arguments& all) {
  const auto found = find(all, {"-fa", "--flash-attention", "--flash-attn"});
  if (found == all.end()) return;
  const auto equals = found->find('=');
  const bool apart = equals == std::string::npos && found + 1 != all.end();
  std::string value = equals != std::string::npos ? found->substr(equals + 1)
                      : apart                     ? *(found + 1)
                                                  : "";
  const auto is = [&](Names words) { return std::ranges::find(words, value) != words.end(); };
  const bool on = is({"on", "1", "true"}), off = is({"off", "0", "false"}),
             automatic = is({"auto"});
  const bool known = on || off || automatic;
  if (!known && *found == "--flash-attn") return;  // its own reader says what it takes
  const auto end = found + (apart && known ? 2 : 1);
  const auto at = all.erase(found, end);
  if (!automatic) all.insert(at, off ? "--flash-attn=off" : "--flash-attn=on");
}

/// llama.cpp's slots are the sequences at once. It divides its -c between them (tools/server),
/// where a context here is that of each.
void read_slots(Arguments& all) {
  const auto slots = take(all, {"-np", "--parallel"});
  if (!slots) return;
  const Size count = positive_count("--parallel", *slots);
  if (const auto context = find(all, {"-c", "--ctx-size"}); context != all.end() && count > 1)
    throw UsageError(
        fmt::format("llama.cpp divides its -c between the {0} slots of --parallel; --context is "
                    "that of each sequence here: --batch {0} --context N, N being -c / {0}",
                    count));
  all.push_back(fmt::format("--batch={}", count));
}

/// llama.cpp's --load-mode, which replaced --no-mmap and --mlock (common/arg.cpp).
void read_load_mode(Arguments& all) {
  const auto mode = take(all, {"--load-mode", "-lm"});
  if (!mode || *mode == "auto" || *mode == "mmap") return;
  constexpr std::string_view held[] = {"none", "mlock", "mmap+mlock", "dio"};
  if (std::ranges::find(held, *mode) == std::end(held))
    throw UsageError(fmt::format(
        "--load-mode: found '{}', expected auto, mmap, none, mlock, mmap+mlock or dio", *mode));
  all.emplace_back("--no-mmap");
}

void refuse_logical_batch(Arguments& all) {
  const auto batch = find(all, {"-b", "--batch-size"});
  if (batch == all.end()) return;
  const auto runtime = find(all, {"--runtime", "--engine"});
  const bool named = runtime != all.end() && runtime + 1 != all.end() &&
                     ((runtime + 1)->starts_with("llama.cpp") || runtime->ends_with("=llama.cpp"));
  const bool meant =
      named || std::ranges::any_of(all, [](const std::string& each) {
        return std::ranges::find(of_llama_cpp, flag_of(each)) != std::end(of_llama_cpp);
      });
  if (meant)
    throw UsageError(fmt::format(
        "{0} is the number of requests at once here; llama.cpp's {0} is its logical batch, which "
        "changes no estimate: leave it out, or write --batch N for N requests",
        *batch));
}

}  // namespace

std::vector<std::string> in_own_words(const CommandHelp& command,
                                      std::span<const std::string> arguments) {
  Arguments all(arguments.begin(), arguments.end());
  const auto mine = words(command.flags);
  const auto takes = [&](std::string_view flag) {
    return std::ranges::find(mine, flag) != mine.end();
  };
  const bool training = std::ranges::any_of(
      all, [](const std::string& each) { return each == "--from" || each.ends_with("training"); });
  if (training) return all;
  if (takes("batch")) {
    refuse_logical_batch(all);
    read_slots(all);
  }
  if (takes("no-mmap")) read_load_mode(all);
  if (takes("flash-attn")) read_flash(all);
  if (takes("ep")) read_parallel(all);
  if (!takes("speculate")) return all;
  read_vllm_speculation(all);
  read_sglang_speculation(all);
  read_llama_speculation(all);
  return all;
}

}  // namespace headroom::sweep
