"""Several results of one query, a file from the client, prepared statements, and the commands that are no queries."""

import datetime
import sys

import mysql.connector
import pymysql

LOGIN = {"host": "127.0.0.1", "user": "alice", "password": "sesame", "database": "house"}

client = pymysql.connect(**LOGIN, charset="utf8mb4", ssl_disabled=True, local_infile=True,
                         client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS, autocommit=True)
cursor = client.cursor()
client.ping()
client.select_db("house")
cursor.execute("SELECT 1; SELECT 2, NULL; UPDATE readings SET value = value + 1; SELECT * FROM nowhere")
try:
    while cursor.nextset():
        pass
except pymysql.Error:
    pass
cursor.execute("CREATE TABLE letters (letter char(1), bytes blob)")
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("".join(f"{letter}\tnumber {number}\n" for number, letter in enumerate("abcdefgä")))
cursor.execute(f"LOAD DATA LOCAL INFILE '{sys.argv[1]}' INTO TABLE letters CHARACTER SET utf8mb4")
cursor.execute("INSERT INTO letters VALUES (%s, %s)", ("x", bytes(range(256)) * 5))
cursor.execute("SELECT * FROM letters")
# Cells whose lengths take one byte, three, and more than a packet of the network holds.
cursor.execute("SELECT REPEAT('a', 250), REPEAT('b', 251), REPEAT('c', 5000)")
cursor.execute("SELECT seq, seq * seq FROM seq_1_to_30")
cursor.execute("CREATE PROCEDURE both_ways() BEGIN SELECT 'first'; SELECT 'second'; END")
cursor.callproc("both_ways")
while cursor.nextset():
    pass
client.begin()
client.rollback()
for refused in ("NONSENSE", "SELECT * FROM mysql.user", "INSERT INTO readings (id) VALUES (1)"):
    try:
        cursor.execute(refused)
    except pymysql.Error:
        pass
client.close()

client = mysql.connector.connect(**LOGIN, use_pure=True, ssl_disabled=True, charset="utf8mb4", collation="utf8mb4_general_ci")
client.ping()
client.cmd_statistics()
cursor = client.cursor(prepared=True)
moment = datetime.datetime(2026, 11, 21, 8, 0, 0, 250000)
for values in (("kitchen", 21.5, moment, b"\0\1\2"), (None, None, None, None), ("", -1, datetime.datetime(2026, 1, 1), b"")):
    cursor.execute("INSERT INTO readings (place, value, taken, bytes) VALUES (?, ?, ?, ?)", values)
cursor.execute("SELECT id, place, value, taken, bytes, CAST(id AS DOUBLE), TIME '-01:02:03.5' FROM readings WHERE id > ?", (0,))
cursor.fetchall()
cursor.execute("SELECT ?, ?", (2**40, "a long value " * 200))
cursor.fetchall()
cursor.close()
client.cmd_reset_connection()
client.cmd_change_user("alice", "sesame", "house")
client.commit()
client.close()
