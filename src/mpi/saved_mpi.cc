#include "mpi/saved_mpi.h"

#include "base/sort.h"
#include "mpi/datatype.h"
#include "state/state.h"

namespace elc::mpi {

namespace {
constexpr uint32_t kSectionLayout = 1;
}

void SavedMpi::encode(Encoder& out) const {
  out.u32(kSectionLayout);
  out.u32(static_cast<uint32_t>(site));
  out.u64(comms.size());
  for (const SavedCommunicator& c : comms) c.encode(out);
  out.opaque(datatypes.data(), datatypes.size());
  out.u64(request_numbers);
  out.u64(requests.size());
  for (const SavedRequest& r : requests) {
    out.u64(r.number);
    out.u32(static_cast<uint32_t>(r.kind));
    out.u32(r.uses);
    if (r.kind != Request::Kind::kReceive) continue;
    out.u64(r.posting);
    out.u64(r.buffer.block);
    out.u64(r.buffer.position);
    out.i32(r.count);
    out.u64(r.type);
    out.u64(r.comm);
  }
}

Status SavedMpi::decode(Decoder& in, int processes, SavedMpi* saved) {
  const uint32_t layout = in.u32();
  if (in.ok() && layout != kSectionLayout) {
    return Status::error("section \"mpi\" has layout %u, and this libELC reads %u: use the newer libELC", layout,
                         kSectionLayout);
  }
  const uint32_t site = in.u32();
  if (site > static_cast<uint32_t>(Site::kCall)) in.fail();
  saved->site = static_cast<Site>(site);
  const size_t comms = in.count(40);
  for (size_t i = 0; i < comms; ++i) {
    SavedCommunicator c;
    SavedCommunicator::decode(in, processes, &c);
    saved->comms.push_back(std::move(c));
  }
  const std::string_view datatypes = in.opaque();
  saved->datatypes.append(reinterpret_cast<const uint8_t*>(datatypes.data()), datatypes.size());
  saved->request_numbers = in.u64();
  for (size_t left = in.count(16); left > 0; --left) {
    SavedRequest r;
    r.number = in.u64();
    const uint32_t kind = in.u32();
    r.uses = in.u32();
    if (kind > static_cast<uint32_t>(Request::Kind::kReceive) || r.uses == 0) in.fail();
    r.kind = static_cast<Request::Kind>(kind);
    if (r.kind == Request::Kind::kReceive) {
      r.posting = in.u64();
      r.buffer.block = in.u64();
      r.buffer.position = in.u64();
      r.count = in.i32();
      r.type = in.u64();
      r.comm = in.u64();
      if (r.count < 0) in.fail();
    }
    saved->requests.push_back(r);
  }
  if (!in.ok() || in.left() != 0) return Status::error("section \"mpi\" is damaged");
  return Status();
}

namespace {

Status save_receive(const Receive& receive, SavedRequest* s) {
  s->posting = receive.posting.number;
  s->buffer = state::locate(receive.buffer);
  s->count = receive.count;
  s->type = number_of(receive.type);
  s->comm = receive.comm->identity;
  if (s->buffer.block == format::kWildBlock && s->count > 0)
    return Status::error("a receive is pending into memory that is not registered (%p): register its buffer", receive.buffer);
  if (s->type == kNoDatatype)
    return Status::error("a receive is pending with a datatype that libELC did not see made");
  return Status();
}

}  // namespace

Status save_mpi(SavedMpi* saved) {
  saved->site = runtime.site;
  for (size_t i = 0; i < runtime.comms.size(); ++i) saved->comms.push_back(describe(*runtime.comms.at(i)));
  Encoder types(&saved->datatypes);
  save_datatypes(types);
  saved->request_numbers = requests.numbers();
  Status status;
  requests.each([&](MPI_Request, Request& r) {
    SavedRequest s;
    s.number = r.number;
    s.kind = r.kind;
    s.uses = r.uses;
    if (r.kind == Request::Kind::kReceive && status.ok()) status = save_receive(r.receive, &s);
    saved->requests.push_back(s);
  });
  sort(saved->requests, [](const SavedRequest& a, const SavedRequest& b) {
    return a.posting != b.posting ? a.posting < b.posting : a.number < b.number;
  });
  return status;
}

void make_requests(const SavedMpi& saved) {
  requests.numbers_from(saved.request_numbers);
  for (const SavedRequest& s : saved.requests) {
    Request* r = s.kind == Request::Kind::kSend ? requests.make_send() : requests.make_receive();
    r->number = s.number;
    r->placeholder = true;
    r->uses = s.uses;
    requests.bind(r, Requests::placeholder());
  }
  requests.numbers_from(saved.request_numbers);
}

void post_again(const SavedMpi& saved) {
  for (const SavedRequest& s : saved.requests) {
    if (s.kind != Request::Kind::kReceive) continue;
    MPI_Request handle;
    requests.find_handle(s.number, &handle);
    Request* r = requests.find(handle);
    Receive& receive = r->receive;
    receive.buffer = state::address_of(s.buffer);
    receive.count = s.count;
    receive.comm = runtime.comms.find_identity(s.comm);
    const Status typed = handle_of(s.type, &receive.type);
    if (receive.comm == nullptr || !typed.ok() || (receive.buffer == nullptr && s.count > 0)) {
      give_up(Status::error("a receive that was pending cannot be posted again: its buffer, datatype or communicator is "
                            "not part of the saved state (register the buffer)"));
    }
    retain_number(s.type);
    r->type_number = s.type;
    if (runtime.process->post_again(receive.posting, s.posting)) give_to_mpi(receive);
  }
}

}  // namespace elc::mpi
