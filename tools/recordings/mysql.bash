# shellcheck shell=bash disable=SC2034,SC2154
# MySQL: MariaDB with its own client, PyMySQL, and MySQL's connector for Python.

needs_mysql() {
    need_command mariadbd mariadb-server -
    need_command mariadb mariadb-client -
    need_command openssl openssl -
    need_library pymysql mysql-connector-python
}

record_mysql() {
    local data="$work/mysql"
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 3650 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
    chmod 644 "$work/key.pem"
    # It does not run as root.
    install -d -o mysql "$data"
    mariadb-install-db --no-defaults --user=mysql --datadir="$data" --skip-test-db >"$work/install.log" 2>&1
    cat >"$work/users.sql" <<'SQL'
CREATE DATABASE house CHARACTER SET utf8mb4;
CREATE USER alice@'127.0.0.1' IDENTIFIED VIA mysql_native_password USING PASSWORD('sesame');
GRANT ALL ON house.* TO alice@'127.0.0.1';
SQL
    mariadbd --no-defaults --user=mysql --datadir="$data" --socket="$work/mysql/socket" --pid-file="$work/mysql/pid" --bind-address=127.0.0.1 --port=3306 \
        --skip-name-resolve --local-infile=1 --init-file="$work/users.sql" --ssl-cert="$work/cert.pem" --ssl-key="$work/key.pem" 2>"$work/mysql.log" &
    server=$!
    wait_until mariadb --no-defaults --socket="$work/mysql/socket" -e 'USE house'
    record mysql 3306
    local client=(mariadb --no-defaults --host=127.0.0.1 --user=alice --skip-auto-rehash)
    # An error ends no session.
    "${client[@]}" --skip-ssl --password=sesame --force house >/dev/null 2>&1 <<'SQL'
CREATE TABLE readings (id int PRIMARY KEY AUTO_INCREMENT, place varchar(40), value decimal(9,2), taken datetime(3), bytes blob);
INSERT INTO readings VALUES (1, 'Zürich', 21.5, '2026-11-21 08:00:00.250', x'00ff0d0a'), (2, NULL, -3, NULL, '');
SELECT * FROM readings ORDER BY id;
SELECT * FROM readings WHERE id = 99;
SELECT * FROM there_is_no_such_table;
SHOW WARNINGS;
SELECT REPEAT('long ', 800) AS text, '' AS empty, NULL AS nothing;
SQL
    "${client[@]}" --skip-ssl --password=wrong -e 'SELECT 1' >/dev/null 2>&1 || true
    "${client[@]}" --ssl --password=sesame -e 'SELECT CURRENT_USER()' >/dev/null
    "$python" "$recordings/mysql-client.py" "$work/letters.csv"
    keep mysql
}
