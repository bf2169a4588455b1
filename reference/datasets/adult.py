"""UCI Adult (Kohavi and Becker 1996): 48,842 records of the 1994 US census, both original files together.

Label: income above 50K.  Group: sex, 1 for male.  ``fnlwgt``, a sampling weight, is left out, which gives the
paper's 13 features: 12 unprotected ones and sex.  A missing value ``?`` is a separate category.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reference.common.errors import (
    CsvRowError,
    LabelError,
    MissingDataError,
    UnreadableFileError,
    UnseenCategoryError,
)
from reference.datasets.source import Source, Table, categorical, data_folder
from reference.domain.attributes import Numeric
from reference.domain.file import DomainFile
from reference.domain.markers import Marker

FILES = ("adult.data", "adult.test")

HEADER = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

# Public bounds: the survey's universe is age 17 and over, top-coded at 90; gains are top-coded at 99,999; the
# bound on losses is a round number; hours are a two-digit field.
BOUNDS: dict[str, tuple[float, float]] = {
    "age": (17.0, 90.0),
    "education-num": (1.0, 16.0),
    "capital-gain": (0.0, 99_999.0),
    "capital-loss": (0.0, 5_000.0),
    "hours-per-week": (1.0, 99.0),
}

# Categories in the order of adult.names, except education (in school order); "?" last where it occurs.
CATEGORIES: dict[str, tuple[str, ...]] = {
    "workclass": (
        "Private",
        "Self-emp-not-inc",
        "Self-emp-inc",
        "Federal-gov",
        "Local-gov",
        "State-gov",
        "Without-pay",
        "Never-worked",
        "?",
    ),
    "education": (
        "Preschool",
        "1st-4th",
        "5th-6th",
        "7th-8th",
        "9th",
        "10th",
        "11th",
        "12th",
        "HS-grad",
        "Some-college",
        "Assoc-voc",
        "Assoc-acdm",
        "Bachelors",
        "Masters",
        "Prof-school",
        "Doctorate",
    ),
    "marital-status": (
        "Married-civ-spouse",
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
        "Married-AF-spouse",
    ),
    "occupation": (
        "Tech-support",
        "Craft-repair",
        "Other-service",
        "Sales",
        "Exec-managerial",
        "Prof-specialty",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Adm-clerical",
        "Farming-fishing",
        "Transport-moving",
        "Priv-house-serv",
        "Protective-serv",
        "Armed-Forces",
        "?",
    ),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
    "native-country": (
        "United-States",
        "Cambodia",
        "England",
        "Puerto-Rico",
        "Canada",
        "Germany",
        "Outlying-US(Guam-USVI-etc)",
        "India",
        "Japan",
        "Greece",
        "South",
        "China",
        "Cuba",
        "Iran",
        "Honduras",
        "Philippines",
        "Italy",
        "Poland",
        "Jamaica",
        "Vietnam",
        "Mexico",
        "Portugal",
        "Ireland",
        "France",
        "Dominican-Republic",
        "Laos",
        "Ecuador",
        "Taiwan",
        "Haiti",
        "Columbia",
        "Hungary",
        "Guatemala",
        "Nicaragua",
        "Scotland",
        "Thailand",
        "Yugoslavia",
        "El-Salvador",
        "Trinadad&Tobago",
        "Peru",
        "Hong",
        "Holand-Netherlands",
        "?",
    ),
}

LABELS = {"<=50K": 0, ">50K": 1}
SEXES = {"Female": 0, "Male": 1}


@dataclass(frozen=True)
class Adult(Source):
    """Loader of the two original files, or of OpenML's copy where there is a network."""

    def domain_file(self, encoding: str) -> DomainFile:
        """Return the documented categories and public bounds, in the order of the files."""
        attributes = tuple(
            Numeric(name, *BOUNDS[name]) if name in BOUNDS else categorical(name, CATEGORIES[name], encoding)
            for name in HEADER
            if name in BOUNDS or name in CATEGORIES
        )
        return DomainFile(
            attributes=attributes,
            label=Marker("income", one=(">50K",), zero=("<=50K",), name="income_above_50k"),
            group=Marker("sex", one=("Male",), zero=("Female",), name="male"),
            ignore=("fnlwgt",),
        )

    def table(self) -> Table:
        """Read the files under ``CFM_DATA``; where they are missing, ask OpenML.

        Raises
        ------
        reference.common.errors.MissingDataError
            When neither works.
        """
        folder = data_folder() / "adult"
        if all((folder / name).is_file() for name in FILES):
            return read_files(folder)
        return _from_openml(folder)


