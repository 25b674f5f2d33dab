#include "base/interval.h"

namespace elc {
namespace {

// The first line of a job comes after this time, in seconds, when its cost is not known yet.
constexpr double kFirst = 60;
// Lines more often than this are of no use, however cheap they are.
constexpr double kLeast = 1;

// Newton's iteration; sqrt() itself would want the mathematical library when a program is linked.
double square_root(double x) {
  if (!(x > 0)) return 0;
  double root = x > 1 ? x : 1;
  for (int i = 0; i < 200; ++i) {
    const double better = (root + x / root) / 2;
    if (!(better < root)) break;  // it descends until the last bit
    root = better;
  }
  return root;
}

}  // namespace

double optimal_interval(double cost, double mtbf) { return square_root(2 * cost * mtbf); }

double interval(const Config& config, double cost) {
  if (config.timer == Timer::kOff) return 0;
  if (config.timer == Timer::kFixed) return config.every;
  const double first = config.mtbf / 2 < kFirst ? config.mtbf / 2 : kFirst;
  const double seconds = cost < 0 ? first : optimal_interval(cost, config.mtbf);
  return seconds < kLeast ? kLeast : seconds;
}

}  // namespace elc
