"""The page elc-mpi.7 from the table of MPI's functions, on the standard output.

    python3 generate_page.py
"""

import table

HEAD = r""".\" Made by generate_page.py from table.txt.
.Dd January 1, 2026
.Dt ELC-MPI 7
.Os
.Sh NAME
.Nm elc-mpi
.Nd what libELC does with each function of MPI
.Sh DESCRIPTION
A line is a state that the program could have been in only if the library has seen all that moves between its processes,
and a restart can go on from it only if it can make again what the program holds.
So every function of MPI either is followed, or needs no following, or it refuses lines, for as long as this is needed.
What a program calls by its name in the profiling interface
.Pq Fn PMPI_Send
goes past the library and is not seen: programs that do so must not be restarted.
A line that is refused costs nothing but itself: the program runs on, the lines before it stay, and a message names the
call.
.Bl -tag -width Ds
.It followed
Lines are taken around it, and within it where it waits.
.It needs no following
It moves nothing between processes and makes nothing that a restart would miss.
.It refuses while what it makes exists
From the call on until the communicator, window, file, request or session that it gives is freed, closed or complete, lines
are refused; then they are taken again.
.It refuses while it exists, if made after the set-up
The same for what belongs to one process alone, as an operation or an error handler.
A restart runs the program's set-up again, until
.Fn ELC_Restore
has returned or, with frames, until the first is entered, and so makes again what was made there: that refuses nothing.
.It is in a line if a variable is
A group or an info object.
What a registered variable holds
.Pq Fn ELC_GROUP , Fn ELC_INFO
a restart makes again, with the same processes in the same order, or the same keys and values.
.It frees
Ends what refuses lines.
.It refuses as long as what it works on exists
It works on a window, a file or another object that refuses lines.
.It refuses until the file is closed
What a restart could not bring back of a file of MPI that it opens again.
.It refuses as long as the window exists
A window is followed that the set-up has made and that fences alone synchronise
.Pq see Xr elc 3 .
From this call on it is not, and lines are refused until it is freed.
.It refuses as long as the window exists, if called after the set-up
It changes a window: the same, but in the set-up it refuses nothing.
.It refuses if it changes what the set-up has made
An attribute of a datatype, a buffer for sends or a hint that is set after the set-up is not set in a restart, and one of
the set-up's that is taken away is there again.
The attribute and the buffer refuse until they are again what the set-up has made them: the same value,
none, the same address and size; an info object, until it is freed.
.Pp
A communicator has the attributes again that it had, whether they were set or are copies: with the value that the set-up
has given it, an address in registered memory or a number below 65536.
Another value refuses lines, and so does a key that the set-up has not made, as long as the communicator has the attribute.
Keys are numbers of the run: do not register them.
In a restart the delete function is called for what the set-up sets again and the line had not, or had with another value,
before the state is back; copy functions are not called.
A line that the call crosses which copies an attribute is refused.
.Pp
A communicator has the name and the error handler again that it had, if that is one of MPI's or was made in the set-up; one
that was made later refuses as long as the communicator has it.
.It refuses for ever
From the call on no line is taken.
The lines before it stay.
.El
.Pp
A collective operation that is not followed, or one that makes what is not followed, is counted for its communicator as all
others are: where some processes have called it before their part of a line and others have not, the line is refused.
The same holds for a call like
.Fn MPI_Intercomm_create ,
in which two groups take part that have no communicator together, or
.Fn MPI_Psend_init ,
in which two do.
.Pp
Some calls that are followed refuse a line that comes at the wrong moment; the list says which, and the next line is asked for as
usual.
A call crosses a line that some processes take before it and others behind it.
A message crosses a line where it was sent behind the sender's part of the line and received before the receiver's; a collective
operation does where some have called it before their part and others have not.
A restart from such a line repeats what followed by a log.
What a file, a memory window or a cancelled send tells is in no log: a call that may tell it refuses the line.
.Pp
A function with large counts,
.Fn MPI_Send_c ,
is what the one without is,
.Fn MPI_Send :
where that is followed and all counts are below 2^31; with a greater one it refuses lines for ever, and so does one that
does not block and has arrays of counts.
One that an MPI has before it is in the standard,
.Fn MPIX_Allreduce_init ,
is what the standard's is.
A function that this page does not name refuses lines for ever when it is called.
.Ss Fortran
What a program calls by
.Pa mpif.h ,
the module mpi or mpi_f08 is what the function in C is.
Where an MPI's routines for Fortran do not call the functions in C (Open MPI, mpi_f08 of MPICH), the library has entry points in
their place; those that it cannot give the arguments of, as
.Fn MPI_Comm_idup
and the routines with large counts, refuse lines for ever, and the message says that the call came from Fortran.
Positions of requests
.Pq Fn MPI_Waitany
are counted from 1, also where MPICH 4.0 by itself counts from 0.
.Ss Other libraries
What other libraries call counts as what the program calls, if they are linked with it.
One that the program opens while it runs
.Pq Fn dlopen
finds the library's functions only if the program was linked with
.Fl rdynamic .
.Sh FUNCTIONS
"""

TAIL = r""".Sh SEE ALSO
.Xr elc 3 ,
.Xr elc 7
"""

# In the order in which a chapter shows them.
KINDS = ("followed", "needs no following", "refuses while what it makes exists",
         "refuses while it exists, if made after the set-up", "refuses if it changes what the set-up has made",
         "refuses until the file is closed", "refuses as long as the window exists",
         "refuses as long as the window exists, if called after the set-up",
         "is in a line if a variable is", "frees", "refuses as long as what it works on exists", "is a collective operation that is not followed",
         "refuses for ever")


def kind_of(entry):
    return {
        "followed": KINDS[0],
        "nothing": KINDS[1],
        "makes": KINDS[3] if "local" in entry.features else KINDS[8] if "value" in entry.features else KINDS[2],
        "attribute": KINDS[4], "errhandler": KINDS[4], "changes": KINDS[4],
        "hinders": KINDS[5],
        "otherwise": KINDS[7] if "local" in entry.features else KINDS[6],
        "frees": KINDS[9],
        "through": KINDS[10],
        "collectively": KINDS[11],
        "refuses": KINDS[12],
    }[entry.verb]


def names(entries):
    return "".join(".Fn %s%s\n" % (e.name, " ," if e is not entries[-1] else "") for e in entries)


def chapter(title, entries):
    text = ".Ss %s\n.Bl -tag -width Ds\n" % title
    for kind in KINDS:
        of_kind = [e for e in entries if kind_of(e) == kind]
        if not of_kind:
            continue
        text += ".It %s\n" % kind + names(of_kind)
        advised = []  # (advice, entries)
        for entry in of_kind:
            if entry.advice and advised and advised[-1][0] == entry.advice:
                advised[-1][1].append(entry)
            elif entry.advice:
                advised.append((entry.advice, [entry]))
        for advice, of_advice in advised:
            text += ".Pp\n" + names(of_advice)[:-1] + " :\n" + ".\n".join(advice.split(". ")) + "\n"
    return text + ".El\n"


def generate():
    text = HEAD
    for title, entries in table.Table().chapters:
        calls = [e for e in entries if e.name.replace("MPI_", "") != e.name.replace("MPI_", "").upper()]
        if calls:
            text += chapter(title, calls)
    return text + TAIL


if __name__ == "__main__":
    print(generate(), end="")
