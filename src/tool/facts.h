// What a file of a line holds, as JSON.
#ifndef ELC_TOOL_FACTS_H
#define ELC_TOOL_FACTS_H

#include <stdint.h>

#include <nlohmann/json.hpp>
#include <string>

#include "state/image.h"
#include "state/streams.h"

namespace elc::tool {

// `most`: how many values of each variable and heap block, blocks, bytes of each content, messages and so on are shown;
// 0: none. Throws Refusal.
nlohmann::json file_facts(const std::string& path, uint64_t most);

// Of these alone all: "mpi" and "setup", where the file has them. Throws Refusal.
nlohmann::json object_facts(const std::string& path);

// How these are called there.
std::string communicator_text(uint64_t identity);
// What the number of a leaf stands for that is a handle, but no pointer and no status.
std::string handle_text(format::Kind kind, uint64_t number, const state::Image& image,
                        const Vector<state::SavedStream>& streams);

}  // namespace elc::tool

#endif
