#include "cc/known.h"

#include <map>
#include <set>

namespace elc::cc {
namespace {

using Names = std::set<std::string>;

Names words(const char* text) {
  Names all;
  std::string word;
  for (const char* c = text;; ++c) {
    if (*c != ' ' && *c != '\n' && *c != '\0') {
      word += *c;
      continue;
    }
    if (!word.empty()) all.insert(word);
    word.clear();
    if (*c == '\0') return all;
  }
}

// By the headers of the C library. Those that are given a function may call it, which callbacks are checked for.
const Names& plain() {
  static const Names all = words(R"(
    __assert_fail __assert __assert_perror_fail __errno_location
    _mm_getcsr _mm_pause _mm_lfence _mm_mfence _mm_sfence _mm_clflush __rdtsc __rdtscp

    memcpy memmove memset memcmp __memcmpeq memchr memrchr rawmemchr memccpy mempcpy __mempcpy memmem memfrob explicit_bzero
    strcpy strncpy strcat strncat strcmp strncmp strcoll strcoll_l strxfrm strxfrm_l strchr strrchr strchrnul strstr strcasestr
    strspn strcspn strpbrk strlen strnlen strtok_r __strtok_r strsep strcasecmp strncasecmp strcasecmp_l strncasecmp_l stpcpy
    __stpcpy stpncpy __stpncpy strverscmp __xpg_strerror_r bcopy bzero bcmp index rindex ffs ffsl ffsll swab insque remque

    isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit isascii toupper tolower
    toascii _toupper _tolower __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max
    iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit iswctype
    towlower towupper towctrans

    abort exit _exit _Exit quick_exit
    setjmp _setjmp sigsetjmp __sigsetjmp longjmp _longjmp siglongjmp alloca
    atoi atol atoll atof strtol strtoul strtoll strtoull strtoq strtouq strtod strtof strtold strtoimax strtoumax sscanf vsscanf
    strfromd strfromf strfroml __strtol_internal __strtod_internal
    abs labs llabs div ldiv lldiv imaxabs imaxdiv qsort qsort_r bsearch lfind lsearch rand_r getsubopt mkdtemp mktemp
    drand48_r erand48_r lrand48_r nrand48_r mrand48_r jrand48_r srand48_r seed48_r lcong48_r
    random_r srandom_r initstate_r setstate_r a64l gcvt ecvt_r fcvt_r getloadavg rpmatch
    mblen mbtowc wctomb mbstowcs wcstombs mallopt malloc_trim malloc_stats mallinfo mallinfo2

    printf fprintf vprintf vfprintf sprintf snprintf vsprintf vsnprintf dprintf vdprintf puts fputs putchar putc fputc fwrite
    fputs_unlocked putchar_unlocked putc_unlocked fputc_unlocked fwrite_unlocked putw _IO_putc
    fflush fflush_unlocked flockfile ftrylockfile funlockfile perror
    fgets fgetc getc fread fscanf vfscanf getw fgets_unlocked fgetc_unlocked getc_unlocked fread_unlocked _IO_getc
    fseek fseeko fseeko64 ftell ftello ftello64 fgetpos fsetpos fgetpos64 fsetpos64 rewind feof ferror clearerr fileno
    feof_unlocked ferror_unlocked clearerr_unlocked fileno_unlocked
    __bswap_16 __bswap_32 __bswap_64 htons htonl ntohs ntohl
    __printf_chk __fprintf_chk __sprintf_chk __snprintf_chk __vprintf_chk __vfprintf_chk __vsprintf_chk __vsnprintf_chk
    tmpnam_r warn vwarn warnx vwarnx err verr errx verrx error error_at_line

    wcscpy wcsncpy wcscat wcsncat wcscmp wcsncmp wcscasecmp wcsncasecmp wcscoll wcsxfrm wcschr wcsrchr wcschrnul wcscspn wcsspn
    wcspbrk wcsstr wcswcs wcstok wcslen wcsnlen wcpcpy wcpncpy wmemchr wmemcmp wmemcpy wmemmove wmemset wmempcpy wcwidth wcswidth
    btowc wctob mbsinit mbrtowc wcrtomb mbrlen mbsrtowcs wcsrtombs mbsnrtowcs wcsnrtombs mbrtoc16 c16rtomb mbrtoc32 c32rtomb
    wcstod wcstof wcstold wcstol wcstoul wcstoll wcstoull wcstoimax wcstoumax wcsftime
    fwide wprintf fwprintf swprintf vwprintf vfwprintf vswprintf fputwc putwc putwchar fputws
    fgetwc getwc fgetws fwscanf vfwscanf swscanf vswscanf

    difftime ctime_r asctime_r strftime strftime_l tzset clock_getres
    nanosleep usleep sleep pause syslog vsyslog closelog alarm setitimer getitimer setrlimit setrlimit64 sched_yield select poll mlock munlock mlockall munlockall madvise statfs fstatfs
    getpwuid_r getpwnam_r tcgetattr

    access eaccess euidaccess faccessat stat fstat lstat fstatat stat64 fstat64 lstat64 fstatat64 __xstat __fxstat __lxstat
    statvfs fstatvfs unlinkat link linkat symlink symlinkat readlink readlinkat mkdirat mkfifo chmod fchmod
    chown lchown fchown utime utimes utimensat futimens ftruncate ftruncate64 sync fsync fdatasync
    posix_fadvise posix_madvise posix_fallocate msync mknod mknodat write pwrite pwrite64 isatty ttyname_r system pclose readdir readdir64 closedir rewinddir telldir seekdir dirfd
    getuid geteuid getgid getegid getgroups gethostname getdomainname gethostid uname getlogin_r
    sysconf pathconf fpathconf confstr getpagesize getdtablesize get_nprocs get_nprocs_conf get_phys_pages get_avphys_pages
    sysinfo getrlimit getrlimit64 getpriority setpriority nice kill raise
    sched_getcpu getcpu sched_getaffinity sched_setaffinity __sched_cpucount sched_get_priority_max sched_get_priority_min
    fnmatch regexec regerror nl_langinfo gai_strerror hstrerror basename __xpg_basename dirname backtrace backtrace_symbols_fd
    pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_init
    pthread_mutexattr_destroy pthread_cond_init pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast
    pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_unlock
    pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize pthread_attr_getstacksize pthread_attr_setdetachstate pthread_attr_getdetachstate
    pthread_attr_setscope pthread_exit pthread_cancel pthread_testcancel pthread_setcancelstate pthread_setcanceltype pthread_cond_wait pthread_cond_timedwait
    pthread_barrier_wait pthread_yield
    pthread_equal pthread_getaffinity_np pthread_setaffinity_np pthread_setname_np pthread_getname_np
    sigemptyset sigfillset sigaddset sigdelset sigismember sigisemptyset sigpending
    htonl htons ntohl ntohs inet_addr inet_aton inet_pton inet_ntop
    fegetround fegetexcept fesetround feenableexcept fedisableexcept feclearexcept feraiseexcept fetestexcept

    omp_get_num_threads omp_get_thread_num omp_get_max_threads omp_get_wtick omp_get_num_procs omp_in_parallel omp_in_final
    omp_get_level omp_get_active_level omp_get_ancestor_thread_num omp_get_team_size omp_get_dynamic omp_get_nested omp_get_thread_limit
    omp_get_max_active_levels)");
  return all;
}

// Of those the ones whose result points into what they were given, or is used where it is got.
const Names& returning_own() {
  static const Names all = words(R"(
    memcpy memmove memset memchr memrchr rawmemchr memccpy mempcpy __mempcpy memmem memfrob strcpy strncpy strcat strncat strchr strrchr
    strchrnul strstr strcasestr strpbrk strtok_r __strtok_r strsep stpcpy __stpcpy stpncpy __stpncpy index rindex bsearch lfind lsearch
    mkdtemp mktemp tmpnam_r seed48 gets fgets fgets_unlocked fgetws fgetws_unlocked gcvt ctime_r asctime_r inet_ntop
    basename __xpg_basename dirname wcscpy wcsncpy wcscat wcsncat wcschr wcsrchr wcschrnul wcspbrk wcsstr wcswcs wcstok wcpcpy
    wcpncpy wmemchr wmemcpy wmemmove wmemset wmempcpy
    nl_langinfo gai_strerror hstrerror readdir readdir64 __errno_location __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __builtin_assume_aligned)");
  return all;
}

// <math.h> and <complex.h>, for double, float, long double and the types that have a number of bits.
const Names& mathematics() {
  static const Names all = [] {
    Names names = words("lgamma_r lgammaf_r lgammal_r fadd faddl daddl fsub fsubl dsubl fmul fmull dmull fdiv fdivl ddivl "
                        "fsqrt fsqrtl dsqrtl ffma ffmal dfmal");
    for (const std::string& name : words(R"(
      acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 exp10 pow10 frexp ilogb llogb ldexp log log10
      log1p log2 logb modf scalb scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma gamma ceil floor nearbyint rint lrint
      llrint round lround llround roundeven trunc fmod remainder remquo drem copysign nan nextafter nexttoward nextup nextdown
      fdim fmax fmin fma fmaxmag fminmag fmaximum fminimum fmaximum_num fminimum_num fmaximum_mag fminimum_mag fmaximum_mag_num
      fminimum_mag_num fromfp ufromfp fromfpx ufromfpx canonicalize totalorder totalordermag getpayload setpayload setpayloadsig
      sincos j0 j1 jn y0 y1 yn finite isinf isnan significand
      cabs carg cimag creal conj cproj cacos casin catan ccos csin ctan cacosh casinh catanh ccosh csinh ctanh cexp clog clog10 cpow
      csqrt __fpclassify __signbit __isnan __isinf __finite __iseqsig __issignaling __iscanonical)"))
      for (const char* suffix : {"", "f", "l", "f32", "f64", "f128", "f32x", "f64x"}) names.insert(name + suffix);
    return names;
  }();
  return all;
}

const Names& sites() {
  static const Names all = words(R"(
    MPI_Send MPI_Bsend MPI_Ssend MPI_Rsend MPI_Recv MPI_Sendrecv MPI_Sendrecv_replace
    MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany MPI_Testsome
    MPI_Probe MPI_Iprobe
    MPI_Barrier MPI_Bcast MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv MPI_Allgather MPI_Allgatherv
    MPI_Alltoall MPI_Alltoallv MPI_Alltoallw MPI_Reduce MPI_Allreduce MPI_Reduce_scatter MPI_Reduce_scatter_block MPI_Scan MPI_Exscan
    MPI_Neighbor_allgather MPI_Neighbor_allgatherv MPI_Neighbor_alltoall MPI_Neighbor_alltoallv MPI_Neighbor_alltoallw)");
  return all;
}

const std::map<std::string, std::string>& replaced() {
  static const std::map<std::string, std::string> all = {
      {"malloc", "ELC_Program_malloc"},
      {"calloc", "ELC_Program_calloc"},
      {"realloc", "ELC_Program_realloc"},
      {"posix_memalign", "ELC_Program_posix_memalign"},
      {"aligned_alloc", "ELC_Program_aligned_alloc"},
      {"memalign", "ELC_Program_aligned_alloc"},
      {"_mm_malloc", "ELC_Program_mm_malloc"},
      {"_mm_free", "ELC_Program_free"},
      {"valloc", "ELC_Program_valloc"},
      {"pvalloc", "ELC_Program_valloc"},
      {"free", "ELC_Program_free"},
      {"mmap", "ELC_Program_mmap"},
      {"mmap64", "ELC_Program_mmap"},
      {"munmap", "ELC_Program_munmap"},
      {"mremap", "ELC_Program_mremap"},
      {"strdup", "ELC_Program_strdup"},
      {"__strdup", "ELC_Program_strdup"},
      {"strndup", "ELC_Program_strndup"},
      {"MPI_Alloc_mem", "ELC_Program_alloc_mem"},
      {"MPI_Free_mem", "ELC_Program_free_mem"},
      {"MPI_Buffer_attach", "ELC_Program_buffer_attach"},
      {"MPI_Buffer_detach", "ELC_Program_buffer_detach"},
      {"reallocarray", "ELC_Program_reallocarray"},
      {"cfree", "ELC_Program_free"},
      {"malloc_usable_size", "ELC_Program_usable_size"},
      {"getenv", "ELC_Program_getenv"},
      {"secure_getenv", "ELC_Program_getenv"},
      {"getline", "ELC_Program_getline"},
      {"getdelim", "ELC_Program_getdelim"},
      {"__getdelim", "ELC_Program_getdelim"},
      {"asprintf", "ELC_Program_asprintf"},
      {"vasprintf", "ELC_Program_vasprintf"},
      {"chdir", "ELC_Program_chdir"},
      {"getcwd", "ELC_Program_getcwd"},
      {"get_current_dir_name", "ELC_Program_get_current_dir_name"},
      {"realpath", "ELC_Program_realpath"},
      {"strtok", "ELC_Program_strtok"},
      {"getopt", "ELC_Program_getopt"},
      {"getopt_long", "ELC_Program_getopt_long"},
      {"getopt_long_only", "ELC_Program_getopt_long_only"},
      {"setlocale", "ELC_Program_setlocale"},
      {"atexit", "ELC_Program_atexit"},
      {"signal", "ELC_Program_signal"},
      {"sigaction", "ELC_Program_sigaction"},
      {"ungetc", "ELC_Program_ungetc"},
      {"setvbuf", "ELC_Program_setvbuf"},
      {"setbuf", "ELC_Program_setbuf"},
      {"setbuffer", "ELC_Program_setbuffer"},
      {"setlinebuf", "ELC_Program_setlinebuf"},
      {"strerror", "ELC_Program_strerror"},
      {"dirname", "ELC_Program_dirname"},
      {"__xpg_basename", "ELC_Program_basename"},
      {"strsignal", "ELC_Program_strsignal"},
      {"getlogin", "ELC_Program_getlogin"},
      {"localtime", "ELC_Program_localtime"},
      {"gmtime", "ELC_Program_gmtime"},
      {"asctime", "ELC_Program_asctime"},
      {"ctime", "ELC_Program_ctime"},
      {"localtime_r", "ELC_Program_localtime_r"},
      {"gmtime_r", "ELC_Program_gmtime_r"},
      {"mktime", "ELC_Program_mktime"},
      {"timelocal", "ELC_Program_mktime"},
      {"timegm", "ELC_Program_timegm"},
      {"strptime", "ELC_Program_strptime"},
      {"strerror_r", "ELC_Program_strerror_r"},
      {"fopen", "ELC_Program_fopen"},
      {"fopen64", "ELC_Program_fopen"},
      {"fclose", "ELC_Program_fclose"},
      {"fileno", "ELC_Program_fileno"},
      {"fileno_unlocked", "ELC_Program_fileno"},
      {"freopen", "ELC_Program_freopen"},
      {"freopen64", "ELC_Program_freopen"},
      {"fcloseall", "ELC_fcloseall"},
      {"rename", "ELC_Program_rename"},
      {"remove", "ELC_Program_remove"},
      {"unlink", "ELC_Program_unlink"},
      {"mkdir", "ELC_Program_mkdir"},
      {"rmdir", "ELC_Program_rmdir"},
      {"truncate", "ELC_Program_truncate"},
      {"truncate64", "ELC_Program_truncate"},
      {"setenv", "ELC_Program_setenv"},
      {"unsetenv", "ELC_Program_unsetenv"},
      {"putenv", "ELC_Program_putenv"},
      {"sigprocmask", "ELC_Program_sigprocmask"},
      {"pthread_sigmask", "ELC_Program_sigprocmask"},
      {"pthread_create", "ELC_Program_thread_create"},
      {"pthread_join", "ELC_Program_thread_join"},
      {"pthread_detach", "ELC_Program_thread_detach"},
      {"getpwuid", "ELC_Program_getpwuid"},
      {"getpwnam", "ELC_Program_getpwnam"},
      {"time", "ELC_Program_time"},
      {"clock", "ELC_Program_clock"},
      {"times", "ELC_Program_times"},
      {"getrusage", "ELC_Program_getrusage"},
      {"gettimeofday", "ELC_Program_gettimeofday"},
      {"clock_gettime", "ELC_Program_clock_gettime"},
      {"timespec_get", "ELC_Program_timespec_get"},
      {"clock_nanosleep", "ELC_Program_clock_nanosleep"},
      {"getpid", "ELC_Program_getpid"},
      {"getppid", "ELC_Program_getppid"},
      {"getpgrp", "ELC_Program_getpgrp"},
      {"MPI_Init", "ELC_Program_init"},
      {"MPI_Init_thread", "ELC_Program_init_thread"},
      {"MPI_Initialized", "ELC_Program_initialized"},
      {"MPI_Wtime", "ELC_Program_wtime"},
      {"omp_get_wtime", "ELC_Program_wtime"},
      {"MPI_Get_address", "ELC_Program_get_address"},
      {"MPI_Address", "ELC_Program_get_address"},
      {"MPI_Comm_get_attr", "ELC_Program_get_attr"},
      {"MPI_Attr_get", "ELC_Program_get_attr"},
      {"MPI_Win_get_attr", "ELC_Program_win_get_attr"},
      {"MPI_Win_allocate", "ELC_Program_win_allocate"},
      {"MPI_Win_free", "ELC_Program_win_free"},
      {"MPI_Comm_create_keyval", "ELC_Program_keyval_create"},
      {"MPI_Keyval_create", "ELC_Program_keyval_create"},
      {"MPI_Comm_free_keyval", "ELC_Program_keyval_free"},
      {"MPI_Keyval_free", "ELC_Program_keyval_free"},
      {"MPI_Comm_set_attr", "ELC_Program_set_attr"},
      {"MPI_Attr_put", "ELC_Program_set_attr"},
      {"MPI_Comm_delete_attr", "ELC_Program_delete_attr"},
      {"MPI_Attr_delete", "ELC_Program_delete_attr"},
      {"MPI_Cart_shift", "ELC_Program_cart_shift"},
      {"MPI_Group_translate_ranks", "ELC_Program_group_translate_ranks"},
      {"MPI_Op_create", "ELC_Program_op_create"},
      {"MPI_Op_free", "ELC_Program_op_free"},
      {"MPI_Comm_create_errhandler", "ELC_Program_errhandler_create"},
      {"MPI_Errhandler_create", "ELC_Program_errhandler_create"},
      {"MPI_Errhandler_free", "ELC_Program_errhandler_free"},
  };
  return all;
}

using Reasons = std::map<std::string, std::string>;

void add_reasons(Reasons* reasons, const char* why, const char* names) {
  for (const std::string& name : words(names)) (*reasons)[name] = why;
}

// With these even a program without lines would not be right.
const Reasons& refused() {
  static const Reasons all = [] {
    Reasons reasons;
    add_reasons(&reasons, "a restart cannot set the place to which it goes", "getcontext setcontext makecontext swapcontext");
    add_reasons(&reasons, "elc-cc follows threads that pthread_create() makes and pthread_join() joins", "pthread_timedjoin_np pthread_tryjoin_np pthread_clockjoin_np "
                "thrd_create thrd_join thrd_detach thrd_exit clone");
    return reasons;
  }();
  return all;
}

// Of these a file comes, by a descriptor, a FILE * or a DIR *; and these are for one.
constexpr const char* kOpening = "open open64 openat openat64 creat creat64 mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkstemps64 mkostemps dup";
constexpr const char* kOpeningStreams = "fdopen popen tmpfile tmpfile64";
constexpr const char* kOpeningDirectories = "opendir fdopendir";
constexpr const char* kUsing = "read pread pread64 lseek lseek64 close fcntl fcntl64 ioctl readv preadv writev pwritev flock lockf lockf64";
constexpr const char* kWhileOpen = "while what it opens is open no line is taken; close it before, or open files by fopen";

Known::File file_of(const std::string& name) {
  static const std::map<std::string, Known::File> all = [] {
    std::map<std::string, Known::File> files;
    for (const std::string& each : words(kOpening)) files[each] = Known::File::kOpened;
    for (const std::string& each : words(kOpeningStreams)) files[each] = Known::File::kOpenedStream;
    for (const std::string& each : words(kOpeningDirectories)) files[each] = Known::File::kOpenedDirectory;
    for (const std::string& each : words(kUsing)) files[each] = Known::File::kUsed;
    return files;
  }();
  const auto found = all.find(name);
  return found == all.end() ? Known::File::kNone : found->second;
}

const Reasons& unfit() {
  static const Reasons all = [] {
    Reasons reasons;
    const auto add = [&](const char* why, const char* names) { add_reasons(&reasons, why, names); };
    add("its memory is not part of lines; use malloc",
        "brk sbrk shmat shm_open memfd_create wcsdup "
        "tempnam tmpnam canonicalize_file_name backtrace_symbols freeaddrinfo tsearch tfind "
        "tdelete twalk tdestroy hsearch_r hcreate_r getpwent getgrgid getgrnam getgrent gethostbyname getaddrinfo "
        "ecvt fcvt qecvt qfcvt l64a localeconv ttyname cuserid ctermid inet_ntoa gethostbyaddr getservbyname getprotobyname shmget shmdt shmctl");
    add("while what it makes is not freed no line is taken; free it before",
        "regcomp glob glob64 wordexp pthread_barrier_init regfree globfree globfree64 wordfree pthread_barrier_destroy");
    add("a lock of OpenMP that leads to memory of its runtime, or may be nested, is not part of lines: use a directive",
        "omp_init_lock omp_init_nest_lock omp_init_lock_with_hint omp_init_nest_lock_with_hint omp_set_lock omp_set_nest_lock omp_unset_lock "
        "omp_unset_nest_lock omp_test_lock omp_test_nest_lock omp_destroy_lock omp_destroy_nest_lock");
    add("what it returns is another value in a restart",
        "wctrans wctype pthread_self thrd_current __builtin_ia32_rdpmc __builtin_ia32_rdpid "
        "_rdrand16_step _rdrand32_step _rdrand64_step _rdseed16_step _rdseed32_step _rdseed64_step "
        "__builtin_ia32_rdrand16_step __builtin_ia32_rdrand32_step __builtin_ia32_rdrand64_step __builtin_ia32_rdseed_hi_step "
        "__builtin_ia32_rdseed_si_step __builtin_ia32_rdseed_di_step __builtin_ia32_rdseed16_step __builtin_ia32_rdseed32_step __builtin_ia32_rdseed64_step");
    add("in a restart the number is another object's, or nobody's: keep the handle",
        "MPI_Comm_c2f MPI_Type_c2f MPI_Group_c2f MPI_Op_c2f MPI_Request_c2f MPI_Win_c2f MPI_File_c2f MPI_Info_c2f MPI_Errhandler_c2f MPI_Message_c2f");
    add("other processes are not part of lines",
        "fork vfork pipe pipe2 socket socketpair connect accept listen bind execv execvp execl execlp execle execve "
        "posix_spawn posix_spawnp wait waitpid waitid wait3 wait4 daemon "
        "send recv sendto recvfrom sendmsg recvmsg shutdown setsockopt getsockopt getsockname getpeername epoll_create epoll_create1 epoll_ctl "
        "epoll_wait semget semop semctl msgget msgsnd msgrcv sem_open sem_init sem_wait sem_trywait sem_post sem_close execvpe fexecve syscall");
    add("what it sets is lost in a restart",
        "setlogmask fwide pthread_setcancelstate pthread_setcanceltype sigaltstack siginterrupt sigset sighold sigrelse sigignore ualarm timer_create "
        "__builtin_ia32_fxrstor __builtin_ia32_fxrstor64 __builtin_ia32_xrstor __builtin_ia32_xrstor64 on_exit at_quick_exit fchdir clearenv fesetenv feholdexcept feupdateenv fesetmode "
        "prlimit prlimit64 setuid setgid seteuid setegid setpgid setsid openlog uselocale");
    add("in a restart that is another number", "getpgid getsid");
    add("it keeps a state that is not part of lines",
        "ungetwc hcreate hsearch hdestroy dlopen dlsym dlclose dlerror initstate setstate "
        "alphasort versionsort endpwent endgrent iconv iconv_close scandir getwchar wscanf vwscanf "
        "setpwent setgrent nftw ftw iconv_open catopen mtrace");
    add("the stream that it opens is not part of lines; open files by fopen", "fmemopen open_memstream open_wmemstream fopencookie dup2 dup3");
    add(kWhileOpen, kOpening);
    add(kWhileOpen, kOpeningStreams);
    add(kWhileOpen, kOpeningDirectories);
    add("a restart has such a lock as a usual one, and free",
        "pthread_mutexattr_settype pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock "
        "pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_spin_lock pthread_spin_trylock");
    add("a restart would not know that a file was put in the place of another; use rename()", "renameat renameat2");
    add("what it does to a file that the program has not opened itself is not part of lines; use the functions of <stdio.h>", kUsing);
    return reasons;
  }();
  return all;
}

// Those that keep something which lines have (the library's take_library).
bool keeps(const std::string& name) {
  static const Names all = words(R"(strtok getopt getopt_long getopt_long_only localtime gmtime asctime ctime setlocale atexit signal sigaction setvbuf setbuf setbuffer
    setlinebuf setenv unsetenv putenv setrlimit setrlimit64 alarm setitimer sigprocmask pthread_sigmask getpwuid getpwnam getpid getppid getpgrp __errno_location perror err verr warn vwarn error)");
  return all.contains(name);
}

// By one of these a program goes on where a message has not come.
bool probes(const std::string& name) {
  static const Names all = words("MPI_Iprobe MPI_Improbe MPI_Cancel MPI_Test MPI_Testall MPI_Testany MPI_Testsome MPI_Waitany MPI_Waitsome MPI_Request_get_status");
  return all.contains(name);
}

bool rounds(const std::string& name) {
  static const Names all = words("fesetround feenableexcept fedisableexcept feclearexcept feraiseexcept fetestexcept");
  return all.contains(name);
}

// As the compiler's headers have it for processors that have such a register.
bool sets_control(const std::string& name) {
  static const Names all = words("_mm_setcsr __builtin_ia32_ldmxcsr _MM_SET_FLUSH_ZERO_MODE _MM_SET_DENORMALS_ZERO_MODE _MM_SET_ROUNDING_MODE _MM_SET_EXCEPTION_MASK "
                                 "_MM_SET_EXCEPTION_STATE");
  return all.contains(name);
}

// BLAS and LAPACK, in C and as Fortran compilers name them: they work on what they are given. Not those that are given a function, nor
// lacon, which keeps where it is.
bool is_linear_algebra(const std::string& name) {
  if (name.starts_with("cblas_") || name.starts_with("LAPACKE_")) return true;
  static const Names all = words(R"(rotg rotmg rot rotm swap scal copy axpy dot dotu dotc dsdot sdsdot nrm2 asum amax
    gemv gbmv hemv hbmv hpmv symv sbmv spmv trmv tbmv tpmv trsv tbsv tpsv ger geru gerc her hpr her2 hpr2 syr spr syr2 spr2
    gemm symm hemm syrk herk syr2k her2k trmm trsm
    bbcsd bdsdc bdsqr bdsvdx cgesv cposv sum1 disna drscl gbbrd gbcon gbequ gbequb gbrfs gbsv gbsvx gbtf2 gbtrf gbtrs gebak gebal gebd2 gebrd gecon
    geequ geequb geev geevx gegs gegv gehd2 gehrd gejsv gelq gelq2 gelqf gelqt gelqt3 gels gelsd gelss gelst gelsx gelsy gemlq gemlqt gemqr gemqrt
    geql2 geqlf geqp3 geqpf geqr geqr2 geqr2p geqrf geqrfp geqrt geqrt2 geqrt3 gerfs gerq2 gerqf gesc2 gesdd gesv gesvd gesvdq gesvdx gesvj gesvx
    getc2 getf2 getrf getrf2 getri getrs getsls getsqrhrt ggbak ggbal ggev ggev3 ggevx ggglm gghd3 gghrd gglse ggqrf ggrqf ggsvd ggsvd3 ggsvp ggsvp3
    gsvj0 gsvj1 gtcon gtrfs gtsv gtsvx gttrf gttrs gtts2 hb2st_kernels hbev hbev_2stage hbevd hbevd_2stage hbevx hbevx_2stage hbgst hbgv hbgvd hbgvx
    hbtrd hecon hecon_3 hecon_rook heequb heev heev_2stage heevd heevd_2stage heevr heevr_2stage heevx heevx_2stage hegs2 hegst hegv hegv_2stage
    hegvd hegvx herfs hesv hesv_aa hesv_aa_2stage hesv_rk hesv_rook hesvx heswapr hetd2 hetf2 hetf2_rk hetf2_rook hetrd hetrd_2stage hetrd_hb2st
    hetrd_he2hb hetrf hetrf_aa hetrf_aa_2stage hetrf_rk hetrf_rook hetri hetri2 hetri2x hetri_3 hetri_3x hetri_rook hetrs hetrs2 hetrs_3 hetrs_aa
    hetrs_aa_2stage hetrs_rook hfrk hgeqz hpcon hpev hpevd hpevx hpgst hpgv hpgvd hpgvx hprfs hpsv hpsvx hptrd hptrf hptri hptrs hsein
    hseqr isnan labad labrd lacgv lacn2 lacp2 lacpy lacrm lacrt ladiv ladiv1 ladiv2 lae2 laebz laed0 laed1 laed2 laed3 laed4 laed5 laed6 laed7 laed8
    laed9 laeda laein laesy laev2 laexc lag2 lag2c lag2d lag2s lag2z lags2 lagtf lagtm lagts lagv2 lahef lahef_aa lahef_rk lahef_rook lahqr lahr2
    lahrd laic1 laisnan laln2 lals0 lalsa lalsd lamc3 lamch lamrg lamswlq lamtsqr laneg langb lange langt lanhb lanhe lanhf lanhp lanhs lanht lansb
    lansf lansp lanst lansy lantb lantp lantr lanv2 laorhr_col_getrfnp laorhr_col_getrfnp2 lapll lapmr lapmt lapy2 lapy3 laqgb laqge laqhb laqhe
    laqhp laqp2 laqps laqr0 laqr1 laqr2 laqr3 laqr4 laqr5 laqsb laqsp laqsy laqtr laqz0 laqz1 laqz2 laqz3 laqz4 lar1v lar2v larcm larf larfb
    larfb_gett larfg larfgp larft larfx larfy largv larmm larnv larra larrb larrc larrd larre larrf larrj larrk larrr larrv lartg lartgp lartgs
    lartv laruv larz larzb larzt las2 lascl lasd0 lasd1 lasd2 lasd3 lasd4 lasd5 lasd6 lasd7 lasd8 lasda lasdq lasdt laset lasq1 lasq2 lasq3 lasq4
    lasq5 lasq6 lasr lasrt lassq lasv2 laswlq laswp lasy2 lasyf lasyf_aa lasyf_rk lasyf_rook lat2c lat2s latbs latdf latps latrd latrs latrs3 latrz
    latsqr latzm launhr_col_getrfnp launhr_col_getrfnp2 lauu2 lauum opgtr opmtr orbdb orbdb1 orbdb2 orbdb3 orbdb4 orbdb5 orbdb6 orcsd orcsd2by1
    org2l org2r orgbr orghr orgl2 orglq orgql orgqr orgr2 orgrq orgtr orgtsqr orgtsqr_row orhr_col orm22 orm2l orm2r ormbr ormhr orml2 ormlq ormql
    ormqr ormr2 ormr3 ormrq ormrz ormtr pbcon pbequ pbrfs pbstf pbsv pbsvx pbtf2 pbtrf pbtrs pftrf pftri pftrs pocon poequ poequb porfs posv posvx
    potf2 potrf potrf2 potri potrs ppcon ppequ pprfs ppsv ppsvx pptrf pptri pptrs pstf2 pstrf ptcon pteqr ptrfs ptsv ptsvx pttrf pttrs ptts2
    rscl sb2st_kernels sbev sbev_2stage sbevd sbevd_2stage sbevx sbevx_2stage sbgst sbgv sbgvd sbgvx sbtrd sfrk sgesv spcon spev spevd
    spevx spgst spgv spgvd spgvx sposv sprfs spsv spsvx sptrd sptrf sptri sptrs srscl stebz stedc stegr stein stemr steqr sterf stev stevd stevr
    stevx sycon sycon_3 sycon_rook syconv syconvf syconvf_rook syequb syev syev_2stage syevd syevd_2stage syevr syevr_2stage syevx syevx_2stage
    sygs2 sygst sygv sygv_2stage sygvd sygvx syrfs sysv sysv_aa sysv_aa_2stage sysv_rk sysv_rook sysvx syswapr sytd2 sytf2 sytf2_rk sytf2_rook sytrd
    sytrd_2stage sytrd_sb2st sytrd_sy2sb sytrf sytrf_aa sytrf_aa_2stage sytrf_rk sytrf_rook sytri sytri2 sytri2x sytri_3 sytri_3x sytri_rook sytrs
    sytrs2 sytrs_3 sytrs_aa sytrs_aa_2stage sytrs_rook tbcon tbrfs tbtrs tfsm tftri tfttp tfttr tgevc tgex2 tgexc tgsen tgsja tgsna tgsy2 tgsyl
    tpcon tplqt tplqt2 tpmlqt tpmqrt tpqrt tpqrt2 tprfb tprfs tptri tptrs tpttf tpttr trcon trevc trevc3 trexc trrfs trsen trsna trsyl trsyl3 trti2
    trtri trtrs trttf trttp tzrqf tzrzf unbdb unbdb1 unbdb2 unbdb3 unbdb4 unbdb5 unbdb6 uncsd uncsd2by1 ung2l ung2r ungbr unghr ungl2 unglq ungql
    ungqr ungr2 ungrq ungtr ungtsqr ungtsqr_row unhr_col unm22 unm2l unm2r unmbr unmhr unml2 unmlq unmql unmqr unmr2 unmr3 unmrq unmrz unmtr upgtr
    upmtr zsum1)");
  static const Names kinds = words("s d c z sc dz cs zd is id ic iz");
  static const Names others = words("lsame_ lsamen_ xerbla_ ilaenv_ ilaver_");
  const std::string spelled = name.ends_with("_") ? name.substr(0, name.size() - 1) : name;
  for (const std::string& kind : kinds)
    if (spelled.starts_with(kind) && all.contains(spelled.substr(kind.size()))) return true;
  return others.contains(name);
}

// The compiler's own.
bool is_atomic(const std::string& name) { return name.starts_with("__atomic_") || name.starts_with("__sync_"); }

// What MPI_NULL_COPY_FN, MPI_COMM_DUP_FN and the like stand for in the MPIs' headers.
bool copies_attributes(const std::string& name) { return name.starts_with("OMPI_C_MPI_") || name == "MPIR_Dup_fn"; }

bool reads_input(const std::string& name) {
  static const Names all = words("scanf vscanf getchar getchar_unlocked gets");
  return all.contains(name);
}

bool reads_clock(const std::string& name) {
  static const Names all = words("MPI_Wtime omp_get_wtime clock clock_gettime clock_nanosleep times getrusage");
  return all.contains(name);
}

// Functions that look at files and the machine; and which argument leads to where they put what they see (-1: none).
const std::map<std::string, int>& looking_outside() {
  static const std::map<std::string, int> all = {{"access", -1},  {"eaccess", -1}, {"euidaccess", -1}, {"faccessat", -1}, {"stat", 1},      {"lstat", 1},
                                                 {"fstat", 1},    {"stat64", 1},   {"lstat64", 1},     {"fstat64", 1},    {"fstatat", 2},   {"fstatat64", 2},
                                                 {"statvfs", 1},  {"fstatvfs", 1}, {"statfs", 1},      {"fstatfs", 1},    {"sysinfo", 0}};
  return all;
}

// Settings of the process that are one number, which means the same on all machines.
const Names& settings() {
  static const Names all = words("umask omp_set_num_threads omp_set_dynamic omp_set_nested omp_set_max_active_levels");
  return all;
}

const Names& for_threads() {
  static const Names all = words(
      "malloc calloc realloc free strdup __strdup strndup posix_memalign aligned_alloc memalign valloc pvalloc _mm_malloc _mm_free malloc_usable_size mmap mmap64 munmap mremap "
      "pthread_create pthread_join pthread_detach time clock times getrusage gettimeofday clock_gettime timespec_get MPI_Wtime omp_get_wtime "
      "__errno_location perror err verr warn vwarn error getpid getppid getpgrp MPI_Abort MPI_Initialized MPI_Finalized");
  return all;
}

bool draws(const std::string& name) {
  static const Names all = words("rand srand random srandom drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48");
  return all.contains(name);
}

// The C library has names for what newer standards say of a function.
std::string without_standard(const std::string& name) {
  for (const char* prefix : {"__isoc99_", "__isoc23_"})
    if (name.starts_with(prefix)) return name.substr(std::string(prefix).size());
  return name;
}

}  // namespace

Known known_function(const std::string& spelled) {
  const std::string name = without_standard(spelled);
  static const std::string kBuiltin = "__builtin_";
  if (name.starts_with(kBuiltin)) {  // what is otherwise known by its own name
    const Known own = known_function(name.substr(kBuiltin.size()));
    if (own.kind != Known::Kind::kUnknown) return own;
  }
  Known known;
  known.rounds = rounds(name);
  known.sets_control = sets_control(name);
  known.keeps = known.rounds || known.sets_control || keeps(name);
  known.reads_input = reads_input(name);
  known.reads_clock = reads_clock(name);
  known.probes = probes(name);
  if (const auto outside = looking_outside().find(name); outside != looking_outside().end()) known.looks_outside = true, known.fills = outside->second;
  known.is_for_threads = for_threads().contains(name);
  known.returns_own = returning_own().contains(name) || is_alloca(name);
  if (const auto r = replaced().find(name); r != replaced().end()) {
    known.kind = Known::Kind::kReplaced;
    known.text = r->second;
    known.aligns = r->second == "ELC_Program_posix_memalign" || r->second == "ELC_Program_mmap" || r->second == "ELC_Program_aligned_alloc" || r->second == "ELC_Program_valloc" ||
                   r->second == "ELC_Program_mm_malloc";
    known.allocates = name == "malloc" || name == "calloc" || name == "realloc" || name == "valloc" || name == "pvalloc" || name == "reallocarray" ||
                      r->second == "ELC_Program_aligned_alloc" || r->second == "ELC_Program_mm_malloc" || r->second == "ELC_Program_mmap" || name == "mremap";
    known.gets_attributes = known.text == "ELC_Program_get_attr";
    known.makes_keyvals = known.text == "ELC_Program_keyval_create";
    known.keeps_pointers = known.makes_keyvals || known.text == "ELC_Program_set_attr" || name == "putenv";
    known.allocates_windows = name == "MPI_Win_allocate";
    known.attaches = name == "MPI_Buffer_attach";
  } else if (settings().contains(name)) {
    known.kind = Known::Kind::kReplaced;
    known.text = "elc_set_" + name;
    known.is_setting = true;
  } else if (name == "memset" || name == "memcpy" || name == "memmove" || name == "strcpy" || name == "strncpy" || name == "mempcpy") {
    known.kind = Known::Kind::kPlain;
    known.returns_memory = known.allocates = name != "mempcpy";
  } else if (const auto late = unfit().find(name); late != unfit().end()) {
    known.kind = Known::Kind::kUnfit;
    known.text = late->second;
    known.file = file_of(name);
    known.makes = name == "regcomp" || name == "pthread_barrier_init" ? 0 : name == "wordexp" ? 1 : name.starts_with("glob") && !name.starts_with("globfree") ? 3 : -1;
    known.frees = name == "regfree" || name == "pthread_barrier_destroy" || name.starts_with("globfree") || name == "wordfree" ? 0 : -1;
  } else if (const auto no = refused().find(name); no != refused().end()) {
    known.kind = Known::Kind::kRefused;
    known.text = no->second;
  } else if (draws(name)) {
    known.kind = Known::Kind::kPlain;
    known.draws_numbers = true;
  } else if (plain().contains(name) || known.sets_control || known.reads_input || mathematics().contains(name) || is_linear_algebra(name) || is_mpi(name) ||
             copies_attributes(name) || is_atomic(name) || name.starts_with("__builtin_")) {
    known.kind = Known::Kind::kPlain;
    known.allocates = is_alloca(name);
    known.keeps_pointers = is_mpi(name) && name.ends_with("end_init");
  }
  return known;
}

bool is_known_variable(const std::string& name) {
  static const Names all = words("stdin stdout stderr optarg optind opterr optopt errno environ __environ signgam timezone daylight program_invocation_name "
                                 "program_invocation_short_name");
  return all.contains(name) || name.starts_with("ompi_") || name.starts_with("lam_") || name.starts_with("MPI_") || name.starts_with("MPIR_") ||
         name.starts_with("__start_") || name.starts_with("__stop_");  // of a section, by the linker
}

bool is_site(const std::string& name) { return sites().contains(name); }

bool is_alloca(const std::string& name) { return name == "alloca" || name == "__builtin_alloca"; }

bool is_setjmp(const std::string& name) {
  static const Names all = words("setjmp _setjmp sigsetjmp __sigsetjmp __builtin_setjmp");
  return all.contains(name);
}

}  // namespace elc::cc
