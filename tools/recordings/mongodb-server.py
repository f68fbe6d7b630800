"""Keeps documents by their _id, finds them all or one by its _id, and has cursors."""

import itertools
import time

import bson
from bson import SON, Int64
from mockupdb import CommandBase, MockupDB, OpReply, OpQuery

documents, cursors, numbers = {}, {}, itertools.count(4711)


def batch(cursor, name, size):
    taken, cursors[cursor] = cursors[cursor][:size], cursors[cursor][size:]
    if not cursors[cursor]:
        del cursors[cursor]
        cursor = 0
    return {"cursor": {name: taken, "id": Int64(cursor), "ns": "house.readings"}, "ok": 1.0}


def found(matching, size):
    cursor = next(numbers)
    cursors[cursor] = matching
    return batch(cursor, "firstBatch", size)


def answer(name, request):
    document = request.doc
    if name in ("hello", "ismaster"):
        return {"helloOk": True, "isWritablePrimary": True, "ismaster": True, "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000,
                "localTime": bson.datetime.datetime(2026, 11, 21), "logicalSessionTimeoutMinutes": 30, "connectionId": 1, "minWireVersion": 0, "maxWireVersion": 17,
                "readOnly": False, "ok": 1.0}
    if name == "insert":
        errors = []
        for index, each in enumerate(document["documents"]):
            if each["_id"] in documents:
                errors.append({"index": index, "code": 11000, "errmsg": "E11000 duplicate key error", "keyValue": {"_id": each["_id"]}})
            else:
                documents[each["_id"]] = each
        return {"n": len(document["documents"]) - len(errors), "ok": 1.0, **({"writeErrors": errors} if errors else {})}
    if name == "find":
        matching = [each for each in documents.values() if "_id" not in document["filter"] or each["_id"] == document["filter"]["_id"]]
        return found(matching, document.get("batchSize", 101))
    if name == "getMore":
        cursor = document["getMore"]
        if cursor not in cursors:
            return {"ok": 0.0, "errmsg": f"cursor id {cursor} not found", "code": 43, "codeName": "CursorNotFound"}
        return batch(cursor, "nextBatch", document.get("batchSize", 101))
    if name == "killCursors":
        return {"cursorsKilled": document["cursors"], "cursorsNotFound": [], "cursorsAlive": [], "cursorsUnknown": [], "ok": 1.0}
    if name == "aggregate":
        return found([{"_id": None, "count": len(documents)}], 101)
    if name in ("update", "delete"):
        return {"n": 1, "ok": 1.0, **({"nModified": 1} if name == "update" else {})}
    if name in ("ping", "endSessions"):
        return {"ok": 1.0}
    return {"ok": 0.0, "errmsg": f"no such command: '{name}'", "code": 59, "codeName": "CommandNotFound"}


def respond(request):
    # What wants no answer gets none.
    if request.flags is not None and request.flags & 2 and not isinstance(request, OpQuery):
        return True
    if isinstance(request, CommandBase):
        request.replies(SON(answer(request.command_name, request)))
        return True
    if isinstance(request, OpQuery):
        request.replies(*documents.values())
        return True
    return True


server = MockupDB(port=27017)
server.autoresponds(respond)
server.run()
while True:
    time.sleep(1)
