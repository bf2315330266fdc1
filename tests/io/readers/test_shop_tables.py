"""Tables as shops export them: levels, paths beside prices, products of categories, workbooks, several files."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.io.readers import helpers
from tests.io.readers.helpers import Edges, edges_of
from treeball import Hierarchy
from treeball.errors import InputError, MissingExtraError
from treeball.io.readers import read


def _read(source: Any, **overrides: Any) -> tuple[Edges, str]:
    hierarchy = read(source.encode() if isinstance(source, str) else source, **overrides)
    assert hierarchy.report is not None
    return called_edges(hierarchy), "\n".join(hierarchy.report.notes)


def called_edges(hierarchy: Hierarchy) -> Edges:
    """All edges by what people call their nodes."""
    called = dict(zip(hierarchy.names, hierarchy.names.called(range(hierarchy.n_nodes)), strict=True))
    return {(called[child], called[parent]) for child, parent in edges_of(hierarchy)}


def _refused(source: Any, said: str, **overrides: Any) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read(source.encode() if isinstance(source, str) else source, **overrides)
    assert caught.value.__cause__ is None


# Levels

KITCHEN = {
    ("Home > Kitchen, Dining", "Home"),
    ("Home > Kitchen, Dining > Pans", "Home > Kitchen, Dining"),
    ("Home > Kitchen, Dining > Pots", "Home > Kitchen, Dining"),
}
ROWS = 'Home,"Kitchen, Dining",Pans\nHome,"Kitchen, Dining",Pots\nHome,,\n'


@pytest.mark.parametrize(
    "header",
    [
        "L1,L2,L3",
        "level_1,level_2,level_3",
        "Category Level 1,Category Level 2,Category Level 3",
        "cat0,cat1,cat2",
        "Department,Category,Sub-Category",
        "Tier 1 Name,Tier 2 Name,Tier 3 Name",
        "kingdom,family,species",
        "country,state,city",
    ],
)
def test_a_column_for_each_level(header: str) -> None:
    hierarchy = read(f"{header}\n{ROWS}".encode(), strict=True)
    assert called_edges(hierarchy) == KITCHEN
    assert hierarchy.report is not None
    assert hierarchy.report.format == "columns of levels"


def test_levels_among_other_columns() -> None:
    rows = [("x1", "Home", "Kitchen", "Pans", 3), ("x2", "Home", "Garden", None, 4), ("x3", "Home", "Garden", None, 9)]
    text = "sku,L1,L2,L3,price\n" + "\n".join(",".join("" if c is None else str(c) for c in row) for row in rows)
    frame = pandas.DataFrame(rows, columns=["sku", "L1", "L2", "L3", "price"])
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame), buffer)
    expected = {("Home > Kitchen", "Home"), ("Home > Kitchen > Pans", "Home > Kitchen"), ("Home > Garden", "Home")}
    for source in (text, frame, buffer.getvalue()):
        edges, notes = _read(source, strict=True)
        assert edges == expected
        assert "columns not used: sku, price" in notes
        assert _read(source, format="levels", columns=("L1", "L3"))[0] == {("Home > Pans", "Home")}


def test_the_same_name_in_two_places_is_two_nodes() -> None:
    hierarchy = read(b"L1,L2\nShoes,Sale\nHats,Sale\n")
    assert {"Shoes > Sale", "Hats > Sale"} <= set(hierarchy.names)


def test_rows_that_continue_the_row_above() -> None:
    edges, notes = _read("L1;L2;L3\nHome;Kitchen;Pans\n;;Pots\n;Garden;\n")
    assert edges == {
        ("Home > Kitchen", "Home"),
        ("Home > Kitchen > Pans", "Home > Kitchen"),
        ("Home > Kitchen > Pots", "Home > Kitchen"),
        ("Home > Garden", "Home"),
    }
    assert "2 rows that are empty at the left continue the row above" in notes
    stairs = {("a > b", "a"), ("a > b > c", "a > b"), ("a > d", "a")}
    assert _read("a,,\n,b,\n,,c\n,d,\n")[0] == stairs


def test_levels_by_name_or_without_a_header() -> None:
    text = "Main,Sub,Leaf,Price\nw,x,y,1\nw,x,z,2\n"
    expected = {("w > x", "w"), ("w > x > y", "w > x"), ("w > x > z", "w > x")}
    assert _read(text, format="levels", columns=("Main", "Sub", "Leaf"))[0] == expected
    assert _read("w,x,y\nw,x,z\n", format="levels")[0] == expected
    _refused(text, "no columns such as L1, L2, L3", format="levels", header="yes")
    _refused(text, "names one level", format="levels", columns="Main")
    _refused("L1,L2\nA,B\n,C\nA\n", r"line 4: 1 column ", format="levels")
    _refused("L1,L2,L3\nA,,C\n", r"line 2: a node has no name", strict=True)


def test_headers_with_numbers_that_are_no_levels() -> None:
    _refused("id,value1,value2,value3\na,1,2,3\nb,4,5,6\n", "say which hold child and parent")
    assert _read("id,parent_id,level1\na,,x\nb,a,y\n")[0] == {("b", "a")}


# Paths beside other columns


@pytest.mark.parametrize("mark", [" / ", "/", " > ", " >> ", " | ", " :: "])
def test_paths_beside_a_price(mark: str) -> None:
    paths = [
        mark.join(("Home", "Kitchen", "Pans")),
        mark.join(("Home", "Kitchen", "Pots")),
        mark.join(("Home", "Garden")),
    ]
    expected = {
        (mark.join(("Home", "Kitchen")), "Home"),
        (paths[0], mark.join(("Home", "Kitchen"))),
        (paths[1], mark.join(("Home", "Kitchen"))),
        (paths[2], "Home"),
    }
    text = "name,category,price\n" + "".join(f"p{i},{path},{i}.50\n" for i, path in enumerate(paths))
    edges, notes = _read(text, strict=True)
    assert edges == expected
    assert "column 2 (category) holds breadcrumbs" in notes
    frame = pandas.DataFrame({"name": ["p", "q", "r"], "category": paths, "price": [1.5, 2.0, 3.0]})
    assert called_edges(read(frame)) == expected
    assert (
        called_edges(read(paths))
        == called_edges(read(tuple(paths)))
        == called_edges(read(pandas.Series(paths)))
        == expected
    )


def test_paths_beside_numbers_need_no_header() -> None:
    expected = {("Home / Kitchen", "Home"), ("Home / Kitchen / Pans", "Home / Kitchen"), ("Home / Yard", "Home")}
    assert _read("Home / Kitchen / Pans,3\nHome / Yard,3\n")[0] == expected
    assert _read("3\tHome > Pans\n3\tHome > Pots\n")[0] == {("Home > Pans", "Home"), ("Home > Pots", "Home")}


def test_names_with_a_slash_are_no_paths() -> None:
    assert _read("dog,Coffee / Tea\ncat,Coffee / Tea\n")[0] == {("dog", "Coffee / Tea"), ("cat", "Coffee / Tea")}
    assert _read("child,parent\na,b / c\nd,b / c\n")[0] == {("a", "b / c"), ("d", "b / c")}
    assert _read("sku,category\na,b / c\nd,e / f\n")[0] == {("a", "b / c"), ("d", "e / f")}
    with pytest.raises(InputError, match="nor a path such as"):
        read(["ab", "cd"])


# Members of groups


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sku,category_id\na,1\nb,1\n", {("a", "1"), ("b", "1")}),
        ("category_id,sku\n1,a\n1,b\n", {("a", "1"), ("b", "1")}),
        ("product_id,title,category_id,weight\n7,Pan,1,3\n8,Pot,1,4\n", {("Pan", "1"), ("Pot", "1")}),
        ("Product ID;Category\n7;Home\n8;Home\n", {("7", "Home"), ("8", "Home")}),
        ("id,category_id\n7,1\n8,1\n", {("7", "1"), ("8", "1")}),
        ("ProductID,ProductName,CategoryID\n7,Pan,1\n8,Pot,1\n", {("Pan", "1"), ("Pot", "1")}),
        ("category_id,category_name,parent_category\n1,Home,\n2,Pans,Home\n", {("Pans", "Home")}),
        ("employee,manager\nbob,alice\neve,alice\n", {("bob", "alice"), ("eve", "alice")}),
    ],
)
def test_a_header_of_products_and_categories(text: str, expected: Edges) -> None:
    assert _read(text, strict=True)[0] == expected


def test_such_words_may_be_nodes_as_well() -> None:
    assert _read("item,group\na,item\nb,item\n")[0] == {("item", "group"), ("a", "item"), ("b", "item")}


# Several files

CATEGORIES = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,1,Garden\n"
PRODUCTS = "sku,category_id,title,price\nx1,2,Pan,3\nx2,2,Pot,4\nx3,9,Ghost,1\n"


def _files(folder: Path, **contents: str) -> list[Path]:
    paths = [folder / f"{name}.csv" for name in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        path.write_text(content)
    return paths


def test_categories_and_products(tmp_path: Path) -> None:
    files = _files(tmp_path, categories=CATEGORIES, products=PRODUCTS)
    tree = {("Kitchen", "Home"), ("Garden", "Home"), ("Pan", "Kitchen"), ("Pot", "Kitchen"), ("Ghost", "9")}
    for given in (files, tuple(files), [str(path) for path in files], files[::-1]):
        hierarchy = read(given)
        assert called_edges(hierarchy) == tree
        report = hierarchy.report
        assert report is not None
        assert report.repair_counts["undefined parents"] == 1
        assert "products.csv: columns not used: price" in report.notes
        assert "2 files (" in report.format
    assert called_edges(read(files, names="id")) >= {("2", "1"), ("x1", "2")}
    assert called_edges(read([files[0]])) == {("Kitchen", "Home"), ("Garden", "Home")}
    first, second = read(files).report, read(files[::-1]).report
    assert first.sha256 != second.sha256
    with pytest.raises(InputError, match="parent 9 has no row of its own"):
        read(files, strict=True)


def test_categories_given_by_name_and_null(tmp_path: Path) -> None:
    by_name = "sku,category\nx1,Kitchen\nx2,Garden\nx3,NULL\n"
    hierarchy = read(_files(tmp_path, categories=CATEGORIES, products=by_name))
    assert called_edges(hierarchy) >= {("x1", "Kitchen"), ("x2", "Garden")}
    assert {"x3", "Home"} <= set(hierarchy.names.called(range(hierarchy.n_nodes)))
    assert "NULL" not in hierarchy.names
    assert hierarchy.report is not None
    assert "2 parents given by label instead of id" in hierarchy.report.notes
    twice = CATEGORIES.replace("Garden", "Kitchen")
    assert called_edges(read(_files(tmp_path, categories=twice, products=by_name))) >= {("x1", "Kitchen")}


DEEP = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,2,Pans\n4,1,Garden\n5,4,Pans\n6,,Outlet\n7,6,Sale Items\n"
IN_TREE = {("2", "1"), ("3", "2"), ("4", "1"), ("5", "4"), ("7", "6")}


def _products(*categories: str) -> str:
    """Products x1, x2, ... with their categories, and a price."""
    rows = "".join(
        f'x{number},"{category}",Product {number},{number}.5\n' for number, category in enumerate(categories, 1)
    )
    return "sku,category,title,price\n" + rows


@pytest.mark.parametrize(
    "categories",
    [
        ("Home > Kitchen > Pans", "Home > Garden > Pans", "Home > Kitchen", "Outlet > Sale Items"),
        ("Home/Kitchen/Pans", "Home/Garden/Pans", "Home/Kitchen", "Outlet/Sale Items"),
        ("Home | Kitchen | Pans", "Home | Garden | Pans", "Home | Kitchen", "Outlet | Sale Items"),
        ("home>kitchen>pans", "HOME > GARDEN > Pans", "Home  >  Kitchen", "outlet » sale items"),
        ("Kitchen > Pans", "Garden > Pans", "kitchen", "Sale  Items"),
        ("3", "5.0", "Home > Kitchen", "7"),
        ("Home » Kitchen » Pans", "5", "2 - Home > Kitchen", "Outlet::Sale Items"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_products_hang_below_the_category_that_their_path_means(
    tmp_path: Path, categories: Sequence[str], turned: bool
) -> None:
    files = _files(tmp_path, categories=DEEP, products=_products(*categories))
    hierarchy = read(files[::-1] if turned else files)
    assert edges_of(hierarchy) == IN_TREE | {("x1", "3"), ("x2", "5"), ("x3", "2"), ("x4", "7")}
    report = hierarchy.report
    assert report is not None
    assert "undefined parents" not in report.repair_counts
    resolved = {(repair.node, Path(repair.file).name) for repair in report.repairs if repair.kind == "parents resolved"}
    assert resolved == {(one, "products.csv") for one in categories if one not in ("3", "5", "7")}


def test_a_path_that_no_category_has_is_listed_with_its_line(tmp_path: Path) -> None:
    products = _products("Home > Kitchen > Pans", "Home > Cellar > Wine", "Pans", "Home > Kitchen > Pans")
    hierarchy = read(_files(tmp_path, categories=DEEP, products=products))
    tree = IN_TREE | {("x1", "3"), ("x2", "Home > Cellar > Wine"), ("x3", "Pans"), ("x4", "3")}
    assert edges_of(hierarchy) == tree
    report = hierarchy.report
    assert report is not None
    found = {(one.node, Path(one.file).name, one.line) for one in report.repairs if one.kind == "undefined parents"}
    assert found == {("Home > Cellar > Wine", "products.csv", 3), ("Pans", "products.csv", 4)}
    assert "1 parent may be any of several nodes (Pans): give the id or the whole path" in report.notes
    assert "1 parent given by path instead of id" in report.notes


@pytest.mark.parametrize(
    ("tree", "nodes"),
    [
        ("Home\nHome > Kitchen\nHome > Kitchen > Pans\nHome > Garden\nHome > Garden > Pans\n", "Home > {} > Pans"),
        ("Home/Kitchen/Pans\nHome/Garden/Pans\n", "Home/{}/Pans"),
        ("1 - Home\n2 - Home > Kitchen\n3 - Home > Kitchen > Pans\n4 - Home > Garden\n5 - Home > Garden > Pans\n",
         "3 5"),
        ("L1,L2,L3\nHome,Kitchen,Pans\nHome,Garden,Pans\n", "Home > {} > Pans"),
        ("Home\n  Kitchen\n    Pans\n  Garden\n    Pans\n", "Home > {} > Pans"),
        ('{"name": "Home", "children": [{"name": "Kitchen", "children": [{"name": "Pans"}]},'
         ' {"name": "Garden", "children": [{"name": "Pans"}]}]}', "Home > {} > Pans"),
    ],
    ids=["breadcrumbs", "slashes", "google", "levels", "outline", "json"],
)  # fmt: skip
@pytest.mark.parametrize("mark", [" > ", "/", " | "])
def test_categories_of_any_format_are_found_by_their_path(tmp_path: Path, tree: str, nodes: str, mark: str) -> None:
    products = _products(f"Home{mark}Kitchen{mark}Pans", f"Home{mark}Garden{mark}Pans")
    files = _files(tmp_path, categories=tree, products=products)
    pans = nodes.split() if "{}" not in nodes else [nodes.format("Kitchen"), nodes.format("Garden")]
    for given in (files, files[::-1]):
        hierarchy = read(given)
        assert {edge for edge in edges_of(hierarchy) if edge[0].startswith("x")} == {("x1", pans[0]), ("x2", pans[1])}
        assert hierarchy.n_nodes == 7
        assert hierarchy.report is not None
        assert "undefined parents" not in hierarchy.report.repair_counts


def test_categories_with_ids_and_paths_are_found_by_either(tmp_path: Path) -> None:
    categories = "category_id,category_path\n11,Home\n12,Home > Kitchen\n13,Home > Kitchen > Pans\n"
    by_id = "sku,category_id\nx1,13\nx2,12\n"
    for products in (by_id, _products("Home > Kitchen > Pans", "Home/Kitchen")):
        hierarchy = read(_files(tmp_path, categories=categories, products=products))
        below = {edge for edge in edges_of(hierarchy) if edge[0].startswith("x")}
        assert below == {("x1", "Home > Kitchen > Pans"), ("x2", "Home > Kitchen")}
        assert hierarchy.names.find("13" if products == by_id else "x1") is not None


def test_paths_of_a_parquet_file_of_products_are_found(tmp_path: Path) -> None:
    (categories,) = _files(tmp_path, categories=DEEP)
    table = pa.table({"sku": ["x1", "x2"], "category": ["Home > Kitchen > Pans", "Home > Garden"], "price": [1, 2]})
    pq.write_table(table, tmp_path / "products.parquet")
    hierarchy = read([categories, tmp_path / "products.parquet"])
    assert edges_of(hierarchy) == IN_TREE | {("x1", "3"), ("x2", "4")}


def test_products_with_levels_hang_below_their_category(tmp_path: Path) -> None:
    products = "sku,department,category,subcategory\nx1,Home,Kitchen,Pans\nx2,Home,Garden,\nx3,Home,,\n"
    files = _files(tmp_path, categories=DEEP, products=products)
    assert edges_of(read(files)) == IN_TREE | {("x1", "3"), ("x2", "4"), ("x3", "1")}


def test_an_edge_list_of_categories_needs_no_rows_for_its_roots(tmp_path: Path) -> None:
    categories = "child,parent\nKitchen,Home\nGarden,Home\nPans,Kitchen\n"
    for products in (_products("Home > Kitchen > Pans", "Garden"), _products("pans", "Home > Garden")):
        hierarchy = read(_files(tmp_path, categories=categories, products=products), strict=True)
        assert edges_of(hierarchy) == {
            ("Kitchen", "Home"), ("Garden", "Home"), ("Pans", "Kitchen"), ("x1", "Pans"), ("x2", "Garden")
        }  # fmt: skip


def test_paths_stay_a_tree_beside_products_that_know_none_of_them(tmp_path: Path) -> None:
    files = _files(tmp_path, one=_products("Home > Pans", "Home > Pots"), two="sku,category_id\ny1,77\ny2,78\n")
    assert edges_of(read(files)) >= {("Home > Pans", "Home"), ("Home > Pots", "Home"), ("y1", "77")}


NAMED = "category_id,name,parent_name\n1,Home,\n2,Kitchen,Home\n3,Pans,Kitchen\n"


def test_ids_find_the_nodes_of_a_table_whose_parents_are_labels(tmp_path: Path) -> None:
    (path,) = _files(tmp_path, categories=NAMED)
    records = [
        dict(zip(NAMED.split("\n")[0].split(","), row.split(","), strict=True)) for row in NAMED.split("\n")[1:-1]
    ]
    for source in (path, records):
        hierarchy = read(source)
        assert edges_of(hierarchy) == {("Kitchen", "Home"), ("Pans", "Kitchen")}
        assert hierarchy.names.find("3") == hierarchy.names.find("Pans")
        assert hierarchy.report is not None
        assert hierarchy.report.decision_counts["nodes named by label"] == 1


def test_products_refer_by_id_to_categories_whose_parents_are_labels(tmp_path: Path) -> None:
    files = _files(tmp_path, categories=NAMED, products="sku,category_id\nx1,3\nx2,2\n")
    assert edges_of(read(files, strict=True)) == {
        ("Kitchen", "Home"), ("Pans", "Kitchen"), ("x1", "Pans"), ("x2", "Kitchen")
    }  # fmt: skip


def test_two_files_of_products_without_categories_are_read_by_their_paths(tmp_path: Path) -> None:
    files = _files(tmp_path, one=_products("Home > Pans", "Home > Pots"), two=_products("Home > Pans", "Home > Cups"))
    assert edges_of(read(files)) == {("Home > Pans", "Home"), ("Home > Pots", "Home"), ("Home > Cups", "Home")}


def test_products_with_the_ids_of_categories_are_refused(tmp_path: Path) -> None:
    files = _files(tmp_path, categories=CATEGORIES, products="id,category_id\n1,2\n7,2\n")
    with pytest.raises(
        InputError, match=r"products\.csv and categories\.csv both have rows of the id 1 \(1 id in all\)"
    ):
        read(files)


def test_two_product_files_may_share_products(tmp_path: Path) -> None:
    files = _files(
        tmp_path, categories=CATEGORIES, spring="sku,category_id\nx,2\n", autumn="sku,category_id\nx,3\ny,3\n"
    )
    hierarchy = read(files)
    assert called_edges(hierarchy) >= {("x", "Kitchen"), ("x", "Garden"), ("y", "Garden")}
    assert hierarchy.report is not None
    assert "1 node with several parents, such as x (below Kitchen [2], Garden [3])" in hierarchy.report.notes


def test_an_id_with_two_parents_is_said_aloud() -> None:
    for text in ("id,parent_id\n1,\n2,1\n3,1\n4,2\n4,3\n", "child,parent\n2,1\n3,1\n4,2\n4,3\n"):
        assert "1 node with several parents, such as 4 (below 2, 3)" in _read(text)[1]
    assert "1 node with several parents, such as 3 (below 1, 2)" in _read("id,parent_id\n1,\n2,1\n3,1\n3,2\n")[1]
    assert "several parents" not in _read(CATEGORIES)[1]


# Workbooks

SHEET: list[list[Any]] = [["id", "parent_id", "name"], [1, None, "Home"], [2, 1.0, 'Kitchen, "big"'], [3, 1, "Garden"]]
IN_SHEET = {('Kitchen, "big"', "Home"), ("Garden", "Home")}


def test_a_workbook() -> None:
    edges, notes = _read(helpers.workbook({"Sheet1": SHEET}), strict=True)
    assert edges == IN_SHEET
    assert notes == "nodes are named by their ids, and 3 have labels to show"
    assert _read(helpers.workbook({"empty": [], "Cats": SHEET}, first_row=4))[0] == IN_SHEET
    levels = [["L1", "L2"], ["Home", "Pans"], [None, "Pots"]]
    assert _read(helpers.workbook({"a": levels}))[0] == {("Home > Pans", "Home"), ("Home > Pots", "Home")}
    paths = [["Home > Pans"], ["Home > Pots, big"]]
    assert _read(helpers.workbook({"a": paths}))[0] == {("Home > Pans", "Home"), ("Home > Pots, big", "Home")}


def test_sheets_of_a_workbook() -> None:
    book = helpers.workbook({"Categories": SHEET, "Other": [["child", "parent"], ["a", "b"], ["c", "b"]]})
    edges, notes = _read(book)
    assert edges == IN_SHEET
    assert "sheet 'Categories' was read, one of 2; sheet='Other'" in notes
    for sheet in ("Other", 2, "2"):
        assert _read(book, sheet=sheet)[0] == {("a", "b"), ("c", "b")}
    _refused(book, "no sheet 'x': choose from Categories, Other", sheet="x")
    _refused("a,b\nc,b\n", "is no workbook", sheet="1")
    _refused(helpers.workbook({"Sheet1": []}), "empty workbook")
    _refused(helpers.workbook({"s": [*SHEET, ["4"], [5, "x", "y"]]}, first_row=3), "line 8.*x has no row", strict=True)


@pytest.mark.parametrize("name", ["# note", "#1", "#", "## a, b", '# "quoted"', "# two\nlines"])
def test_a_cell_of_a_workbook_that_begins_like_a_comment_is_a_name(name: str) -> None:
    rows = [[name, "r"], ["b", name], ["c", "r"]]
    for sheet in ([["child", "parent"], *rows], [*rows[1:], rows[0]], rows):
        edges, notes = _read(helpers.workbook({"a": sheet}))
        assert edges == {(name, "r"), ("b", name), ("c", "r")}
        assert "comment" not in notes
    table = [["id", "parent"], [name, None], ["b", name], ["c", name]]
    assert _read(helpers.workbook({"a": table}))[0] == {("b", name), ("c", name)}
    if "\n" not in name:
        paths = [[f"r > {one}"] for one in "ab"] + [[f"{name} > c"]]
        assert (f"{name} > c", name) in _read(helpers.workbook({"a": paths}))[0]


def test_a_remark_above_the_table_of_a_workbook_is_a_comment() -> None:
    sheet = [["# exported on Monday"], ["# by hand"], ["child", "parent"], ["# a", "r"], ["b", "r"]]
    edges, notes = _read(helpers.workbook({"a": sheet}))
    assert edges == {("# a", "r"), ("b", "r")}
    assert "2 comment lines at the top skipped" in notes


def test_archives_that_are_no_workbook(monkeypatch: pytest.MonkeyPatch) -> None:
    book = helpers.workbook({"Sheet1": SHEET})
    _refused(book[: len(book) // 2], "zip archive|damaged workbook")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("categories.csv", CATEGORIES)
    _refused(plain.getvalue(), "zip archive: unpack it")
    _refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, "damaged workbook")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 150_000_000)
    _refused(bomb.getvalue(), "takes more than 100 MB of memory.*--max-memory", max_memory="100MB")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"\(extra 'formats'\): install it with  pip install python-calamine"):
        read(book)


# Settings that would be dropped


@pytest.mark.parametrize("given", [{"part_of": True}, {"language": "de"}, {"tree": "2"}])
def test_a_setting_without_use_is_refused(given: dict[str, Any]) -> None:
    _refused(CATEGORIES, "leave it out", **given)


# Headers of products that are seldom written


IDS_AND_PATHS = "id,parent_id,name\n1,,Home\n2,1,Kitchen\n3,2,Pans\n4,1,Garden\n"
PRODUCTS_BELOW = {("x1", "Pans"), ("x2", "Garden")}


@pytest.mark.parametrize(
    "header", ["cat_path", "Cat Path", "categories path", "full_category_path", "Product Category Path"]
)
def test_a_column_of_paths_is_one_also_in_front_of_the_products(header: str, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(IDS_AND_PATHS)
    (tmp_path / "p.csv").write_text(f"{header},sku\nHome/Kitchen/Pans,x1\nHome/Garden,x2\n")
    edges = called_edges(read([tmp_path / "c.csv", tmp_path / "p.csv"]))
    assert len(edges) == 5
    assert {(child, parent.split(" [")[0]) for child, parent in edges if child.startswith("x")} == PRODUCTS_BELOW


@pytest.mark.parametrize("header", ["sku\tcategories", "product_id\tcat_name", "SKU\tdepartments"])
def test_a_header_of_products_and_categories_is_no_edge(header: str, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(IDS_AND_PATHS)
    (tmp_path / "p.tsv").write_text(f"{header}\nx1\tPans\nx2\tGarden\n")
    edges = called_edges(read([tmp_path / "c.csv", tmp_path / "p.tsv"]))
    assert len(edges) == 5
    assert {(child, parent.split(" [")[0]) for child, parent in edges if child.startswith("x")} == PRODUCTS_BELOW


def test_a_leaf_category_is_the_lowest_level() -> None:
    edges, _ = _read("main_category,sub_category,leaf_category\nHome,Kitchen,Pans\nHome,Garden,Pans\n")
    assert ("Home > Kitchen > Pans", "Home > Kitchen") in edges
    assert len(edges) == 4


@pytest.mark.parametrize("word", ["#N/A", "(null)", "<NULL>", "NULL"])
def test_an_empty_cell_of_a_spreadsheet_or_database_is_no_parent(word: str) -> None:
    hierarchy = read(f"child,parent\nb,a\nc,a\na,{word}\n".encode())
    assert edges_of(hierarchy) == {("b", "a"), ("c", "a")}
    assert hierarchy.report is not None
    assert [row.node for row in hierarchy.report.repairs if row.kind == "root markers"] == ["a"]


@pytest.mark.parametrize(
    "text", ["id,parent_id\n1,\n2,\n3,\n", '[{"id": 1, "parent": null}, {"id": 2, "parent": null}]', "a,a\nb,b\n"]
)
def test_a_table_without_any_parent_is_no_star(text: str) -> None:
    _refused(text, "a flat list of [23] nodes: no node is below another")


def test_rows_of_several_ids_with_one_label_are_listed_if_parents_are_labels() -> None:
    text = "id,name,parent\n1,Home,\n2,Kitchen,Home\n3,Garden,Home\n4,Pans,Kitchen\n5,Pans,Garden\n"
    hierarchy = read(text.encode())
    assert hierarchy.report is not None
    assert "1 label of several ids, each read as one node, such as Pans (4, 5)" in "\n".join(hierarchy.report.notes)
    found = [row.node for row in hierarchy.report.repairs if row.kind == "nodes named by label"]
    assert found == [None, "Pans"]


@pytest.mark.parametrize("title", ["Made by hand,", "Made by hand,\nMay 2026,", "Export,"])
@pytest.mark.parametrize("header", ["child,parent", "id,parent_id"])
def test_a_title_above_the_header_is_no_edge(title: str, header: str) -> None:
    text = f"{title}\n{header}\nb,a\nc,a\n"
    _refused(text, "of text above the header .*remove what is above the header")
    assert len(_read(text, header="no")[0]) > 2
    assert _read("child,parent\nb,a\nc,a\n")[0] == {("b", "a"), ("c", "a")}
