/// Formats of protocols that people know, described with the language of format files: `docs/examples`.
///
/// They are requested by name, or recognised by their bytes if the examples are asked for.
package enum ExampleFormats {
    /// What precedes the name of an example where a format is named.
    package static let prefix = "example:"

    /// The files. A new example is one file in `docs/examples/`, its capture, and one line here.
    private static let sources: [(name: String, yaml: [UInt8])] = [
        ("amqp", PackageResources.amqp_yaml),
        ("bgp", PackageResources.bgp_yaml),
        ("bittorrent", PackageResources.bittorrent_yaml),
        ("dnp3", PackageResources.dnp3_yaml),
        ("dns", PackageResources.dns_yaml),
        ("fix", PackageResources.fix_yaml),
        ("http", PackageResources.http_yaml),
        ("irc", PackageResources.irc_yaml),
        ("jt808", PackageResources.jt808_yaml),
        ("kafka", PackageResources.kafka_yaml),
        ("ldap", PackageResources.ldap_yaml),
        ("memcached", PackageResources.memcached_yaml),
        ("modbus", PackageResources.modbus_yaml),
        ("mongodb", PackageResources.mongodb_yaml),
        ("mqtt", PackageResources.mqtt_yaml),
        ("mysql", PackageResources.mysql_yaml),
        ("nats", PackageResources.nats_yaml),
        ("postgresql", PackageResources.postgresql_yaml),
        ("redis", PackageResources.redis_yaml),
        ("rtmp", PackageResources.rtmp_yaml),
        ("rtsp", PackageResources.rtsp_yaml),
        ("sip", PackageResources.sip_yaml),
        ("smtp", PackageResources.smtp_yaml),
        ("stomp", PackageResources.stomp_yaml),
        ("tls", PackageResources.tls_yaml),
        ("websocket", PackageResources.websocket_yaml),
    ]

    /// The names, in order.
    package static var names: [String] { sources.map(\.name) }

    /// The text of an example's file; nil if there is none of that name.
    package static func yaml(of name: String) -> String? {
        sources.first { $0.name == name }.map { String(decoding: $0.yaml, as: UTF8.self) }
    }

    /// The examples that can be recognised by their bytes.
    package static func recognised() throws(FormatFileError) -> [Format] {
        var formats: [Format] = []
        for name in names {
            guard let yaml = yaml(of: name) else { continue }
            for var format in try FormatLoader.loadWithVariant(yaml, file: prefix + name) where format.detection != nil
            {
                format.name = prefix + name
                formats.append(format)
            }
        }
        return formats
    }

    /// An outline of each example, by its name.
    package static var outlines: [(name: String, outline: FormatOutline)] {
        sources.compactMap { source in
            FormatLoader.outline(String(decoding: source.yaml, as: UTF8.self)).map { (source.name, $0) }
        }
    }
}
