// Opening and checking a database file, and sqlite's failures in words.
#include "report/sqlite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "report/columns.hpp"
#include "report/read.hpp"
#include "report/store.hpp"

namespace headroom::report {
namespace {

constexpr std::int64_t application_id = 0x4864726d;  // "Hdrm"

std::string words(int code, const std::string& file, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return fmt::format(
          "{}: the disk is full; stored points are safe; free some space and repeat the command to "
          "continue",
          file);
    case SQLITE_READONLY:
      return fmt::format("{}: cannot be written (read-only file or folder)", file);
    case SQLITE_NOTADB:
      return fmt::format("{}: is not an sqlite database", file);
    case SQLITE_CORRUPT:
      return fmt::format("{}: is damaged or cut off ({}); restore it or start a new file", file,
                         message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("{}: another program holds it locked; try again when it has finished",
                         file);
    case SQLITE_CANTOPEN:
      return fmt::format("{}: cannot be opened ({})", file, message);
    case SQLITE_IOERR:
      return fmt::format("{}: reading or writing failed ({})", file, message);
    default:
      return fmt::format("{}: {}", file, message);
  }
}

}  // namespace

Statement::Statement(const Connection& connection, std::string_view sql)
    : connection_(&connection) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(connection.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &raw, nullptr) != SQLITE_OK)
    connection.fail();
  statement_.reset(raw);
}

bool Statement::step() {
  const int code = sqlite3_step(get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) connection_->fail();
  return code == SQLITE_ROW;
}

void Statement::bind(int at, const std::string& value) {
  sqlite3_bind_text(get(), at, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

void Statement::bind(int at, const AxisValue& value) {
  std::visit([&](const auto& v) { bind(at, v); }, value);
}

std::string Statement::text(int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(get(), column));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

Value Statement::value(int column) {
  switch (sqlite3_column_type(get(), column)) {
    case SQLITE_NULL:
      return std::monostate{};
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(get(), column);
    default:
      return text(column);
  }
}

Connection::Connection(std::filesystem::path file, Access access) : file_(std::move(file)) {
  if (access == Access::write && file_.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error)
      throw StoreError(
          fmt::format("{}: cannot be created ({})", file_.parent_path().string(), error.message()));
  }
  if (access == Access::read && !std::filesystem::exists(file_))
    throw StoreError(
        fmt::format("{}: there is no such database; a sweep writes one", file_.string()));
  const int flags =
      SQLITE_OPEN_NOMUTEX |
      (access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file_.c_str(), &raw, flags, nullptr);
  database_.reset(raw);
  if (code != SQLITE_OK) fail();
  sqlite3_busy_timeout(raw, busy_milliseconds);
  if (access == Access::write && sqlite3_db_readonly(raw, "main") == 1)
    throw StoreError(words(SQLITE_READONLY, file_.string(), ""));
  if (access == Access::write && integer("PRAGMA schema_version") == 0) create();
  check_ours();
  if (access == Access::read) return;
  execute("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;");
  execute("BEGIN IMMEDIATE;" + create_views() + "COMMIT;");
}

void Connection::create() const {
  execute("PRAGMA page_size=16384");
  execute(
      fmt::format("BEGIN IMMEDIATE; PRAGMA application_id={}; PRAGMA user_version={}; {} COMMIT;",
                  application_id, schema_version(), create_tables()));
}

void Connection::check_ours() const {
  if (integer("PRAGMA application_id") != application_id)
    throw StoreError(
        fmt::format("{}: is an sqlite database, but not one of headroom's", file_.string()));
  const auto found = integer("PRAGMA user_version");
  if (found != schema_version())
    throw StoreError(
        fmt::format("{}: was written by a program with other columns (schema {:08x}, this "
                    "program's is {:08x}); "
                    "read it with that version, or write to another file",
                    file_.string(), found, schema_version()));
}

void Connection::execute(const std::string& sql) const {
  if (sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Connection::integer(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Connection::fail() const {
  throw StoreError(words(sqlite3_extended_errcode(get()), file_.string(), sqlite3_errmsg(get())));
}

void require_sound(const std::filesystem::path& file) {
  const Connection connection(file, Access::read);
  Statement check(connection, "PRAGMA quick_check(1)");
  std::string found = check.step() ? check.text(0) : "no answer";
  std::ranges::replace(found, '\n', ' ');
  if (found != "ok")
    throw StoreError(fmt::format(
        "{}: the database is damaged ({}); take an earlier copy, or sweep anew into another folder",
        file.string(), found));
}

}  // namespace headroom::report
