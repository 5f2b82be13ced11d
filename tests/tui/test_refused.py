"""What is refused is kept: a text that an editor left, a line that was typed into a sheet."""

from __future__ import annotations

from tests.tui.conftest import lines_of


async def test_a_text_that_was_refused_is_opened_again_at_its_line(play, example) -> None:
    from trainplan_tui.acts.filing import edit_text

    opened: list[tuple[str, int]] = []
    left = [example + "\ngargle = 1\n", example.replace('"15.6T"', '"14T"')]

    async def twice(app, pilot) -> None:
        app.run_editor = lambda text, line: opened.append((text, line)) or left[len(opened) - 1]
        edit_text(app)
        app.first = app.message
        edit_text(app)

    app = await play(example, then=twice)
    wrong = left[0].splitlines().index("gargle = 1") + 1
    assert app.first.startswith("not taken; e opens your text again: ")
    assert opened == [(example, 1), (left[0], wrong)]
    assert app.session.history.now.plan.data.train_tokens == 14e12


async def test_a_plan_that_moved_since_is_not_put_back_by_a_refused_text(play, example) -> None:
    from trainplan_tui.acts.filing import edit_text

    opened: list[str] = []

    async def between(app, pilot) -> None:
        app.run_editor = lambda text, line: opened.append(text) or text + "\ngargle = 1\n"
        edit_text(app)
        assert app.apply("data.train_tokens", "13T")
        edit_text(app)

    app = await play(example, then=between)
    assert opened == [example, app.session.history.now.text]


async def test_a_line_that_was_refused_stays_with_the_reason(play, example) -> None:
    app = await play(example, "2 a web enter")
    seen = lines_of(app)
    assert any(line.startswith(" : web") for line in seen)
    assert any("name, unique tokens and perhaps a weight" in line for line in seen)
    app = await play(example, "2 a web enter ctrl+u books space 250B enter")
    assert [source.name for source in app.session.history.now.plan.data.sources][-1] == "books"


async def test_a_path_that_was_refused_stays_with_the_reason(play, example, tmp_path) -> None:
    (tmp_path / "there.toml").write_text("format = 1\n", encoding="utf-8")
    keys = f": save space as enter ctrl+u paste:{tmp_path}/there.toml enter"
    app = await play(example, keys)
    seen = lines_of(app)
    assert any(line.startswith(" : ") and "there.toml" in line for line in seen)
    assert (tmp_path / "there.toml").read_text(encoding="utf-8") == "format = 1\n"


async def test_a_plan_or_a_log_that_cannot_be_read_stays_in_its_line(play, example, tmp_path) -> None:
    """One letter was wrong, and the path has not to be typed again."""
    (tmp_path / "half.toml").write_text('format = 1\n[cluster]\nnodes = "x"\npods = 2\n', encoding="utf-8")
    (tmp_path / "jobs.txt").write_text("JobID|State|NNodes|ElapsedRaw\n1|NODE_FAIL|8|60\n", encoding="utf-8")
    for keys, reason in (
        (f"9 L ctrl+u paste:{tmp_path}/jobs.txt enter", "output of sacct, no log: trainplan-tui calibrate plan.toml"),
        (f"c ctrl+u paste:{tmp_path}/half.toml enter", "and 1 more"),
        (f"c ctrl+u paste:{tmp_path}/gone.toml enter", "does not exist"),
        (f"9 L ctrl+u paste:{tmp_path}/gone.log enter", "is not there"),
        (f"3 L ctrl+u paste:{tmp_path} enter", "is a folder"),
    ):
        app = await play(example, keys)
        assert app.sheets, keys
        assert app.sheets[-1].line.text.startswith(str(tmp_path)), keys
        assert reason in " ".join(" ".join(lines_of(app)).split()), (keys, lines_of(app))
        assert app.message == ""
