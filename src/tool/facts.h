// What a file of a line holds, as JSON.
#ifndef ELC_TOOL_FACTS_H
#define ELC_TOOL_FACTS_H

#include <stdint.h>

#include <nlohmann/json.hpp>
#include <string>

namespace elc::tool {

// `most`: how many values of each variable and heap block, blocks, bytes of each content, messages and so on are shown;
// 0: none. Throws Refusal.
nlohmann::json file_facts(const std::string& path, uint64_t most);

}  // namespace elc::tool

#endif
