#include "base/attention.h"

namespace elc {

constinit uint32_t attention = kPassive | kProtocol;
constinit int32_t short_calls = kNoShortCalls;

}  // namespace elc
