! elc.F90 - libELC for programs in Fortran: restore in place. elc_fortran(3) explains it.
!
! A module is for one compiler, so this file is compiled with the program:
!
!     mpifort $(pkg-config --variable=fortran elc) prog.f90 $(pkg-config --libs elc) -o prog
!
! Fortran 2018 (assumed rank), and nothing else. The names are those of elc.h:
!
!     use elc
!     integer, target :: step                          what is registered is a TARGET
!     real(8), allocatable, target :: field(:, :)
!     ...
!     call elc_register('step', step)                  after MPI_Init and the allocation of the data: what is to be
!     call elc_register('field', field)                saved, by a name
!     call elc_restore()                               once, before the loop; fills the data in a restart
!     do while (step < last)
!       call elc_checkpoint()                          a place where a checkpoint may be taken
!       ...
!
! Variables are dummies with POINTER, INTENT(IN), ASYNCHRONOUS: so a compiler takes no variable that is no TARGET, and
! neither an expression nor a section with vector subscripts, and passes no copy. (gfortran copies a component of an array,
! points%x, for dummies with TARGET, and takes it for one piece of memory in the intrinsic is_contiguous, but not for C.)
!
! A REAL that is C's long double (on x86: of kind 10) is not known everywhere: gfortran says whether it is; for another
! compiler, define ELC_LONG_DOUBLE where it is another kind than DOUBLE PRECISION.
#if defined __GFC_REAL_10__ || defined __GFC_REAL_16__
#define ELC_LONG_DOUBLE
#endif
module elc
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: elc_register, elc_register_comm, elc_register_datatype, elc_register_request, elc_register_file
  public :: elc_register_win, elc_register_group, elc_register_info, elc_register_op, elc_register_errhandler, elc_unregister
  public :: elc_restore, elc_checkpoint, elc_checkpoint_now, elc_nd, elc_line, elc_version

  ! ELC_Type
  integer(c_int32_t), parameter :: elc_char = 2, elc_float = 13, elc_double = 14, elc_ldouble = 15, &
    elc_float_complex = 16, elc_double_complex = 17, elc_ldouble_complex = 18, elc_int8 = 22, &
    elc_int16 = 24, elc_int32 = 26, elc_int64 = 28, elc_mpi_comm = 34, elc_mpi_datatype = 35, elc_mpi_request = 36, &
    elc_mpi_file = 38, elc_mpi_win = 39, elc_mpi_group = 40, elc_mpi_info = 41, elc_mpi_op = 42, elc_mpi_errhandler = 43

  ! Kinds of LOGICAL are of the sizes of integers.
  integer, parameter :: logical8 = int(c_int8_t), logical16 = int(c_int16_t), logical32 = int(c_int32_t), &
    logical64 = int(c_int64_t)

  ! call elc_register(name, variable [, ierror]): a scalar or an array of any rank.
  interface elc_register
    module procedure register_int8
    module procedure register_int16
    module procedure register_int32
    module procedure register_int64
    module procedure register_float
    module procedure register_double
    module procedure register_float_complex
    module procedure register_double_complex
    module procedure register_logical8
    module procedure register_logical16
    module procedure register_logical32
    module procedure register_logical64
    module procedure register_character
#ifdef ELC_LONG_DOUBLE
    module procedure register_long_double
    module procedure register_long_double_complex
#endif
  end interface

  ! call elc_nd(value): elc.h, ELC_ND. A scalar, or an array element by element.
  interface elc_nd
    module procedure nd_int8
    module procedure nd_int16
    module procedure nd_int32
    module procedure nd_int64
    module procedure nd_float
    module procedure nd_double
    module procedure nd_float_complex
    module procedure nd_double_complex
    module procedure nd_logical8
    module procedure nd_logical16
    module procedure nd_logical32
    module procedure nd_logical64
    module procedure nd_character
#ifdef ELC_LONG_DOUBLE
    module procedure nd_long_double
    module procedure nd_long_double_complex
#endif
  end interface

  interface
    integer(c_int) function c_register(name, name_length, address, of, is_logical, length, rank, extents, contiguous) &
        bind(c, name='ELC_Fortran_register')
      import c_char, c_size_t, c_ptr, c_int, c_int32_t, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: name_length, length
      type(c_ptr), value :: address
      integer(c_int32_t), value :: of
      integer(c_int), value :: is_logical, rank, contiguous
      integer(c_int64_t), intent(in) :: extents(*)
    end function
    integer(c_int) function c_unregister(name, name_length) bind(c, name='ELC_Fortran_unregister')
      import c_char, c_size_t, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: name_length
    end function
    integer(c_int) function cfi_is_contiguous(variable) bind(c, name='CFI_is_contiguous')  ! Fortran 2018
      import c_int
      type(*), intent(in) :: variable(..)
    end function
    integer(c_int32_t) function c_handle(kind) bind(c, name='ELC_Fortran_handle')
      import c_int32_t
      integer(c_int32_t), value :: kind
    end function
    integer(c_int) function c_restore() bind(c, name='ELC_Restore')
      import c_int
    end function
    integer(c_int) function c_checkpoint() bind(c, name='ELC_Checkpoint')
      import c_int
    end function
    integer(c_int) function c_checkpoint_now() bind(c, name='ELC_Checkpoint_now')
      import c_int
    end function
    integer(c_int) function c_line() bind(c, name='ELC_Line')
      import c_int
    end function
    type(c_ptr) function c_version() bind(c, name='ELC_Version')
      import c_ptr
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
    integer(c_int) function c_nondeterministic(value, of, count) bind(c, name='ELC_Nondeterministic')
      import c_int, c_int32_t, c_size_t
      type(*), intent(inout) :: value
      integer(c_int32_t), value :: of
      integer(c_size_t), value :: count
    end function
  end interface

