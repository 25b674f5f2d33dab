/* tagging.h - Message Tagging, the other way to find the messages in flight at a checkpoint (P. Zhao, libELC, 2005,
 * section 3.2.2; the protocol is that of C3, Bronevetsky et al., 2003, without its collective operations), to
 * compare Event Logging with (section 5.7).
 *
 * Linked into a program, it stands between the program and MPI_Init, MPI_Send, MPI_Recv and MPI_Finalize, and knows
 * no other call that sends or receives. Every message carries the epoch of its sender: how many checkpoints that has
 * taken. A receiver that is an epoch ahead logs the message (it was in transit); one that is behind remembers that it has
 * come (a restart must not send it again). A process that takes its checkpoint tells each other how many messages it has
 * sent to it before; when all of those have been received, the line is complete. Nobody can log what the program
 * does not receive: until it does, there is no line. The state of the process is not saved: what is measured is the
 * protocol.
 *
 * How the epoch travels, by the environment variable TAGGING:
 *   derived   in one message, by a datatype that is made for it: the header, then the program's data where they are
 *   copied    the same of a buffer into which the data are copied (what the thesis measured)
 *   packed    by MPI_Pack and MPI_PACKED
 *   header    in a second message with the same envelope
 * Whatever it is, the status that the program gets is not the one of its message: MPI_Get_count is wrong. */
#ifndef BENCH_TAGGING_H
#define BENCH_TAGGING_H

/* Rank 0 takes a checkpoint, the others at their next call; it says when the line is complete. Elsewhere: nothing. */
void tagging_line(void);

#endif
