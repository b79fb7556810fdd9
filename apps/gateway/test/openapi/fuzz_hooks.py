"""Puts into valid requests what a schema can't ask for: rows that exist, times to come, and content that parses."""

import itertools
import json
import re
import unicodedata
from datetime import datetime, timedelta, timezone

import schemathesis
from schemathesis.generation.meta import TestPhase

with open("rows.json") as file:
    ROWS = json.load(file)

MJML = "<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>"
CONDITION = {"field": "email", "op": "contains", "value": "@"}
FILTERS = [CONDITION, {"not": CONDITION}, {"and": [CONDITION, {"or": [CONDITION]}]}]

# Members of any request, and the values that the rows in the database and the clock allow.
VALUES = {
    "accept_duplicates": lambda _: True,
    "attachments": lambda given: [{"filename": f"{index}.txt", "content": "aGk="} for index in range(len(given))],
    "contact_id": lambda _: ROWS["references"]["contact_id"],
    "contact_ids": lambda _: [ROWS["references"]["contact_id"]],
    "custom_fields": lambda given: {"plan": "pro"} if given else {},
    # "*" stands for every type and is alone.
    "events": lambda given: ["*"] if "*" in given else given,
    "from": lambda _: "Acme <hello@example.com>",
    "excluded_group_ids": lambda given: [ROWS["references"]["group_id"] for _ in given[:1]],
    "excluded_segment_ids": lambda given: [ROWS["references"]["segment_id"] for _ in given[:1]],
    "group_ids": lambda given: [ROWS["references"]["group_id"] for _ in given[:1]],
    "headers": lambda given: {"X-Order": "1843"} if given else {},
    "metadata": lambda given: {"order": "1843"} if given else {},
    # The schemas of these say any JSON, which has numbers that JavaScript can't hold.
    "definition": lambda given: {"name": "Welcome"} if given else {},
    "properties": lambda given: {"order": 1843} if given else {},
    "scheduled_at": lambda _: ROWS["later"],
    "segment_ids": lambda given: [ROWS["references"]["segment_id"] for _ in given[:1]],
    "template_id": lambda _: ROWS["references"]["template_id"],
    "url": lambda _: "https://example.com/hook",
    "variables": lambda given: {"name": "Ada"} if given else {},
}
NUMBERS = itertools.count()
NOW = datetime.now(timezone.utc)
DAY = timedelta(days=1)
MAILBOXES = {"to", "cc", "bcc", "reply_to"}
OF_CONTACTS = {"/v1/groups", "/v1/groups/{id}/contacts", "/v1/journeys/{id}/enrollments"}
TITLES = {"/v1/custom-fields/{id}": "label", "/v1/webhooks/{id}": "description"}
NAMES = {"description", "filename", "from_name", "group_name", "label", "name", "options", "tags"}
CONTENT = {"body", "html", "text", "subject"}


def adapt(part):
    """Changes members to what is true of the project, and leaves out null, which means the same as no member."""
    if isinstance(part, list):
        return [adapt(each) for each in part]
    if not isinstance(part, dict):
        return part
    adapted = {name: member(name, value) for name, value in part.items() if value is not None}
    # Only a select has options, and it has some.
    if adapted.get("type") == "select":
        adapted["options"] = adapted.get("options") or ["free", "pro"]
    elif "key" in adapted:
        adapted.pop("options", None)
    # A body is in its format; a template replaces it. Without one, an email has a subject and a body.
    if "template_id" in adapted:
        adapted.pop("html", None)
        adapted["subject"] = (adapted.get("subject") or "").strip() or "Hello"
    elif "from" in adapted:
        given = {name: value for name, value in adapted.items() if name not in CONTENT or value.strip()}
        adapted = {"subject": "Hello", "text": "Hello", **given}
    content = next((name for name in ("body", "html") if name in adapted), None)
    if content is None:
        adapted.pop("format", None)
    elif adapted.get("format") == "mjml":
        adapted[content] = MJML
    return adapted


def visible(name):
    """A name without what its pattern allows of control characters, marks that reorder text, and invisible characters."""
    kept = "".join(each for each in name if unicodedata.category(each) not in ("Cc", "Cf", "Zl", "Zp")).strip()
    return kept if any(unicodedata.category(each)[0] in "LNPS" for each in kept) or not name else f"Named{kept}"[: len(name)]


