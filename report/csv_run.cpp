// Points of a run to CSV: blocks of them are read and written in parallel, and leave in order.
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <utility>
#include <vector>

#include "report/csv.hpp"
#include "report/run_text.hpp"

namespace headroom::report {
namespace {

using Selected = std::span<const Column* const>;

constexpr Size block_points = 1024;

/// First points and numbers of points of blocks that hold every stored point of a run. `all`: the
/// points of its grids, beyond which only a damaged extent reaches.
std::vector<std::pair<Size, Size>> blocks_of(const std::vector<Extent>& extents, Size all) {
  std::vector<std::pair<Size, Size>> blocks;
  for (const Extent& extent : extents) {
    const Size points = std::min(extent.points, all - extent.first);
    for (Size done = 0; done < points; done += block_points)
      blocks.emplace_back(extent.first + done, std::min(block_points, points - done));
  }
  return blocks;
}

void put(std::ostream& out, std::string_view text) {
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!out) throw std::ios_base::failure("writing CSV failed");
}

namespace io = boost::iostreams;

template <class Compressor>
std::string compressed(std::string_view text, const Compressor& compressor) {
  std::string packed;
  io::filtering_ostream out;
  out.push(compressor);
  out.push(io::back_inserter(packed));
  out << text;
  io::close(out, std::ios::out);
  return packed;
}

/// A whole gzip file, without a time or a name: its bytes follow from `text`.
std::string gzip(std::string_view text) {
  return compressed(text, io::gzip_compressor(io::gzip_params(io::gzip::best_speed)));
}

std::string zstd(std::string_view text) {
  return compressed(text, io::zstd_compressor(io::zstd_params(io::zstd::best_speed)));
}

using Encode = std::string (*)(std::string_view);

/// A block on its way through the pipeline.
struct Passing {
  std::size_t block = 0;
  TextBlock rows;
  std::string packed;
};

/// Writes blocks of a run.
class RunWriter {
 public:
  RunWriter(std::ostream& out, const Database& database, std::int64_t run, Selected selected,
            const Condition* where, Encode encode)
      : out_(&out),
        database_(&database),
        run_(run),
        where_(where),
        encode_(encode),
        text_(database.run(run), selected),
        blocks_(blocks_of(database.extents(run), text_.points())) {}

  void write() {
    // Nothing is out before the first block, which may find that a condition cannot be evaluated.
    header_ = encode_ ? encode_(text_.header()) : text_.header();
    if (where_ || blocks_.size() < 2)  // sqlite evaluates conditions in one thread
      write_alone();
    else
      write_in_parallel();
    put(*out_, header_);
    database_->check_points(run_, seen_);
  }

 private:
  void read(const Database& database, Passing& passing) const {
    const auto& [first, points] = blocks_[passing.block];
    text_.read_block(database, run_, first, points, where_, passing.rows);
    if (encode_) passing.packed = encode_(passing.rows.text.view());
  }
  void end(const Passing& passing) {
    seen_ += passing.rows.points;
    put(*out_, std::exchange(header_, {}));
    put(*out_, encode_ ? passing.packed : passing.rows.text.view());
  }

  void write_alone() {
    Passing passing;
    for (; passing.block < blocks_.size(); ++passing.block) {
      read(*database_, passing);
      end(passing);
    }
  }

  void write_in_parallel() {
    tbb::enumerable_thread_specific<Database> databases(
        [&] { return Database(database_->file()); });
    // Blocks leave in order, so the one that came so many before has left.
    std::vector<Passing> passing(2 * static_cast<std::size_t>(tbb::info::default_concurrency()));
    std::size_t next = 0;
    const auto start = [&](tbb::flow_control& control) -> Passing* {
      if (next == blocks_.size()) {
        control.stop();
        return nullptr;
      }
      Passing& free = passing[next % passing.size()];
      free.block = next++;
      return &free;
    };
    tbb::parallel_pipeline(
        passing.size(), tbb::make_filter<void, Passing*>(tbb::filter_mode::serial_in_order, start) &
                            tbb::make_filter<Passing*, Passing*>(tbb::filter_mode::parallel,
                                                                 [&](Passing* each) {
                                                                   read(databases.local(), *each);
                                                                   return each;
                                                                 }) &
                            tbb::make_filter<Passing*, void>(tbb::filter_mode::serial_in_order,
                                                             [&](Passing* each) { end(*each); }));
  }

  std::ostream* out_;
  const Database* database_;
  std::int64_t run_;
  const Condition* where_;
  Encode encode_;
  RunText text_;
  std::vector<std::pair<Size, Size>> blocks_;
  std::string header_;
  Size seen_ = 0;
};

}  // namespace

void write_csv(std::ostream& out, const Database& database, std::int64_t run, Selected selected,
               const Condition* where) {
  RunWriter(out, database, run, selected, where, nullptr).write();
}

void write_csv(std::ostream& out, const Database& database, std::int64_t run) {
  write_csv(out, database, run, columns_of(database.run(run)));
}

void write_compressed_csv(std::ostream& out, const Database& database, std::int64_t run,
                          Compression compression) {
  const Encode encode = compression == Compression::gzip ? gzip : zstd;
  RunWriter(out, database, run, columns_of(database.run(run)), nullptr, encode).write();
}

}  // namespace headroom::report
