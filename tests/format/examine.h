// Uses a file of unknown content in every way a reader can be used. For the fuzzer and the tests of damage.
#ifndef ELC_TESTS_FORMAT_EXAMINE_H
#define ELC_TESTS_FORMAT_EXAMINE_H

#include <string>
#include <utility>
#include <vector>

#include "portable_format/types.h"

namespace elc::format {

// The types that examine() reads into, and that its sample file is made of.
const TypeTable& examined_types();

// A small file with sections of XDR and of values: of each, its type (i32), its count (u64) and the value.
// `machine`: index into machines().
std::string sample_file(size_t machine, int compression);

// All values of a sound sample, a line for each leaf: place, kind, value.
std::string show_sample(const std::string& file);

// Opens, verifies, shows, checks and reads. Returns false if an error was found. Fails by crashing.
bool examine(const std::string& file);

// Sets the checksums of header, index and trailer, as far as they can be found, to what they ought to be: so
// that a mutated file gets farther.
void reseal(std::string* file);

// A sound file of a machine around sections, by name and content, that need not be.
using Sections = std::vector<std::pair<std::string, std::string>>;
std::string assemble(size_t machine, const Sections& sections);
// Content of a section of a sound file.
std::string section_of(const std::string& file, const char* section);

// Input of the reader's fuzzer. The first byte says how the rest becomes a file: 0 as it is, 1 resealed, 2 assembled
// from a machine's number and sections, each the number of its name, its length in two bytes and its content.
constexpr const char* kSectionNames[] = {"types", "values", "text", "label", "vars", "heap", "files", "mpi", "line", "setup"};
std::string file_of_input(const uint8_t* data, size_t size);

}  // namespace elc::format

#endif
