// The functions behind the rows of vision-language models and vision encoders, one family a file.
//
// Each composes a tower (vision_towers.hpp), a projector and a text model (composition.hpp).
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// clip.cpp
Part clip(const Config& c);
Part siglip(const Config& c);

// qwen_vl.cpp
Part qwen2_vl(const Config& c);
Part qwen2_5_vl(const Config& c);
Part qwen3_vl(const Config& c);

// llava.cpp
Part llava(const Config& c);
Part llava_next(const Config& c);
Part gemma3(const Config& c);
Part paligemma(const Config& c);
Part mistral3(const Config& c);

// llava_relatives.cpp
Part cohere_vision(const Config& c);
Part lfm2_vl(const Config& c);
Part vipllava(const Config& c);
Part video_llava(const Config& c);
Part deepseek_vl(const Config& c);
// internvl.cpp
Part internvl(const Config& c);
// idefics3.cpp
Part idefics3(const Config& c);
// glm4v.cpp
Part glm4v(const Config& c);
// mllama.cpp
Part mllama(const Config& c);
// llama4.cpp
Part llama4(const Config& c);
Part llama4_text(const Config& c);
// gemma4.cpp
Part gemma4(const Config& c);
Part gemma4_text(const Config& c);

}  // namespace headroom::model::families