contains

  ! ---- Lines ----

  ! `restarted`: whether the data are those of a line.
  subroutine elc_restore(restarted)
    logical, intent(out), optional :: restarted
    integer(c_int) :: found
    found = c_restore()
    if (present(restarted)) restarted = found == 1
  end subroutine

  ! `taken`: whether a local checkpoint was taken.
  subroutine elc_checkpoint(taken)
    logical, intent(out), optional :: taken
    integer(c_int) :: was
    was = c_checkpoint()
    if (present(taken)) taken = was /= 0
  end subroutine

  subroutine elc_checkpoint_now(taken)
    logical, intent(out), optional :: taken
    integer(c_int) :: was
    was = c_checkpoint_now()
    if (present(taken)) taken = was /= 0
  end subroutine

  integer function elc_line()
    elc_line = int(c_line())
  end function

  function elc_version() result(version)
    character(len=:), allocatable :: version
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: address
    integer :: i
    address = c_version()
    call c_f_pointer(address, text, [c_strlen(address)])
    allocate(character(len=size(text)) :: version)
    do i = 1, size(text)
      version(i:i) = text(i)
    end do
  end function

  ! ---- Registered data ----

  subroutine elc_unregister(name, ierror)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: ierror
    call end_call(c_unregister(name, len(name, c_size_t)), ierror)
  end subroutine

  ! INTEGERs that are handles of MPI; of a handle of mpi_f08 its component MPI_VAL.
  subroutine elc_register_comm(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_comm, ierror)
  end subroutine

  subroutine elc_register_datatype(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_datatype, ierror)
  end subroutine

  subroutine elc_register_request(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_request, ierror)
  end subroutine

  subroutine elc_register_file(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_file, ierror)
  end subroutine

  subroutine elc_register_win(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_win, ierror)
  end subroutine

  subroutine elc_register_group(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_group, ierror)
  end subroutine

  subroutine elc_register_info(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_info, ierror)
  end subroutine

  subroutine elc_register_op(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_op, ierror)
  end subroutine

  subroutine elc_register_errhandler(name, handle, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer, intent(out), optional :: ierror
    call add_handle(name, handle, elc_mpi_errhandler, ierror)
  end subroutine

  subroutine add_handle(name, handle, kind, ierror)
    character(len=*), intent(in) :: name
    integer, pointer, intent(in), asynchronous :: handle(..)
    integer(c_int32_t), intent(in) :: kind
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(handle)) then
      call register_nothing(name, ierror)
    else
      if (rank(handle) > 0) one_piece = cfi_is_contiguous(handle)
      call add(name, c_loc(handle), c_handle(kind), shape(handle, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine add(name, address, of, extents, one_piece, ierror, is_logical, length)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in) :: of
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_int), intent(in) :: one_piece
    integer, intent(out), optional :: ierror
    integer(c_int), intent(in), optional :: is_logical
    integer(c_size_t), intent(in), optional :: length
    integer(c_int) :: of_logical
    integer(c_size_t) :: characters
    of_logical = 0
    if (present(is_logical)) of_logical = is_logical
    characters = 1
    if (present(length)) characters = length
    call end_call(c_register(name, len(name, c_size_t), address, of, of_logical, characters, &
                             size(extents, kind=c_int), extents, one_piece), ierror)
  end subroutine

  ! Says what is wrong.
  subroutine register_nothing(name, ierror)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: ierror
    call add(name, c_null_ptr, elc_int32, [integer(c_int64_t) ::], 1_c_int, ierror)
  end subroutine

  ! As for MPI: whoever does not ask for errors wants none. The library has said what is wrong.
  subroutine end_call(code, ierror)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierror
    if (present(ierror)) then
      ierror = int(code)
    else if (code /= 0) then
      error stop 'libelc: the program ends, because what it asked for could not be done'
    end if
  end subroutine

  subroutine nondeterministic(value, of, count)
    type(*), intent(inout) :: value
    integer(c_int32_t), intent(in) :: of
    integer(c_size_t), intent(in) :: count
    call end_call(c_nondeterministic(value, of, count))
  end subroutine

  subroutine register_int8(name, variable, ierror)
    character(len=*), intent(in) :: name
    integer(c_int8_t), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int8, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_int16(name, variable, ierror)
    character(len=*), intent(in) :: name
    integer(c_int16_t), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int16, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_int32(name, variable, ierror)
    character(len=*), intent(in) :: name
    integer(c_int32_t), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int32, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_int64(name, variable, ierror)
    character(len=*), intent(in) :: name
    integer(c_int64_t), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int64, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_float(name, variable, ierror)
    character(len=*), intent(in) :: name
    real(c_float), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_float, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_double(name, variable, ierror)
    character(len=*), intent(in) :: name
    real(c_double), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_double, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_float_complex(name, variable, ierror)
    character(len=*), intent(in) :: name
    complex(c_float_complex), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_float_complex, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_double_complex(name, variable, ierror)
    character(len=*), intent(in) :: name
    complex(c_double_complex), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_double_complex, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_logical8(name, variable, ierror)
    character(len=*), intent(in) :: name
    logical(logical8), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int8, shape(variable, c_int64_t), one_piece, ierror, is_logical=1_c_int)
    end if
  end subroutine

  subroutine register_logical16(name, variable, ierror)
    character(len=*), intent(in) :: name
    logical(logical16), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int16, shape(variable, c_int64_t), one_piece, ierror, is_logical=1_c_int)
    end if
  end subroutine

  subroutine register_logical32(name, variable, ierror)
    character(len=*), intent(in) :: name
    logical(logical32), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int32, shape(variable, c_int64_t), one_piece, ierror, is_logical=1_c_int)
    end if
  end subroutine

  subroutine register_logical64(name, variable, ierror)
    character(len=*), intent(in) :: name
    logical(logical64), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_int64, shape(variable, c_int64_t), one_piece, ierror, is_logical=1_c_int)
    end if
  end subroutine

  subroutine register_character(name, variable, ierror)
    character(len=*), intent(in) :: name
    character(kind=c_char, len=*), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_char, shape(variable, c_int64_t), one_piece, ierror, &
               length=len(variable, c_size_t))
    end if
  end subroutine
