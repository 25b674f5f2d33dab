// Lines between the protocol, the messages in MPI's hands and the files of the store.
#ifndef ELC_MPI_RUNTIME_LINE_FILE_H
#define ELC_MPI_RUNTIME_LINE_FILE_H

#include "line/coordinator.h"

namespace elc::mpi {

// The callbacks of line::Host about files.
void fill_file_host(line::Host* host);

// Allocates what writing a line takes, so that it is there when memory is not.
void prepare_to_write();
// How many ranks of a machine write to one file, at most: all call it together.
void agree_who_writes_together(uint32_t most);
// Process 0: once lines are removed, the others are told, and remove their files of these.
void tell_of_cleaning();
// Behind the last line: old ones are removed.
void end_cleaning();
// In a child that the program has forked.
void forget_line_data();
// Prepares the directory; agrees on the run's number and the line to restart from; opens and verifies this
// process's file of that line. Refuses together with the other processes.
void open_store();
// The program has come to its MPI_Finalize; when process 0 exits, the run has ended by itself.
void close_store();

// What the last line of this job cost the program, in seconds: the largest of all processes; negative
// before there was one.
double last_line_cost();

// A line has ended: the timer starts anew, and a job that was asked to stop does.
void line_ended(bool committed);

}  // namespace elc::mpi

#endif
