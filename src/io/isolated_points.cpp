#include "io/isolated_points.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "io/bytes.hpp"
#include "io/child_process.hpp"

namespace fd {
namespace {

constexpr std::size_t piece_values = std::size_t{1} << 17;  // doubles to an answer

std::size_t piece_rows(std::size_t dimension) {
  return std::max<std::size_t>(1, piece_values / std::max<std::size_t>(1, dimension));
}

// HDF5 takes zeros for what lies behind the end of a file: after each reading the file must still be as long as it was.
class WatchedSource final : public PointSource {
 public:
  WatchedSource(std::string path, const OpenPoints& open) : file_(std::move(path)), source_(open()) {}
  std::size_t rows() const override { return source_->rows(); }
  std::size_t dimension() const override { return source_->dimension(); }
  bool exact_in_float() const override { return source_->exact_in_float(); }
  std::vector<std::string> row_names() const override { return source_->row_names(); }
  std::vector<std::string> column_names() const override { return source_->column_names(); }
  std::vector<std::string> notes() const override { return source_->notes(); }
  void read(std::size_t first, std::size_t count, double* out) override {
    source_->read(first, count, out);
    char last = 0;
    if (file_.size() > 0) file_.read(file_.size() - 1, 1, &last);  // throws where the file has become shorter
  }
  std::uint64_t bytes() const { return file_.size(); }

 private:
  FileBytes file_;
  std::unique_ptr<PointSource> source_;
};

void send_texts(const Channel& channel, const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined.append(text.c_str()).push_back(0);  // a zero inside would end it here
  channel.send_text(joined);
}

std::vector<std::string> receive_texts(const Channel& channel) {
  const std::string joined = channel.receive_text();
  std::vector<std::string> texts;
  for (std::size_t at = 0, end = 0; (end = joined.find('\0', at)) != std::string::npos; at = end + 1)
    texts.push_back(joined.substr(at, end - at));
  return texts;
}

// The child: opens, describes, then answers (first, count) with rows until its parent is gone.
void serve(const Channel& channel, const std::string& path, const OpenPoints& open) {
  WatchedSource source(path, open);
  announce_answer(channel);
  channel.send_number(source.rows());
  channel.send_number(source.dimension());
  channel.send_number(source.exact_in_float() ? 1 : 0);
  send_texts(channel, source.row_names());
  send_texts(channel, source.column_names());
  send_texts(channel, source.notes());
  std::vector<double> rows;
  for (;;) {
    const std::uint64_t first = channel.receive_number(), count = channel.receive_number();
    rows.resize(count * source.dimension());
    grant_time(source.bytes());
    source.read(first, count, rows.data());
    announce_answer(channel);
    channel.send(rows.data(), rows.size() * sizeof(double));
  }
}

class IsolatedSource final : public PointSource {
 public:
  IsolatedSource(const std::string& path, const OpenPoints& open)
      : child_(path, [&](const Channel& channel) { serve(channel, path, open); }) {
    child_.ask([&](const Channel& channel) {
      await_answer(channel);
      rows_ = channel.receive_number();
      dimension_ = channel.receive_number();
      exact_ = channel.receive_number() != 0;
      names_ = receive_texts(channel);
      columns_ = receive_texts(channel);
      notes_ = receive_texts(channel);
    });
  }
  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return dimension_; }
  bool exact_in_float() const override { return exact_; }
  std::vector<std::string> row_names() const override { return names_; }
  std::vector<std::string> column_names() const override { return columns_; }
  std::vector<std::string> notes() const override { return notes_; }
  void read(std::size_t first, std::size_t count, double* out) override {
    for (const std::size_t piece = piece_rows(dimension_); count > 0;) {
      const std::size_t now = std::min(piece, count);
      child_.ask([&](const Channel& channel) {
        channel.send_number(first);
        channel.send_number(now);
        await_answer(channel);
        channel.receive(out, now * dimension_ * sizeof(double));
      });
      first += now;
      count -= now;
      out += now * dimension_;
    }
  }

 private:
  ChildProcess child_;
  std::size_t rows_ = 0, dimension_ = 0;
  bool exact_ = false;
  std::vector<std::string> names_, columns_, notes_;
};

}  // namespace

std::unique_ptr<PointSource> isolated_points(const std::string& path, const OpenPoints& open) {
  if (!ChildProcess::possible()) return std::make_unique<WatchedSource>(path, open);
  return std::make_unique<IsolatedSource>(path, open);
}

}  // namespace fd