#ifdef ELC_LONG_DOUBLE
  subroutine register_long_double(name, variable, ierror)
    character(len=*), intent(in) :: name
    real(c_long_double), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_ldouble, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine

  subroutine register_long_double_complex(name, variable, ierror)
    character(len=*), intent(in) :: name
    complex(c_long_double_complex), pointer, intent(in), asynchronous :: variable(..)
    integer, intent(out), optional :: ierror
    integer(c_int) :: one_piece
    one_piece = 1
    if (.not. associated(variable)) then
      call register_nothing(name, ierror)
    else
      if (rank(variable) > 0) one_piece = cfi_is_contiguous(variable)
      call add(name, c_loc(variable), elc_ldouble_complex, shape(variable, c_int64_t), one_piece, ierror)
    end if
  end subroutine
#endif

  impure elemental subroutine nd_int8(value)
    integer(c_int8_t), intent(inout) :: value
    call nondeterministic(value, elc_int8, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_int16(value)
    integer(c_int16_t), intent(inout) :: value
    call nondeterministic(value, elc_int16, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_int32(value)
    integer(c_int32_t), intent(inout) :: value
    call nondeterministic(value, elc_int32, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_int64(value)
    integer(c_int64_t), intent(inout) :: value
    call nondeterministic(value, elc_int64, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_float(value)
    real(c_float), intent(inout) :: value
    call nondeterministic(value, elc_float, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_double(value)
    real(c_double), intent(inout) :: value
    call nondeterministic(value, elc_double, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_float_complex(value)
    complex(c_float_complex), intent(inout) :: value
    call nondeterministic(value, elc_float_complex, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_double_complex(value)
    complex(c_double_complex), intent(inout) :: value
    call nondeterministic(value, elc_double_complex, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_logical8(value)
    logical(logical8), intent(inout) :: value
    call nondeterministic(value, elc_int8, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_logical16(value)
    logical(logical16), intent(inout) :: value
    call nondeterministic(value, elc_int16, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_logical32(value)
    logical(logical32), intent(inout) :: value
    call nondeterministic(value, elc_int32, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_logical64(value)
    logical(logical64), intent(inout) :: value
    call nondeterministic(value, elc_int64, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_character(value)
    character(kind=c_char, len=*), intent(inout) :: value
    call nondeterministic(value, elc_char, len(value, c_size_t))
  end subroutine
#ifdef ELC_LONG_DOUBLE
  impure elemental subroutine nd_long_double(value)
    real(c_long_double), intent(inout) :: value
    call nondeterministic(value, elc_ldouble, 1_c_size_t)
  end subroutine

  impure elemental subroutine nd_long_double_complex(value)
    complex(c_long_double_complex), intent(inout) :: value
    call nondeterministic(value, elc_ldouble_complex, 1_c_size_t)
  end subroutine
#endif
end module elc
