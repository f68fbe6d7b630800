"""Writes and reads documents with each type that there is; then the messages of old, by hand."""

import datetime
import socket
import struct
import time

import bson
import pymongo
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from pymongo.errors import PyMongoError

EVERY = bytes(range(256))


def usual():
    client = pymongo.MongoClient("127.0.0.1", 27017, directConnection=True, appname="alice", retryWrites=False, retryReads=False)
    readings = client.house.readings
    client.admin.command("ping")
    readings.insert_one({"_id": 1, "place": "Zürich", "value": 21.5, "nothing": None, "empty": "", "yes": True, "long": Int64(2**40), "bytes": Binary(EVERY), "list": [1, "two", [3], {}],
                         "inner": {"deeper": {"x": -1}}, "when": datetime.datetime(2026, 11, 21), "id": ObjectId("0123456789abcdef01234567"), "pattern": Regex("^a.*", "i"),
                         "decimal": Decimal128("12.50"), "stamp": Timestamp(1, 2), "code": Code("x => x"), "scoped": Code("y", {"y": 1}), "least": MinKey(), "most": MaxKey(),
                         "other": DBRef("rooms", 7), "kind": Binary(b"\0\1", 128)})
    readings.insert_many([{"_id": number, "value": number} for number in range(2, 12)])
    readings.insert_one({"_id": "long", "text": "a long value " * 250})
    list(readings.find({}, batch_size=5))
    list(readings.find({"_id": 1}, {"value": 1}).sort("value", -1).limit(1).max_time_ms(1000))
    list(readings.find({"_id": "nobody"}))
    cursor = readings.find({}, batch_size=2)
    next(cursor)
    cursor.close()
    readings.update_one({"_id": 1}, {"$set": {"value": 22}}, upsert=True)
    readings.update_many({}, [{"$set": {"x": "$value"}}])
    readings.delete_one({"_id": 2})
    readings.bulk_write([pymongo.InsertOne({"_id": 100}), pymongo.UpdateOne({"_id": 3}, {"$inc": {"value": 1}}), pymongo.DeleteMany({"value": {"$gt": 5}})], ordered=False)
    list(readings.aggregate([{"$match": {"value": {"$gte": 0}}}, {"$group": {"_id": None, "count": {"$sum": 1}}}]))
    for refused in (lambda: readings.insert_one({"_id": 1}), lambda: client.house.command("nonsense", 1), lambda: readings.drop()):
        try:
            refused()
        except PyMongoError:
            pass
    # No answer is asked for.
    client.house.get_collection("readings", write_concern=pymongo.WriteConcern(w=0)).insert_one({"_id": "silent"})
    with client.start_session() as session:
        readings.find_one({"_id": 1}, session=session)
    client.close()


def by_hand():
    number = 0

    def message(code, *content):
        nonlocal number
        number += 1
        content = b"".join(content)
        return struct.pack("<4i", 16 + len(content), number, 0, code) + content

    name = b"house.readings\0"
    flags = struct.pack("<i", 0)
    ping = message(2013, flags, b"\0", bson.encode({"ping": 1, "$db": "admin"}))
    two = bson.encode({"_id": "one"}) + bson.encode({"_id": "two"})
    sequence = b"\1" + struct.pack("<i", 4 + len(b"documents\0") + len(two)) + b"documents\0" + two
    with socket.create_connection(("127.0.0.1", 27017)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for words in (
            ping[:3], ping[3:17], ping[17:],
            # OP_QUERY, OP_INSERT, OP_DELETE, OP_KILL_CURSORS.
            message(2004, flags, b"admin.$cmd\0", struct.pack("<2i", 0, -1), bson.encode({"ismaster": 1})),
            message(2002, flags, name, bson.encode({"_id": "old"})) + message(2006, flags, name, flags, bson.encode({"_id": "old"})) + message(2007, flags, struct.pack("<iq", 1, 4711)),
            # The sequence of documents comes before the command.
            message(2013, flags, sequence, b"\0", bson.encode({"insert": "readings", "$db": "house"})),
            ping + ping + ping[:20], ping[20:],
        ):
            sock.sendall(words)
            time.sleep(0.1)


usual()
by_hand()
