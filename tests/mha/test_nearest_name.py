from mha.nearest_name import nearest_name


def test_the_nearest_name_is_asked_for_and_all_are_told_where_none_is_near() -> None:
    assert nearest_name("bert-bse", ["gpt", "bert-base", "bert-large"]) == "did you mean 'bert-base'?"
    assert nearest_name("t5", (name for name in ("gpt", "bert-base"))) == "known are gpt, bert-base"


def test_what_is_said_otherwise_is_said_only_where_no_name_is_near() -> None:
    assert nearest_name("t5", ["bert-base"], "headscope list names them") == "headscope list names them"
    assert nearest_name("bert-bas", ["bert-base"], "headscope list names them") == "did you mean 'bert-base'?"
