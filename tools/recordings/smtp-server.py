"""Takes letters for everybody but nobody@example; alice may log in with "sesame"."""

import asyncio
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, syntax


class Handler:
    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        return [*responses[:-1], "250-PIPELINING", responses[-1]]

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody"):
            return "550 5.1.1 There is no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if b"refuse me" in envelope.content:
            return "554-5.6.0 This letter is\r\n554 5.6.0 not wanted"
        return "250 OK: kept"


class Server(SMTP):
    @syntax("HELP [command]")
    async def smtp_HELP(self, argument):
        await self.push("214-There is help\r\n214-for those\r\n214 who ask")


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (b"alice", b"sesame"), handled=False)


def serve():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*sys.argv[1:3])
    return Server(Handler(), hostname="server.example", tls_context=context, authenticator=authenticate, auth_require_tls=False,
                  data_size_limit=20_000, enable_SMTPUTF8=True)


async def main():
    server = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 25)
    await server.serve_forever()


asyncio.run(main())
