#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/train/hmc.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// See table_methods.h.
TableSettings resolved(const TableSettings& settings,
                       const data::TableEncoder& encoder, std::int64_t rows);

/// The Bayesian network that resolved settings ask for. Throws ArgumentError
/// when they are invalid.
train::ModelSpec model_spec(const TableSettings& settings,
                            const data::TableEncoder& encoder);
train::TrainerOptions trainer_options(const TableSettings& settings,
                                      std::int64_t rows);
/// Seed of a restart, from 0; the first is the settings' own.
std::uint64_t restart_seed(std::uint64_t seed, std::int64_t restart);

/// The settings of one fit of resolved settings: the fits of a stacked mixture
/// differ in kl_weight, 1, 0.3 and 0.1 times the given one in turn, where the
/// method has a choice there (TableMethod::tunes_kl).
TableSettings settings_of_fit(TableSettings settings, std::int64_t restart);

/// Encodes rows of a table anew where the settings ask for pieces of its
/// numbers or for the logarithm of its target and the encoder has none; `aside`
/// are further rows, without influence on the encoder. ArgumentError for a
/// logarithm of classes.
void encode_for(const TableSettings& settings, const data::Table& table,
                data::TableEncoder& encoder, data::EncodedRows& rows,
                data::EncodedRows* aside = nullptr);

/// Reports of one restart, from 0; returning false stops that restart.
using TableFitCallback =
    std::function<bool(std::int64_t restart, const train::EpochReport&)>;

/// Fits `settings.fits()` networks or chains of the resolved settings, several
/// at a time where there is a pool. The callback comes from any thread, one
/// call at a time. The result depends on the seed alone, not on the number of
/// threads. With a run, the networks are parts of it, "1", "2", ..., or a
/// single one the run itself, and the exceptions are those of ResumableRun::fit
/// too. Of a method that samples, each kept draw of each chain is a network;
/// `chains` gets what each chain did.
///
/// With stacked weights, as many fits again find these (stacking.h); the
/// callback does not hear of them.
///
/// On a CUDA device all networks train at once (train::fit_many). The callback
/// then comes when they are done, and a run that is stopped trains them anew
/// when it is resumed.
TableModel fit_networks(const data::TableEncoder& encoder,
                        const data::EncodedRows& rows,
                        const TableSettings& settings,
                        const TableFitCallback& callback = nullptr,
                        const Execution& execution = {},
                        const ResumableRun* run = nullptr,
                        std::vector<train::ChainStatistics>* chains = nullptr);

/// Throws UnsupportedError, which says what to do, where there is no such
/// device.
void check_device(Device device);

/// "3f2a9c0d11e5b7aa": identifies a table (FNV-1a of the encoded numbers).
std::string fingerprint(const data::EncodedRows& rows);

}  // namespace radir::workflows
