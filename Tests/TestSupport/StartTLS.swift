/// A format whose conversations change to TLS.
package enum StartTLS {
    /// Its YAML: lines, of which the client's `STARTTLS` requests TLS, and an answer that begins with 220 agrees.
    package static let yaml = """
        format: starttls
        framing: { rule: delimiter, end: "\\n" }
        body: text
        frame: { type: [{ when: body.text == "STARTTLS", is: STARTTLS }, { is: line }] }
        tls: { after: type == "STARTTLS" and from == client, answered: body.text startsWith "220" }
        """
}
