"""mutants.py - the places of a C source that a mutant may change, found by libclang (python3-clang-14)."""
import re
import sys

for _folder in ("/usr/lib/python3/dist-packages",):  # where Debian installs it; python3 may be another one
    if _folder not in sys.path:
        sys.path.append(_folder)
import clang.cindex as cx  # noqa: E402

COMPARE = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
              "^": ["&"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="]}
LOGIC = {"&&": "||", "||": "&&"}
INTEGER = re.compile(rb"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)")
FLOATING = re.compile(rb"([0-9]*\.[0-9]*(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)([fFlL]?)")
K = cx.CursorKind
LOOPS = (K.FOR_STMT, K.WHILE_STMT, K.DO_STMT)
BODIES = (K.COMPOUND_STMT, K.CASE_STMT, K.DEFAULT_STMT)
CASTS = (K.CSTYLE_CAST_EXPR, K.PAREN_EXPR, K.UNEXPOSED_EXPR)


def other_numbers(text):
    """The numbers that replace a literal: its neighbours, or twice and half of a floating one."""
    if found := INTEGER.fullmatch(text):
        value, suffix = int(found[1], 16 if found[1][:2].lower() == b"0x" else 8 if re.match(b"0[0-7]", found[1]) else 10), found[2]
        return [b"%d%s" % (v, suffix) for v in ([value - 1] if value else []) + [value + 1]]
    if found := FLOATING.fullmatch(text):
        value, suffix = float(found[1]), found[2]
        return [repr(v).encode() + suffix for v in ([value * 2, value / 2] if value else [1.0])]
    return []


class Places:
    """`found`: (start, end, replacement, kind), in the order of the text. Macros in their uses, comments and strings have none."""

    def __init__(self, path, name, flags):
        self.text = path.read_bytes()
        self.name, self.found, self.sizes = str(path), [], []
        unit = cx.Index.create().parse(self.name, args=flags,
                                       options=cx.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        if errors := [d.spelling for d in unit.diagnostics if d.severity >= cx.Diagnostic.Error]:
            raise ValueError(f"{name}: libclang: {errors[0]}")
        for cursor in unit.cursor.get_children():
            if not cursor.location.file or cursor.location.file.name != self.name:
                continue
            if cursor.kind == K.MACRO_DEFINITION:
                self.define(cursor)
            elif cursor.kind not in (K.MACRO_INSTANTIATION, K.INCLUSION_DIRECTIVE):
                self.walk(cursor, None, None, None)
        self.found = sorted({p for p in self.found if not any(s <= p[0] < e for s, e in self.sizes)})

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def of(self, cursor):
        start, end = self.span(cursor)
        return self.text[start:end]

    def add(self, start, end, new, kind):
        if self.text[start:end] != new:
            self.found.append((start, end, new, kind))

    def number(self, start, end):
        for new in other_numbers(self.text[start:end]):
            self.add(start, end, new, "constant")

    def define(self, cursor):
        for token in list(cursor.get_tokens())[1:]:
            if token.kind == cx.TokenKind.LITERAL:
                self.number(token.extent.start.offset, token.extent.end.offset)

    def walk(self, cursor, parent, function, loop):
        """`loop`: the innermost loop or switch."""
        kind = cursor.kind
        if kind == K.FUNCTION_DECL:
            function = cursor
        if kind in LOOPS or kind == K.SWITCH_STMT:
            loop = cursor
        children = list(cursor.get_children())
        start, end = self.span(cursor)
        if kind in (K.VAR_DECL, K.FIELD_DECL) and "[" in cursor.type.spelling:  # sizes of arrays are room, not behaviour
            self.sizes.append((start, start + len(self.text[start:end].partition(b"=")[0])))
        if kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            self.operator(children, start, end)
        elif kind == K.UNARY_OPERATOR and children:
            self.unary(children[0], start, end, parent)
        elif kind in (K.INTEGER_LITERAL, K.FLOATING_LITERAL):
            self.number(start, end)
        elif kind in (K.IF_STMT, K.WHILE_STMT, K.CONDITIONAL_OPERATOR) and children:
            s, e = self.span(children[0])
            if self.is_written(children[0], s, e):
                self.add(s, e, b"!(%s)" % self.text[s:e], "condition")
        elif kind == K.RETURN_STMT and children and function:
            self.result(children[0], function.result_type.get_canonical())
        elif kind == K.BREAK_STMT and self.text[start:end] == b"break" and loop and loop.kind in LOOPS:
            self.add(start, end, b"continue", "jump")
        elif kind == K.CONTINUE_STMT and self.text[start:end] == b"continue":
            self.add(start, end, b"break", "jump")
        if parent and self.is_body(cursor, parent):
            self.statement(cursor, start, end)
        for child in children:
            self.walk(child, cursor, function, loop)

    def is_written(self, cursor, start, end):
        """Whether the text is the expression itself, not a macro that yields it."""
        return start < end and (cursor.kind not in (K.INTEGER_LITERAL,) or INTEGER.fullmatch(self.text[start:end]))

    def operator(self, children, start, end):
        (s1, e1), (s2, e2) = map(self.span, children)
        if not start == s1 < e1 <= s2 < e2 == end:
            return
        between = self.text[e1:s2]
        sign = between.strip().decode("latin1")
        at = e1 + len(between) - len(between.lstrip())
        for new in COMPARE.get(sign, []):
            self.add(at, at + len(sign), new.encode(), "comparison")
        for new in ARITHMETIC.get(sign, []):
            if sign in "&|^":
                self.add(s1, e2, b"((%s) %s (%s))" % (self.text[s1:e1], new.encode(), self.text[s2:e2]), "arithmetic")
            else:
                self.add(at, at + len(sign), new.encode(), "arithmetic")
        if sign in LOGIC:
            self.add(s1, e2, b"((%s) %s (%s))" % (self.text[s1:e1], LOGIC[sign].encode(), self.text[s2:e2]), "logic")

    def unary(self, child, start, end, parent):
        text, (s, e) = self.text[start:end], self.span(child)
        if s == start + 1 and text[:1] in (b"!", b"-"):
            self.add(start, end, self.text[s:e], "condition" if text[:1] == b"!" else "arithmetic")
        if parent and parent.kind == K.FOR_STMT:
            return  # nearly all of them do not end
        for old, new in ((b"++", b"--"), (b"--", b"++")):
            if text.startswith(old) and s == start + 2:
                self.add(start, start + 2, new, "arithmetic")
            elif text.endswith(old) and e == end - 2:
                self.add(e, end, new, "arithmetic")

    def result(self, child, kind):
        s, e = self.span(child)
        text, T = self.text[s:e], cx.TypeKind
        if not text:
            return
        if kind.kind == T.BOOL:
            new = {b"true": b"false", b"false": b"true"}.get(text, b"!(%s)" % text)
        elif kind.kind == T.POINTER:
            new = b"NULL"
        elif kind.kind in (T.DOUBLE, T.FLOAT):
            new = b"-(%s)" % text
        elif kind.kind == T.ENUM or kind.kind in (T.UINT, T.ULONG, T.UCHAR, T.USHORT):
            new = b"1" if text == b"0" else b"0"
        elif kind.kind in (T.INT, T.LONG, T.SHORT, T.LONGLONG, T.CHAR_S):
            new = b"-1" if text == b"0" else b"0"
        else:
            return
        self.add(s, e, new, "return value")

    def is_body(self, cursor, parent):
        if parent.kind in BODIES:
            return True
        children = list(parent.get_children())
        return parent.kind in (K.IF_STMT, K.WHILE_STMT) and cursor != children[0] or \
            parent.kind == K.FOR_STMT and cursor == children[-1]

    def statement(self, cursor, start, end):
        """A call or an assignment is removed. Calls that only write the log are not."""
        if cursor.kind == K.UNARY_OPERATOR and not re.search(rb"^(\+\+|--)|(\+\+|--)$", self.text[start:end]):
            return
        if cursor.kind not in (K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.CSTYLE_CAST_EXPR,
                               K.UNARY_OPERATOR):
            return
        if self.text[end:end + 1] != b";" or re.match(rb"\(void\)\s*\w+\s*[;,]|log_", self.text[start:end + 1]):
            return
        self.add(start, end, b"(void)0", "statement")


def mutant_line(text, start, end, new):
    """(line number, statement before, statement after), each in one line; a long one from the line before the change on."""
    first, last = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
    for _ in range(3):
        above = text[text.rfind(b"\n", 0, first - 1) + 1:first].strip() if first else b""
        if not above or above[-1:] in b";{}:/" or above.startswith(b"#"):
            break
        first = text.rfind(b"\n", 0, first - 1) + 1
    before, after = text[first:last], text[first:start] + new + text[end:last]
    flat = [b" ".join(t.split()).decode() for t in (before, after)]
    return text.count(b"\n", 0, start) + 1, flat[0], flat[1]
