"""Serves alice a tone, in small packets and in packets longer than a segment; and takes what she sends."""

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

TONE = "audiotestsrc is-live=true samplesperbuffer=400 ! audio/x-raw,rate=8000,channels=1 !"

Gst.init(None)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service="554")


def mount(path, pipeline):
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {pipeline} )")
    factory.set_protocols(GstRtsp.RTSPLowerTrans.TCP)
    role = Gst.Structure.new_empty("alice")
    for permission in (GstRtspServer.RTSP_PERM_MEDIA_FACTORY_ACCESS, GstRtspServer.RTSP_PERM_MEDIA_FACTORY_CONSTRUCT):
        role.set_value(permission, True)
    factory.add_role_from_structure(role)
    server.get_mount_points().add_factory(path, factory)
    return factory


mount("/tone", f"{TONE} mulawenc ! rtppcmupay name=pay0 pt=0")
mount("/long", f"{TONE} audioconvert ! rtpL16pay name=pay0 pt=96 mtu=4000 min-ptime=200000000")
mount("/record", "rtppcmudepay name=depay0 ! mulawdec ! fakesink").set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)

auth = GstRtspServer.RTSPAuth()
alice = GstRtspServer.RTSPToken()
alice.set_string(GstRtspServer.RTSP_TOKEN_MEDIA_FACTORY_ROLE, "alice")
auth.add_basic(GstRtspServer.RTSPAuth.make_basic("alice", "sesame"), alice)
server.set_auth(auth)

server.attach(None)
GLib.MainLoop().run()
