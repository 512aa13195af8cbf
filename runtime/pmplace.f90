! SPDX-License-Identifier: Apache-2.0
!
! pmplace.h for Fortran, pmplace(3): marks, tiers and streams for the placement runtime. Compile this
! file with the program. It asks the C library for the runtime's functions (dlsym), so that nothing is
! linked, and without the runtime marks do nothing, pm_alloc is malloc, nothing is moved, and streams
! walk the range in place. Sizes are in bytes.
module pmplace
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_int, &
       c_intptr_t, c_null_char, c_null_ptr, c_ptr, c_size_t
  implicit none
  private

  public :: pm_iteration, pm_phase, pm_alloc, pm_free, pm_move, pm_advise
  public :: pm_stream, pm_stream_open, pm_stream_next, pm_stream_close

  integer(c_int), parameter, public :: PM_FAST = 0, PM_SLOW = 1            ! tiers
  integer(c_int), parameter, public :: PM_PROMOTE = 0, PM_STAY = 1         ! advice
  integer(c_int), parameter, public :: PM_READ_WRITE = 0, PM_READ_ONLY = 1 ! access of a stream
  integer(c_int), parameter, public :: PM_DIRTY = 0, PM_CLEAN = 1          ! of a batch that is handed back

  integer(c_int), parameter :: STREAM_VERSION = 1

  ! A walk over a range: struct pm_stream. The program leaves its components alone.
  type, bind(C) :: pm_stream
     integer(c_int) :: version, access
     type(c_ptr) :: range
     integer(c_size_t) :: bytes, batch_bytes, next
     type(c_ptr) :: runtime, place
  end type pm_stream

  interface
     function dlsym(handle, name) bind(C, name="dlsym") result(address)
       import :: c_char, c_funptr, c_ptr
       type(c_ptr), value :: handle ! RTLD_DEFAULT is NULL
       character(kind=c_char), intent(in) :: name(*)
       type(c_funptr) :: address
     end function dlsym

     function c_malloc(bytes) bind(C, name="malloc") result(object)
       import :: c_ptr, c_size_t
       integer(c_size_t), value :: bytes
       type(c_ptr) :: object
     end function c_malloc

     subroutine pm_free(object) bind(C, name="free")
       import :: c_ptr
       type(c_ptr), value :: object
     end subroutine pm_free
  end interface

  abstract interface
     subroutine iteration_function() bind(C)
     end subroutine iteration_function

     subroutine phase_function(name) bind(C)
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine phase_function

     function alloc_function(bytes, tier) bind(C) result(object)
       import :: c_int, c_ptr, c_size_t
       integer(c_size_t), value :: bytes
       integer(c_int), value :: tier
       type(c_ptr) :: object
     end function alloc_function

     function move_function(start, bytes, tier) bind(C) result(moved)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: start
       integer(c_size_t), value :: bytes
       integer(c_int), value :: tier
       integer(c_size_t) :: moved
     end function move_function

     subroutine advise_subroutine(start, bytes, advice) bind(C)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: start
       integer(c_size_t), value :: bytes
       integer(c_int), value :: advice
     end subroutine advise_subroutine

     subroutine stream_function(stream) bind(C)
       import :: pm_stream
       type(pm_stream), intent(inout) :: stream
     end subroutine stream_function

     function next_function(stream, state, bytes) bind(C) result(batch)
       import :: c_int, c_ptr, c_size_t, pm_stream
       type(pm_stream), intent(inout) :: stream
       integer(c_int), value :: state
       integer(c_size_t), intent(out) :: bytes
       type(c_ptr) :: batch
     end function next_function
  end interface

