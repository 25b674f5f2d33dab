// The clocks of a program that a tool has prepared (elc_program.h). Where they begin is nobody's business but that they go on: after a
// restart, from where they were when the line was taken.
#ifndef ELC_STATE_CLOCKS_H
#define ELC_STATE_CLOCKS_H

#include <stdint.h>
#include <sys/resource.h>

namespace elc::state {

enum Clock : int { kWall, kMonotonic, kProcessor, kUser, kSystem, kClocks };  // MPI_Wtime's; of clock_gettime all but the calendar's; clock's; getrusage's
constexpr int64_t kSecond = 1000000000;  // in nanoseconds, as all here

inline int64_t nanoseconds(const timeval& time) { return int64_t{time.tv_sec} * kSecond + int64_t{time.tv_usec} * 1000; }

inline constexpr const char* kClocksVariable = "clocks of the process";

// They become a variable of lines. `wall`, in seconds: what MPI says.
void register_clocks(double (*wall)());
// What is to be added to what the system says.
int64_t ahead(Clock clock);
// Before a line, and after a restart.
void take_clocks();
void put_clocks();

}  // namespace elc::state

#endif
