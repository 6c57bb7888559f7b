"""A mail server on loopback (aiosmtpd) with STARTTLS and a login that behaves as the recipients request, and stores all mails.

usage: mail_server.py FOLDER CERTIFICATE KEY [plain]    writes FOLDER/mail.port once it listens, and a JSON line a mail to
FOLDER/mails. The user is `watch`, the password `mail-password-1`. `plain`: without TLS and login.
"""
import asyncio
import email
import email.policy
import json
import os
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

folder, certificate, key = sys.argv[1:4]
plain = len(sys.argv) > 4
seen = {}


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("unknown@"):
            return "550 5.1.1 no such mailbox"
        seen[address] = seen.get(address, 0) + 1
        if address.startswith("later@") and seen[address] == 1:
            return "451 4.7.1 greylisted, try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if any(a.startswith("stall@") for a in envelope.rcpt_tos):
            await asyncio.sleep(60)
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        with open(folder + "/mails", "a") as log:
            log.write(json.dumps({
                "tls": session.ssl is not None, "user": session.auth_data and session.auth_data.login.decode(),
                "from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": message["Subject"], "id": message["Message-ID"],
                "headers": {k.lower(): str(v) for k, v in message.items()}, "defects": [str(d) for d in message.defects],
                "longest": max(len(line) for line in envelope.content.split(b"\r\n")), "text": message.get_content().replace("\r\n", "\n")}) + "\n")
        return "250 stored"


def login(server, session, envelope, mechanism, data):
    return AuthResult(success=data.login == b"watch" and data.password == b"mail-password-1", handled=False, auth_data=data)


options = {}
if not plain:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    options = {"tls_context": context, "require_starttls": True, "auth_required": True, "authenticator": login}
controller = Controller(Handler(), hostname="127.0.0.1", port=0, ready_timeout=20, **options)


def start():  # the controller connects to the port that it was given, which is 0 here
    loop = controller.loop
    asyncio.set_event_loop(loop)
    server = loop.run_until_complete(controller._create_server())
    with open(folder + "/mail.part", "w") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(folder + "/mail.part", folder + "/mail.port")
    loop.run_forever()


start()
