// containers.cc - values of C++ in lines (elc.hpp, ELC_ALLOCATED), for tests/mpi/behaviour_test.py.
//
//     containers SCENE [DIE]      DIE: a rank that kills itself when line 1 has committed, in a run from the start
#include <mpi.h>

#include <elc.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int rank, die = -1, restarted, step;

enum class Colour { red, green };

struct Body {
  int id = 0;
  ELC_MEMBERS(Body, id)
};

struct Particle : Body {
  double x[3] = {};
  std::vector<int> neighbours;
  std::unique_ptr<double> mass;
  std::pair<short, Colour> kind{short(0), Colour::red};
  ELC_MEMBERS(Particle, id, x, neighbours, mass, kind)

  bool operator==(const Particle &other) const {
    return id == other.id && std::equal(x, x + 3, other.x) && neighbours == other.neighbours && kind == other.kind &&
           static_cast<bool>(mass) == static_cast<bool>(other.mass) && (!mass || *mass == *other.mass);
  }
};

// A program of some steps, which is computed once more at the end to compare.
struct State {
  int grid[2][3] = {};
  std::complex<double> z;
  std::vector<double> field;
  std::string text;
  std::vector<bool> bits;
  std::array<float, 4> four = {{0, 0, 0, 0}};
  std::map<std::string, std::vector<Particle>> cells;
  std::set<int> seen;
  std::unordered_map<int, std::string> names;
  std::vector<std::vector<std::string>> words;
  std::list<std::deque<long>> lists;
  std::unique_ptr<Particle> one;
  int *numbers = nullptr;
  unsigned char count = 0;

  void advance(int at) {
    grid[at % 2][at % 3] += at;
    z += std::complex<double>(1, at);
    if (at % 7 == 0) field.clear();
    else field.push_back(at * 0.5);
    text += static_cast<char>('a' + at % 26);
    bits.push_back(at % 3 == 0);
    four[static_cast<std::size_t>(at % 4)] += 1.0f;
    Particle p;
    p.id = at;
    p.x[at % 3] = at * 0.25;
    for (int i = 0; i < at % 4; i++) p.neighbours.push_back(i * at);
    if (at % 2 == 1) p.mass.reset(new double(at * 1.5));
    if (at % 3 == 1) p.kind = std::make_pair(static_cast<short>(at), Colour::green);
    cells["k" + std::to_string(at % 5)].push_back(std::move(p));
    if (at % 11 == 10) cells.erase("k1");
    seen.insert(at * at % 17);
    names[at % 6] += "n";
    words.push_back(std::vector<std::string>{text, "", "x"});
    lists.emplace_back(static_cast<std::size_t>(at % 3), static_cast<long>(at));
    if (at % 4 == 0) one.reset();
    else one.reset(new Particle), one->id = at;
    count = static_cast<unsigned char>(at % 9 == 0 ? 0 : 10 * at % 250);
    numbers = static_cast<int *>(std::realloc(numbers, (count + 1u) * sizeof *numbers));
    if (count == 0) std::free(numbers), numbers = nullptr;
    for (int i = 0; i < count; i++) numbers[i] = at + i;
  }

  bool operator==(const State &s) const {
    return std::memcmp(grid, s.grid, sizeof grid) == 0 && z == s.z && field == s.field && text == s.text && bits == s.bits &&
           four == s.four && cells == s.cells && seen == s.seen && names == s.names && words == s.words && lists == s.lists &&
           (one ? s.one && *one == *s.one : !s.one) && count == s.count && (count > 0) == (numbers != nullptr) &&
           std::equal(numbers, numbers + count, s.numbers);
  }
};

void until_line(unsigned line) {
  if (ELC_Line() < line) ELC_Checkpoint_now();
  while (ELC_Line() < line) ELC_Checkpoint();
}

int all(State &state) {
  for (; step < 30; step++) {
    if (step == 12) {
      until_line(1);
      if (rank == die && !restarted) raise(SIGKILL);
    }
    state.advance(step);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  State again;
  for (int at = 0; at < step; at++) again.advance(at);
  return state == again;
}

// What goes out of scope is in no line from then on, and its name is free.
int scopes() {
  for (int round = 0; round < 3; round++) {
    std::vector<std::vector<int>> inner(static_cast<std::size_t>(round), std::vector<int>(5, round));
    std::vector<int> plain(100, round);
    const elc::Saved keep("inner", inner), keep_plain("plain", plain);
    until_line(static_cast<unsigned>(round + 1));
  }
  until_line(4);
  return ELC_Saved_count("plain") < 0;
}

// Lines without it would not be whole.
int twice() {
  std::vector<int> a, b;
  elc::save("a", a);
  if (elc::save("a", b) != ELC_ERROR) return 0;
  ELC_Checkpoint_now();
  return 1;
}

std::vector<int> into;
MPI_Request request = MPI_REQUEST_NULL;

// A receive into what a restart has elsewhere.
int pending() {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  if (step == 0) {
    into.assign(50, 0);
    MPI_Irecv(into.data(), 50, MPI_INT, left, 3, MPI_COMM_WORLD, &request);
    step = 1;
    until_line(1);
    if (rank == die && !restarted) raise(SIGKILL);
  }
  std::vector<int> mine(50, rank);
  MPI_Send(mine.data(), 50, MPI_INT, right, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return into == std::vector<int>(50, left);
}

// The set-up of a restart would have it where the data are no more.
int persistent() {
  for (int i = 0; i < 50; i++) {
    ELC_Checkpoint_now();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request_free(&request);
  return 1;
}

struct Link {
  int value = 0;
  std::unique_ptr<Link> left, right;
  ELC_MEMBERS(Link, value, left, right)
};

int recursive() {
  Link link;
  if (elc::save("link", link) != ELC_ERROR) return 0;
  ELC_Checkpoint_now();
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (argc > 2) die = std::atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  State state;
  ELC_SAVE(step);
  if (name == "all") {
    elc::save("grid", state.grid, "z", state.z, "field", state.field, "text", state.text, "bits", state.bits, "four", state.four);
    elc::save("cells", state.cells, "seen", state.seen, "names", state.names, "words", state.words, "lists", state.lists);
    elc::save("one", state.one);
    ELC_ALLOCATED(state.numbers, state.count);
    // What the set-up has made gives way to what is in the line.
    state.field.assign(1000, 1.0);
    state.count = 7;
    state.numbers = static_cast<int *>(std::calloc(7, sizeof *state.numbers));
  }
  if (name == "pending" || name == "persistent") {
    into.assign(3, 1);
    elc::save("into", into);
    ELC_REQUEST(request);
  }
  if (name == "persistent") MPI_Recv_init(into.data(), 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
  restarted = ELC_Restore() == ELC_RESTARTED;
  if (name == "all" && !restarted) {
    state.field.clear();
    state.count = 0;
    std::free(state.numbers);
    state.numbers = nullptr;
  }
  int right = name == "all" ? all(state) : name == "scopes" ? scopes() : name == "twice" ? twice() : name == "pending" ? pending()
                    : name == "persistent" ? persistent() : recursive();
  int everywhere = 0;
  MPI_Reduce(&right, &everywhere, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("result: %s\n", everywhere ? "ok" : "wrong");
  MPI_Finalize();
  return 0;
}
