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

const Names& plain() {
  static const Names all = words(R"(
    abort exit _exit _Exit __assert_fail __assert __errno_location perror strerror strerror_r
    memcpy memmove memset memcmp memchr mempcpy strcpy strncpy strcat strncat strcmp strncmp strcoll strchr strrchr strstr strspn
    strcspn strpbrk strlen strnlen strtok_r strcasecmp strncasecmp stpcpy bcopy bzero bcmp index rindex ffs
    isalnum isalpha iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit isascii toupper tolower
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
    atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof strtold __isoc99_sscanf sscanf
    __strtol_internal __strtod_internal __strdup_internal
    abs labs llabs div ldiv lldiv imaxabs
    printf fprintf vprintf vfprintf sprintf snprintf vsprintf vsnprintf puts fputs putchar putc fputc fwrite fflush fgets fgetc getc
    fread fscanf __isoc99_fscanf vfscanf __isoc99_vfscanf vsscanf __isoc99_vsscanf fseek fseeko ftell ftello rewind feof ferror clearerr fileno _IO_putc _IO_getc putchar_unlocked
    __printf_chk __fprintf_chk __sprintf_chk __snprintf_chk
    remove unlink rename mkdir rmdir access stat fstat lstat isatty getpid getppid getuid geteuid gethostname uname sysconf getpagesize
    usleep sleep nanosleep sched_yield sched_getcpu sched_getaffinity sched_setaffinity pthread_setaffinity_np __sched_cpucount getrusage times difftime localtime localtime_r gmtime gmtime_r ctime ctime_r asctime strftime
    mktime getopt getopt_long
    omp_get_num_threads omp_get_thread_num omp_get_max_threads omp_get_wtime omp_get_num_procs omp_in_parallel
    qsort bsearch)");
  return all;
}

