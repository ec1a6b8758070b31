// GGUF files of vision models: the language model is as its own class has it.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <string>

#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

Bytes language_bytes(const Model& m, const char* type) {
  const std::vector<QuantisedTensor> formats = quantised_gguf(m, scheme(type));
  const std::vector<const Tensor*> language = language_tensors(m);
  Bytes all;
  for (std::size_t i = 0; i < formats.size(); ++i)
    if (std::ranges::find(language, &m.part.tensors[i]) != language.end()) all += formats[i].bytes;
  return all;
}

/// The text model of the config's section, by its own class.
Model text_of(const std::string& name, const char* class_name) {
  std::string file = name + ".json";
  file.replace(file.find('/'), 1, "__");
  boost::json::object text =
      parse_config(embedded_models().content(file), file).object().at("llm_config").as_object();
  text["architectures"] = {class_name};
  return make_model("text", parse_config(boost::json::serialize(text), "text.json"), "test");
}

/// Source: llama.cpp conversion/base.py get_model_architecture: the converter goes by the classes
/// of a config's parts, and llama-quantize by the language model's label ("70B" of 80 layers).
TEST(GgufParts, TheLanguageModelIsAsItsOwnClassHasIt) {
  const Model small = text_of("OpenGVLab/InternVL3-8B", "Qwen2ForCausalLM");
  const Model large = text_of("OpenGVLab/InternVL3-78B", "Qwen2ForCausalLM");
  for (const char* type : {"q4_K_M", "q8_0", "iq4_xs", "q3_K_M", "q2_K"}) {
    EXPECT_EQ(language_bytes(test::catalogue_model("OpenGVLab/InternVL3-8B"), type),
              quantise(small, scheme(type)).total)
        << type;
    EXPECT_EQ(language_bytes(test::catalogue_model("OpenGVLab/InternVL3-78B"), type),
              quantise(large, scheme(type)).total)
        << type;
  }
}

/// Its other files hold towers and projectors in 16 bit, with vectors and positions in 32.
TEST(GgufParts, TowersStayIn16Bit) {
  for (const char* name :
       {"OpenGVLab/InternVL3-8B", "OpenGVLab/InternVL3_5-8B-HF", "mistralai/Pixtral-12B-2409",
        "openbmb/MiniCPM-V-2_6", "openbmb/MiniCPM-o-2_6", "liuhaotian/llava-v1.5-7b"}) {
    const Model& m = test::catalogue_model(name);
    const QuantisedModel weights = quantise(m, scheme("q4_K_M"));
    ASSERT_EQ(weights.refusal, "") << name;
    const Bytes towers = weights.total - language_bytes(m, "q4_K_M");
    const Size elements = m.profile.parameters - m.profile.parameters_active;
    EXPECT_GE(towers.count(), 2 * elements) << name;
    // Queries of MiniCPM's resampler are parameters without ".weight": they stay in 32 bit.
    EXPECT_LE(towers.count(), 2.3 * static_cast<double>(elements)) << name;
    const Machine machine = test::machine(1, 24, 64);
    EXPECT_EQ(evaluate(test::scenario(weights, machine, "llama.cpp")).reason, Reason::none) << name;
  }
}

}  // namespace
}  // namespace headroom::model
