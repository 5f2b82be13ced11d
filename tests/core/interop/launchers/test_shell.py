"""Options reach import as a shell would pass them, each with its place; what is not in the file is said and left out."""

from __future__ import annotations

import pytest

from trainplan.interop.launchers.places import Page
from trainplan.interop.launchers.script.commands import Launch, ScriptError, launch_of
from trainplan.interop.launchers.script.expansion import whole_number


def launched(*texts: str) -> Launch:
    return launch_of([Page(f"{'ab'[index]}.sh", text) for index, text in enumerate(texts)])


def words(text: str) -> list[str]:
    return [option.words for option in launched(text).options]


@pytest.mark.parametrize(
    "text",
    [
        "torchrun pretrain_gpt.py --num-layers 24 --hidden-size=1024\n",
        "torchrun pretrain_gpt.py \\\n  --num-layers 24 \\\n  --hidden-size=1024\n",
        "A=( --num-layers 24 # deep\n  --hidden-size=1024 )\ntorchrun pretrain_gpt.py ${A[@]}\n",
        'A=(--num-layers)\nA+=(24 --hidden-size=1024)\ntorchrun pretrain_gpt.py "${A[@]}"\n',
        'N=24\nA=" \\\n --num-layers $N \\\n --hidden-size=${H:-1024} \\\n"\nsrun bash -c "python pretrain_gpt.py $A"\n',
        "N=$((8 * 3))\ntorchrun pretrain_gpt.py --num-layers $N --hidden-size=$((N * 43 - 8))\n",
        "export A='--num-layers 24 --hidden-size=1024'\nbash -c 'python pretrain_gpt.py $A'\n",
        "--num-layers 24\n--hidden-size=1024\n",
        'OPTIONS="--num-layers 24 --hidden-size=1024"\n',
        "if true; then :; fi\ntorchrun pretrain_gpt.py --num-layers 24 --hidden-size=1024 2>&1 | tee log\n",
        "torchrun pretrain_gpt.py --num-layers '24' --hidden-size=\"1024\" > log 2>&1 &\n",
        'SIZE=24\nif [ "$SIZE" -eq 24 ]; then N=24; else N=48; fi\npython x/pretrain_gpt.py --num-layers $N --hidden-size=1024\n',
        "sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=2\nsrun python pretrain_gpt.py --num-layers 24 --hidden-size=1024\nEOF\n",
    ],
)
def test_options_in_every_dress(text: str) -> None:
    found = {option.name: option.values[0].text for option in launched(text).options}
    assert found == {"num_layers": "24", "hidden_size": "1024"}


def test_an_option_knows_where_it_stands() -> None:
    text = "N=24\nA=(\n   --num-layers $N\n)\ntorchrun pretrain_gpt.py ${A[@]}\n"
    option = launched(text).options[0]
    assert str(option.place) == "a.sh:3:4"
    assert str(option.values[0].place) == "a.sh:1:3"


def test_quotes_and_blanks_in_a_value_are_its_own() -> None:
    """A quoted entry of an array stays whole where the array is passed without quotes too: that is what its writer means."""
    text = 'A=(--step-batch-size-schedule "0:16 2.4B:320")\ntorchrun pretrain_gpt.py ${A[@]} --num-layers 2\n'
    for passed in ("${A[@]}", '"${A[@]}"'):
        found = launched(text.replace("${A[@]}", passed)).options[0]
        assert [value.text for value in found.values] == ["0:16 2.4B:320"]
    assert words("torchrun pretrain_gpt.py --num-layers 2 --name 'a b'\n") == ["--num-layers 2", "--name a b"]


def test_what_a_launcher_gets_is_not_the_programs() -> None:
    found = launched(
        "srun -N 4 torchrun --nnodes=4 --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 8\n"
    )
    assert [option.name for option in found.launcher] == ["N", "nnodes", "nproc_per_node"]
    assert [option.name for option in found.options] == ["num_layers", "hidden_size"]
    assert found.program == "pretrain_gpt.py"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("$LAYERS", "$LAYERS is not set in the file"),
        ("${LAYERS}", "$LAYERS is not set in the file"),
        ("$(nproc)", "$(nproc) is not known here"),
        ("`nproc`", "`nproc` is not known here"),
        ("$1", "$1 is not known here"),
        ("${#LAYERS}", "${#LAYERS} is not known here"),
        ("${A%%x}", "${A%%x} is not known here"),
        ("$((LAYERS+1))", "$LAYERS is not set in the file"),
        ("$((2**3))", "$((2**3)) is no sum of whole numbers"),
    ],
)
def test_what_is_not_in_the_file_has_no_value(value: str, why: str) -> None:
    found = launched(f"torchrun pretrain_gpt.py --num-layers {value} --hidden-size 8\n").options[0]
    assert found.unknown == why


def test_branches_that_nobody_knows_leave_a_value_open() -> None:
    text = "if [ $X = 1 ]; then N=2; else N=3; fi\ntorchrun pretrain_gpt.py --num-layers $N --hidden-size 8\n"
    assert launched(text).options[0].unknown == "$N is assigned differently under conditions, lines 1"
    same = text.replace("N=3", "N=2")
    assert launched(same).options[0].values[0].text == "2"


