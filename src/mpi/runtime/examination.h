// What `elc doctor` asks of the library, by a variable of the environment that it alone sets: ELC_DOCTOR, a directory with
// a file "plan". Lines are taken at sites that the plan names by their number in each rank, and nobody else asks for one;
// beside each line the memory of the program that nothing registers is written down; what the program prints goes to a file
// for each rank. In the directory, for rank R:
//
//     plan             a line for each rank: its number, its sites before the line that the run starts from, the number of the
//                      first point, and the sites of this point and those after it
//     point-P-R        what was there at point P (write_memory)
//     restored-R       the same when the restart had put back the data of its line
//     resumed-R        the number of the first site behind that, and how much had been printed when it began
//     change-R         memory to be changed then: for each piece a line "offset bytes path" - in the file of a program or of a
//                      library, as it lies in memory, or from the end of the "[stack]" at restored-R on; "offset*offset" follows
//                      a pointer - or "random bytes", "rand48 bytes", and the bytes
//     out-R            what was printed
//     sites-R          how many sites there were, at the end
#ifndef ELC_MPI_RUNTIME_EXAMINATION_H
#define ELC_MPI_RUNTIME_EXAMINATION_H

#include "line/types.h"

namespace elc::mpi {

struct Examination;  // Runtime::examination; nullptr in all but the doctor's runs

// In MPI_Init, where the library works: whether this is such a run.
void begin_examination();
// The data of the line are back.
void examine_restored();
// The program is at a site, and perhaps a line is to be taken at this one.
void come_to_examined_site();
// Whether a line that was asked for is to be taken at the site where the program is.
bool is_examined_site();
// A line takes its local checkpoint.
void examine_line(line::LineNumber line);
// In MPI_Finalize.
void end_examination();

}  // namespace elc::mpi

#endif
