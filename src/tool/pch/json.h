// What most files of this folder read, compiled once.
#include <nlohmann/json.hpp>
