// Writes the sample file of each machine to MACHINE.elc in the current directory and what is in it to
// MACHINE.txt, for second_reader.py.
#include <cctype>
#include <fstream>

#include "tests/format/examine.h"
#include "tests/format/support.h"

int main() {
  using namespace elc::format;
  const std::vector<Machine> all = machines();
  for (size_t m = 0; m < all.size(); ++m) {
    std::string name = all[m].name;
    for (char& c : name)
      if (isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
    const std::string file = sample_file(m, m % 2 == 0 ? 0 : 6);
    std::ofstream(name + ".elc", std::ios::binary) << file;
    std::ofstream(name + ".txt") << show_sample(file);
  }
}
