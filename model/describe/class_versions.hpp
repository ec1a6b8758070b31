// Since which version of transformers a class has the modules that a device map names.
#pragma once

#include <string_view>

namespace headroom::model {

/// Oldest versions with the names of today; empty for a class that no row has.
struct NamesSince {
  std::string_view blocks;  ///< names down to whole blocks
  std::string_view inside;  ///< and names inside blocks
};
NamesSince names_of_class_since(std::string_view architecture);

}  // namespace headroom::model
