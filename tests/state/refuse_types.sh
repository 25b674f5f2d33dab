#!/bin/sh
# Variables that ELC_VAR has no type for, and pointers to handles, must not compile, and the compiler's text must name what to use
# instead; with every compiler that is here. Argument: the directory of elc.h.
include=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

statements='int *p = 0; ELC_VAR(p)
int (*p)[2] = 0; ELC_VAR(p)
void *p = 0; ELC_VAR(p)
int *p[3]; ELC_VAR(p)
struct s x; ELC_VAR(x)
struct s x[3]; ELC_VAR(x)
struct s *p = 0; ELC_VAR(p)
struct s *p = 0; ELC_ARRAY(p, 3)
FILE *f = 0; ELC_VAR(f)
const int c = 1; ELC_VAR(c)
int **p = 0; int n = 0; ELC_ALLOCATED(p, n)
typedef struct s *MPI_Request; MPI_Request *p = 0; ELC_REQUEST(p)
typedef struct s MPI_Status; MPI_Status *p = 0; ELC_STATUS(p)'
first='#include <elc.h>
struct s { int a; };'

# complain WHAT: with what the compiler has said of it, if anything.
complain() {
  printf '%s\n' "$1"
  cut -c 1-200
  failed=1
}

is_advice() { grep -q -e 'use.ELC_PTR' -e 'ELC_PTR for a pointer' -e 'pointer.to.handles'; }

# A function for each, in one file: what the compiler says of a line begins with it, or has come to it from the macro.
for compiler in "gcc -std=c11 -fmax-errors=0" "clang -std=c11 -ferror-limit=0" "gcc -std=c99 -fmax-errors=0" "clang -std=c99 -ferror-limit=0" \
  "gcc -std=gnu89 -fmax-errors=0" "clang -std=gnu89 -ferror-limit=0"; do
  command -v "${compiler%% *}" > /dev/null || continue
  printf '%s\n%s\n' "$first" "$statements" | awk 'NR > 2 { $0 = "void f" NR "(void) { " $0 "; }" } { print }' > "$work/t.c"
  $compiler -I"$include" -fsyntax-only "$work/t.c" > "$work/text" 2>&1
  line=3
  while [ "$line" -le "$(wc -l < "$work/t.c")" ]; do
    awk -v place="/t[.]c:$line[:,]" '
      /: (fatal )?error: / { if (found) print text; text = ""; found = 0 }
      { text = text $0 "\n" }
      $0 ~ place { found = 1 }
      END { if (found) print text }' "$work/text" > "$work/said"
    is_advice < "$work/said" || complain "compiled, or no advice: $compiler: $(sed -n "${line}p" "$work/t.c")" < "$work/said"
    line=$((line + 1))
  done
done

# C++ says a thing of a type once in a file.
printf '%s\n' "$statements" > "$work/statements"
for compiler in "g++ -std=c++11" "clang++ -std=c++11"; do
  command -v "${compiler%% *}" > /dev/null || continue
  while read -r statement; do
    printf '%s\nvoid f(void) { %s; }\n' "$first" "$statement" > "$work/t.cc"
    if $compiler -I"$include" -fsyntax-only "$work/t.cc" > "$work/text" 2>&1 || ! is_advice < "$work/text"; then
      complain "compiled, or no advice: $compiler: $statement" < "$work/text"
    fi
  done < "$work/statements"
done

# refuse_in_cpp STATEMENTS TEXT
refuse_in_cpp() {
  printf '#include <elc.hpp>\nstruct S { int a; };\nstruct B { int a; ELC_MEMBERS(B, a) };\nstruct D : B { int b; };\nint main() { %s; return 0; }\n' "$1" > "$work/t.cc"
  if $compiler -I"$include" -fsyntax-only "$work/t.cc" > "$work/text" 2>&1; then
    echo "compiled, but must not: $compiler: $1"
    failed=1
  elif ! grep -q "$2" "$work/text"; then
    echo "no advice: $compiler: $1"
    cut -c 1-200 "$work/text"
    failed=1
  fi
}

for compiler in "g++ -std=c++11" "clang++ -std=c++17"; do
  command -v "${compiler%% *}" > /dev/null || continue
  for statements in 'int *x = 0' 'S x' 'D x' 'std::vector<S> x' 'std::vector<int *> x' 'std::map<int, const char *> x' 'std::shared_ptr<int> x'; do
    refuse_in_cpp "$statements; elc::save(\"x\", x)" 'elc::save knows no way to save this type'
  done
  refuse_in_cpp 'std::unique_ptr<int[]> x; elc::save("x", x)' 'does not know how long it is'
done
exit $failed
