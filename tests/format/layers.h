// What the layers above the file decode from its sections.
#ifndef ELC_TESTS_FORMAT_LAYERS_H
#define ELC_TESTS_FORMAT_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include <string>

namespace elc::format {

// A file of unknown content as a restart and `elc show` use it: label, state (into a program that has a bit
// of everything), the protocol's part. Fails by crashing.
void examine_layers(const std::string& file);

// Records of unknown content beside the rank files: commit record, the mark of a finished run.
void examine_records(const std::string& record);

// An input of the reader's fuzzer in all these ways: a file as examine.h says, or (3) a record.
void examine_reader_input(const uint8_t* data, size_t size);

// A file of that program's state and one message in transit, of a machine of machines().
std::string sample_line(size_t machine);

}  // namespace elc::format

#endif
