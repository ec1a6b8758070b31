// An eponymous virtual table: it is there for every statement, and nothing is created.
#include "report/row_table.hpp"

#include <fmt/format.h>

#include <memory>

namespace headroom::report {
namespace {

void give(sqlite3_context* context, const Cell& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value))
    sqlite3_result_int64(context, *n);
  else if (const auto* x = std::get_if<double>(&value))
    sqlite3_result_double(context, *x);
  else if (const auto* s = std::get_if<std::string_view>(&value))
    sqlite3_result_text(context, s->data(), static_cast<int>(s->size()), SQLITE_STATIC);
  else
    sqlite3_result_null(context);
}

struct RowTable : sqlite3_vtab {
  const RowSource* source = nullptr;
};
struct RowCursor : sqlite3_vtab_cursor {
  const RowSource* source = nullptr;
  bool past = false;
};

RowCursor& cursor_of(sqlite3_vtab_cursor* base) { return *static_cast<RowCursor*>(base); }

int connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** table,
            char**) {
  std::string names;
  for (const Column* c : static_cast<const RowSource*>(source)->columns)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", c->name);
  const int code =
      sqlite3_declare_vtab(database, fmt::format("CREATE TABLE row ({})", names).c_str());
  if (code != SQLITE_OK) return code;
  auto made = std::make_unique<RowTable>();
  made->source = static_cast<const RowSource*>(source);
  *table = made.release();
  return SQLITE_OK;
}

sqlite3_module row_module() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xDisconnect = [](sqlite3_vtab* table) {
    delete static_cast<RowTable*>(table);
    return SQLITE_OK;
  };
  module.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; };
  module.xOpen = [](sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
    auto made = std::make_unique<RowCursor>();
    made->source = static_cast<RowTable*>(table)->source;
    *cursor = made.release();
    return SQLITE_OK;
  };
  module.xClose = [](sqlite3_vtab_cursor* cursor) {
    delete &cursor_of(cursor);
    return SQLITE_OK;
  };
  module.xFilter = [](sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
    cursor_of(cursor).past = false;
    return SQLITE_OK;
  };
  module.xNext = [](sqlite3_vtab_cursor* cursor) {
    cursor_of(cursor).past = !cursor_of(cursor).source->endless;
    return SQLITE_OK;
  };
  module.xEof = [](sqlite3_vtab_cursor* cursor) { return cursor_of(cursor).past ? 1 : 0; };
  module.xColumn = [](sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
    const RowSource& source = *cursor_of(cursor).source;
    const auto place = source.places[static_cast<std::size_t>(column)];
    if (place < source.cells->size()) give(context, (*source.cells)[place]);
    return SQLITE_OK;
  };
  module.xRowid = [](sqlite3_vtab_cursor*, sqlite3_int64* id) {
    *id = 0;
    return SQLITE_OK;
  };
  return module;
}

}  // namespace

void add_row_table(sqlite3* database, const std::string& name, const RowSource& row) {
  static const sqlite3_module module = row_module();
  sqlite3_create_module(database, name.c_str(), &module, const_cast<RowSource*>(&row));
}

}  // namespace headroom::report
