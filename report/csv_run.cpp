// Points of a run to CSV: blocks of them are read and written in parallel, and leave in order.
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
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

/// A whole gzip file, without a time or a name: its bytes follow from `text`.
std::string compressed(const std::string& text) {
  namespace io = boost::iostreams;
  std::string packed;
  io::filtering_ostream out;
  out.push(io::gzip_compressor(io::gzip_params(io::gzip::best_speed)));
  out.push(io::back_inserter(packed));
  out << text;
  io::close(out, std::ios::out);
  return packed;
}

using Encode = std::string (*)(const std::string&);

void write_run(std::ostream& out, const Database& database, std::int64_t run, Selected selected,
               const Condition* where, Encode encode) {
  const RunText text(database.run(run), selected);
  // Nothing is out before the first block, which may find that a condition cannot be evaluated.
  std::string header = encode ? encode(text.header()) : text.header();
  const auto blocks = blocks_of(database.extents(run), text.points());
  Size seen = 0;
  const auto end_block = [&](const TextBlock& block) {
    seen += block.points;
    put(out, std::exchange(header, {}));
    put(out, block.text);
  };
  if (where || blocks.size() < 2) {  // sqlite evaluates conditions in one thread
    for (const auto& [first, points] : blocks) {
      TextBlock block = text.block(database, run, first, points, where);
      if (encode) block.text = encode(block.text);
      end_block(block);
    }
  } else {
    tbb::enumerable_thread_specific<Database> databases([&] { return Database(database.file()); });
    std::size_t next = 0;
    tbb::parallel_pipeline(
        2 * static_cast<std::size_t>(tbb::info::default_concurrency()),
        tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order,
                                            [&](tbb::flow_control& control) {
                                              if (next == blocks.size()) control.stop();
                                              return next++;
                                            }) &
            tbb::make_filter<std::size_t, TextBlock>(tbb::filter_mode::parallel,
                                                     [&](std::size_t i) {
                                                       TextBlock block = text.block(
                                                           databases.local(), run, blocks[i].first,
                                                           blocks[i].second, nullptr);
                                                       if (encode) block.text = encode(block.text);
                                                       return block;
                                                     }) &
            tbb::make_filter<TextBlock, void>(tbb::filter_mode::serial_in_order, end_block));
  }
  put(out, header);
  database.check_points(run, seen);
}

}  // namespace

void write_csv(std::ostream& out, const Database& database, std::int64_t run, Selected selected,
               const Condition* where) {
  write_run(out, database, run, selected, where, nullptr);
}

void write_csv(std::ostream& out, const Database& database, std::int64_t run) {
  write_csv(out, database, run, columns_of(database.run(run)));
}

void write_csv_gz(std::ostream& out, const Database& database, std::int64_t run) {
  write_run(out, database, run, columns_of(database.run(run)), nullptr, compressed);
}

}  // namespace headroom::report
