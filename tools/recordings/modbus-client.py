"""Asks for each function, five times."""

from pymodbus.client import ModbusTcpClient

client = ModbusTcpClient("127.0.0.1", port=502)
client.connect()
for start in range(5):
    client.read_coils(start, 9, slave=1)
    client.read_discrete_inputs(start, 3, slave=1)
    client.read_holding_registers(start, 100 + start, slave=1)
    client.read_input_registers(start, 2, slave=1)
    client.write_coil(start, True, slave=1)
    client.write_register(start, 4711, slave=1)
    client.write_coils(start, [True, False] * 9, slave=1)
    client.write_registers(start, list(range(50)), slave=1)
# There is no such register: an exception.
client.read_holding_registers(60000, 3, slave=1)
client.close()
