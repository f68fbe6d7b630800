"""Changes entries in each way that there is, binds anew, and asks for what is not there."""

import socket
import time

from ldap3 import ALL_ATTRIBUTES, BASE, LEVEL, MODIFY_ADD, MODIFY_DELETE, MODIFY_INCREMENT, MODIFY_REPLACE, NONE, Connection, Server

USER = "uid=user1,ou=people,dc=example"

connection = Connection(Server("127.0.0.1", get_info=NONE), "cn=admin,dc=example", "sesame", auto_bind=True)
connection.modify(USER, {"description": [(MODIFY_ADD, ["one", "two", ""])]})
connection.modify(USER, {"description": [(MODIFY_ADD, ["one", "two"])], "telephoneNumber": [(MODIFY_REPLACE, ["+41 44 000 00 00"])]})
connection.modify(USER, {"description": [(MODIFY_DELETE, ["one"])], "jpegPhoto": [(MODIFY_REPLACE, [bytes(range(256)) * 8])]})
connection.modify(USER, {"uid": [(MODIFY_INCREMENT, ["1"])]})
connection.search(USER, "(objectClass=*)", BASE, attributes=ALL_ATTRIBUTES)
connection.search("ou=people,dc=example", "(cn~=user 1)", LEVEL, attributes=["1.1"], types_only=True)
connection.search("ou=people,dc=example", "(uid:caseExactMatch:=user3)", LEVEL, attributes=["cn", "+"], size_limit=2, time_limit=5)
connection.search("ou=people,dc=example", "(jpegPhoto=\\00\\01*\\2a)", LEVEL)
connection.search("dc=nowhere", "(objectClass=*)")
connection.search("", "(objectClass=*)", BASE, attributes=["+"])
connection.compare(USER, "sn", "Müller")
connection.compare(USER, "sn", "Meier")
connection.compare(USER, "description", "none")
connection.add("uid=user1,ou=people,dc=example", "inetOrgPerson", {"sn": "x", "cn": "x"})
connection.add("uid=new,ou=people,dc=example", "inetOrgPerson", {"cn": "no sn"})
connection.add("ou=rooms,dc=example", "organizationalUnit")
connection.modify_dn(USER, "uid=moved", new_superior="ou=rooms,dc=example")
connection.modify_dn("uid=user2,ou=people,dc=example", "uid=renamed", delete_old_dn=False)
connection.delete("uid=moved,ou=rooms,dc=example")
connection.delete("ou=people,dc=example")
connection.delete("uid=nobody,dc=example")
connection.extend.standard.who_am_i()
connection.extended("1.2.3.4.5", b"\x04\x02no")
connection.extend.standard.modify_password("uid=user3,ou=people,dc=example", None, "sesame")
connection.rebind("uid=user3,ou=people,dc=example", "sesame")
connection.delete("uid=user4,ou=people,dc=example")
connection.abandon(0)
connection.unbind()

# By hand: anonymous bind, three searches in one packet, one of them in pieces and with long forms of the lengths; abandon; unbind.
SEARCH = bytes.fromhex("04000a01000a0100020100020100010100870b6f626a656374436c6173733000")


def message(number, operation, long=False):
    content = b"\x02\x01" + bytes([number]) + operation
    return b"\x30" + (b"\x84" + len(content).to_bytes(4, "big") if long else bytes([len(content)])) + content


def search(number, long=False):
    return message(number, b"\x63" + (b"\x84" + len(SEARCH).to_bytes(4, "big") if long else bytes([len(SEARCH)])) + SEARCH, long)


with socket.create_connection(("127.0.0.1", 389)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    last = search(4, True)
    for piece in (message(1, bytes.fromhex("60070201030400") + b"\x80\x00"), search(2) + search(3) + last[:3], last[3:20], last[20:], search(5) + message(6, b"\x50\x01\x05"),
                  message(7, b"\x42\x00")):
        sock.sendall(piece)
        time.sleep(0.1)
