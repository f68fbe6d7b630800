# shellcheck shell=bash disable=SC2034,SC2154
# RTMP: nginx with its module for RTMP, and ffmpeg.

needs_rtmp() {
    need_command nginx nginx-light -
    need_command ffmpeg ffmpeg -
    [ -e /usr/share/nginx/modules-available/mod-rtmp.conf ] || [ -e /usr/lib/nginx/modules/ngx_rtmp_module.so ] || lacks "nginx's RTMP" libnginx-mod-rtmp -
}

record_rtmp() {
    cat >"$work/rtmp.conf" <<CONF
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off;
worker_processes 1;
user root;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { }
rtmp {
    access_log off;
    server {
        listen 127.0.0.1:1935;
        chunk_size 200;
        ping 1s;
        ping_timeout 5s;
        application live { live on; }
    }
}
CONF
    nginx -c "$work/rtmp.conf" 2>"$work/nginx-start.log" &
    server=$!
    wait_for_port 1935
    record rtmp 1935
    stream() { timeout 8 ffmpeg -nostdin -loglevel error "$@" >"$work/ffmpeg.log" 2>&1 || true; }
    stream -i rtmp://127.0.0.1/live/test -t 1.5 -c copy -f null - &
    local player=$!
    sleep 1
    stream -re -f lavfi -i testsrc=size=64x48:rate=8 -f lavfi -i sine=frequency=440:sample_rate=11025 -t 2.5 -metadata title='Grüße' -c:v flv1 -g 8 -qscale:v 25 -c:a libmp3lame -b:a 8k \
        -f flv rtmp://127.0.0.1/live/test
    wait "$player"
    # An application that there is not.
    stream -i rtmp://127.0.0.1/nothing/test -f null -
    keep rtmp
}
