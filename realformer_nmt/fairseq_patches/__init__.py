"""Changes of fairseq: apply() makes them all, and docs/compatibility.md has a table of them."""

import functools

from realformer_nmt.fairseq_patches import (
    amp,
    architectures,
    batches,
    bf16,
    checkpoint_files,
    data_bin,
    dictionary_checks,
    divergence,
    elastic_resume,
    embedding_transfer,
    error_line,
    hub,
    literal_options,
    moving_average,
    numpy_names,
    one_wandb_run,
    option_ranges,
    quiet,
    rank_timeout,
    ranks,
    resume_checks,
    safe_loading,
    save_dir_lock,
    shortlist,
    stop_at_max_update,
)


@functools.cache
def apply() -> None:
    """Apply all patches, once per process: a second call changes nothing."""
    quiet.quieten_warnings()
    quiet.quieten_root_logger()
    quiet.log_each_line_once()
    one_wandb_run.begin_once()
    safe_loading.read_checkpoints_safely()
    safe_loading.open_ordinary_files_alone()
    hub.unpack_within_a_folder()
    hub.ask_for_the_files_of_a_bpe()
    literal_options.evaluate_plain_values_alone()
    bf16.train_in_bf16_without_tpu()
    bf16.decode_in_bf16()
    bf16.resume_with_the_fp32_weights()
    amp.autocast_on_a_cpu()
    amp.end_where_no_scale_is_left()
    shortlist.search_a_shortlist()
    option_ranges.check_every_option()
    data_bin.check_languages()
    data_bin.check_dictionaries()
    data_bin.check_datasets()
    data_bin.check_targets()
    dictionary_checks.remember_dictionaries()
    numpy_names.name_whole_numbers()
    batches.keep_last_batch()
    batches.end_prefetching_before_exit()
    checkpoint_files.save_at_one_blow()
    checkpoint_files.copy_at_one_blow()
    checkpoint_files.miss_a_folder_that_is_gone()
    checkpoint_files.refuse_options_that_name_no_file()
    resume_checks.go_on_from_a_whole_checkpoint_of_this_model()
    resume_checks.name_the_checkpoint_that_does_not_fit()
    embedding_transfer.carry_embeddings()
    save_dir_lock.hold_the_folder()
    stop_at_max_update.train_no_further()
    elastic_resume.note_the_ranks()
    elastic_resume.find_the_place_on_other_ranks()
    ranks.refuse_ranks_that_train_alone()
    ranks.start_the_ranks_asked_for()
    ranks.wrap_models_on_the_cpu()
    ranks.end_ranks_that_wait_for_ever()
    ranks.gather_lists_on_the_cpu()
    ranks.validate_uneven_shares()
    rank_timeout.limit_the_wait()
    moving_average.copy_what_is_no_average()
    moving_average.average_tied_weights_once()
    divergence.note_divergence()
    architectures.explain_clashes()
    architectures.fill_in_before_hydra()
    error_line.end_with_one_line()