def read_files(folder: Path) -> Table:
    """Read ``adult.data`` and ``adult.test`` of one folder, in this order.

    Raises
    ------
    reference.common.errors.CsvRowError, reference.common.errors.UnreadableFileError,
    reference.common.errors.LabelError
        With file, line and value.
    """
    rows: list[list[str]] = []
    places: list[tuple[str, int]] = []
    for name in FILES:
        for line, fields in _rows(folder / name):
            rows.append(fields)
            places.append((str(folder / name), line))
    columns = dict(zip(HEADER, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(HEADER, ())
    return _as_table({name: list(values) for name, values in columns.items()}, places)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each record; check label and sex, which are mapped to 0 and 1."""
    try:
        with path.open(newline="", encoding="ascii") as file:
            # no quoting: a stray quotation mark must not swallow the lines after it
            reader = csv.reader(file, skipinitialspace=True, quoting=csv.QUOTE_NONE)
            for line, fields in enumerate(reader, start=1):
                if not fields or fields[0].startswith("|"):
                    continue
                if len(fields) != len(HEADER):
                    raise CsvRowError(
                        f"{len(fields)} fields where {len(HEADER)} are needed",
                        file=str(path),
                        row=line,
                        value=",".join(fields),
                    )
                fields[-1] = fields[-1].removesuffix(".")
                if fields[-1] not in LABELS:
                    raise LabelError(
                        "label is neither <=50K nor >50K",
                        file=str(path),
                        row=line,
                        column="income",
                        value=fields[-1],
                    )
                if fields[9] not in SEXES:
                    raise UnseenCategoryError(
                        "category not declared", file=str(path), row=line, column="sex", value=fields[9]
                    )
                yield line, fields
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise UnreadableFileError(f"cannot be read as Adult: {problem}", file=str(path)) from problem


def _from_openml(folder: Path) -> Table:
    """Fetch Adult, version 2, from OpenML."""
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # that it tries again; what matters is the error below
            warnings.simplefilter("ignore")
            frame = fetch_openml("adult", version=2, as_frame=True, parser="auto", n_retries=1).frame
    except Exception as problem:
        raise MissingDataError(
            f"Adult is not at {folder} (looked for {' and '.join(FILES)}) and could not be fetched from "
            f"OpenML ({type(problem).__name__}). Download both files from the UCI Machine Learning Repository "
            f"(data set 'Adult') into {folder}, or set CFM_DATA to the folder that contains adult/"
        ) from problem
    try:
        columns = {name: frame["class" if name == "income" else name] for name in HEADER}
        return _as_table(
            {name: values.astype(object).where(values.notna(), "?").tolist() for name, values in columns.items()}
        )
    except KeyError as problem:
        raise UnreadableFileError(f"OpenML's copy is not Adult as documented: {problem} is unknown") from problem


def _as_table(columns: dict[str, list[str]], places: list[tuple[str, int]] | None = None) -> Table:
    """Name the label and the group, and drop the sampling weight."""
    table: dict[str, list[object]] = {
        name: list(columns[name]) for name in HEADER if name in BOUNDS or name in CATEGORIES
    }
    table["income_above_50k"] = [LABELS[label] for label in columns["income"]]
    table["male"] = [SEXES[sex] for sex in columns["sex"]]
    return Table(table, places)


SOURCE = Adult("adult")