// <math.h> and <complex.h>, for double, float and long double.
const Names& mathematics() {
  static const Names all = [] {
    Names names;
    for (const std::string& name : words(R"(
      acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 exp10 frexp ilogb ldexp log log10 log1p log2
      logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round lround
      llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma sincos j0 j1 jn y0 y1 yn gamma drem
      finite isinf isnan significand
      cabs carg cimag creal conj cproj cacos casin catan ccos csin ctan cacosh casinh catanh ccosh csinh ctanh cexp clog cpow csqrt
      __fpclassify __signbit __isnan __isinf __finite)"))
      for (const char* suffix : {"", "f", "l"}) names.insert(name + suffix);
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
      {"calloc", "ELC_calloc"},
      {"realloc", "ELC_Program_realloc"},
      {"posix_memalign", "ELC_Program_posix_memalign"},
      {"aligned_alloc", "ELC_Program_aligned_alloc"},
      {"memalign", "ELC_Program_aligned_alloc"},
      {"free", "ELC_free"},
      {"strdup", "ELC_Program_strdup"},
      {"__strdup", "ELC_Program_strdup"},
      {"strndup", "ELC_Program_strndup"},
      {"getenv", "ELC_Program_getenv"},
      {"fopen", "ELC_fopen"},
      {"fopen64", "ELC_fopen"},
      {"fclose", "ELC_fclose"},
      {"time", "ELC_Program_time"},
      {"clock", "ELC_Program_clock"},
      {"gettimeofday", "ELC_Program_gettimeofday"},
      {"clock_gettime", "ELC_Program_clock_gettime"},
      {"MPI_Init", "ELC_Program_init"},
      {"MPI_Init_thread", "ELC_Program_init_thread"},
      {"MPI_Initialized", "ELC_Program_initialized"},
      {"MPI_Wtime", "ELC_Program_wtime"},
      {"MPI_Get_address", "ELC_Program_get_address"},
      {"MPI_Address", "ELC_Program_get_address"},
      {"MPI_Op_create", "ELC_Program_op_create"},
      {"MPI_Op_free", "ELC_Program_op_free"},
  };
  return all;
}

const std::map<std::string, std::string>& refused() {
  static const char* const kInput = "what was read from the standard input does not come again after a restart; read a file";
  static const char* const kMemory = "its memory is not part of lines; use malloc";
  static const char* const kJump = "a restart cannot set the place to which it goes";
  static const char* const kThread = "lines are of programs with one thread";
  static const char* const kProcess = "other processes are not part of lines";
  static const char* const kSetting = "what it sets is lost in a restart";
  static const char* const kState = "it keeps a state that is not part of lines";
  static const std::map<std::string, std::string> all = {
      {"scanf", kInput}, {"__isoc99_scanf", kInput}, {"getchar", kInput}, {"gets", kInput}, {"vscanf", kInput}, {"__isoc99_vscanf", kInput},
      {"valloc", kMemory}, {"getline", kMemory},
      {"asprintf", kMemory}, {"vasprintf", kMemory}, {"realpath", kMemory}, {"mmap", kMemory}, {"shmat", kMemory},
      {"setjmp", kJump}, {"_setjmp", kJump}, {"sigsetjmp", kJump}, {"__sigsetjmp", kJump}, {"longjmp", kJump}, {"siglongjmp", kJump},
      {"pthread_create", kThread}, {"thrd_create", kThread}, {"fork", kProcess}, {"vfork", kProcess}, {"system", kProcess},
      {"popen", kProcess}, {"pipe", kProcess}, {"socket", kProcess}, {"execv", kProcess}, {"execvp", kProcess}, {"execl", kProcess},
      {"signal", kSetting}, {"sigaction", kSetting}, {"atexit", kSetting}, {"on_exit", kSetting}, {"setlocale", kSetting},
      {"chdir", kSetting}, {"umask", kSetting}, {"setenv", kSetting}, {"putenv", kSetting}, {"unsetenv", kSetting},
      {"feenableexcept", kSetting}, {"fesetround", kSetting}, {"setbuf", kSetting}, {"setvbuf", kSetting},
      {"strtok", kState}, {"ungetc", kState}, {"hcreate", kState}, {"dlopen", kState}, {"freopen", kState}, {"tmpfile", kState},
      {"open", "files are part of lines if fopen or MPI_File_open opens them"},
      {"creat", "files are part of lines if fopen or MPI_File_open opens them"},
      {"MPI_Finalized", "in a prepared program it is not followed"},
  };
  return all;
}

bool draws(const std::string& name) {
  static const Names all = words("rand srand random srandom drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48");
  return all.contains(name);
}

}  // namespace

Known known_function(const std::string& name) {
  Known known;
  if (const auto r = replaced().find(name); r != replaced().end()) {
    known.kind = Known::Kind::kReplaced;
    known.text = r->second;
    known.aligns = r->second == "ELC_Program_posix_memalign" || r->second == "ELC_Program_aligned_alloc";
    known.allocates = name == "malloc" || name == "calloc" || name == "realloc" || r->second == "ELC_Program_aligned_alloc";
  } else if (name == "memset" || name == "memcpy" || name == "memmove" || name == "strcpy" || name == "strncpy" || name == "mempcpy") {
    known.kind = Known::Kind::kPlain;
    known.allocates = name != "mempcpy";
  } else if (const auto no = refused().find(name); no != refused().end()) {
    known.kind = Known::Kind::kRefused;
    known.text = no->second;
  } else if (name.starts_with("PMPI_")) {
    known.kind = Known::Kind::kRefused;
    known.text = "libELC does not see it; call the function without P";
  } else if (draws(name)) {
    known.kind = Known::Kind::kPlain;
    known.draws_numbers = true;
  } else if (plain().contains(name) || mathematics().contains(name) || is_mpi(name) || name.starts_with("__builtin_")) {
    known.kind = Known::Kind::kPlain;
  }
  return known;
}

bool is_known_variable(const std::string& name) {
  static const Names all = words("stdout stderr optarg optind opterr optopt errno");
  return all.contains(name) || name.starts_with("ompi_") || name.starts_with("lam_") || name.starts_with("MPI_") || name.starts_with("MPIR_");
}

bool is_site(const std::string& name) { return sites().contains(name); }

}  // namespace elc::cc
