! fortran_calls.F90 - every family of calls that is followed, from Fortran: fortran_test.py compiles it for the three ways in
! which Fortran knows MPI (nothing: mpif.h; -DMODULE: mpi; -DF08: mpi_f08).
!     fortran_calls STEPS LINES     that many steps, in each of which all is used and looked at, with a message in transit from
!                                   each step to the next; more while fewer lines than that were committed
! Restore in place. The sum at the end does not depend on how often it was killed.
#ifdef F08
#define HANDLE(KIND) type(MPI_/**/KIND)
#define STATUS type(MPI_Status)
#define STATUSES(N) dimension(N)
#define OF(S, FIELD) S%FIELD
#define OF_SEVERAL(S, I, FIELD) S(I)%FIELD
#else
#define HANDLE(KIND) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define OF(S, FIELD) S(FIELD)
#define OF_SEVERAL(S, I, FIELD) S(FIELD, I)
#endif

module checks
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function elc_restore() bind(c, name='ELC_Restore')
      import c_int
    end function
    integer(c_int) function elc_checkpoint() bind(c, name='ELC_Checkpoint')
      import c_int
    end function
    integer(c_int) function elc_checkpoint_now() bind(c, name='ELC_Checkpoint_now')
      import c_int
    end function
    integer(c_int) function elc_line() bind(c, name='ELC_Line')
      import c_int
    end function
    integer(c_int) function elc_register(name, address, what, n) bind(c, name='ELC_Register')
      import c_int, c_char, c_ptr, c_size_t
      character(kind=c_char) :: name(*)
      type(c_ptr), value :: address
      integer(c_int), value :: what
      integer(c_size_t), value :: n
    end function
    integer(c_int) function elc_nd(address, what, n) bind(c, name='ELC_Nondeterministic')
      import c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_int), value :: what
      integer(c_size_t), value :: n
    end function
  end interface
  integer, parameter :: ELC_INT = 7, ELC_FRESH = 0
  integer :: rank, ranks, faults = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    faults = faults + 1
    if (faults <= 5) print '(a,i0,2a)', 'wrong on rank ', rank, ': ', what
  end subroutine

  subroutine add_all(in, inout, n, datatype)
#ifdef F08
    use mpi_f08
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)
    call c_f_pointer(in, from, [n])
    call c_f_pointer(inout, to, [n])
    to = to + from
#else
    integer :: n, datatype
    integer :: in(n), inout(n)
    inout = inout + in
#endif
  end subroutine
end module

program fortran_calls
#ifdef F08
  use mpi_f08
#elif defined MODULE
  use mpi
#endif
  use checks
  implicit none
#if !defined F08 && !defined MODULE
  include 'mpif.h'
