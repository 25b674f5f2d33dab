// Figures as people read them.
#ifndef ELC_TOOL_TEXT_H
#define ELC_TOOL_TEXT_H

#include <stdint.h>

#include <string>

namespace elc::tool {

std::string bytes_text(uint64_t bytes);                 // "3.1 MB"
std::string seconds_text(double seconds);               // "0.21 s", "12 min"
std::string time_text(uint64_t microseconds);           // local time, "2026-01-31 12:00:05"
std::string count_text(uint64_t n, const char* thing);  // "1 restart", "2 restarts"
// Without what a terminal would obey: names in files and messages are anybody's.
std::string visible(std::string text);
uint64_t time_of_day();                                 // microseconds since 1970, to be shown
uint64_t now();                                         // microseconds of a clock that nobody sets

}  // namespace elc::tool

#endif
