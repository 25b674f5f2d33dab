// Ranks that are none: MPI_PROC_NULL, MPI_ANY_SOURCE and MPI_ROOT. Programs keep them in variables, as the neighbours of a process at an
// edge, and MPICH has other numbers for them than Open MPI and LAM. With -felc-common-ranks a program has the latter's under each MPI: what
// it gives to MPI as a rank, and what a status says, is translated where it is given and read. (What it prints is then not what its MPI
// has, so that it has to be asked for.)
#ifndef ELC_CC_RANKS_H
#define ELC_CC_RANKS_H

#include <map>
#include <set>
#include <string>

#include "cc/edits.h"
#include "cc/unit.h"

namespace elc::cc {

// As a program has them that is translated, by name.
const std::map<std::string, int>& common_ranks();

struct RankFacts {
  std::set<std::string> lost;                 // where one may come to MPI, or from it, in a way that cannot be translated, and why
  std::map<std::string, std::string> called;  // keys of functions that arguments call which are ranks, and where: none may be called again in a restart
};
RankFacts ranks_in(const Unit& unit);

// Whether the call is of a function of MPI that takes a rank as this argument.
bool is_rank(const clang::CallExpr* call, unsigned argument);
// The functions that translate: elc_rank gives MPI's number, elc_rank_of that of the program. `own`: MPI's.
std::string rank_functions(const std::map<std::string, int>& own);
void translate_ranks(const Unit& unit, Edits* edits);

}  // namespace elc::cc

#endif
