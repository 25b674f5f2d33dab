// The conversions against a model of them: FORMAT.md written once more, slowly, a leaf at a time.
#ifndef ELC_TESTS_FORMAT_CONVERTER_H
#define ELC_TESTS_FORMAT_CONVERTER_H

#include <stddef.h>
#include <stdint.h>

namespace elc::format {

// What the input chooses (where it ends, numbers drawn from it go on): a machine, types in two layouts,
// values; runs of scalars; long doubles. Fails by crashing, with a line that says what is wrong.
//
// - Written as the machine would, the packed value is the model's, or an error that names a leaf that does
// not fit.
// - Read into the other layout, and into other integers, it is the model's too; what lies between fields is
// untouched;
//   check_value and skip_value agree with read_value.
// - Runs at any distances give what their leaves give one by one.
// - A long double goes through every format that has all its bits and comes back the same, and is rounded as
// the
//   processor rounds.
void examine_conversions(const uint8_t* data, size_t size);

}  // namespace elc::format

#endif
