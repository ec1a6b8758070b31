// A training step as a person reads it first: whether it fits, where the memory goes, how long.
#pragma once

#include <string>

#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// At most 30 lines of at most 100 columns, but for long names.
std::string training_screen(const GivenTraining& given, const TrainingAnswer& answer);

/// "org/name (8.03 B parameters, 20.9 M trained), training on MACHINE", as a paragraph.
std::string training_title(const GivenTraining& given, Size trained_parameters);
/// Bytes of a step that a card's share takes outside the cards; empty: none.
std::string off_card_lines(Bytes host, Bytes disk);
/// The assumptions and the settings of a file, as a paragraph.
std::string assumptions_line(const GivenTraining& given);

}  // namespace headroom::sweep
