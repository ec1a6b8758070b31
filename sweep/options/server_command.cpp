#include "sweep/options/server_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/options/options.hpp"
#include "sweep/options/server_words.hpp"

namespace headroom::sweep {
namespace {

using Arguments = std::vector<std::string>;

/// The words that start a server, and the engine. `model`: the flags that name the model.
struct Program {
  std::string_view first, second, third;  ///< empty: no such word
  std::string_view runtime, model;
};
constexpr Program programs[] = {
    {"vllm", "serve", "", "vllm", "--model"},
    {"python", "-m", "vllm.entrypoints.openai.api_server", "vllm", "--model"},
    {"sglang", "serve", "", "sglang", "--model-path --model"},
    {"python", "-m", "sglang.launch_server", "sglang", "--model-path --model"},
    {"trtllm-serve", "serve", "", "tensorrt-llm", ""},
    {"trtllm-serve", "", "", "tensorrt-llm", ""},
    {"llama-server", "", "", "llama.cpp", "-m --model -hf -hfr --hf-repo"},
    {"llama-cli", "", "", "llama.cpp", "-m --model -hf -hfr --hf-repo"},
    {"mlx_lm.server", "", "", "mlx-lm", "--model"}};

bool is_among(std::string_view names, std::string_view name) {
  return fmt::format(" {} ", names).find(fmt::format(" {} ", name)) != std::string::npos;
}

/// "llama-server" of "./build/bin/llama-server", "python" of "python3".
std::string program_name(std::string_view word) {
  std::string name(word.substr(word.rfind('/') + 1));
  return name.starts_with("python3") ? "python" : name;
}

std::size_t words_of(const Program& program) {
  return 1 + !program.second.empty() + !program.third.empty();
}

const Program* program_at(std::span<const std::string> words) {
  for (const Program& each : programs) {
    const auto size = words_of(each);
    if (words.size() < size || program_name(words[0]) != each.first) continue;
    if ((size < 2 || words[1] == each.second) && (size < 3 || words[2] == each.third)) return &each;
  }
  return nullptr;
}

/// "CUDA_VISIBLE_DEVICES=0,1" before a program.
bool is_environment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != word.npos && equals > 0 &&
         std::ranges::all_of(word.substr(0, equals), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool says_machine(std::span<const std::string> arguments) {
  constexpr std::string_view flags[] = {"--machine",    "--device", "--gpu",
                                        "--gpu-memory", "--host",   "--cpu"};
  return std::ranges::any_of(arguments, [&](const std::string& each) {
    return std::ranges::find(flags, std::string_view(each).substr(0, each.find('='))) !=
           std::end(flags);
  });
}

/// Reads the options of one server.
class Reader {
 public:
  Reader(const Program& program, std::span<const std::string> words)
      : program_(program), words_(words) {}

  ServerCommand read() {
    while (!words_.empty()) {
      const std::string word = take();
      if (!word.starts_with('-') || word.size() < 2 || is_number(word))
        plain(word);
      else
        option(word);
    }
    finish();
    return std::move(out_);
  }

 private:
  static bool is_number(std::string_view word) {
    return word.find_first_not_of("-.0123456789") == word.npos && word != "--" && word != "-";
  }
  bool of(std::string_view runtime) const { return program_.runtime == runtime; }
  std::string take() {
    std::string word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  void add(std::string word) { out_.arguments.push_back(std::move(word)); }

  void plain(const std::string& word) {
    if (model_.empty())
      model_ = word;
    else
      add(word);
  }
  /// Engines take "--tensor_parallel_size" too.
  static std::string spelled(std::string_view text) {
    std::string name(text);
    if (name.starts_with("--")) std::ranges::replace(name, '_', '-');
    return name;
  }
  void option(const std::string& word) {
    const auto equals = std::min(word.find('='), word.size());
    const std::string name = spelled(word.substr(0, equals));
    value_ = equals < word.size() ? std::optional(word.substr(equals + 1)) : std::nullopt;
    if (is_among(program_.model, name)) {
      model_ = needed(name);
      hub_ = name.starts_with("-h") || name == "--hf-repo";
    } else if (of("llama.cpp") && (name == "-c" || name == "--ctx-size")) {
      context_ = needed(name);
    } else if (of("llama.cpp") && (name == "-np" || name == "--parallel")) {
      slots_ = needed(name);
    } else if (name == "--dtype" || name == "--quantization" || name == "-q") {
      type_of_weights(name);
    } else if (of("vllm") && name == "-ep") {
      add("--enable-expert-parallel");
    } else if (name == "--max-seq-len" || name == "--max-model-len" || name == "--context-length") {
      add("--context=" + in_tokens(name));
      limited_ = true;
    } else if (!left_out(name)) {
      divided_ |= is_among(
          "--tp -tp --tensor-parallel-size --tp-size --pp -pp --pp-size "
          "--pipeline-parallel-size --dp -dp --dp-size --data-parallel-size",
          name);
      pass_on(name);
    }
  }
  /// An option that is known here, or that engine_words.cpp reads, with its value.
  void pass_on(const std::string& name) {
    const Flag* flag = find_spelling(name).flag;
    const bool is_switch =
        flag != nullptr ? flag->takes == Takes::nothing : name.starts_with("--enable-");
    add(value_ ? name + '=' + *value_ : name);
    const bool more =
        !words_.empty() && (!words_.front().starts_with('-') || is_number(words_.front()));
    if (!value_ && !is_switch && more) add(take());
  }
  std::string needed(std::string_view name) {
    if (!value_ && words_.empty()) throw UsageError(fmt::format("{} needs a value", name));
    return value_ ? *value_ : take();
  }
  /// "32k" of vLLM is 32,000 tokens, "32K" 32,768 (utils/argparse_utils.py human_readable_int).
  std::string in_tokens(std::string_view name) {
    std::string text = needed(name);
    const auto thousands = text.ends_with('k') && (of("vllm") || of("sglang"))
                               ? whole_number(text.substr(0, text.size() - 1))
                               : std::nullopt;
    return thousands ? std::to_string(*thousands * 1000) : text;
  }
  /// The type of a server's numbers is that of activations: a quantised checkpoint keeps its
  /// weights. A method of quantisation names the checkpoint's own, save those made at start.
  void type_of_weights(std::string_view name) {
    const std::string value = needed(name);
    constexpr std::string_view at_start = "fp8 w8a8-int8 float32 float";
    if (value == "bitsandbytes")
      add("--precision=nf4");
    else if (is_among(at_start, value))
      add("--precision=" + value);
    else
      out_.without_effect.push_back(fmt::format("{} {}", name, value));
  }
  bool left_out(const std::string& name) {
    const auto found = left_out_of(program_.runtime, name);
    if (!found) return false;
    std::string text = name;
    const auto more = [&] { return !words_.empty() && !words_.front().starts_with('-'); };
    if (value_)
      text += ' ' + *value_;
    else if (found->takes == Takes::one)
      text += ' ' + needed(name);
    else
      while (found->takes == Takes::many && more()) text += ' ' + take();
    (found->described ? out_.without_effect : out_.not_described).push_back(std::move(text));
    return true;
  }
  /// llama.cpp divides -c between its slots (tools/server, n_ctx_seq).
  void slots() {
    if (!slots_.empty()) add("--batch=" + slots_);
    const auto all = whole_number(context_), apart = whole_number(slots_);
    if (context_ == "0") return;  // the model's own
    if (all && apart && *apart > 0)
      add(fmt::format("--context={}", *all / *apart));
    else if (!context_.empty())
      add("--context=" + context_);
  }
  void finish() {
    if (model_.empty())
      throw UsageError(fmt::format("{}{}{}: which MODEL? It is not named", program_.first,
                                   program_.second.empty() ? "" : " ", program_.second));
    slots();
    if (hub_ && model_.find(':') == std::string::npos) {
      model_ += ":Q4_K_M";
      out_.notes.emplace_back("without a tag llama.cpp takes Q4_K_M");
    }
    if (!divided_ && (of("vllm") || of("sglang") || of("tensorrt-llm"))) {
      add("--tp=1");
      out_.notes.push_back(fmt::format("without --tp {} takes one card", program_.runtime));
    }
    if (!limited_ && of("vllm"))
      out_.notes.emplace_back(
          "without --max-model-len vllm starts only if one sequence of the model's whole context "
          "fits, see 'context to'");
    add(fmt::format("--runtime={}", program_.runtime));
    out_.arguments.insert(out_.arguments.begin(), model_);
  }

  const Program& program_;
  std::span<const std::string> words_;
  std::optional<std::string> value_;
  std::string model_, context_, slots_;
  bool hub_ = false, divided_ = false, limited_ = false;
  ServerCommand out_;
};

}  // namespace

std::optional<ServerCommand> server_command(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Program* program = program_at(arguments.subspan(i));
    if (program == nullptr) continue;
    Arguments own(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(i));
    while (!own.empty() && (own.back() == "--" || is_environment(own.back()))) own.pop_back();
    if (own.empty() || own.front().starts_with('-')) own.insert(own.begin(), "estimate");
    ServerCommand read = Reader(*program, arguments.subspan(i + words_of(*program))).read();
    // "estimate --machine h100-sxm" and then the model: a flag of many values would take it.
    read.arguments.insert(read.arguments.begin(), own.front());
    read.arguments.insert(read.arguments.end(), own.begin() + 1, own.end());
    if (!says_machine(read.arguments))
      throw UsageError(
          fmt::format("on which machine? headroom {} --machine \"2x h100-sxm\" -- {} …",
                      own.front(), fmt::join(arguments.subspan(i, words_of(*program)), " ")));
    return read;
  }
  return std::nullopt;
}

std::string in_words(const ServerCommand& read) {
  std::string text = "read as: headroom";
  for (const std::string& each : read.arguments)
    text +=
        each.find_first_of(" \"'{") == std::string::npos ? ' ' + each : fmt::format(" '{}'", each);
  for (const std::string& note : read.notes) text += "; " + note;
  if (!read.without_effect.empty())
    text += fmt::format("; without effect: {}", fmt::join(read.without_effect, ", "));
  if (!read.not_described.empty())
    text += fmt::format("; not described: {}", fmt::join(read.not_described, ", "));
  return text;
}

}  // namespace headroom::sweep
