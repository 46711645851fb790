#include "c_api/guard.h"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/core/version.h"
#include "radir/files/utf8.h"
#include "radir/workflows/resumable_run.h"

namespace radir::c_api {
namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

radir_status fail(radir_status status, const char* message) noexcept {
  try {
    last_error() = message;
  } catch (...) {  // no memory for the message; the status says as much
    last_error().clear();
  }
  return status;
}

}  // namespace

radir_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const ArgumentError& error) {
    return fail(RADIR_ARGUMENT_ERROR, error.what());
  } catch (const DomainError& error) {
    return fail(RADIR_DOMAIN_ERROR, error.what());
  } catch (const NumericalError& error) {
    return fail(RADIR_NUMERICAL_ERROR, error.what());
  } catch (const IoError& error) {
    return fail(RADIR_IO_ERROR, error.what());
  } catch (const UnsupportedError& error) {
    return fail(RADIR_UNSUPPORTED, error.what());
  } catch (const MemoryError& error) {
    return fail(RADIR_OUT_OF_MEMORY, error.what());
  } catch (const workflows::Interrupted& error) {
    return fail(RADIR_STOPPED, error.what());
  } catch (const std::bad_alloc&) {
    return fail(RADIR_OUT_OF_MEMORY, "memory ran out");
  } catch (const std::length_error&) {  // what std::vector says of such sizes
    return fail(RADIR_OUT_OF_MEMORY,
                "more memory is needed than any machine has; check the counts "
                "and sizes");
  } catch (const std::exception& error) {
    return fail(RADIR_INTERNAL_ERROR, error.what());
  } catch (...) {
    return fail(RADIR_INTERNAL_ERROR, "an exception of unknown type");
  }
}

void check_pointer(const void* pointer, const char* name) {
  RADIR_CHECK(pointer != nullptr, ArgumentError, "the argument \"", name,
              "\" is a null pointer");
}

std::string required_text(const char* text, const char* name) {
  check_pointer(text, name);
  std::string copy = text;
  RADIR_CHECK(files::is_utf8(copy), ArgumentError, "the argument \"", name,
              "\" is not UTF-8");
  return copy;
}

void copy_out(std::string_view bytes, int zeros, char* buffer,
              std::int64_t capacity, std::int64_t* length) {
  check_pointer(length, "length");
  *length = static_cast<std::int64_t>(bytes.size());
  if (capacity < *length + zeros) {
    RADIR_CHECK(capacity <= 0, ArgumentError, "the buffer has ", capacity,
                " bytes, but ", *length + zeros, " are needed");
    return;
  }
  check_pointer(buffer, "buffer");
  std::fill_n(std::copy(bytes.begin(), bytes.end(), buffer), zeros, '\0');
}

// The functions of the interface.
extern "C" {

const char* radir_version(void) { return version(); }

const char* radir_last_error(void) { return last_error().c_str(); }

}  // extern "C"
}  // namespace radir::c_api
