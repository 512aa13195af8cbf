! SPDX-License-Identifier: Apache-2.0
! A main loop of MPI in Fortran: it tells its three iterations, and has an array in each.
program loop
  implicit none
  include 'mpif.h'
  integer :: i, err
  real(8), allocatable :: a(:)

  call MPI_Init(err)
  do i = 1, 3
    call MPI_Pcontrol(1)
    allocate(a(200000))
    a = i
    if (a(5) < 0) print *, a(1)
    deallocate(a)
  end do
  call MPI_Finalize(err)
end program
