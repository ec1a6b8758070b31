// The reference of the program as Markdown, from the tables behind help, specs and databases.
#pragma once

#include <string>

namespace headroom::sweep {

/// Commands, options, keys of a spec and columns.
std::string reference_markdown();

}  // namespace headroom::sweep
