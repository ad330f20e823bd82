"""The rows of the table of subword methods; docs/extending.md adds one, and its test prepares text by it."""

from pkgutil import resolve_name

from realformer_nmt.corpora.subwords.subword_methods import METHODS, learnt


def test_every_function_that_the_table_names_is_there() -> None:
    for method in METHODS.values():
        for name in filter(None, (method.learn, method.encoder, method.detokenise)):
            assert callable(resolve_name(name))


def test_all_that_is_learnt_leaves_files() -> None:
    assert all(METHODS[name].files for name in learnt())
