/// The format files of the systems, each in its system's folder. A target of its own: the formats are known without the peers.
package enum SystemFormats {
    /// Their names and texts, in the order that decides between equally good matches. A new one is a file in its system's folder, and
    /// one line here.
    package static let all: [(name: String, yaml: [UInt8])] = [
        ("im-json", PackageResources.im_json_yaml),
        ("im-magic", PackageResources.im_magic_yaml),
        ("fixed", PackageResources.fixed_yaml),
        ("marker", PackageResources.marker_yaml),
        ("json-envelope", PackageResources.json_envelope_yaml),
        ("text-heartbeat", PackageResources.text_heartbeat_yaml),
        ("len16-id", PackageResources.len16_id_yaml),
        ("tlv32", PackageResources.tlv32_yaml),
        ("line", PackageResources.line_yaml),
    ]
}