contains

  logical function is_there(name, address)
    character(*), intent(in) :: name
    type(c_funptr), intent(out) :: address

    address = dlsym(c_null_ptr, name//c_null_char)
    is_there = c_associated(address)
  end function is_there

  ! An iteration of the main loop begins.
  subroutine pm_iteration()
    procedure(iteration_function), pointer :: call_it
    type(c_funptr) :: address

    if (.not. is_there("pmplace_iteration", address)) return
    call c_f_procpointer(address, call_it)
    call call_it()
  end subroutine pm_iteration

  ! A phase begins, for example "pusher".
  subroutine pm_phase(name)
    character(*), intent(in) :: name
    procedure(phase_function), pointer :: call_it
    type(c_funptr) :: address

    if (.not. is_there("pmplace_phase", address)) return
    call c_f_procpointer(address, call_it)
    call call_it(name//c_null_char)
  end subroutine pm_phase

  ! Allocates in a tier; pm_free frees it, or free of C. c_null_ptr: no memory.
  function pm_alloc(bytes, tier) result(object)
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), intent(in) :: tier
    type(c_ptr) :: object
    procedure(alloc_function), pointer :: call_it
    type(c_funptr) :: address

    if (is_there("pmplace_alloc", address)) then
       call c_f_procpointer(address, call_it)
       object = call_it(bytes, tier)
    else
       object = c_malloc(bytes)
    end if
  end function pm_alloc

  ! Moves the whole pages of a range to a tier. Returns the bytes that were moved.
  function pm_move(start, bytes, tier) result(moved)
    type(c_ptr), intent(in) :: start
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), intent(in) :: tier
    integer(c_size_t) :: moved
    procedure(move_function), pointer :: call_it
    type(c_funptr) :: address

    moved = 0
    if (.not. is_there("pmplace_move", address)) return
    call c_f_procpointer(address, call_it)
    moved = call_it(start, bytes, tier)
  end function pm_move

  ! Names a range for promotion at the ends of iterations, or takes its name back.
  subroutine pm_advise(start, bytes, advice)
    type(c_ptr), intent(in) :: start
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), intent(in) :: advice
    procedure(advise_subroutine), pointer :: call_it
    type(c_funptr) :: address

    if (.not. is_there("pmplace_advise", address)) return
    call c_f_procpointer(address, call_it)
    call call_it(start, bytes, advice)
  end subroutine pm_advise

  ! Opens a walk over a range in batches; 0 is one batch. The array is the place by which the runtime
  ! knows the loop again.
  subroutine pm_stream_open(stream, range, bytes, batch_bytes, access)
    type(pm_stream), intent(out) :: stream
    type(c_ptr), intent(in) :: range
    integer(c_size_t), intent(in) :: bytes, batch_bytes
    integer(c_int), intent(in) :: access
    procedure(stream_function), pointer :: call_it
    type(c_funptr) :: address

    stream = pm_stream(STREAM_VERSION, access, range, bytes, merge(batch_bytes, bytes, batch_bytes > 0), &
         0_c_size_t, c_null_ptr, range)
    if (.not. is_there("pmplace_stream_open", address)) return
    call c_f_procpointer(address, call_it)
    call call_it(stream)
  end subroutine pm_stream_open

  ! Hands the last batch back and returns the next one; c_null_ptr behind the last.
  function pm_stream_next(stream, state, bytes) result(batch)
    type(pm_stream), intent(inout) :: stream
    integer(c_int), intent(in) :: state
    integer(c_size_t), intent(out) :: bytes
    type(c_ptr) :: batch
    procedure(next_function), pointer :: call_it
    type(c_funptr) :: address

    if (c_associated(stream%runtime)) then
       address = dlsym(c_null_ptr, "pmplace_stream_next"//c_null_char)
       call c_f_procpointer(address, call_it)
       batch = call_it(stream, state, bytes)
       return
    end if
    batch = c_null_ptr
    bytes = min(stream%batch_bytes, stream%bytes - stream%next)
    if (bytes > 0) batch = transfer(transfer(stream%range, 0_c_intptr_t) + stream%next, batch)
    stream%next = stream%next + bytes
  end function pm_stream_next

  ! Ends the walk, also before its end.
  subroutine pm_stream_close(stream)
    type(pm_stream), intent(inout) :: stream
    procedure(stream_function), pointer :: call_it
    type(c_funptr) :: address

    if (.not. c_associated(stream%runtime)) return
    address = dlsym(c_null_ptr, "pmplace_stream_close"//c_null_char)
    call c_f_procpointer(address, call_it)
    call call_it(stream)
  end subroutine pm_stream_close
end module pmplace
