# shellcheck shell=bash disable=SC2034,SC2154
# RTSP with the media between its messages: GStreamer's server; ffmpeg, and requests by hand.

needs_rtsp() {
    need_command ffmpeg ffmpeg -
    if ! /usr/bin/python3 -c 'import gi; gi.require_version("GstRtspServer", "1.0")' 2>/dev/null; then
        lacks "GStreamer's RTSP server" gir1.2-gst-rtsp-server-1.0 -
        lacks "GStreamer for Python" python3-gi -
    fi
    [ -n "$(find /usr/lib -name libgstmulaw.so -print -quit)" ] || lacks "GStreamer's plugins" gstreamer1.0-plugins-good -
}

record_rtsp() {
    /usr/bin/python3 "$recordings/rtsp-server.py" >"$work/rtsp.log" 2>&1 &
    server=$!
    wait_for_port 554
    record rtsp 554
    play() { timeout 20 ffmpeg -nostdin -loglevel error -rtsp_transport tcp -i "rtsp://$1" -t "$2" -f null - >"$work/ffmpeg.log" 2>&1 || true; }
    play alice:sesame@127.0.0.1/tone 1
    play alice:sesame@127.0.0.1/long 0.6
    play alice:wrong@127.0.0.1/tone 1
    play alice:sesame@127.0.0.1/nothing 1
    # The other way: the client sends the media.
    timeout 20 ffmpeg -nostdin -loglevel error -re -f lavfi -i sine=frequency=440 -t 1 -c:a pcm_mulaw -ar 8000 -f rtsp -rtsp_transport tcp rtsp://alice:sesame@127.0.0.1/record \
        >"$work/ffmpeg.log" 2>&1 || true
    python3 "$recordings/rtsp-client.py"
    keep rtsp
}
