# shellcheck shell=bash disable=SC2034,SC2154
# MongoDB's wire protocol: PyMongo, and MockupDB in the place of a server, which no package has.

needs_mongodb() { need_library pymongo mockupdb setuptools; }

record_mongodb() {
    "$python" "$recordings/mongodb-server.py" 2>"$work/mongodb.log" &
    server=$!
    wait_for_port 27017
    record mongodb 27017
    "$python" "$recordings/mongodb-client.py"
    keep mongodb
}
