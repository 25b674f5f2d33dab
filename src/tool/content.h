// What a file says, as a whole.
#ifndef ELC_TOOL_CONTENT_H
#define ELC_TOOL_CONTENT_H

#include <filesystem>
#include <string>

namespace elc::tool {

// Empty if it cannot be read to its end: what /proc says of a process is gone with it. (A stream that is read by iterators
// throws then.)
std::string content_of(const std::filesystem::path& file);

}  // namespace elc::tool

#endif
