"""The conversations, by name: each has a stage, on which the client has sent some beats already unless it begins otherwise."""

import socket
import time

from stage import ADDRESS, ANSWER, BEAT, DATA, EVERY, inside

SCENARIOS = {}


def scenario(name, taps=("server",), begins=True, **buffers):
    """A conversation; unless it begins in another way, with a connection and some beats."""
    def keep(function):
        def whole(stage):
            if begins:
                stage.connect()
                stage.beats()
            function(stage)
        SCENARIOS[name] = (whole, taps, buffers)
        return function
    return keep


# The sender.

@scenario("sender-silent")
def _(stage):
    stage.wait(2)
    stage.beats()


@scenario("sender-hurried")
def _(stage):
    stage.wait(2)
    stage.client.socket.sendall(b"".join(stage.client.frame(BEAT) for _ in range(3)))
    stage.wait(EVERY)
    stage.beats()


@scenario("sender-busy")
def _(stage):
    stage.data(2)
    stage.beats()


@scenario("sender-late")
def _(stage):
    stage.wait(0.7)
    stage.beats()


@scenario("sender-soon")
def _(stage):
    stage.wait(0.2)
    stage.beats()


@scenario("sender-stops")
def _(stage):
    stage.data(3)


@scenario("sender-ends")
def _(stage):
    stage.data(0.6)
    stage.client.end()
    stage.data(2, peer=stage.server)


@scenario("sender-never", begins=False)
def _(stage):
    stage.connect()
    stage.data(2)


@scenario("sender-leaves", begins=False)
def _(stage):
    stage.connect()
    stage.data(0.8)


@scenario("sender-begins", begins=False)
def _(stage):
    stage.connect()
    stage.data(0.8)
    stage.beats()


# The network.

@scenario("network-late", taps=("server", "client"))
def _(stage):
    with stage.lost(6):
        stage.beats(9)
    stage.beats()


@scenario("network-cut", taps=("server", "client"))
def _(stage):
    with stage.dropped():
        stage.beats(9)
    # The client's TCP waits twice as long each time before it tries again.
    stage.beats(15)


@scenario("network-held")
def _(stage):
    with stage.held():
        stage.beats(9)
    stage.beats()


@scenario("network-cut-back")
def _(stage):
    with stage.dropped(of="server"):
        stage.beats(9)
    stage.beats(15)


@scenario("network-gone", taps=("client",))
def _(stage):
    """Another connection goes on, so that the capture ends between two retransmissions."""
    stage.gone()
    stage.beats(3)
    stage.connect()
    stage.beats(26)


@scenario("network-again", taps=("client",))
def _(stage):
    with stage.lost(6):
        stage.beats(1)
    stage.wait(2.2)
    stage.beats()


@scenario("network-late-data")
def _(stage):
    stage.client.send(BEAT)
    with stage.lost(7):
        stage.data(0.2)
    stage.beats()
    stage.wait(2)
    stage.beats()


@scenario("network-late-too-late")
def _(stage):
    stage.wait(1.5)
    with stage.lost(6):
        stage.beats(2)
    stage.beats()


# The capture.

@scenario("capture-lost")
def _(stage):
    with stage.unrecorded(1.5):
        stage.beats(10)
    stage.beats()


@scenario("capture-lost-before")
def _(stage):
    with stage.unrecorded():
        stage.beats(1)
    stage.beats()
    stage.wait(2)
    stage.beats()


@scenario("capture-lost-right-before")
def _(stage):
    with stage.unrecorded():
        stage.data(0.2)
    stage.beats(1)
    stage.wait(2)
    stage.beats()


@scenario("capture-lost-answers")
def _(stage):
    stage.wait(0.3)
    with stage.unrecorded(0.5):
        stage.data(1, peer=stage.server)
    stage.data(0.6, peer=stage.server)
    stage.beats()


# The receiver.

@scenario("receiver-stalled", server_buffer=4096)
def _(stage):
    stage.server.reads.clear()
    for _ in range(8):
        stage.client.send(DATA, bytes(1000))
    stage.beats(9)
    stage.server.reads.set()
    stage.beats()


