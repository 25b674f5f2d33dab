! heat.f90 - heat in a plate, each process with some columns of it: restore in place in Fortran.
!
!     mpifort $(pkg-config --variable=fortran elc) heat.f90 $(pkg-config --libs elc) -o heat
!     elc run -n 4 --every 1 -- ./heat 20000              kill a process; the answer is the same
!
! The whole program runs again after a failure; elc_restore then puts the data of the last recovery line into the
! registered variables, and the loop goes on from there. The columns at the edges are on their way to the neighbours
! whenever a line is taken: the library takes care of them.
program heat
  use mpi
  use elc
  implicit none
  integer, parameter :: rows = 200, columns = 100                     ! of each process
  double precision, allocatable, target, asynchronous :: plate(:, :)  ! columns 0 and columns + 1 are the neighbours'
  double precision, allocatable :: next(:, :)
  integer, target :: step = 0, requests(4)
  integer :: rank, ranks, left, right, steps, code
  double precision :: heat_here, heat_of_all
  logical :: restarted
  character(len=20) :: argument

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
  steps = 5000
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) steps

  allocate (plate(rows, 0:columns + 1), next(2:rows - 1, columns))
  plate = 0
  plate(1, :) = 1                                                     ! one side is hot and stays so

  ! What a line has to hold: all that the loop needs and the lines above do not make again. These are TARGETs. Data that are
  ! allocated are there before they are registered. Requests are handles of MPI, and no plain INTEGERs.
  call elc_register('step', step)
  call elc_register('plate', plate)
  call elc_register_request('requests', requests)
  ! What comes before elc_restore runs in every run. In a restart the messages of the line are on their way already.
  call elc_restore(restarted)
  if (.not. restarted) call start_exchange

  do while (step < steps)
    call elc_checkpoint                                               ! a restart goes on from here
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, code)
    next = plate(2:rows - 1, 1:columns) + 0.2d0 * (plate(1:rows - 2, 1:columns) + plate(3:rows, 1:columns) &
      + plate(2:rows - 1, 0:columns - 1) + plate(2:rows - 1, 2:columns + 1) - 4 * plate(2:rows - 1, 1:columns))
    plate(2:rows - 1, 1:columns) = next
    step = step + 1
    call start_exchange
  end do
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, code)

  heat_here = sum(plate(:, 1:columns))
  call MPI_Reduce(heat_here, heat_of_all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a, es24.16)', 'result: ', heat_of_all
  call MPI_Finalize(code)

contains

  subroutine start_exchange
    call MPI_Irecv(plate(1, 0), rows, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), code)
    call MPI_Irecv(plate(1, columns + 1), rows, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), code)
    call MPI_Isend(plate(1, 1), rows, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(3), code)
    call MPI_Isend(plate(1, columns), rows, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(4), code)
  end subroutine
end program
