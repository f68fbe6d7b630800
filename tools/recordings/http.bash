# shellcheck shell=bash disable=SC2034,SC2154
# HTTP/1.1 and 1.0: curl and Python's http.client talk to nginx and to Python's http.server.

needs_http() {
    need_command nginx nginx-light -
    need_command curl curl -
}

record_http() {
    local site="$work/site" nginx=http://127.0.0.1 python_server=http://127.0.0.2
    mkdir -p "$site/upload"
    printf '<!doctype html><title>Hello</title><p>Grüße aus Zürich\n' >"$site/index.html"
    printf 'line %d of a long text\n' $(seq 150) >"$site/long.txt"
    python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 6)' >"$site/bytes.bin"
    : >"$site/empty.txt"
    chmod -R a+rX "$site"
    chmod a+w "$site/upload"
    cat >"$work/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { }
http {
    access_log off;
    client_body_temp_path $work/body;
    types { text/html html; text/plain txt; }
    gzip on;
    gzip_types text/plain;
    gzip_min_length 100;
    gzip_http_version 1.0;
    server {
        listen 127.0.0.1:80;
        root $site;
        location /upload { dav_methods PUT DELETE MKCOL COPY MOVE; }
        location /nothing { return 204; }
        location /moved { return 301 /index.html; }
        location /secret { auth_basic "the secret"; auth_basic_user_file /dev/null; }
    }
}
CONF
    nginx -c "$work/nginx.conf" 2>"$work/nginx-start.log" &
    server=$!
    python3 "$recordings/http-server.py" 2>"$work/http-server.log" &
    server="$server $!"
    wait_for_port 80
    wait_until bash -c 'exec 3<>/dev/tcp/127.0.0.2/80'
    record http 80
    ask() { curl --silent --max-time 10 "$@" >/dev/null; }
    # Several requests in one connection; the body that a HEAD announces does not come.
    ask "$nginx/" --next -sI "$nginx/long.txt" --next -s "$nginx/empty.txt" "$nginx/bytes.bin"
    # Its length is known, or it comes in chunks because it is compressed as it goes; for HTTP/1.0 it ends with the connection.
    ask "$nginx/long.txt"
    ask --compressed "$nginx/long.txt"
    ask --http1.0 --header 'Accept-Encoding: gzip' "$nginx/long.txt"
    ask --http1.0 "$nginx/bytes.bin"
    # Answers without a body, and errors.
    local tag
    tag=$(curl -sI "$nginx/bytes.bin" | sed -n 's/^ETag: //p' | tr -d '\r')
    ask --header "If-None-Match: $tag" "$nginx/bytes.bin" "$nginx/nothing" "$nginx/not-there" "$nginx/moved"
    ask --request DELETE "$nginx/"
    ask --user guest:sesame "$nginx/secret"
    ask --range 10-19 "$nginx/bytes.bin"
    ask --range 0-4,250-260 "$nginx/bytes.bin"
    ask --range 9999- "$nginx/bytes.bin"
    # Bodies go up: with their length, in chunks, after "100 Continue" and without.
    ask --upload-file "$site/bytes.bin" "$nginx/upload/1.bin"
    ask --upload-file "$site/bytes.bin" --header 'Expect: 100-continue' "$nginx/upload/2.bin"
    ask --upload-file - "$nginx/upload/3.txt" <"$site/long.txt"
    ask --request DELETE "$nginx/upload/1.bin"
    ask --data 'name=value&empty=' "$python_server/echo"
    ask --data-binary "@$site/bytes.bin" --header 'Expect: 100-continue' "$python_server/echo"
    ask --form 'text=Grüße' --form "file=@$site/bytes.bin" "$python_server/echo"
    ask --data-binary '' "$python_server/echo"
    ask --request OPTIONS "$python_server/"
    ask "$python_server/chunks" "$python_server/trailers" "$python_server/until-close"
    python3 "$recordings/http-client.py"
    keep http
}
