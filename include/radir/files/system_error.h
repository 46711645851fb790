#pragma once

#include <string>

namespace radir::files {

/// What went wrong and what to do about it, for an errno of a file operation.
std::string explain_errno(int error);

/// Throws IoError "cannot <action> <path>: <explanation>".
[[noreturn]] void throw_file_error(const char* action, const std::string& path,
                                   int error);

}  // namespace radir::files
