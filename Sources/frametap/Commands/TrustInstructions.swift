import Trace

/// How clients are made to trust the CA, and how that is undone.
struct TrustInstructions {
    /// The certificate's file.
    let path: String
    var system = SystemTrust()

    private var file: String { PrintableText.of(ShellWord.quoted(path)) }

    /// What to do where.
    var trust: String {
        """
        Debian, Ubuntu (curl, wget, Go, Ruby and others that use the system's certificates)
          \(system.installCommand(file))
        Fedora, RHEL
          sudo cp \(file) /etc/pki/ca-trust/source/anchors/frametap-ca.pem && sudo update-ca-trust
        macOS (Safari, Chrome, programs that use the keychain)
          security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db \(file)
        Firefox
          Settings > Privacy & Security > View Certificates > Authorities > Import; trust it to identify websites
        Java, all programs of this installation
          keytool -importcert -noprompt -cacerts -storepass changeit -alias frametap -file \(file)
        Python, for one command (these certificates replace the usual ones)
          SSL_CERT_FILE=\(file) REQUESTS_CA_BUNDLE=\(file) python3 program.py
        Node.js, for one command (in addition to the usual ones)
          NODE_EXTRA_CA_CERTS=\(file) node program.js
        curl, for one command
          curl --cacert \(file) https://…
        Android
          copy the file to the device; Settings, search for "CA certificate", install it from the storage.
          Apps accept it only if they opt in (network_security_config: certificates src="user"); Chrome does
        iOS
          send the file to the device and install the profile (Settings > General > VPN & Device Management), then
          turn it on: Settings > General > About > Certificate Trust Settings
        """
    }

    /// What to undo where.
    var remove: String {
        """
        Debian, Ubuntu
          \(system.removeCommand)
        Fedora, RHEL
          sudo rm /etc/pki/ca-trust/source/anchors/frametap-ca.pem && sudo update-ca-trust
        macOS
          Keychain Access > login > Certificates: delete "frametap CA …"
        Firefox
          Settings > Privacy & Security > View Certificates > Authorities: delete it under "frametap"
        Java
          keytool -delete -cacerts -storepass changeit -alias frametap
          on Debian, where update-ca-certificates adds to Java's certificates but removes none (ca-certificates-java):
          sudo keytool -delete -cacerts -storepass changeit -alias debian:frametap-ca.pem
        Android
          Settings, search for "user credentials" or "trusted credentials", User: remove it
        iOS
          Settings > General > VPN & Device Management: remove the profile
        """
    }
}
