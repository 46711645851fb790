#include "radir/files/system_error.h"

#include <cerrno>
#include <system_error>

#include "radir/core/error.h"

namespace radir::files {

std::string explain_errno(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "the disk or quota is full; free some space or choose another "
             "folder";
    case EFBIG:
      return "the file would exceed the largest size allowed (see `ulimit "
             "-f`); raise the limit or choose another folder";
    case EACCES:
    case EPERM:
      return "permission denied; check who owns the file and its folder, or "
             "choose another place";
    case EROFS:
      return "the file system is read-only; choose another folder";
    case ENOENT:
      return "no such file or folder; check the spelling, or create the "
             "folder first";
    case ENOTDIR:
      return "a part of the path is a file, not a folder; check the spelling";
    case EISDIR:
      return "it is a folder, not a file; give the path of a file";
    case ENAMETOOLONG:
      return "the name is too long; choose a shorter one";
    case ELOOP:
      return "too many symbolic links; give the path of the file itself";
    case EMFILE:
    case ENFILE:
      return "too many open files; close some or raise `ulimit -n`";
    case EIO:
      return "the device reports an input/output error; check the disk";
    default:
      return std::generic_category().message(error);
  }
}

void throw_file_error(const char* action, const std::string& path, int error) {
  detail::throw_error<IoError>("cannot ", action, " ", path, ": ",
                               explain_errno(error));
}

}  // namespace radir::files
