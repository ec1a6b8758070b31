// The functions behind the rows of models that hear or speak and are no text model with a tower.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// blt.cpp
Part blt(const Config& c);
// csm.cpp
Part csm(const Config& c);
Part kyutai_stt(const Config& c);
// dia.cpp
Part dia(const Config& c);
// higgs_audio.cpp
Part higgs_audio(const Config& c);
// seamless.cpp
Part seamless(const Config& c);
// transducers.cpp
Part transducer(const Config& c);
// vibevoice.cpp
Part vibevoice(const Config& c);
// wav2vec2.cpp, wav2vec2_bert.cpp
Part wav2vec2(const Config& c);
Part wav2vec2_bert(const Config& c);

}  // namespace headroom::model::families