@pytest.mark.parametrize(
    ("test", "taken"),
    [
        ("[[ $S == 7 ]]", "1"),
        ("[ $S -gt 7 ]", "2"),
        ('[ "$S" != "7" ]', "2"),
        ("[ -n $S ]", "1"),
        ("[ -z $S ]", "2"),
        ("[ ! $S -lt 7 ]", "1"),
        ("[[ $S -ge 7 ]] && [[ $S -le 7 ]]", ""),
        ("[ -f /etc/passwd ]", ""),
        ("[[ $S == 7* ]]", ""),
    ],
)
def test_a_condition_of_the_files_own_values_is_known(test: str, taken: str) -> None:
    text = f"S=7\nif {test}; then N=1; else N=2; fi\ntorchrun pretrain_gpt.py --num-layers $N --hidden-size 8\n"
    found = launched(text).options[0]
    assert ("" if found.unknown else found.values[0].text) == taken


def test_what_a_branch_adds_stands_under_its_condition() -> None:
    text = "A=(--num-layers 2)\nif [ $X ]; then\n A+=(--bf16)\nfi\ntorchrun pretrain_gpt.py ${A[@]}\n"
    told = {option.name: option.maybe for option in launched(text).options}
    assert told == {"num_layers": "", "bf16": "line 3 adds it under a condition"}


def test_slurm_sets_what_its_own_lines_say() -> None:
    text = "#SBATCH --nodes=4\n#SBATCH -t 20:00:00\ntorchrun --nnodes $SLURM_NNODES pretrain_gpt.py --num-layers 2\n"
    found = launched(text)
    assert found.launcher[0].values[0].text == "4"
    assert [option.name for option in found.scheduler] == ["nodes", "time"]


def test_a_document_keeps_its_lines_and_values() -> None:
    text = 'M=2\ncat <<EOT > c.json\n{ "a": $M,\n "b": "\\$M" }\nEOT\ncat <<\'EOT\'\n$M\nEOT\n--num-layers 2\n'
    assert [(body, place.line) for body, place in launched(text).documents] == [
        ('{ "a": 2,\n "b": "$M" }\n', 3),
        ("$M\n", 7),
    ]


def test_a_file_may_be_read_in_another() -> None:
    """What one file assigns, the next may pass, as if it were sourced."""
    found = launched("MODEL=(--num-layers 2 --hidden-size 8)\n", "source a.sh\ntorchrun pretrain_gpt.py ${MODEL[@]}\n")
    assert [str(option.place) for option in found.options] == ["a.sh:1:8", "a.sh:1:23"]
    assert found.notes == ("b.sh:1:1: a.sh is read there, and not here. Import it as a file more",)


def test_what_no_command_gets_is_said() -> None:
    text = "MOE=(--num-experts 8)\ntorchrun pretrain_gpt.py --num-layers 2 --hidden-size 8\n  --bf16\n"
    assert launched(text).notes == (
        "a.sh:1:6: MOE is not passed to the command that trains; not read",
        "a.sh:3:3: --bf16 begins a command of its own; not read. The line before ends with a backslash where it goes on",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('A="--num-layers 2\n', "a.sh:1:3: this quote is never closed"),
        ("A='--num-layers 2\n", "a.sh:1:3: this quote is never closed"),
        ("A=(--num-layers 2\n", "a.sh:1:3: this bracket is never closed"),
        ("A=(--num-layers > 2)\n", "a.sh:1:17: '>' cannot stand in an array"),
        ("--num-layers `nproc\n", "a.sh:1:14: this backtick is never closed"),
        ("cat <<E\n--num-layers 2\n", "a.sh:2:1: this here-document has no line E that ends it"),
        ("if " * 60 + "--num-layers 2", "a.sh:1:121: branches are nested more than 40 deep"),
        ("--num-layers " + "${A:-" * 60 + "}" * 60, "a.sh:1:15: brackets are nested more than 40 deep"),
        ('A="--num-layers 4 and so on"\n' + 'A="$A $A"\n' * 40, "a.sh:1:1: a variable grows without end"),
    ],
)
def test_what_is_no_script_is_refused_where_it_begins(text: str, why: str) -> None:
    with pytest.raises(ScriptError) as caught:
        launched(text)
    assert str(caught.value).startswith(why)


def test_sums_are_whole_numbers_and_nothing_else() -> None:
    assert [whole_number(text) for text in ("8*1024", "(1+2)*3", "7/2", "-7/2", "-4 % 3")] == [8192, 9, 3, -3, -1]
    assert [whole_number(text) for text in ("2**99", "1/0", "__import__", "1.5", "(" * 90)] == [None] * 5


def test_a_value_of_a_document_that_is_not_known_is_null_and_said() -> None:
    found = launched('cat <<EOT > c.json\n{ "a": $A, "b": "$B" }\nEOT\n--num-layers 2\n')
    assert found.documents[0][0] == '{ "a": null, "b": "$B" }\n'
    assert found.notes == ("a.sh:2:8: $A is not set in the file; left out",)


def test_words_of_a_shell_in_a_quoted_command_end_it() -> None:
    """microsoft/Megatron-DeepSpeed f4157be, examples_deepspeed/compression: the output goes to a file inside the text."""
    assert words('C="deepspeed pretrain_gpt.py --num-layers 2 --bf16 &> log"\neval ${C}\n') == [
        "--num-layers 2",
        "--bf16",
    ]


def test_an_option_whose_value_is_not_known_is_that_option() -> None:
    found = launched("torchrun pretrain_gpt.py --bf16 --num-layers=$N --hidden-size 8 --$WORD 3\n").options
    assert [(option.name, option.unknown) for option in found[:2]] == [
        ("bf16", ""),
        ("num_layers", "$N is not set in the file"),
    ]
    assert [value.text for value in found[2].values] == ["8", "--$WORD", "3"]
