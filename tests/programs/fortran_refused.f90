! Calls of the module elc that are refused: fortran_test.py.
!     fortran_refused all     each says so, and the program goes on
!     fortran_refused stop    the first ends the program
program fortran_refused
  use mpi
  use elc
  implicit none
  type point
    real :: x, y
  end type
  character(len=16) :: mode
  real, target :: whole(4, 4), pieces(4, 4)
  real, allocatable, target :: absent(:)
  real, pointer :: nothing(:), again(:)
  type(point), target :: points(3)
  integer :: code
  call get_command_argument(1, mode)
  call MPI_Init(code)
  nothing => null()
  again => whole(:, 3)
  if (mode == 'stop') call elc_register('section', whole(1:2, :))
  call elc_register('whole', whole, code)
  if (code /= 0) stop 'wrong: it is refused'
  call refused(1)
  call elc_register('section', pieces(1:2, :), code)
  call refused(code)
  call elc_register('row', pieces(1, :), code)
  call refused(code)
  call elc_register('component', points%x, code)
  call refused(code)
  call elc_register('absent', absent, code)
  call refused(code)
  call elc_register('nothing', nothing, code)
  call refused(code)
  call elc_register('whole', pieces, code)
  call refused(code)
  call elc_register('again', again, code)
  call refused(code)
  call elc_register('  ', pieces, code)
  call refused(code)
  call elc_unregister('unknown', code)
  call refused(code)
  call elc_register('columns ', pieces(:, 2:3), code)  ! in one piece
  if (code /= 0) stop 'wrong: it is refused'
  call elc_unregister('columns', code)
  if (code /= 0) stop 'wrong: the name'
  call elc_register('points', points(2)%x, code)
  if (code /= 0) stop 'wrong: it is refused'
  print '(a)', 'result: ok'
  call MPI_Finalize(code)
contains
  subroutine refused(code)
    integer, intent(in) :: code
    if (code == 0) stop 'wrong: it is not refused'
  end subroutine
end program
