! SPDX-License-Identifier: Apache-2.0
! pmplace.f90: walks two arrays of 20 MiB in batches that do not divide them, one of them read only, moves one of
! them, and prints sums that do not depend on where batches are.
program walk
  use, intrinsic :: iso_c_binding
  use pmplace
  implicit none
  integer(c_size_t), parameter :: n = 2621440, batch_bytes = 1000000, whole = 8 * n
  real(c_double), pointer :: written(:), read_only(:)
  type(c_ptr) :: object
  integer(c_size_t) :: moved
  integer :: i
  real(c_double) :: seen

  object = pm_alloc(whole, PM_SLOW)
  call c_f_pointer(object, written, [n])
  allocate (read_only(n))
  written = 1
  read_only = 2
  seen = 0
  call pm_advise(object, whole, PM_PROMOTE)
  call pm_advise(object, whole, PM_STAY)
  do i = 1, 5
     call pm_iteration()
     call pm_phase("add")
     call add(written, real(i, c_double))
     seen = seen + total(read_only)
  end do
  print '(a, f0.0, 1x, f0.0, 1x, f0.0)', 'sums ', sum(written), seen, written(n)
  moved = pm_move(object, whole, PM_FAST)
  print '(a, i0, 1x, i0)', 'moved ', moved, pm_move(object, whole, PM_SLOW)
  call pm_free(object)

contains

  subroutine add(array, what)
    real(c_double), intent(in), target :: array(:)
    real(c_double), intent(in) :: what
    type(pm_stream) :: stream
    type(c_ptr) :: at
    integer(c_size_t) :: bytes
    real(c_double), pointer :: batch(:)

    call pm_stream_open(stream, c_loc(array), whole, batch_bytes, PM_READ_WRITE)
    do
       at = pm_stream_next(stream, PM_DIRTY, bytes)
       if (.not. c_associated(at)) exit
       call c_f_pointer(at, batch, [bytes / 8])
       batch = batch + what
    end do
    call pm_stream_close(stream)
  end subroutine add

  ! Leaves the walk half way.
  function total(array) result(so_far)
    real(c_double), intent(in), target :: array(:)
    real(c_double) :: so_far
    type(pm_stream) :: stream
    type(c_ptr) :: at
    integer(c_size_t) :: bytes
    real(c_double), pointer :: batch(:)

    so_far = 0
    call pm_stream_open(stream, c_loc(array), whole, batch_bytes, PM_READ_ONLY)
    do while (so_far < n)
       at = pm_stream_next(stream, PM_CLEAN, bytes)
       if (.not. c_associated(at)) exit
       call c_f_pointer(at, batch, [bytes / 8])
       so_far = so_far + sum(batch)
    end do
    call pm_stream_close(stream)
  end function total
end program walk
