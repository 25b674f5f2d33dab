#!/bin/sh
# Variables that ELC_VAR has no type for must not compile, and the compiler's text must name what to use
# instead; with every compiler that is here. Argument: the directory of elc.h.
include=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# refuse COMPILER FILE-ENDING STATEMENTS
refuse() {
  printf '#include <elc.h>\nstruct s { int a; };\nint main(void) { %s; return 0; }\n' "$3" > "$work/t.$2"
  if $1 -I"$include" -c "$work/t.$2" -o "$work/t.o" > "$work/text" 2>&1; then
    echo "compiled, but must not: $1: $3"
    failed=1
  elif ! grep -q 'use.ELC_PTR' "$work/text" && ! grep -q 'ELC_PTR for a pointer' "$work/text"; then
    echo "no advice: $1: $3"
    cut -c 1-200 "$work/text"
    failed=1
  fi
}

for compiler in "gcc -std=c11" "clang -std=c11" "gcc -std=c99" "clang -std=c99" "gcc -std=gnu89" "clang -std=gnu89" "g++ -std=c++11" "clang++ -std=c++11"; do
  command -v "${compiler%% *}" > /dev/null || continue
  case $compiler in *++*) ending=cc ;; *) ending=c ;; esac
  refuse "$compiler" $ending 'int *p = 0; ELC_VAR(p)'
  refuse "$compiler" $ending 'int (*p)[2] = 0; ELC_VAR(p)'
  refuse "$compiler" $ending 'void *p = 0; ELC_VAR(p)'
  refuse "$compiler" $ending 'int *p[3]; ELC_VAR(p)'
  refuse "$compiler" $ending 'struct s x; ELC_VAR(x)'
  refuse "$compiler" $ending 'struct s x[3]; ELC_VAR(x)'
  refuse "$compiler" $ending 'struct s *p = 0; ELC_VAR(p)'
  refuse "$compiler" $ending 'struct s *p = 0; ELC_ARRAY(p, 3)'
  refuse "$compiler" $ending 'FILE *f = 0; ELC_VAR(f)'
  refuse "$compiler" $ending 'const int c = 1; ELC_VAR(c)'
  refuse "$compiler" $ending 'int **p = 0; int n = 0; ELC_ALLOCATED(p, n)'
done

# refuse_in_cpp STATEMENTS TEXT
refuse_in_cpp() {
  printf '#include <elc.hpp>\nstruct S { int a; };\nstruct B { int a; ELC_MEMBERS(B, a) };\nstruct D : B { int b; };\nint main() { %s; return 0; }\n' "$1" > "$work/t.cc"
  if $compiler -I"$include" -c "$work/t.cc" -o "$work/t.o" > "$work/text" 2>&1; then
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
