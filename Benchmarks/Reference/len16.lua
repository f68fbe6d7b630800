-- A dissector of len16-id frames for tshark, as one would write it: length, id, flag, body. The captures' servers are on port 8088.
local frame = Proto("len16id", "len16-id")
local length = ProtoField.uint16("len16id.length", "Length")
local id = ProtoField.uint16("len16id.id", "Id")
local flag = ProtoField.uint8("len16id.flag", "Flag")
local body = ProtoField.bytes("len16id.body", "Body")
frame.fields = { length, id, flag, body }

-- The length does not count itself.
local function whole(bytes, _, offset) return bytes(offset, 2):uint() + 2 end

local function dissect(bytes, packet, tree)
    packet.cols.protocol = "len16-id"
    local fields = tree:add(frame, bytes())
    fields:add(length, bytes(0, 2))
    fields:add(id, bytes(2, 2))
    fields:add(flag, bytes(4, 1))
    if bytes:len() > 5 then fields:add(body, bytes(5)) end
    return bytes:len()
end

function frame.dissector(bytes, _, tree) dissect_tcp_pdus(bytes, tree, 5, whole, dissect) end

DissectorTable.get("tcp.port"):add(8088, frame)
