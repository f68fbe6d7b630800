"""A Modbus server with 200 registers of each kind, all of them 7."""

import sys
from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server import StartTcpServer

block = ModbusSequentialDataBlock(0, [7] * 200)
store = ModbusSlaveContext(di=block, co=block, hr=block, ir=block)
StartTcpServer(context=ModbusServerContext(store), address=("127.0.0.1", 502))
