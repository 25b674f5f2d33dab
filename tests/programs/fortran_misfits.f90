! Data that fit a line, or not: fortran_test.py.
!     fortran_misfits DATA take    registers them so and ends when a line is committed
!     fortran_misfits DATA go      started from that line
program fortran_misfits
  use, intrinsic :: iso_fortran_env
  use mpi
  use elc
  implicit none
  character(len=16) :: how, mode
  real(real64), allocatable, target :: u(:, :), flat(:)
  real(real32), target :: single(3, 4)
  logical, target :: flag
  integer, target :: number
  character(len=7), target :: text
  character(len=8), target :: longer
  integer :: code
  call get_command_argument(1, how)
  call get_command_argument(2, mode)
  call MPI_Init(code)
  select case (how)
  case ('u43')
    allocate (u(4, 3))
    call elc_register('u', u)
  case ('u12')
    allocate (flat(12))
    call elc_register('u', flat)
  case ('single')
    call elc_register('u', single)
  case default
    allocate (u(0:2, -1:2))
    call elc_register('u', u)
  end select
  if (how == 'integer') call elc_register('flag', number)
  if (how /= 'integer' .and. how /= 'lacks') call elc_register('flag', flag)
  if (how == 'long') call elc_register('text', longer)
  if (how /= 'long') call elc_register('text', text)
  call elc_restore
  if (mode == 'take') then
    u = 7
    call elc_checkpoint_now
    do while (elc_line() < 1)
      call elc_checkpoint
    end do
    call MPI_Abort(MPI_COMM_WORLD, 3, code)
  end if
  if (any(u /= 7)) stop 'wrong: the data'
  print '(a)', 'result: ok'
  call MPI_Finalize(code)
end program
