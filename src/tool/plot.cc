// `elc plot`: a variable of a line as a picture, all ranks beside each other.
#include "plot.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "export.h"
#include "lines.h"
#include "text.h"

namespace elc::tool {
namespace {

constexpr size_t kWidth = 96, kHeight = 24;  // of all in a terminal, in characters

// The numbers of a rank; one row, if it has one dimension.
struct Picture {
  uint32_t rank = 0;
  bool is_line = false;
  size_t rows = 0, columns = 0;
  std::vector<double> values;

  double at(size_t row, size_t column) const { return values[row * columns + column]; }
};

Picture picture_of(uint32_t rank, const Array& array, const std::string& variable) {
  if (array.layout.what == Layout::What::kStruct)
    throw Refusal(kUsage, visible(variable) + " has elements that are no numbers: elc export writes them");
  if (array.shape.empty() || array.shape.size() > 2)
    throw Refusal(kUsage, visible(variable) + " has " + count_text(array.shape.size(), "dimension") + ", and a picture one or two: elc export writes it");
  if (array.elements() == 0) throw Refusal(kUsage, visible(variable) + " of rank " + std::to_string(rank) + " is empty");
  Picture picture;
  picture.rank = rank;
  picture.is_line = array.shape.size() == 1;
  picture.rows = picture.is_line ? 1 : static_cast<size_t>(array.shape[0]);
  picture.columns = static_cast<size_t>(array.shape.back());
  for (size_t i = 0; i < array.bytes.size(); i += static_cast<size_t>(array.layout.width))
    picture.values.push_back(number(array.layout, array.bytes.data() + i));
  return picture;
}

struct Range {
  double least = INFINITY, most = -INFINITY;
  // From 0 to 1; all the same is in the middle.
  double part(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

// Of the finite numbers.
Range range_of(const std::vector<Picture>& pictures) {
  Range range;
  for (const Picture& picture : pictures)
    for (const double value : picture.values)
      if (std::isfinite(value)) range = {std::min(range.least, value), std::max(range.most, value)};
  return range;
}

// The mean of the finite numbers that a character stands for; NaN if there is none.
double mean(const Picture& picture, size_t row, size_t rows, size_t column, size_t columns) {
  const auto begin = [](size_t i, size_t of, size_t all) { return i * all / of; };
  double sum = 0;
  size_t count = 0;
  for (size_t r = begin(row, rows, picture.rows); r < begin(row + 1, rows, picture.rows); ++r)
    for (size_t c = begin(column, columns, picture.columns); c < begin(column + 1, columns, picture.columns); ++c) {
      if (!std::isfinite(picture.at(r, c))) continue;
      sum += picture.at(r, c);
      ++count;
    }
  return count == 0 ? NAN : sum / static_cast<double>(count);
}

// Rows of characters, all of one length.
std::vector<std::string> draw(const Picture& picture, const Range& range, size_t width) {
  static const char kShades[] = " .:-=+*#%@";
  const size_t columns = std::min(picture.columns, width);
  const size_t rows = picture.is_line ? kHeight / 2 : std::min(picture.rows, kHeight);
  std::vector<std::string> all(rows, std::string(columns, ' '));
  for (size_t c = 0; c < columns; ++c)
    for (size_t r = 0; r < (picture.is_line ? 1 : rows); ++r) {
      const double value = mean(picture, r, picture.is_line ? 1 : rows, c, columns);
      if (std::isnan(value)) {
        all[picture.is_line ? rows - 1 : r][c] = '?';
        continue;
      }
      const double part = range.part(value);
      if (picture.is_line)
        all[rows - 1 - static_cast<size_t>(part * static_cast<double>(rows - 1) + 0.5)][c] = '*';
      else
        all[r][c] = kShades[static_cast<size_t>(part * 9 + 0.5)];
    }
  return all;
}

void print_pictures(const std::vector<Picture>& pictures, const Range& range, const std::string& title) {
  const size_t width = std::max<size_t>(kWidth / pictures.size(), 12) - 3;
  printf("%s, from %g to %g\n", title.c_str(), range.least, range.most);
  for (size_t first = 0, count; first < pictures.size(); first += count) {
    count = std::min(pictures.size() - first, std::max<size_t>(kWidth / (width + 3), 1));
    std::vector<std::vector<std::string>> drawn;
    size_t rows = 0;
    for (size_t i = first; i < first + count; ++i) {
      drawn.push_back(draw(pictures[i], range, width));
      const std::string name = "rank " + std::to_string(pictures[i].rank);
      printf("%-*s", static_cast<int>(std::max(drawn.back()[0].size(), name.size()) + 3), name.c_str());
      rows = std::max(rows, drawn.back().size());
    }
    printf("\n");
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < count; ++i) {
        const std::string name = "rank " + std::to_string(pictures[first + i].rank);
        const std::string line = row < drawn[i].size() ? "|" + drawn[i][row] + "|" : "";
        printf("%-*s", static_cast<int>(std::max(drawn[i][0].size(), name.size()) + 3), line.c_str());
      }
      printf("\n");
    }
  }
}

// The text between quotes of gnuplot's that mean themselves.
std::string quoted(std::string text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? "''" : c == '\n' || c == '\r' ? "?" : std::string(1, c);
  return all + "'";
}

void write_png(const std::vector<Picture>& pictures, const Range& range, const std::string& title, const std::string& file) {
  FILE* out = popen("gnuplot", "w");
  if (out == nullptr) throw Refusal(kCannot, std::string("cannot start gnuplot: ") + strerror(errno));
  signal(SIGPIPE, SIG_IGN);  // where there is none, that is found out at the end
  fprintf(out, "set terminal pngcairo size %zu,480\nset output %s\n", std::min<size_t>(pictures.size() * 480, 8000), quoted(file).c_str());
  fprintf(out, "set multiplot layout 1,%zu title %s noenhanced\nunset key\n", pictures.size(), quoted(title).c_str());
  const double margin = range.most > range.least ? 0 : 1;
  for (const Picture& picture : pictures) {
    fprintf(out, "set title 'rank %lu'\n$data << ELC_END\n", static_cast<unsigned long>(picture.rank));
    for (size_t r = 0; r < picture.rows; ++r) {
      for (size_t c = 0; c < picture.columns; ++c) {
        const double value = picture.at(r, c);
        if (std::isfinite(value)) fprintf(out, "%.17g", value);
        else fputs("NaN", out);
        fputs(picture.is_line ? "\n" : " ", out);
      }
      if (!picture.is_line) fputs("\n", out);
    }
    fprintf(out, "ELC_END\nset %s [%.17g:%.17g]\n", picture.is_line ? "yrange" : "cbrange", range.least - margin, range.most + margin);
    if (picture.is_line)
      fprintf(out, "plot $data with lines\n");
    else
      fprintf(out, "set yrange [%zu.5:-0.5]\nset xrange [-0.5:%zu.5]\nplot $data matrix with image\n", picture.rows - 1, picture.columns - 1);
  }
  fprintf(out, "unset multiplot\n");
  const bool written = ferror(out) == 0;
  if (pclose(out) != 0 || !written) throw Refusal(kCannot, "gnuplot has made no picture: is it installed? Without --output it is drawn here");
  printf("%s\n", file.c_str());
}

}  // namespace

int plot(const PlotOptions& options) {
  const Ranks ranks = ranks_of(options.what, options.dir, options.rank);
  std::vector<Picture> pictures;
  for (const auto& [rank, file] : ranks.files) pictures.push_back(picture_of(rank, load(file, options.variable), options.variable));
  const Range range = range_of(pictures);
  if (!(range.least <= range.most)) throw Refusal(kUsage, visible(options.variable) + " has no finite number");
  const std::string title = visible(options.variable) + " of line " + std::to_string(ranks.line);
  if (options.output.empty())
    print_pictures(pictures, range, title);
  else
    write_png(pictures, range, title, options.output);
  return 0;
}

}  // namespace elc::tool
