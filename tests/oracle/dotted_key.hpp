// Keys of a config with their sections: "text_config.rope_parameters.rope_theta".
#pragma once

#include <boost/json.hpp>
#include <string_view>

namespace headroom::model {

/// The object that holds the last name of a dotted path, sections on the way made where there are
/// none.
inline boost::json::object& scope_of(boost::json::object& config, std::string_view path,
                                     std::string_view& leaf) {
  boost::json::object* at = &config;
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    boost::json::value& section = (*at)[path.substr(0, dot)];
    if (!section.is_object()) section = boost::json::object();
    at = &section.as_object();
    path.remove_prefix(dot + 1);
  }
  leaf = path;
  return *at;
}

}  // namespace headroom::model