#endif
  integer, target :: step = 0, total = 0, more = 0
  integer :: steps, lines, code, left, right, keyval, i
  integer(MPI_ADDRESS_KIND) :: value
  logical :: there
  character(len=16) :: word
  character, allocatable :: room(:)
  HANDLE(Comm) :: twin, half
  HANDLE(Op) :: adding
  HANDLE(Request) :: lasting(2)
  HANDLE(Datatype) :: pair
  integer, target :: lasting_out = 0, lasting_in = 0, memory(2)

  call get_command_argument(1, word)
  read (word, *) steps
  call get_command_argument(2, word)
  read (word, *) lines
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  ! The set-up: what belongs to a process alone is made here.
  call MPI_Comm_dup(MPI_COMM_WORLD, twin, code)
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, half, code)
  call MPI_Op_create(add_all, .true., adding, code)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, code)
  call MPI_Comm_set_attr(twin, keyval, 4711_MPI_ADDRESS_KIND + rank, code)
  call MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN, code)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, code)
  call MPI_Type_commit(pair, code)
  allocate (room(100000))
  call MPI_Buffer_attach(room, 100000, code)
  call MPI_Send_init(lasting_out, 1, MPI_INTEGER, right, 90, twin, lasting(1), code)
  call MPI_Recv_init(lasting_in, 1, MPI_INTEGER, left, 90, twin, lasting(2), code)
  code = elc_register('step' // c_null_char, c_loc(step), ELC_INT, 1_c_size_t)
  code = elc_register('total' // c_null_char, c_loc(total), ELC_INT, 1_c_size_t)
  code = elc_register('lasting_in' // c_null_char, c_loc(lasting_in), ELC_INT, 1_c_size_t)
  if (elc_restore() == ELC_FRESH) call in_transit_out()

  do
    if (modulo(step, 4) == 3) then
      code = elc_checkpoint_now()
    else
      code = elc_checkpoint()
    end if
    call in_transit_in()
    if (step < steps) then
      call messages()
      call requests()
      call probes()
      call collectives()
      call later()
      call communicators()
      call topologies()
      call datatypes()
      call of_set_up()
      call files()
#ifndef WITHOUT_WINDOWS
      call windows()
#endif
      if (rank == 0) print '(a,i0)', 'step ', step
      flush (6)
      total = modulo(total * 31 + step + rank, 100003)
    end if
    step = step + 1
    ! Whether there are enough lines is nobody's but the library's to know.
    more = 0
    if (step < steps .or. (rank == 0 .and. elc_line() < lines)) more = 1
    code = elc_nd(c_loc(more), ELC_INT, 1_c_size_t)
    call MPI_Bcast(more, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    if (more == 0) exit
    call in_transit_out()
  end do

  call MPI_Request_free(lasting(1), code)
  call MPI_Request_free(lasting(2), code)
  call cancelled()
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0 .and. faults == 0) print '(a,i0)', 'result: ', total
  call MPI_Comm_delete_attr(twin, keyval, code)
  call MPI_Comm_free_keyval(keyval, code)
  call MPI_Type_free(pair, code)
  call MPI_Op_free(adding, code)
  call MPI_Comm_free(twin, code)
  call MPI_Comm_free(half, code)
  call MPI_Finalize(code)

contains

  ! Every step leaves two messages under way, one of them of a derived type, and takes those of the step.
  subroutine in_transit_out()
    integer :: many(8), i
    many = [(step * 100 + rank * 10 + i, i = 1, 8)]
    call MPI_Bsend(step, 1, MPI_INTEGER, right, 50, MPI_COMM_WORLD, code)
    call MPI_Bsend(many, 4, pair, left, 51, twin, code)
  end subroutine

  subroutine in_transit_in()
    integer :: many(8), got, i
    STATUS :: s
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, s, code)
    call check(got == step .and. OF(s, MPI_SOURCE) == left, 'a message in transit')
    call MPI_Recv(many, 8, MPI_INTEGER, right, 51, twin, MPI_STATUS_IGNORE, code)
    call check(all(many == [(step * 100 + right * 10 + i, i = 1, 8)]), 'a message of pairs in transit')
  end subroutine

  subroutine of_set_up()
    integer :: sum(3)
    sum = [rank, step, 1]
    call MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_INTEGER, adding, twin, code)
    call check(all(sum == [ranks * (ranks - 1) / 2, ranks * step, ranks]), 'an operation of the program')
    call MPI_Comm_get_attr(twin, keyval, value, there, code)
    call check(there .and. value == 4711 + rank, 'an attribute')
    call MPI_Send(step, 1, MPI_INTEGER, ranks + 5, 1, half, code)
    call check(code /= MPI_SUCCESS, 'an error')
    lasting_out = step * 7 + rank
    call MPI_Startall(2, lasting, code)
    call MPI_Waitall(2, lasting, MPI_STATUSES_IGNORE, code)
    call check(lasting_in == step * 7 + left, 'requests of the set-up')
#ifdef F08
    call MPI_Barrier(twin)  ! without the error code
    call MPI_Bcast(sum, 3, MPI_INTEGER, 0, twin)
#endif
  end subroutine

  ! FILES: the directory where they are.
  subroutine files()
    HANDLE(File) :: file
    STATUS :: s
    integer :: a(2), n
    integer(MPI_OFFSET_KIND) :: place
    character(len=200) :: name
    call get_environment_variable('FILES', name)
    name = trim(name) // '/fortran.data'
    call MPI_File_open(twin, name, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, code)
    call check(code == MPI_SUCCESS, 'a file that can be opened')
    call MPI_File_set_view(file, 8_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    a = [step, rank]
    place = 2 * rank
    call MPI_File_write_at_all(file, place, a, 2, MPI_INTEGER, s, code)
    call MPI_Get_count(s, MPI_INTEGER, n, code)
    call check(n == 2, 'the count of what was written')
    call MPI_File_close(file, code)
    call check(code == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'a file that was closed')
    call MPI_File_open(twin, trim(name), MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    place = 8 + 8 * left
    call MPI_File_seek(file, place, MPI_SEEK_SET, code)
    call MPI_File_read(file, a, 2, MPI_INTEGER, s, code)
    call check(all(a == [step, left]), 'what the neighbour has written')
    call MPI_File_close(file, code)
    call MPI_Barrier(twin, code)
  end subroutine

  subroutine windows()
    HANDLE(Win) :: window
    memory = -1
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, twin, window, code)
    call MPI_Win_fence(0, window, code)
    call MPI_Put(rank, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, code)
    call MPI_Win_fence(0, window, code)
    call check(memory(1) == -1 .and. memory(2) == left, 'what the neighbour has put')
    call MPI_Win_free(window, code)
    call check(window == MPI_WIN_NULL, 'a window that was freed')
  end subroutine

  subroutine messages()
    integer :: a(10), b(10), n, i
    STATUS :: s
    HANDLE(Request) :: r
    a = [(step + rank + i, i = 1, 10)]
    b = -1
    if (rank == 0) then
      do i = 1, ranks - 1
        call MPI_Recv(b, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, s, code)
        call MPI_Get_count(s, MPI_INTEGER, n, code)
        call check(n == OF(s, MPI_SOURCE) .and. OF(s, MPI_TAG) == 10 + n, 'a status')
        call check(all(b(1:n) == [(step + n + i, i = 1, n)]), 'a message from anyone')
      end do
    else
      call MPI_Ssend(a, rank, MPI_INTEGER, 0, 10 + rank, twin, code)
    end if
    call MPI_Barrier(twin, code)
    call MPI_Sendrecv(a, 10, MPI_INTEGER, right, 3, b, 10, MPI_INTEGER, left, 3, MPI_COMM_WORLD, s, code)
    call check(all(b == a - rank + left) .and. OF(s, MPI_TAG) == 3, 'MPI_Sendrecv')
    call MPI_Sendrecv_replace(b, 10, MPI_INTEGER, left, 4, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call check(all(b == a), 'MPI_Sendrecv_replace')
    call MPI_Irecv(b, 5, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r, code)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_Rsend(a(6:10), 5, MPI_INTEGER, right, 5, MPI_COMM_WORLD, code)
    call MPI_Wait(r, s, code)
    call check(all(b(1:5) == a(6:10) - rank + left) .and. r == MPI_REQUEST_NULL, 'MPI_Rsend')
    ! A section that is not contiguous.
    call MPI_Bsend(a(1:10:2), 5, MPI_INTEGER, right, 6, MPI_COMM_WORLD, code)
    b = 0
    call MPI_Recv(b(2:10:2), 5, MPI_INTEGER, left, 6, MPI_COMM_WORLD, s, code)
    call check(all(b(2:10:2) == a(1:10:2) - rank + left) .and. all(b(1:10:2) == 0), 'a section')
    call MPI_Send(a, 1, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, code)
    call MPI_Recv(a, 1, MPI_INTEGER, MPI_PROC_NULL, 6, MPI_COMM_WORLD, s, code)
    call check(OF(s, MPI_SOURCE) == MPI_PROC_NULL, 'nobody')
  end subroutine

  subroutine requests()
    integer, parameter :: n = 20
    integer, volatile :: a(n), b(n)
    integer :: i, index, first, done, got, indices(2 * n)
    logical :: flag, seen(2 * n)
    HANDLE(Request) :: r(2 * n)
    STATUS :: s
#ifdef F08
    STATUS :: several(2 * n)
#else
    integer :: several(MPI_STATUS_SIZE, 2 * n)
#endif
    ! Where an MPI counts positions from: MPICH 4.0 in mpi_f08 from 0, if the library does not follow it.
    call MPI_Isend(step, 1, MPI_INTEGER, MPI_PROC_NULL, 1, twin, r(1), code)
    call MPI_Waitany(1, r, first, s, code)
    first = first - 1
    ! All.
    call begin(n, a, b, r)
    call MPI_Waitall(2 * n, r, several, code)
    call check(all(b == a - rank + left), 'MPI_Waitall')
    do i = 1, n
      call check(OF_SEVERAL(several, i, MPI_SOURCE) == left .and. OF_SEVERAL(several, i, MPI_TAG) == 20 + i, 'statuses')
      call check(r(i) == MPI_REQUEST_NULL .and. r(n + i) == MPI_REQUEST_NULL, 'requests of MPI_Waitall')
    end do
    call begin(n, a, b, r)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2 * n, r, flag, MPI_STATUSES_IGNORE, code)
    end do
    call check(all(b == a - rank + left), 'MPI_Testall')
    ! Any.
    call begin(n, a, b, r)
    seen = .false.
    do i = 1, 2 * n
      call MPI_Waitany(2 * n, r, index, s, code)
      index = index - first
      call check(.not. seen(index), 'MPI_Waitany')
      seen(index) = .true.
      if (index <= n) call check(OF(s, MPI_TAG) == 20 + index, 'a status of MPI_Waitany')
    end do
    call check(all(seen) .and. all(b == a - rank + left), 'MPI_Waitany, all')
    call MPI_Waitany(2 * n, r, index, s, code)
    call check(index < 0, 'MPI_Waitany of none')
    call begin(n, a, b, r)
    done = 0
    do while (done < 2 * n)
      call MPI_Testany(2 * n, r, index, flag, s, code)
      if (flag) then
        done = done + 1
        index = index - first
        if (index <= n) call check(OF(s, MPI_TAG) == 20 + index, 'MPI_Testany')
      end if
    end do
    call check(all(b == a - rank + left), 'MPI_Testany, all')
    call MPI_Testany(2 * n, r, index, flag, MPI_STATUS_IGNORE, code)
    call check(flag .and. index < 0, 'MPI_Testany of none')
    ! Some.
    call begin(n, a, b, r)
    call MPI_Waitsome(2 * n, r, got, indices, several, code)
    seen = .false.
    do while (got /= MPI_UNDEFINED)
      indices = indices - first
      do i = 1, got
        call check(.not. seen(indices(i)), 'MPI_Waitsome')
        seen(indices(i)) = .true.
        if (indices(i) <= n) call check(OF_SEVERAL(several, i, MPI_TAG) == 20 + indices(i), 'a status of MPI_Waitsome')
      end do
      call MPI_Testsome(2 * n, r, got, indices, several, code)
    end do
    call check(all(seen) .and. all(b == a - rank + left), 'MPI_Waitsome and MPI_Testsome')
    ! One.
    call begin(n, a, b, r)
    do i = 1, 2 * n
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(r(i), flag, s, code)
      end do
      if (i <= n) call check(OF(s, MPI_TAG) == 20 + i, 'MPI_Request_get_status')
      call MPI_Test(r(i), flag, s, code)
      call check(flag .and. r(i) == MPI_REQUEST_NULL, 'MPI_Test')
    end do
    call check(all(b == a - rank + left), 'MPI_Test, all')
    call begin(n, a, b, r)
    do i = n + 1, 2 * n
      call MPI_Request_free(r(i), code)
    end do
    do i = 1, n
      call MPI_Wait(r(i), MPI_STATUS_IGNORE, code)
    end do
    call check(all(b == a - rank + left), 'MPI_Request_free')
    ! Persistent.
    do i = 1, n
      call MPI_Recv_init(b(i), 1, MPI_INTEGER, left, 20 + i, twin, r(i), code)
      if (modulo(i, 3) == 0) then
        call MPI_Ssend_init(a(i), 1, MPI_INTEGER, right, 20 + i, twin, r(n + i), code)
      else if (modulo(i, 3) == 1) then
        call MPI_Bsend_init(a(i), 1, MPI_INTEGER, right, 20 + i, twin, r(n + i), code)
      else
        call MPI_Send_init(a(i), 1, MPI_INTEGER, right, 20 + i, twin, r(n + i), code)
      end if
    end do
    do index = 1, 2
      b = 0
      if (index == 1) then
        call MPI_Startall(2 * n, r, code)
      else
        do i = 1, 2 * n
          call MPI_Start(r(i), code)
        end do
      end if
      call MPI_Waitall(2 * n, r, several, code)
      call check(all(b == a - rank + left) .and. r(1) /= MPI_REQUEST_NULL, 'persistent requests')
    end do
    do i = 1, 2 * n
      call MPI_Request_free(r(i), code)
    end do
    call check(r(1) == MPI_REQUEST_NULL, 'a request that is freed')
  end subroutine

  ! Receives from the left into `b`, and sends of `a` to the right.
  subroutine begin(n, a, b, r)
    integer, intent(in) :: n
    integer :: a(n), b(n), i
    HANDLE(Request) :: r(2 * n)
    a = [(step * 3 + rank + i, i = 1, n)]
    b = -1
    do i = 1, n
      call MPI_Irecv(b(i), 1, MPI_INTEGER, left, 20 + i, twin, r(i), code)
    end do
    do i = 1, n
      if (modulo(i, 3) == 0) then
        call MPI_Issend(a(i), 1, MPI_INTEGER, right, 20 + i, twin, r(n + i), code)
      else if (modulo(i, 3) == 1) then
        call MPI_Ibsend(a(i), 1, MPI_INTEGER, right, 20 + i, twin, r(n + i), code)
      else
        call MPI_Isend(a(i), 1, MPI_INTEGER, right, 20 + i, twin, r(n + i), code)
      end if
    end do
  end subroutine

  subroutine probes()
    integer :: a, b, n
    logical :: flag
    STATUS :: s
    HANDLE(Message) :: m
    HANDLE(Request) :: r
    a = step * 5 + rank
    call MPI_Bsend(a, 1, MPI_INTEGER, right, 30, twin, code)
    call MPI_Bsend(a, 1, MPI_INTEGER, right, 31, twin, code)
    call MPI_Bsend(a, 1, MPI_INTEGER, right, 32, twin, code)
    call MPI_Bsend(a, 1, MPI_INTEGER, right, 33, twin, code)
    call MPI_Probe(MPI_ANY_SOURCE, 30, twin, s, code)
    call MPI_Get_count(s, MPI_INTEGER, n, code)
    call check(OF(s, MPI_SOURCE) == left .and. n == 1, 'MPI_Probe')
    call MPI_Recv(b, 1, MPI_INTEGER, OF(s, MPI_SOURCE), OF(s, MPI_TAG), twin, MPI_STATUS_IGNORE, code)
    call check(b == a - rank + left, 'a probed message')
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(left, 31, twin, flag, s, code)
    end do
    call MPI_Recv(b, 1, MPI_INTEGER, left, 31, twin, s, code)
    call check(b == a - rank + left .and. OF(s, MPI_TAG) == 31, 'MPI_Iprobe')
    call MPI_Iprobe(left, 77, twin, flag, MPI_STATUS_IGNORE, code)
    call check(.not. flag, 'MPI_Iprobe of nothing')
    call MPI_Mprobe(left, 32, twin, m, s, code)
    call check(OF(s, MPI_TAG) == 32, 'MPI_Mprobe')
    call MPI_Mrecv(b, 1, MPI_INTEGER, m, s, code)
    call check(b == a - rank + left .and. m == MPI_MESSAGE_NULL, 'MPI_Mrecv')
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(left, 33, twin, flag, m, s, code)
    end do
    b = 0
    call MPI_Imrecv(b, 1, MPI_INTEGER, m, r, code)
    call MPI_Wait(r, s, code)
    call check(b == a - rank + left .and. OF(s, MPI_SOURCE) == left, 'MPI_Imrecv')
  end subroutine

  subroutine collectives()
    integer :: a(0:ranks - 1), b(0:ranks - 1), ones(0:ranks - 1), at(0:ranks - 1), mine, sum, i
    integer :: bytes(0:ranks - 1)
    HANDLE(Datatype) :: types(0:ranks - 1)
    mine = step + rank
    sum = ranks * step + ranks * (ranks - 1) / 2
    a = [(step * 1000 + rank * ranks + i, i = 0, ranks - 1)]
    ones = 1
    at = [(ranks - 1 - i, i = 0, ranks - 1)]
    bytes = at * 4
    types = MPI_INTEGER
    call MPI_Barrier(MPI_COMM_WORLD, code)
    b = 0
    if (rank == 1) b = [(step + i, i = 0, ranks - 1)]
    call MPI_Bcast(b, ranks, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
    call check(all(b == [(step + i, i = 0, ranks - 1)]), 'MPI_Bcast')
    b = 0
    call MPI_Gather(mine, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    if (rank == 0) call check(all(b == [(step + i, i = 0, ranks - 1)]), 'MPI_Gather')
    b = 0
    b(rank) = mine
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
      call check(all(b == [(step + i, i = 0, ranks - 1)]), 'MPI_Gather in place')
    else
      call MPI_Gather(mine, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    end if
    call MPI_Gatherv(mine, 1, MPI_INTEGER, b, ones, at, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    if (rank == 0) call check(all(b == [(step + ranks - 1 - i, i = 0, ranks - 1)]), 'MPI_Gatherv')
    call MPI_Scatter(a, 1, MPI_INTEGER, mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    call check(mine == step * 1000 + rank, 'MPI_Scatter')
    call MPI_Scatterv(a, ones, at, MPI_INTEGER, mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    call check(mine == step * 1000 + ranks - 1 - rank, 'MPI_Scatterv')
    mine = step + rank
    call MPI_Allgather(mine, 1, MPI_INTEGER, b, 1, MPI_INTEGER, twin, code)
    call check(all(b == [(step + i, i = 0, ranks - 1)]), 'MPI_Allgather')
    call MPI_Allgatherv(mine, 1, MPI_INTEGER, b, ones, at, MPI_INTEGER, twin, code)
    call check(all(b == [(step + ranks - 1 - i, i = 0, ranks - 1)]), 'MPI_Allgatherv')
    call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, twin, code)
    call check(all(b == [(step * 1000 + i * ranks + rank, i = 0, ranks - 1)]), 'MPI_Alltoall')
    b = a
    call MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INTEGER, b, 1, MPI_INTEGER, twin, code)
    call check(all(b == [(step * 1000 + i * ranks + rank, i = 0, ranks - 1)]), 'MPI_Alltoall in place')
    call MPI_Alltoallv(a, ones, at, MPI_INTEGER, b, ones, at, MPI_INTEGER, twin, code)
    call check(all(b == [(step * 1000 + (ranks - 1 - i) * ranks + ranks - 1 - rank, i = 0, ranks - 1)]), 'MPI_Alltoallv')
    call MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, twin, code)
    call check(all(b == [(step * 1000 + (ranks - 1 - i) * ranks + ranks - 1 - rank, i = 0, ranks - 1)]), 'MPI_Alltoallw')
    call MPI_Reduce(mine, b, 1, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, code)
    if (rank == 1) call check(b(0) == sum, 'MPI_Reduce')
    b(0) = mine
    if (rank == 1) then
      call MPI_Reduce(MPI_IN_PLACE, b, 1, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, code)
      call check(b(0) == step + ranks - 1, 'MPI_Reduce in place')
    else
      call MPI_Reduce(mine, b, 1, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD, code)
    end if
    call MPI_Allreduce(mine, b, 1, MPI_INTEGER, MPI_SUM, half, code)
    call MPI_Allreduce(mine, b(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call check(b(1) == sum, 'MPI_Allreduce')
    call MPI_Reduce_scatter(a, mine, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call check(mine == ranks * (step * 1000 + rank) + ranks * ranks * (ranks - 1) / 2, 'MPI_Reduce_scatter')
    call MPI_Reduce_scatter_block(a, mine, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call check(mine == ranks * (step * 1000 + rank) + ranks * ranks * (ranks - 1) / 2, 'MPI_Reduce_scatter_block')
    call MPI_Scan(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call check(sum == (rank + 1) * (rank + 2) / 2, 'MPI_Scan')
    sum = 0
    call MPI_Exscan(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call check(sum == rank * (rank + 1) / 2, 'MPI_Exscan')
  end subroutine

  subroutine later()
    integer :: a(0:ranks - 1), b(0:ranks - 1), c(0:ranks - 1), ones(0:ranks - 1), bytes(0:ranks - 1), mine, sum, i
    HANDLE(Datatype) :: types(0:ranks - 1)
    HANDLE(Request) :: r(5)
    mine = step + rank
    a = [(step * 1000 + rank * ranks + i, i = 0, ranks - 1)]
    ones = 1
    bytes = [(i * 4, i = 0, ranks - 1)]
    types = MPI_INTEGER
    sum = step * 2 + rank
    call MPI_Ibarrier(twin, r(1), code)
    call MPI_Ibcast(sum, 1, MPI_INTEGER, 1, twin, r(2), code)
    call MPI_Ialltoallw(a, ones, bytes, types, b, ones, bytes, types, twin, r(3), code)
    call MPI_Iallgather(mine, 1, MPI_INTEGER, c, 1, MPI_INTEGER, twin, r(4), code)
    call MPI_Ibarrier(half, r(5), code)
    call MPI_Waitall(5, r, MPI_STATUSES_IGNORE, code)
    call check(sum == step * 2 + 1, 'MPI_Ibcast')
    call check(all(b == [(step * 1000 + i * ranks + rank, i = 0, ranks - 1)]), 'MPI_Ialltoallw')
    call check(all(c == [(step + i, i = 0, ranks - 1)]), 'MPI_Iallgather')
    sum = mine
    call MPI_Iallreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, twin, r(1), code)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, code)
    call check(sum == ranks * step + ranks * (ranks - 1) / 2, 'MPI_Iallreduce')
    call MPI_Igather(mine, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, twin, r(1), code)
    call MPI_Iscatter(a, 1, MPI_INTEGER, sum, 1, MPI_INTEGER, 0, twin, r(2), code)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, code)
    call check(sum == step * 1000 + rank, 'MPI_Iscatter')
  end subroutine

  subroutine communicators()
    HANDLE(Comm) :: c
    HANDLE(Group) :: g, few
    integer :: n, me, i
    call MPI_Comm_dup(twin, c, code)
    call MPI_Bcast(n, 1, MPI_INTEGER, 0, c, code)
    call MPI_Comm_free(c, code)
    call check(c == MPI_COMM_NULL, 'a communicator that is freed')
    call MPI_Comm_split(twin, merge(MPI_UNDEFINED, 3, rank == 0), 0, c, code)
    if (rank == 0) then
      call check(c == MPI_COMM_NULL, 'MPI_Comm_split without this process')
    else
      call MPI_Comm_rank(c, me, code)
      call check(me == rank - 1, 'MPI_Comm_split')
      call MPI_Comm_disconnect(c, code)
    end if
    call MPI_Comm_split_type(twin, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, c, code)
    call MPI_Comm_size(c, n, code)
    call check(n == ranks, 'MPI_Comm_split_type')
    call MPI_Comm_free(c, code)
    call MPI_Comm_group(MPI_COMM_WORLD, g, code)
    call MPI_Group_incl(g, 2, [1, 0], few, code)
    call MPI_Comm_create(MPI_COMM_WORLD, few, c, code)
    if (rank < 2) then
      call MPI_Comm_rank(c, me, code)
      call check(me == 1 - rank, 'MPI_Comm_create')
      i = rank
      call MPI_Allreduce(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_SUM, c, code)
      call check(i == 1, 'a sum of two')
      call MPI_Comm_free(c, code)
    else
      call check(c == MPI_COMM_NULL, 'MPI_Comm_create without this process')
    end if
    call MPI_Group_free(few, code)
    call MPI_Group_free(g, code)
    call check(g == MPI_GROUP_NULL, 'a group that is freed')
  end subroutine

  subroutine topologies()
    HANDLE(Comm) :: grid, row, ring
    HANDLE(Datatype) :: types(2)
    integer :: dims(2), coords(2), near, far, n, me, i, b(2), ones(2), index(ranks), edges(2 * ranks), w(1)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    logical :: periodic(2), is(2), weighted
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, code)
    periodic = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, .false., grid, code)
    call MPI_Cart_get(grid, 2, b, is, coords, code)
    call check(all(b == dims) .and. all(is .eqv. periodic), 'MPI_Cart_create')
    call MPI_Cart_shift(grid, 0, 1, near, far, code)
    i = rank
    call MPI_Sendrecv_replace(i, 1, MPI_INTEGER, far, 8, near, 8, grid, MPI_STATUS_IGNORE, code)
    call check(i == near, 'a shift')
    call MPI_Cart_sub(grid, [.false., .true.], row, code)
    call MPI_Comm_size(row, n, code)
    call MPI_Cartdim_get(row, i, code)
    call check(n == dims(2) .and. i == 1, 'MPI_Cart_sub')
    call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periodic, me, code)
    call check(me >= 0 .and. me < ranks, 'MPI_Cart_map')
    call MPI_Comm_free(row, code)
    call MPI_Comm_free(grid, code)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, code)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, code)
    call check(b(1) == left .and. b(2) == right, 'MPI_Neighbor_allgather')
    call MPI_Comm_free(ring, code)
    index = [(2 * i, i = 1, ranks)]
    edges = [(modulo(i / 2 + 2 * modulo(i, 2) - 1, ranks), i = 0, 2 * ranks - 1)]
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, .false., ring, code)
    call MPI_Graph_neighbors_count(ring, rank, n, code)
    call check(n == 2, 'MPI_Graph_create')
    call MPI_Comm_free(ring, code)
    call MPI_Graph_map(MPI_COMM_WORLD, ranks, index, edges, me, code)
    call check(me >= 0 .and. me < ranks, 'MPI_Graph_map')
    w = 7
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., ring, code)
    call MPI_Dist_graph_neighbors_count(ring, n, me, weighted, code)
    call check(n == 1 .and. me == 1 .and. .not. weighted, 'MPI_Dist_graph_create_adjacent')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, code)
    call check(b(1) == left, 'neighbours of a distributed graph')
    ! MPICH 4.0 asks for the neighbours of such a graph, whatever topology there is.
    ones = 1
    bytes = 0
    types = MPI_INTEGER
    call MPI_Neighbor_alltoallw(rank, ones, bytes, types, b, ones, bytes, types, ring, code)
    call check(b(1) == left, 'MPI_Neighbor_alltoallw')
    call MPI_Comm_free(ring, code)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [right], w, MPI_INFO_NULL, .false., ring, code)
    call MPI_Dist_graph_neighbors_count(ring, n, me, weighted, code)
    call check(n == 1 .and. me == 1 .and. weighted, 'MPI_Dist_graph_create')
    call MPI_Comm_free(ring, code)
  end subroutine

  subroutine datatypes()
    integer, asynchronous :: a(20), b(20), c
    integer :: i, sizes(3), n, kind
    integer(MPI_ADDRESS_KIND) :: where(2), lb, extent
    HANDLE(Datatype) :: t, u, made(2)
    a = [(step + i, i = 1, 20)]
    call MPI_Type_vector(3, 2, 4, MPI_INTEGER, t, code)
    call through(t, [1, 2, 5, 6, 9, 10])
    call MPI_Type_create_hvector(3, 1, 12_MPI_ADDRESS_KIND, MPI_INTEGER, t, code)
    call through(t, [1, 4, 7])
    call MPI_Type_indexed(2, [2, 1], [3, 8], MPI_INTEGER, t, code)
    call through(t, [4, 5, 9])
    call MPI_Type_create_indexed_block(2, 2, [0, 10], MPI_INTEGER, t, code)
    call through(t, [1, 2, 11, 12])
    call MPI_Type_create_hindexed(2, [1, 2], [8_MPI_ADDRESS_KIND, 40_MPI_ADDRESS_KIND], MPI_INTEGER, t, code)
    call through(t, [3, 11, 12])
    call MPI_Type_create_struct(2, [1, 1], [0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], [MPI_INTEGER, pair], t, code)
    call through(t, [1, 5, 6])
    call MPI_Type_create_subarray(2, [5, 4], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, t, code)
    call through(t, [7, 8, 12, 13])
    call MPI_Type_contiguous(3, MPI_INTEGER, u, code)
    call MPI_Type_create_resized(u, 0_MPI_ADDRESS_KIND, 20_MPI_ADDRESS_KIND, t, code)
    call MPI_Type_free(u, code)
    call check(u == MPI_DATATYPE_NULL, 'a datatype that is freed')
    call MPI_Type_get_extent(t, lb, extent, code)
    call check(extent == 20, 'MPI_Type_create_resized')
    call MPI_Type_dup(t, u, code)
    call MPI_Type_free(t, code)
    call through(u, [1, 2, 3])
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, pair], t, code)
    call MPI_Type_get_contents(t, 3, 2, 2, sizes, where, made, code)
    call check(all(sizes == [2, 1, 2]) .and. where(2) == 8 .and. made(1) == MPI_INTEGER, 'MPI_Type_get_contents')
    call MPI_Type_size(made(2), n, code)
    call check(n == 8, 'a datatype of MPI_Type_get_contents')
    call MPI_Type_free(made(2), code)
    call MPI_Type_free(t, code)
    ! MPI_BOTTOM.
    call MPI_Get_address(a, where(1), code)
    call MPI_Get_address(c, where(2), code)
    call MPI_Type_create_hindexed(2, [3, 1], where, MPI_INTEGER, t, code)
    call MPI_Type_commit(t, code)
    c = 4711
    call MPI_Bsend(MPI_BOTTOM, 1, t, right, 60, twin, code)
    call MPI_Recv(b, 4, MPI_INTEGER, left, 60, twin, MPI_STATUS_IGNORE, code)
    call check(all(b(1:4) == [step + 1, step + 2, step + 3, 4711]), 'from MPI_BOTTOM')
    call MPI_Bsend(b(2:5), 4, MPI_INTEGER, right, 61, twin, code)
    call MPI_Recv(MPI_BOTTOM, 1, t, left, 61, twin, MPI_STATUS_IGNORE, code)
    call MPI_F_sync_all()
    call check(all(a(1:2) == [step + 2, step + 3]) .and. a(3) == 4711, 'to MPI_BOTTOM')
    call MPI_Type_free(t, code)
