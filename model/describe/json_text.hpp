// JSON of configs: memory for their values, and values as texts.
#pragma once

#include <boost/json/fwd.hpp>
#include <boost/json/storage_ptr.hpp>
#include <string>

namespace headroom::model {

/// Memory for the values of one file. Lists of tens of thousands of modules are usual, and single
/// allocations would take longer than reading them.
boost::json::storage_ptr json_storage();

/// The value as it stands in the file, cut to a readable length.
std::string shown(const boost::json::value& value);

}  // namespace headroom::model
