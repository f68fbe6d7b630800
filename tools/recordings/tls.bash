# shellcheck shell=bash disable=SC2034,SC2154
# TLS 1.2 and 1.3: OpenSSL, both sides.

needs_tls() {
    need_command openssl openssl -
}

record_tls() {
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 3650 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
    openssl s_server -accept 127.0.0.1:443 -cert "$work/cert.pem" -key "$work/key.pem" -www >"$work/tls.log" 2>&1 &
    server=$!
    wait_for_port 443
    record tls 443
    local version
    for version in tls1_2 tls1_3; do
        { printf 'GET / HTTP/1.0\r\n\r\n'; sleep 0.5; } |
            openssl s_client -connect 127.0.0.1:443 -quiet "-$version" >/dev/null 2>&1
        { printf 'GET / HTTP/1.0\r\n\r\n'; sleep 0.5; } |
            openssl s_client -connect 127.0.0.1:443 -quiet "-$version" -split_send_frag 512 >/dev/null 2>&1
    done
    # A client that verifies: it refuses the certificate with an alert.
    openssl s_client -connect 127.0.0.1:443 -verify_return_error </dev/null >/dev/null 2>&1 || true
    keep tls
}
