"""Sends back what it gets; some words make it do something else."""

import asyncio

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed


async def pieces():
    for word in ("in ", "", "three ", "pieces"):
        yield word


async def echo(connection):
    try:
        async for message in connection:
            if message == "ping me":
                await (await connection.ping(b"are you there?"))
            elif message == "pieces":
                await connection.send(pieces())
            elif message == "burst":
                # Without a pause between them: several in one packet.
                for number in range(8):
                    await connection.send(f"number {number}")
            elif message == "go away":
                await connection.close(1001, "going away")
            elif len(message) > 65_535:
                await connection.send("that was long")
            else:
                await connection.send(message)
    except ConnectionClosed:
        pass


async def main():
    async with serve(echo, "127.0.0.1", 80, subprotocols=["echo"], ping_interval=None, max_size=70_000):
        await asyncio.Future()


asyncio.run(main())
