"""The questions: for each one its name, its arguments, how it compiles to a Query, and its texts.

    robustness    every input in the ball around x gets the same decision as x        (paper, Definition 1)
    similarity    two models agree on the whole ball around x                         (Definition 4)
    equivalence   two models agree on every input                                     (Definition 3)
    radius        how far is the nearest input with another decision, or on which two models disagree?
    explanation   which facts of x suffice for its decision, none to spare?
    universal-…   robustness or similarity, on at least an eta fraction of a set of inputs

This is the only place that knows questions by name. The ``check_*`` functions, the command line, plans,
tasks, tallies, the store and the report read it; to add a question, declare it here. No slow import happens
before a question is compiled, because ``tmverify --help`` reads this file too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from tmverify.model import Classifier, Label, Model
    from tmverify.model.inputs import Row
    from tmverify.properties.allowed import Allowed, Rules
    from tmverify.properties.query import AnyQuery, Query


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """One question, with all that is needed to ask it, and to store and show its answers.

    Attributes
    ----------
    name : str
        Its name in commands, plans, stores and certificates.
    adjective : str
        Describes an input, or the models, if the answer is positive: "robust".
    models : tuple of int
        How many models it can be asked about.
    compile : function, optional
        From models, input, epsilon and region to a Query. A question without it is made of ``parts``.
    parts : tuple of Question
        The yes-or-no questions that it is made of, one for each number of models.
    about_input, has_epsilon, has_eta, has_margin : bool
        Its arguments: an input and which features may change; how many flips; what share of a set of inputs;
        by how many votes decisions must stand.
    is_distance : bool
        Whether the answer is a number of flips with a lower and an upper bound, not yes or no.
    gives_reason : bool
        Whether the answer is a set of columns that suffice for the decision; its epsilon may be left out.
        Its command is ``tmverify explain``, which can ask more than is kept in a store.
    title : str
        The title of a table of answers about one model; ``title_of_two`` is for two models.
    proved : str
        What a positive answer means, for readers of a report.
    help : str
        The help text of the command; its first line is the question in words.
    """

    name: str
    adjective: str
    models: tuple[int, ...] = (1,)
    compile: Callable[..., AnyQuery] | None = None
    parts: tuple[Question, ...] = ()
    about_input: bool = True
    has_epsilon: bool = False
    has_eta: bool = False
    has_margin: bool = False
    is_distance: bool = False
    gives_reason: bool = False
    title: str = ""
    title_of_two: str = ""
    proved: str = ""
    help: str = ""

    def part(self, n_models: int) -> Question:
        """The yes-or-no question that is compiled for this number of models."""
        return next((part for part in self.parts if n_models in part.models), self)

    def heading(self, models: Sequence[str], margin: int = 0) -> str:
        """The title of a table of answers about these models."""
        title = self.title_of_two if len(models) == 2 and self.title_of_two else self.title
        more = f", {margin_text(margin)}" if margin else ""
        return f"{title or self.name} of {' and '.join(models)}{more}"

    def query(
        self,
        models: Sequence[Classifier],
        x: Any = None,
        *,
        epsilon: int | None = None,
        scope: Label = "team",
        allowed: Allowed | Rules | None = None,
        margin: int = 0,
    ) -> AnyQuery:
        """The question about these models, compiled; without epsilon, all may change that is allowed."""
        part = self.part(len(models))
        assert part.compile is not None
        assert self.has_margin or not margin
        if not part.about_input:
            return part.compile(*models, scope=scope, allowed=allowed)
        return part.compile(*models, x, epsilon, scope=scope, allowed=allowed, margin=margin)


def votes_text(n: int) -> str:
    """A number of votes, in words."""
    return f"{n} vote" if n == 1 else f"{n} votes"


def margin_text(margin: int) -> str:
    """How decisions must stand, in words."""
    return f"by at least {votes_text(margin)}"


@overload
def robustness_query(
    model: Model,
    x: Row,
    epsilon: int | None,
    *,
    scope: Label = "team",
    allowed: Allowed | Rules | None = None,
    target: Label | None = None,
    margin: int = 0,
) -> Query: ...


@overload
def robustness_query(
    model: Classifier,
    x: Row,
    epsilon: int | None,
    *,
    scope: Label = "team",
    allowed: Allowed | Rules | None = None,
    target: Label | None = None,
    margin: int = 0,
) -> AnyQuery: ...


def robustness_query(
    model: Classifier,
    x: Row,
    epsilon: int | None,
    *,
    scope: Label = "team",
    allowed: Allowed | Rules | None = None,
    target: Label | None = None,
    margin: int = 0,
) -> AnyQuery:
    """Is there a z in the region around x with M(z) != M(x), or with M(z) = target if there is one?

    With a margin: or with M(z) = M(x) by fewer votes than that. ``tmverify.check_robustness`` has the
    arguments; without epsilon, the region is all that is allowed.
    """
    from tmverify.errors import InvalidInputError
    from tmverify.properties.conditions import check_margin
    from tmverify.properties.query import query_change
    from tmverify.properties.region import region_around
    from tmverify.properties.scope import check_classifier

    decider = check_classifier(model, "model").in_scope(scope)
    region = region_around(decider, x, epsilon, _rules(decider, allowed))
    expected = int(decider.class_indices(region.origin[None, :])[0])
    wanted = None if target is None else decider.class_index(target)
    if margin and target is not None:
        raise InvalidInputError(
            "A margin is about the decision of x, a target about another: pass one of them."
        )
    votes = check_margin(margin, decider)
    return query_change(decider, expected, region, wanted, votes).about(ROBUSTNESS.name, (model,), scope)


def similarity_query(
    a: Model,
    b: Model,
    x: Row,
    epsilon: int | None,
    *,
    scope: Label = "team",
    allowed: Allowed | Rules | None = None,
    margin: int = 0,
) -> Query:
    """Is there a z in the region around x with A(z) != B(z)? ``tmverify.check_similarity`` explains.

    With a margin: or on which A or B decides by fewer votes than that?
    """
    from tmverify.model.names import named_first
    from tmverify.properties.conditions import check_margin
    from tmverify.properties.query import query_disagreement
    from tmverify.properties.region import region_around
    from tmverify.properties.scope import comparable

    left, right = comparable(a, b, scope)
    named = named_first((left, right))
    region = region_around(named, x, epsilon, _rules(named, allowed))
    votes = check_margin(margin, left, right)
    return query_disagreement(left, right, region, votes).about(SIMILARITY.name, (a, b), scope)


def equivalence_query(
    a: Model, b: Model, *, scope: Label = "team", allowed: Allowed | Rules | None = None
) -> Query:
    """Is there a possible z with A(z) != B(z)? ``tmverify.check_equivalence`` has the arguments."""
    from tmverify.errors import InvalidInputError
    from tmverify.model.names import named_first
    from tmverify.properties.query import query_disagreement
    from tmverify.properties.region import Region
    from tmverify.properties.scope import comparable

    left, right = comparable(a, b, scope)
    named = named_first((left, right))
    rules = _rules(named, allowed)
    if (
        rules.features is not None
        or rules.direction is not None
        or rules.columns
        or rules.distance == "steps"
    ):
        raise InvalidInputError("Equivalence is about every input: only distance can be given.")
    query = query_disagreement(left, right, Region.everything(named.space, rules.distance))
    return query.about(EQUIVALENCE.name, (a, b), scope)


def _rules(model: Classifier, allowed: Allowed | Rules | None) -> Rules:
    from tmverify.properties.allowed import Allowed, Rules, rules_of

    return allowed if isinstance(allowed, Rules) else rules_of(model, allowed or Allowed())


ROBUSTNESS = Question(
    name="robustness",
    adjective="robust",
    compile=robustness_query,
    has_epsilon=True,
    has_margin=True,
    proved="Proved: no allowed change of up to ε columns alters the decision; all of them are covered.",
    help="""Can a few changed columns, or flipped bits, of an input change the decision?

    Each input is checked at each epsilon, and each epsilon is a row of the table.
    [bold]robust[/bold]: proved, no change of at most epsilon columns alters the decision.
    [bold]violated[/bold]: one does; the first few are shown, in the words of the columns.
    [bold]solved[/bold] counts both, and mean seconds are over those.
    With --margin, the decision must also stand by so many votes; one that stands by fewer is violated.

    Example: [cyan]tmverify robustness model.tm test.npz --epsilon 1 --epsilon 3 --n 200[/cyan]
    rows of your table: [cyan]tmverify robustness people.tm people.csv --id customer[/cyan]
    only these columns: [cyan]tmverify robustness people.tm people.csv -e 2 --columns income,savings[/cyan]
    by three votes: [cyan]tmverify robustness people.tm people.csv --margin 3[/cyan]
    """,
)
SIMILARITY = Question(
    name="similarity",
    adjective="similar",
    models=(2,),
    compile=similarity_query,
    has_epsilon=True,
    has_margin=True,
    proved="Proved: the two models decide alike on every input within ε changes of this one.",
    help="""Do two models agree on every input near the given ones?

    Each input is checked at each epsilon, and each epsilon is a row of the table.
    [bold]similar[/bold]: proved, the models agree on all inputs within epsilon changes.
    [bold]violated[/bold]: on one of those they differ; the first few are shown.
    [bold]solved[/bold] counts both, and mean seconds are over those.
    With --scope own and no labels, the class is the one that A predicts.

    Example: [cyan]tmverify similarity old.tm new.tm test.npz --epsilon 0 --epsilon 1 --n 100[/cyan]
    rows of your table: [cyan]tmverify similarity old.tm new.tm people.csv --id customer[/cyan]
    """,
)
EQUIVALENCE = Question(
    name="equivalence",
    adjective="equivalent",
    models=(2,),
    compile=equivalence_query,
    about_input=False,
    proved="Proved: the two models decide alike on every possible input.",
    help="""Do two models agree on every possible input?

    [bold]holds[/bold]: proved, no input tells them apart.
    [bold]violated[/bold]: one does; it is shown, after both models were run on it.
    --save-witnesses writes it as X, one row or none, and feature_names.
    The engine shown is the one that answered:
    [bold]hunt[/bold] (inputs tried, and walks), [bold]structure[/bold] (both sums cancel), search,
    brute (every input looked at, where there are few) or sat.

    Example: [cyan]tmverify equivalence trained.tm pruned.tm[/cyan]
    """,
)
RADIUS = Question(
    name="radius",
    adjective="exact",
    models=(1, 2),
    parts=(ROBUSTNESS, SIMILARITY),
    has_margin=True,
    is_distance=True,
    title_of_two="nearest disagreement",
    proved="The radius is proved: so many changes can alter the decision, and no fewer. "
    "∞ means that no allowed change does.",
    help="""How many changed columns, or flipped bits, does it take to change the decision?

    The [bold]radius[/bold] is exact: so many changes do it, and fewer are proved not to.
    The nearest class is what they make of it; the model was run on that input.
    [bold]5..9[/bold]: a limit struck; it takes at least 5, and 9 suffice. [bold]5..?[/bold]: none known.
    [bold]inf[/bold]: no change that is allowed alters the decision.

    With --against, the radius is the distance to the nearest input on which two models disagree.
    With --margin, to the nearest input whose decision stands by fewer votes; 0 if the input's own does.

    Example: [cyan]tmverify radius model.tm test.npz --n 200 --csv radii.csv[/cyan]
    rows of your table: [cyan]tmverify radius people.tm people.csv --id customer[/cyan]
    what may change: [cyan]tmverify radius people.tm people.csv --freeze age --within income=20..50[/cyan]
    words may only be added: [cyan]tmverify radius imdb.tm reviews.txt --direction add[/cyan]
    two models: [cyan]tmverify radius trained.tm test.npz --against pruned.tm[/cyan]
    """,
)
EXPLANATION = Question(
    name="explanation",
    adjective="explained",
    parts=(ROBUSTNESS,),
    has_epsilon=True,
    gives_reason=True,
    proved="Proved: with these facts the decision stays, whatever else changes (within ε changes, if there "
    "is an ε); none of them can be left out, and no value added.",
)
PROPERTY = Question(
    name="property",
    adjective="true",
    about_input=False,
    proved="Proved: every possible input that meets the assumption meets what is expected.",
)
"""What a person states; it has commands of its own, and is not in ``QUESTIONS``."""
UNIVERSAL_ROBUSTNESS = Question(
    name="universal-robustness",
    adjective="robust",
    parts=(ROBUSTNESS,),
    has_epsilon=True,
    has_eta=True,
    has_margin=True,
    help="""Is the model robust on at least a fraction eta of the inputs?

    [bold]holds[/bold]: proved for enough inputs.
    [bold]violated[/bold]: too many have a counterexample.
    Inputs are taken in order, and only until the answer is certain.

    Example: [cyan]tmverify universal-robustness model.tm test.npz --epsilon 1 --eta 0.9 --n 200[/cyan]
    rows of your table: [cyan]tmverify universal-robustness people.tm people.csv --eta 0.9[/cyan]
    """,
)
UNIVERSAL_SIMILARITY = Question(
    name="universal-similarity",
    adjective="similar",
    models=(2,),
    parts=(SIMILARITY,),
    has_epsilon=True,
    has_eta=True,
    has_margin=True,
    help="""Do two models agree near at least a fraction eta of the inputs?

    [bold]holds[/bold]: proved for enough inputs.
    [bold]violated[/bold]: near too many the models differ.
    Inputs are taken in order, and only until the answer is certain.

    Example: [cyan]tmverify universal-similarity old.tm new.tm test.npz --epsilon 1 --eta 2/3[/cyan]
    rows of your table: [cyan]tmverify universal-similarity old.tm new.tm people.csv --eta 2/3[/cyan]
    """,
)

DEFAULT_TIMEOUT = 300.0  # seconds for a question, unless another limit is given

QUESTIONS: Mapping[str, Question] = {
    question.name: question
    for question in (
        ROBUSTNESS,
        UNIVERSAL_ROBUSTNESS,
        SIMILARITY,
        UNIVERSAL_SIMILARITY,
        EQUIVALENCE,
        RADIUS,
        EXPLANATION,
    )
}
PLANNED: Mapping[str, Question] = {
    name: question for name, question in QUESTIONS.items() if not question.has_eta
}
"""The questions that plans can ask: about each input separately, or about every possible input."""
