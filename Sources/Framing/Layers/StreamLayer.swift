import Streams
import YAML

/// Turns the encoded bytes of one direction into those that are framed: decompresses or decrypts them. It has a state, and is used by
/// one stream.
package protocol StreamLayer: AnyObject {
    /// Decodes the next bytes.
    ///
    /// - Parameter emit: takes what comes out, in pieces of bounded size.
    /// - Returns: how many bytes were used: less than all of them only where the encoded stream ends.
    func take(_ bytes: RawSpan, _ emit: (RawSpan) -> Void) throws(StreamLayerFault) -> Int

    /// The next bytes were not seen.
    ///
    /// - Returns: how many decoded bytes were lost with them; nil if nothing after them can be decoded.
    func skip(_ byteCount: Int) -> Int?

    /// Whether the encoded stream has ended: what follows is not encoded by it.
    var isOver: Bool { get }

    /// Approximately how much memory it takes, in bytes.
    var memory: Int { get }
}

/// Why a stream cannot be decoded any further.
package struct StreamLayerFault: Error, Hashable, CustomStringConvertible {
    /// Human-readable: what was found, and which encoding it was taken for.
    package var description: String
    /// How many bytes were decoded before it: the others remain as they are.
    var used: Int

    init(_ description: String, used: Int = 0) { (self.description, self.used) = (description, used) }
}

/// How the streams of a state are encoded (`through` in a format file): what a `StreamLayer` is made from.
protocol StreamEncoding: Sendable {
    /// The name in format files.
    static var name: String { get }

    /// Its options.
    static var keys: KeySection { get }

    /// Reads its options; faults are reported there.
    init(_ options: YAMLMap?)

    /// The names of the keys that it uses.
    func keyNames(default name: String) -> [String]

    /// Sets the user's keys.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError)

    /// The layer of a stream that begins to be encoded.
    func layer() throws(StreamLayerFault) -> any StreamLayer
}

extension StreamEncoding {
    /// Most use none.
    func keyNames(default name: String) -> [String] { [] }

    /// Most use none.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {}
}

/// Every encoding of streams. A new one is one line here.
enum StreamEncodings {
    static let all: [any StreamEncoding.Type] = [
        ZlibStream.self, GzipStream.self, DeflateStream.self, ZstdStream.self, XORStream.self, AESStream.self,
    ]

    /// Encodings of streams as a value of a format file.
    static let value = SharedValue(
        "through", "[stream encodings](#compressed-and-encrypted-streams)",
        "how streams are compressed or encrypted, the outermost encoding first", .oneOrMore(.shared(encoding)))

    private static let encoding = SharedValue(
        "streamEncoding", "a stream encoding", "one encoding of streams, with options if need be",
        .optioned {
            all.map { type in
                let needsSection = type.keys.keys.contains { $0.isRequired }
                return KeyOption(name: type.name, section: type.keys, needsSection: needsSection)
            }
        })

    /// The encodings at a map's key, the outermost first: a name, `{ name: options }`, or a list of them.
    static func read(_ map: YAMLMap, _ key: String) -> [any StreamEncoding] {
        guard let node = map[key] else { return [] }
        let path = "\(map.path).\(key)"
        let items = node.sequence ?? [node]
        return items.compactMap { item in
            let pair = item.mapping.flatMap { $0.count == 1 ? $0.first : nil }
            guard let name = item.string ?? pair?.key.string else {
                map.context.add("\(path) should list encodings, such as zlib, found \(item.kindName)", at: item)
                return nil
            }
            guard let encoding = all.first(where: { $0.name == name }) else {
                map.context.add(
                    "there is no stream encoding \(name); \(LoadContext.hint(name, all.map { $0.name }))", at: item)
                return nil
            }
            guard let options = pair?.value else { return encoding.init(nil) }
            let own = YAMLMap(options, path: "\(path).\(name)", context: map.context)
            return own.map { encoding.init($0.reading(encoding.keys)) }
        }
    }
}
