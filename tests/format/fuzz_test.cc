// The fuzzers' targets without a fuzzer: their corpora, and random inputs.
#include <doctest/doctest.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/message.h"
#include "tests/format/converter.h"
#include "tests/format/examine.h"
#include "tests/format/layers.h"
#include "tests/format/support.h"

using namespace elc::format;

namespace {

using Target = void (*)(const uint8_t*, size_t);

void run_corpus(const char* name, Target target) {
  const char* root = getenv("ELC_FUZZ_CORPORA");
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(root == nullptr ? "tests/format" : root) + "/" + name)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    CAPTURE(entry.path().string());
    target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  CHECK(inputs > 0);
}

}  // namespace

TEST_CASE("the corpus of the reader's fuzzer crashes nothing") {
  run_corpus("corpus-reader", examine_reader_input);
}

TEST_CASE("the corpus of the converter's fuzzer finds nothing") {
  run_corpus("corpus-converter", examine_conversions);
}

TEST_CASE("random conversions are those of the model") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    uint8_t input[64];
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    examine_conversions(input, sizeof input);
  }
}

TEST_CASE("a sample of all layers is read by all, whatever names are like") {
  for (size_t machine = 0; machine < machines().size(); ++machine) examine_layers(sample_line(machine));
  const std::string sample = sample_line(0);
  Sections sections;
  for (const char* name : {"types", "label", "vars", "heap", "files", "line"})
    sections.push_back({name, section_of(sample, name)});
  std::string& variables = sections[2].second;
  const size_t at = variables.find("counters");
  REQUIRE(at != std::string::npos);
  for (const char c : {'\xe4', '\33'}) {  // no UTF-8; a command to a terminal
    variables[at] = c;
    examine_layers(assemble(0, sections));
  }
}

TEST_CASE("a message is one line, and no terminal obeys it") {
  const int saved = dup(STDERR_FILENO);
  FILE* file = tmpfile();
  dup2(fileno(file), STDERR_FILENO);
  elc::say("a name: %s", "x\33[1m\ny");
  dup2(saved, STDERR_FILENO);
  close(saved);
  rewind(file);
  char line[100] = "";
  CHECK(fgets(line, sizeof line, file) != nullptr);
  CHECK(std::string(line) == "elc: a name: x?[1m?y\n");
  CHECK(fgets(line, sizeof line, file) == nullptr);
  fclose(file);
}
