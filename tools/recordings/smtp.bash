# shellcheck shell=bash disable=SC2034,SC2154
# SMTP: Python's aiosmtpd; swaks, curl and Python's smtplib.

needs_smtp() {
    need_command openssl openssl -
    need_command swaks swaks -
    perl -MNet::SSLeay -e 1 2>/dev/null || lacks "TLS for swaks" libnet-ssleay-perl -
    need_command curl curl -
    need_library aiosmtpd
}

record_smtp() {
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 3650 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
    "$python" "$recordings/smtp-server.py" "$work/cert.pem" "$work/key.pem" 2>"$work/smtp.log" &
    server=$!
    wait_for_port 25
    record smtp 25
    mail() { swaks --server 127.0.0.1 --helo client.example --from alice@example --silent 3 "$@" || true; }
    mail --to bob@example
    mail --to bob@example,carol@example --auth-user alice --auth-password sesame --auth LOGIN --header 'Subject: Grüße' --body $'.\r\n..two dots\r\n.one\r\n\r\nend'
    mail --to nobody@example
    mail --to bob@example --pipeline --auth PLAIN --auth-user alice --auth-password wrong
    mail --to bob@example,nobody@example,carol@example --pipeline
    mail --to bob@example --protocol SMTP --body "$(printf 'line %d of a long letter\n' $(seq 150))"
    mail --to bob@example --tls --auth-user alice --auth-password sesame
    printf 'Subject: from curl\r\n\r\n.\r\nhello\r\n' | curl --silent smtp://127.0.0.1 --mail-from alice@example --mail-rcpt bob@example --upload-file - \
        --user alice:sesame --login-options AUTH=PLAIN
    "$python" "$recordings/smtp-client.py"
    keep smtp
}
