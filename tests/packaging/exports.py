"""The functions that headers declare and define elsewhere, and a program that takes the address of each, so that it
links only against a library that shows them all. C++ that this reader does not know raises an exception."""

import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path

# The types for which templates of the headers may be instantiated.
KEYS = [f"std::{sign}int{bits}_t" for bits in (8, 16, 32, 64) for sign in ("u", "")]
KEYS += ["float", "double", "gsort::Float16", "gsort::BFloat16", "gsort::UInt128"]
NO_FUNCTION = re.compile(r"(using|typedef|friend|static_assert|extern|enum|class|struct)\b|template <.*>\s*concept\b")
NAME_BEFORE_PARAMETERS = re.compile(r"(operator\s*\S+|~?\w+)\s*$")


@dataclass
class Function:
    template: str  # "DeviceKey Key, DeviceWord Value"; empty: it is none
    scope: str     # the class; empty: it is no member
    result: str    # empty: a constructor
    name: str
    parameters: list[str]
    qualifiers: str  # "const", "&&"


def code_of(text: str) -> str:
    """A header without comments, directives, attributes and literals."""
    text = re.sub(r'"(\\.|[^"\\])*"', '""', re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S))
    text = re.sub(r"^\s*#(.*\\\n)*.*$", "", text, flags=re.M)
    return re.sub(r"\[\[.*?\]\]", "", text)


def split_at_top(text: str, separator: str) -> list[str]:
    """Splits where no bracket is open."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "(<[{") - (char in ")>]}")
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def function_of(declaration: str, scope: str) -> Function | None:
    """The function that a declaration without a body declares, if it is one."""
    declaration = " ".join(declaration.split())
    if NO_FUNCTION.match(declaration) or re.search(r"= (default|delete|0)$", declaration):
        return None
    template = re.match(r"template <([^<>]*)> (.*)", declaration)
    if template:
        declaration = template[2]
    depth = 0
    for place, char in enumerate(declaration):
        depth += (char == "<") - (char == ">")
        if char in "={" and depth == 0:
            return None  # a variable
        if char == "(" and depth == 0:
            break
    else:
        return None
    if declaration.startswith("(*", place):
        return None  # a pointer to a function
    begin, end = place, declaration.rindex(")")
    name = NAME_BEFORE_PARAMETERS.search(declaration[:begin])
    assert name and "operator" not in name[1], f"this test does not know how to read: {declaration}"
    result = re.sub(r"\b(inline|virtual|explicit|constexpr|static) ", "", declaration[:name.start()].strip() + " ")
    is_static = "static " in declaration[:name.start()]
    parameters = [split_at_top(parameter, "=")[0] for parameter in split_at_top(declaration[begin + 1:end], ",")]
    return Function(template[1] if template else "", "" if is_static and scope else scope, result.strip(),
                    f"{scope}::{name[1]}" if is_static and scope else name[1], [p for p in parameters if p],
                    re.sub(r"\boverride\b|\bfinal\b", "", declaration[end + 1:]).strip())


def declared_functions(text: str) -> list[Function]:
    """The public functions that a header declares and does not define."""
    found = []
    scopes: list[tuple[str, str]] = []  # kind and name: namespace, class, or the body of something else
    begun: list[str] = []  # for each scope, what goes on behind it
    access = "public"
    statement = ""
    for token in re.findall(r"[{};:]|[^{};:]+", code_of(text)):
        inside = scopes[-1] if scopes else ("namespace", "")
        if token == "{":
            head = " ".join(statement.split())
            named = re.match(r"(?:template <.*> )?(namespace|class|struct) (\w+)(?! *\()", head)
            kind = ("class" if named[1] in ("class", "struct") else "namespace", named[2]) if named else ("body", "")
            if inside[0] == "body":
                kind = ("body", "")
            scopes.append(kind)
            if kind[0] == "class":
                access = "private" if named[1] == "class" else "public"
            is_default = statement.count("(") > statement.count(")")  # of a parameter
            begun.append(statement if is_default else "")
            statement = ""
        elif token == "}":
            scopes.pop()
            statement = begun.pop()
            access = "public"  # no class is inside another here
        elif token == ";":
            if inside[0] == "namespace" or (inside[0] == "class" and access == "public"):
                function = function_of(statement, inside[1] if inside[0] == "class" else "")
                found += [function] if function else []
            statement = ""
        elif token == ":" and inside[0] == "class" and statement.strip() in ("public", "private", "protected"):
            access, statement = statement.strip(), ""
        else:
            statement += token
    assert not scopes, "a brace is left open"
    return found


def reference_to(function: Function, number: int) -> str:
    """C++ that needs the function's symbol."""
    parameters = ", ".join(function.parameters)
    if not function.result:
        arguments = ", ".join(re.search(r"(\w+)$", parameter)[1] for parameter in function.parameters)
        return f"{function.scope}* made{number}({parameters}) {{ return new {function.scope}({arguments}); }}"
    pointer = f"{function.scope}::*" if function.scope else "*"
    name = f"{function.scope}::{function.name}" if function.scope else function.name
    if not function.template:
        return f"{function.result} ({pointer}volatile link{number})({parameters}) {function.qualifiers} = &{name};"
    types = [parameter.split() for parameter in function.template.split(", ")]
    names = ", ".join(key for _, key in types)
    holds = " && ".join(f"{concept}<{key}>" for concept, key in types)
    classes = ", ".join(f"class {key}" for _, key in types)
    body = f"{function.result} ({pointer}volatile link)({parameters}) = &{name}<{names}>; (void)link;"
    return (f"template <{classes}> bool link_of{number}() {{ if constexpr ({holds}) {{ {body} }} "
            f"return {holds}; }}\nint links{number} = "
            + " + ".join(f"link_of{number}<{', '.join(each)}>()" for each in product(KEYS, repeat=len(types))) + ";")


def c_functions(header: str) -> list[str]:
    """The names of the functions that a header for C declares."""
    return re.findall(r"^\w[^;{}]*?\b(gsort_\w+)\(", code_of(header), re.M)


def program_of(headers: list[Path]) -> tuple[str, int]:
    """A program that refers to all functions of the headers, and how many they are."""
    functions = [function for header in headers for function in declared_functions(header.read_text())]
    lines = [f"#include <gsort/{header.name}>" for header in headers] + ["namespace gsort {"]
    lines += [reference_to(function, number) for number, function in enumerate(functions)] + ["}", "int main() {}"]
    return "\n".join(lines) + "\n", len(functions)