@scenario("receiver-slow", server_buffer=4096)
def _(stage):
    stage.server.reads.clear()
    for _ in range(20):
        stage.client.send(DATA, bytes(1000))
    for _ in range(6):
        stage.beats(2)
        stage.server.read(3000)
    stage.server.reads.set()
    stage.beats()


@scenario("receiver-stalled-before", server_buffer=4096)
def _(stage):
    stage.client.send(BEAT)
    stage.server.reads.clear()
    for _ in range(8):
        stage.client.send(DATA, bytes(1000))
    stage.wait(0.4)
    stage.server.reads.set()
    stage.beats()
    stage.wait(2)
    stage.beats()


@scenario("receiver-stalled-shortly", server_buffer=4096)
def _(stage):
    stage.server.reads.clear()
    for _ in range(8):
        stage.client.send(DATA, bytes(1000))
    stage.wait(0.6)
    stage.server.reads.set()
    stage.wait(3)
    stage.beats()


@scenario("receiver-stalled-other-side", client_buffer=4096)
def _(stage):
    stage.client.reads.clear()
    for _ in range(8):
        stage.server.send(DATA, bytes(1000))
    stage.wait(2)
    stage.client.reads.set()
    stage.beats()


# Answers.

@scenario("answered", begins=False)
def _(stage):
    """Each at once, one after 0.3 s."""
    stage.connect()
    for number in range(8):
        stage.client.send(BEAT)
        stage.wait(0.3 if number == 4 else 0.02)
        stage.server.send(ANSWER)
        stage.wait(0.2 if number == 4 else 0.18)


@scenario("answered-unanswered", begins=False)
def _(stage):
    stage.connect()
    for number in range(8):
        stage.client.send(BEAT)
        stage.wait(0.02)
        if number < 7:
            stage.server.send(ANSWER)
        stage.wait(0.18)
    stage.wait(0.8)


@scenario("answered-too-late", begins=False)
def _(stage):
    stage.connect()
    for number in range(8):
        stage.client.send(BEAT)
        stage.wait(0.8 if number == 4 else 0.02)
        stage.server.send(ANSWER)
        stage.wait(0.18)


# Eviction.

def evict(stage, after, sweep, reset=False):
    """The server looks every so often, and closes the connection when it has heard nothing for so long."""
    while True:
        stage.wait(sweep)
        if time.monotonic() - stage.server.heard >= after:
            if reset:
                stage.server.leave(reset=True)
            else:
                stage.server.end()
            return


@scenario("eviction-fits")
def _(stage):
    evict(stage, after=2, sweep=1)


@scenario("eviction-fits-reset")
def _(stage):
    evict(stage, after=2, sweep=1, reset=True)


@scenario("eviction-too-late")
def _(stage):
    evict(stage, after=4, sweep=1)


@scenario("eviction-too-soon")
def _(stage):
    evict(stage, after=1.4, sweep=0.2)


@scenario("eviction-itself")
def _(stage):
    stage.wait(2.4)
    stage.client.end()


@scenario("eviction-heard")
def _(stage):
    stage.wait(1.6)
    stage.data(0.2)
    stage.wait(1.6)
    stage.server.end()


# Clients that come repeatedly.

def come_again(stage, end, pause, times=7):
    for _ in range(times):
        stage.connect()
        stage.beats(2)
        end()
        stage.close()
        stage.wait(pause)


@scenario("storm", begins=False)
def _(stage):
    come_again(stage, lambda: stage.server.leave(reset=True), pause=0.2)


@scenario("storm-in-order", begins=False)
def _(stage):
    come_again(stage, stage.close, pause=0.2)


@scenario("storm-patient", begins=False)
def _(stage):
    come_again(stage, lambda: stage.server.leave(reset=True), pause=2.4)


@scenario("storm-refused", begins=False)
def _(stage):
    for _ in range(7):
        with inside("client"):
            client = socket.socket()
        try:
            client.connect((ADDRESS["server"], stage.port))
        except ConnectionRefusedError:
            pass
        client.close()
        time.sleep(0.3)
