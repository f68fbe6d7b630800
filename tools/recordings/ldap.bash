# shellcheck shell=bash disable=SC2034,SC2154
# LDAP: OpenLDAP, both sides, and Python's ldap3.

needs_ldap() {
    need_command slapd slapd -
    need_command ldapsearch ldap-utils -
    need_command openssl openssl -
    need_library ldap3
}

record_ldap() {
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 3650 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
    mkdir "$work/ldap"
    cat >"$work/slapd.conf" <<CONF
modulepath /usr/lib/ldap
moduleload back_mdb
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
TLSCertificateFile $work/cert.pem
TLSCertificateKeyFile $work/key.pem
database mdb
directory $work/ldap
suffix dc=example
rootdn cn=admin,dc=example
rootpw sesame
CONF
    slapd -d 0 -h ldap://127.0.0.1:389/ -f "$work/slapd.conf" >"$work/slapd.log" 2>&1 &
    server=$!
    wait_until ldapsearch -x -H ldap://127.0.0.1 -b '' -s base
    record ldap 389
    local admin=(-x -H ldap://127.0.0.1 -D "cn=admin,dc=example" -w sesame)
    {
        printf 'dn: dc=example\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Beispiel\n\n'
        printf 'dn: ou=people,dc=example\nobjectClass: organizationalUnit\nou: people\n\n'
        local number
        for number in $(seq 25); do
            printf 'dn: uid=user%d,ou=people,dc=example\nobjectClass: inetOrgPerson\nuid: user%d\ncn: User %d\nsn: Müller\nmail: user%d@example\n\n' "$number" "$number" "$number" "$number"
        done
    } >"$work/people.ldif"
    ldapadd "${admin[@]}" -f "$work/people.ldif" >/dev/null
    ldapsearch -x -H ldap://127.0.0.1 -b dc=example '(&(objectClass=inetOrgPerson)(|(uid=user1*)(!(cn=*2*))(sn>=M)))' cn mail >/dev/null
    # In pages of ten.
    ldapsearch "${admin[@]}" -b dc=example -E pr=10/noprompt '(uid=*)' uid >/dev/null
    ldapsearch "${admin[@]}" -b dc=example -z 3 >/dev/null || true
    ldapwhoami "${admin[@]}" >/dev/null
    ldapwhoami -x -H ldap://127.0.0.1 -D cn=admin,dc=example -w wrong 2>/dev/null || true
    LDAPTLS_REQCERT=never ldapsearch -ZZ "${admin[@]}" -b dc=example -s base >/dev/null
    "$python" "$recordings/ldap-client.py"
    keep ldap
}