#if !defined F08 && !defined MODULE
    a = [(step + i, i = 1, 20)]
    call MPI_Type_hvector(2, 1, 8, MPI_INTEGER, t, code)
    call through(t, [1, 3])
    call MPI_Type_hindexed(2, [1, 1], [8, 16], MPI_INTEGER, t, code)
    call through(t, [3, 5])
    call MPI_Type_struct(2, [1, 2], [4, 16], [MPI_INTEGER, MPI_INTEGER], t, code)
    call through(t, [2, 5, 6])
#endif
  end subroutine

  ! What the compiler does not know to be changed.
  subroutine MPI_F_sync_all()
  end subroutine

  ! Sends one element of a datatype to the right, and frees it.
  subroutine through(t, places)
    HANDLE(Datatype) :: t
    integer, intent(in) :: places(:)
    integer :: a(20), b(20), i
    STATUS :: s
    a = [(step + rank + i, i = 1, 20)]
    b = -1
    call MPI_Type_commit(t, code)
    call MPI_Bsend(a, 1, t, right, 40, twin, code)
    call MPI_Recv(b, 1, t, left, 40, twin, s, code)
    do i = 1, 20
      call check(b(i) == merge(step + left + i, -1, any(places == i)), 'a datatype')
    end do
    call MPI_Type_free(t, code)
  end subroutine

  subroutine cancelled()
    integer :: b
    logical :: flag
    HANDLE(Request) :: r
    STATUS :: s
    call MPI_Irecv(b, 1, MPI_INTEGER, left, 99, twin, r, code)
    call MPI_Cancel(r, code)
    call MPI_Wait(r, s, code)
    call MPI_Test_cancelled(s, flag, code)
    call check(flag, 'MPI_Cancel')
  end subroutine
end program
