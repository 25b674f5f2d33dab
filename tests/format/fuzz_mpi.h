#ifndef ELC_TESTS_FORMAT_FUZZ_MPI_H
#define ELC_TESTS_FORMAT_FUZZ_MPI_H

#include <string>

namespace elc::format {

// What src/mpi decodes of a file of unknown content: section "mpi" with its datatypes, messages in transit.
// Fails by crashing.
void examine_mpi(const std::string& file);

}  // namespace elc::format

#endif