def member(name, value):
    if name in VALUES:
        return VALUES[name](value)
    if name in NAMES and isinstance(value, str):
        return visible(value)
    if name in NAMES and isinstance(value, list):
        return list(dict.fromkeys(map(visible, value)))
    if name in MAILBOXES:
        # An email has at most 50 recipients in all.
        most = 40 if name == "to" else 5
        return [f"reader{index}@example.com" for index in range(min(len(value), most))]
    if name in CONTENT and isinstance(value, str):
        return value.replace("{", "").replace("<", "")
    return adapt(value)


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def row_of(path):
    """The row that a path names, by parameter."""
    collection = path.split("/{")[0]
    parameters = re.findall(r"\{(\w+)\}", path)
    return {"id": ROWS["ids"][collection]} if parameters == ["id"] and collection in ROWS["ids"] else {}


@schemathesis.hook
def before_call(context, case, kwargs):
    # Cursors are issued by lists and can't be generated, so well-formed ones are omitted.
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str((case.query or {}).get("cursor", ""))):
        del case.query["cursor"]
    # A link goes only with clicks.
    if "link" in (case.query or {}) and "outcome" in case.query and is_positive(case):
        del case.query["outcome"]
    # An outcome has a period, which ends after its start and has at most 400 days.
    if case.operation.path == "/v1/emails" and case.method == "GET" and is_positive(case) and case.query:
        for name in ("since", "until"):
            case.query.pop(name, None)
        if "outcome" in case.query:
            case.query.update(since=(NOW - DAY).isoformat(), until=(NOW + DAY).isoformat())
    # The period of custom events is given in full, or its end may be before its start.
    if case.operation.path == "/v1/events" and case.method == "GET" and is_positive(case) and case.query:
        for name, when in (("from", NOW - DAY), ("to", NOW + DAY)):
            if name in case.query:
                case.query[name] = when.isoformat()
    # A filter is JSON text with a grammar of its own.
    if "where" in (case.query or {}) and is_positive(case):
        case.query["where"] = json.dumps(CONDITION)
    # The rows that requests refer to stay.
    if case.method == "DELETE" and (case.path_parameters or {}).get("id") in ROWS["ids"].values():
        case.path_parameters = {**case.path_parameters, "id": "none"}
    path = case.operation.path
    if not is_positive(case):
        return
    if case.method not in ("POST", "PATCH") or not isinstance(case.body, dict) or path == "/v1/imports":
        return
    if case.meta.phase.name != TestPhase.STATEFUL:
        case.path_parameters = {**(case.path_parameters or {}), **row_of(path)}
    case.body = adapt(case.body)
    if path.startswith("/v1/segments") and "filter" in case.body:
        case.body["filter"] = FILTERS[len(json.dumps(case.body["filter"])) % len(FILTERS)]
    if path == "/v1/bulk-operations":
        case.body["filter"] = {"where": CONDITION}
        # The rows that requests refer to stay: a filter that any of them matches must not delete them.
        if case.body.get("action") == "delete":
            case.body["action"] = "suppress"
        case.body.pop("group_name", None)
        case.body.pop("group_id", None)
        if "group" in case.body.get("action", ""):
            case.body["group_id"] = ROWS["references"]["group_id"]
    # Either several events or one, which has a name, one way to find its contact, and a time that is not long ago.
    if path == "/v1/events":
        if "events" in case.body:
            case.body = {"events": case.body["events"]}
        else:
            case.body = {"name": "order placed", **case.body, "contact_id": VALUES["contact_id"](None)}
            case.body.pop("email", None)
        if "occurred_at" in case.body:
            case.body["occurred_at"] = (NOW - DAY).isoformat()
    # Only properties that were seen can be described.
    if path == "/v1/event-definitions/{id}" and case.body.pop("properties", None) is not None:
        case.body["description"] = "A customer paid."
    # A new contact, since the rows that requests refer to are not deleted.
    if path == "/v1/contacts":
        case.body["email"] = f"new{next(NUMBERS)}@example.com"
    # Groups and enrollments are never empty, and an update changes something.
    if path in OF_CONTACTS:
        case.body["contact_ids"] = VALUES["contact_ids"](None)
    if case.method == "PATCH" and case.body.keys() <= {"version", "updated_at"}:
        case.body[TITLES.get(path, "name")] = "Renamed"
