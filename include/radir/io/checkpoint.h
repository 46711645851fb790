#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "radir/train/trainer.h"

namespace radir::io {

/// Writes the progress of a training (T: float or double) as one safetensors
/// file, atomically: whatever happens, the file is the old checkpoint or the
/// new one. `configuration` is a JSON object, as text, of all that decides the
/// training: settings, and a fingerprint of the data. Throws ArgumentError when
/// it is not such an object, IoError when the file cannot be written.
template <typename T>
void write_checkpoint(const std::string& path,
                      const train::TrainerProgress<T>& progress,
                      const std::string& configuration);

/// Reads what write_checkpoint wrote. Throws IoError that says what is wrong:
/// not a checkpoint, a damaged one, a newer format, or one of another
/// configuration (naming what differs).
template <typename T>
train::TrainerProgress<T> read_checkpoint(const std::string& path,
                                          const std::string& configuration);

/// The same from the bytes of a file; `name` is for messages.
template <typename T>
train::TrainerProgress<T> read_checkpoint(const std::string& name,
                                          std::string_view bytes,
                                          const std::string& configuration);

/// The history in a checkpoint of any configuration. Throws IoError as
/// read_checkpoint.
std::vector<train::EpochReport> read_checkpoint_history(
    const std::string& path);

}  // namespace radir::io
