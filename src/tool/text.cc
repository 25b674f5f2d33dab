#include "text.h"

#include <time.h>

#include <cstdio>

#include "base/text.h"

namespace elc::tool {
namespace {

std::string format(const char* form, double value, const char* unit) {
  char text[64];
  snprintf(text, sizeof text, form, value, unit);
  return text;
}

uint64_t microseconds(clockid_t clock) {
  struct timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_nsec) / 1000;
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  const char* const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 5; ++unit) value /= 1000;
  return format(unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 10) return format("%.2f %s", seconds, "s");
  if (seconds < 120) return format("%.0f %s", seconds, "s");
  if (seconds < 7200) return format("%.0f %s", seconds / 60, "min");
  if (seconds < 172800) return format("%.0f %s", seconds / 3600, "h");
  return format("%.0f %s", seconds / 86400, "days");
}

std::string time_text(uint64_t microseconds) {
  const time_t seconds = static_cast<time_t>(microseconds / 1000000);
  struct tm broken;
  char text[32];
  if (localtime_r(&seconds, &broken) == nullptr ||
      strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &broken) == 0)
    return "?";
  return text;
}

std::string count_text(uint64_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

std::string visible(std::string text) {
  hide_controls(text.data(), text.size());
  return text;
}

uint64_t time_of_day() { return microseconds(CLOCK_REALTIME); }
uint64_t now() { return microseconds(CLOCK_MONOTONIC); }

}  // namespace elc::tool
