"""An outstation with points of each kind, or the master that asks it: dnp3-station.py outstation|master"""

import os
import sys
import time

from pydnp3 import asiodnp3, asiopal, opendnp3, openpal

LEVELS = opendnp3.levels.NOTHING


class Commands(opendnp3.ICommandHandler):
    """Does what it is told, but for points beyond the third."""

    def Start(self):
        pass

    def End(self):
        pass

    def Select(self, command, index):
        return opendnp3.CommandStatus.SUCCESS if index < 3 else opendnp3.CommandStatus.NOT_SUPPORTED

    def Operate(self, command, index, kind):
        return self.Select(command, index)


class Outstation(opendnp3.IOutstationApplication):
    def SupportsWriteAbsoluteTime(self):
        return True

    def WriteAbsoluteTime(self, timestamp):
        return True

    def ColdRestartSupport(self):
        return opendnp3.RestartMode.SUPPORTED_DELAY_FINE

    def ColdRestart(self):
        return 1500

    def GetApplicationIIN(self):
        return opendnp3.ApplicationIIN()


class Values(opendnp3.ISOEHandler):
    def Process(self, info, values):
        pass

    def Start(self):
        pass

    def End(self):
        pass


def outstation():
    manager = asiodnp3.DNP3Manager(1, asiodnp3.ConsoleLogger().Create())
    channel = manager.AddTCPServer("server", LEVELS, asiopal.ChannelRetry().Default(), "127.0.0.1", 20000, asiodnp3.PrintingChannelListener().Create())
    config = asiodnp3.OutstationStackConfig(opendnp3.DatabaseSizes(20, 5, 500, 10, 5, 10, 10, 2))
    config.outstation.eventBufferConfig = opendnp3.EventBufferConfig().AllTypes(20)
    config.outstation.params.allowUnsolicited = True
    config.link.LocalAddr, config.link.RemoteAddr = 10, 1
    config.link.KeepAliveTimeout = openpal.TimeDuration().Seconds(2)
    commands, application = Commands(), Outstation()
    station = channel.AddOutstation("outstation", commands, application, config)
    station.Enable()
    for count in range(10_000):
        time.sleep(1)
        builder = asiodnp3.UpdateBuilder()
        builder.Update(opendnp3.Binary(count % 2 == 0), count % 20)
        builder.Update(opendnp3.Analog(21.5 + count), count % 500)
        builder.Update(opendnp3.Counter(count), count % 10)
        builder.Update(opendnp3.DoubleBitBinary(opendnp3.DoubleBit.DETERMINED_ON if count % 2 else opendnp3.DoubleBit.INTERMEDIATE), 1)
        station.Apply(builder.Build())


def master():
    manager = asiodnp3.DNP3Manager(1, asiodnp3.ConsoleLogger().Create())
    channel = manager.AddTCPClient("client", LEVELS, asiopal.ChannelRetry().Default(), "127.0.0.1", "127.0.0.1", 20000, asiodnp3.PrintingChannelListener().Create())
    config = asiodnp3.MasterStackConfig()
    config.master.responseTimeout = openpal.TimeDuration().Seconds(2)
    config.master.timeSyncMode = opendnp3.TimeSyncMode.NonLAN
    config.link.LocalAddr, config.link.RemoteAddr = 1, 10
    config.link.KeepAliveTimeout = openpal.TimeDuration().Seconds(1)
    values, application = Values(), asiodnp3.DefaultMasterApplication().Create()
    station = channel.AddMaster("master", values, application, config)
    station.Enable()
    time.sleep(3)

    def ignore(_):
        pass

    def wait():
        time.sleep(0.3)

    one = opendnp3.ClassField(opendnp3.ClassField.CLASS_1)
    station.ScanClasses(one)
    wait()
    station.ScanRange(opendnp3.GroupVariationID(30, 5), 3, 7)
    wait()
    station.ScanAllObjects(opendnp3.GroupVariationID(20, 1))
    wait()
    station.ScanAllObjects(opendnp3.GroupVariationID(110, 0))
    wait()
    for index in (0, 1, 7):
        station.DirectOperate(opendnp3.ControlRelayOutputBlock(opendnp3.ControlCode.LATCH_ON), index, ignore)
        wait()
        station.SelectAndOperate(opendnp3.ControlRelayOutputBlock(opendnp3.ControlCode.PULSE_ON, 3, 100, 200), index, ignore)
        wait()
    for value in (opendnp3.AnalogOutputInt16(-1), opendnp3.AnalogOutputInt32(2**30), opendnp3.AnalogOutputFloat32(1.5), opendnp3.AnalogOutputDouble64(-2.25)):
        station.DirectOperate(value, 2, ignore)
        wait()
    station.Restart(opendnp3.RestartType.COLD, ignore)
    wait()
    # Silence: the links ask each other whether they are there.
    time.sleep(5)
    os._exit(0)  # an orderly end may wait for itself


outstation() if sys.argv[1] == "outstation" else master()
