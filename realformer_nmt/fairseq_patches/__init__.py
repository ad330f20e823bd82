"""Changes of fairseq: apply() makes them all, and docs/reference/patches.md has a table of them."""

import functools
from collections.abc import Callable

from realformer_nmt.fairseq_patches.checkpoints import (
    checkpoint_files,
    elastic_resume,
    embedding_transfer,
    hub,
    resume_checks,
    safe_loading,
    save_dir_lock,
)
from realformer_nmt.fairseq_patches.data import batch_shapes, batches, data_bin, dictionary_checks
from realformer_nmt.fairseq_patches.decoding import shortlist
from realformer_nmt.fairseq_patches.messages import error_line, quiet, time_left
from realformer_nmt.fairseq_patches.options import architectures, literal_options, option_ranges
from realformer_nmt.fairseq_patches.training import (
    bf16,
    divergence,
    end_of_training,
    multilingual_updates,
    one_launch,
    rank_timeout,
    ranks,
    weight_lists,
)

PATCHES: tuple[Callable[[], None], ...] = (  # in the order in which they are applied
    quiet.quieten_warnings,
    quiet.quieten_root_logger,
    quiet.log_each_line_once,
    quiet.begin_one_wandb_run,
    time_left.log_the_time_left,
    safe_loading.read_checkpoints_safely,
    hub.unpack_within_a_folder,
    literal_options.evaluate_plain_values_alone,
    bf16.train_in_bf16_without_tpu,
    bf16.decode_in_bf16,
    bf16.resume_with_the_fp32_weights,
    weight_lists.copy_gradients_together,
    weight_lists.copy_weights_together,
    weight_lists.clear_gradients_together,
    weight_lists.measure_gradients_together,
    shortlist.search_a_shortlist,
    option_ranges.check_every_option,
    data_bin.check_languages,
    data_bin.check_dictionaries,
    data_bin.check_datasets,
    data_bin.check_targets,
    dictionary_checks.remember_dictionaries,
    batches.name_whole_numbers,
    batch_shapes.leave_lengths_as_they_are,
    batch_shapes.train_on_few_shapes,
    batch_shapes.count_no_fillers,
    one_launch.record_steps,
    one_launch.clear_gradients_in_place,
    one_launch.replay_steps,
    batches.keep_last_batch,
    batches.end_loaders_with_their_command,
    batches.end_prefetching_before_exit,
    checkpoint_files.save_atomically,
    checkpoint_files.copy_atomically,
    checkpoint_files.refuse_a_missing_save_dir,
    checkpoint_files.continue_a_finetuning,
    resume_checks.resume_from_a_complete_checkpoint,
    resume_checks.name_the_checkpoint_that_does_not_fit,
    embedding_transfer.carry_embeddings,
    save_dir_lock.lock_save_dir,
    end_of_training.save_the_patience,
    end_of_training.resume_with_the_patience,
    end_of_training.end_before_the_first_update,
    elastic_resume.note_the_ranks,
    elastic_resume.resume_on_other_ranks,
    ranks.refuse_ranks_that_train_alone,
    ranks.start_the_ranks_asked_for,
    ranks.wrap_models_on_the_cpu,
    ranks.leave_out_missing_batches,
    ranks.end_waiting_ranks,
    rank_timeout.limit_the_wait,
    multilingual_updates.pass_on_the_number_of_updates,
    multilingual_updates.average_the_gradients_of_every_pair,
    divergence.note_divergence,
    architectures.suggest_the_closest,
    architectures.fill_in_before_hydra,
    error_line.end_with_one_line,
)


@functools.cache
def apply() -> None:
    """Apply all patches, once per process: a second call changes nothing."""
    for patch in PATCHES:
        patch()
