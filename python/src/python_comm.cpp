#include "python_comm.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "unlocked.hpp"

namespace fd::python {
namespace {

// f with the lock, while there is an interpreter that has one. Exceptions of Python go through the library to whoever called it.
template <class F>
auto locked(F&& f) {
  if (python_ends()) throw Error(Failure::interrupted, "interrupted");
  const nb::gil_scoped_acquire lock;
  return f();
}

}  // namespace

PythonComm::PythonComm(nb::object ranks)
    : ranks_(std::move(ranks)), rank_(nb::cast<int>(ranks_.attr("rank"))), size_(nb::cast<int>(ranks_.attr("size"))) {}

void PythonComm::send(int to, Message message) {
  locked([&] {
    // the view is of memory that its owner keeps
    const nb::object view = nb::steal(
        PyMemoryView_FromMemory(const_cast<char*>(message->data()), static_cast<Py_ssize_t>(message->size()), PyBUF_READ));
    if (!view.is_valid()) throw nb::python_error();
    auto kept = std::make_unique<Message>(std::move(message));
    const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Message*>(p); });
    kept.release();
    ranks_.attr("send")(to, view, owner);
  });
}

Comm::Message PythonComm::receive(int from) {
  return locked([&] {
    try {
      const nb::object got = ranks_.attr("receive")(from);
      Py_buffer buffer;
      if (PyObject_GetBuffer(got.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw nb::python_error();
      const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&buffer, &PyBuffer_Release);
      const char* const first = static_cast<const char*>(buffer.buf);
      return std::make_shared<const std::vector<char>>(first, first + buffer.len);
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_MemoryError)) throw;
      throw Error(Failure::memory, "no memory for what another rank sent", "use more machines, or fewer ranks on each");
    }
  });
}

void PythonComm::expect(int from) {
  locked([&] { ranks_.attr("expect")(from); });
}
void PythonComm::progress() {
  locked([&] { ranks_.attr("progress")(); });
}
void PythonComm::ask_stop(std::uint64_t work) {
  locked([&] { ranks_.attr("ask_stop")(work); });
}
bool PythonComm::stop_asked(std::uint64_t work) {
  return locked([&] { return nb::cast<bool>(ranks_.attr("stop_asked")(work)); });
}

}  // namespace fd::python
