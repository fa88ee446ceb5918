"""Names in openral's own interfaces: rosidl makes C++ members and Python attributes of them."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FILES = sorted(path for kind in ("msg", "srv", "action") for path in (ROOT / kind).glob(f"*.{kind}"))
FIELD = re.compile(r"^[\w/\[\]<=]+\s+([A-Za-z]\w*)\b", re.MULTILINE)
CPP = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
"""
"""Keywords of C++20, https://en.cppreference.com/w/cpp/keyword."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_field_is_a_keyword_of_cpp_or_python(path: Path) -> None:
    names = FIELD.findall(path.read_text())
    assert names
    assert [name for name in names if name in CPP.split() or keyword.iskeyword(name)] == []
