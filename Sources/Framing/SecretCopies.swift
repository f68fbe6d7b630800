import Expressions
import Streams

/// The header's values that show a secret one, too: its bits, the number that it is a bit of, and what is computed from it.
struct SecretCopies {
    /// A field with bits of its own.
    private struct Number {
        var path: [String]
        var bits: [[String]]
    }

    /// A value without bytes.
    private struct Computed {
        var path: [String]
        /// The values that its expression names.
        var sources: [[String]]

        /// Whether it is computed from a value, of its own group or of one around it.
        func depends(on value: [String]) -> Bool {
            sources.contains { source in
                path.indices.contains { depth in
                    let source = path.prefix(depth) + source
                    return source.starts(with: value) || value.starts(with: source)
                }
            }
        }
    }

    private var numbers: [Number] = []
    private var computed: [Computed] = []

    /// How deeply groups are searched: types may contain themselves.
    private static let deepest = 6

    /// The copies in the headers and trailers of these kinds of frames.
    init(_ layouts: [FrameLayout]) {
        for layout in layouts {
            for field in ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? []) {
                add(field, in: [])
            }
            if let structure = (layout.head as? StructuredHead)?.structure { add(0, of: structure, in: [], depth: 0) }
            if let remembering = (layout.rule as? Structured)?.remembering {
                for entry in remembering.entries { add(entry.value, at: [entry.name]) }
            }
        }
    }

    /// The paths of the values that show the one at a path.
    func paths(showing secret: [String]) -> [[String]] {
        let secret = Self.names(secret)
        var found: [[String]] = []
        for number in numbers {
            if number.path == secret { found += number.bits }
            if number.bits.contains(secret) { found.append(number.path) }
        }
        var hidden = [secret] + found
        var isComplete = false
        while !isComplete {
            isComplete = true
            for value in computed where !hidden.contains(value.path) && hidden.contains(where: value.depends(on:)) {
                found.append(value.path)
                hidden.append(value.path)
                isComplete = false
            }
        }
        return found
    }

    private mutating func add(_ sequence: Int, of structure: Structure, in around: [String], depth: Int) {
        guard depth < Self.deepest, structure.sequences.indices.contains(sequence) else { return }
        let only = structure.sequences[sequence].only
        for (index, item) in structure.sequences[sequence].items.enumerated() {
            // The only item of a list's elements is shown as the element.
            let path = item.name.isEmpty || index == only ? around : around + [item.name]
            switch item.content {
            case .field(let field): add(field, in: around)
            case .computed(let expression): add(expression, at: path)
            case .group(let inner), .repeated(let inner, _): add(inner, of: structure, in: path, depth: depth + 1)
            case .choice(let choices):
                for choice in choices { add(choice, of: structure, in: path, depth: depth + 1) }
            case .literal, .sized, .ended, .words, .lines, .body: break
            }
        }
    }

    private mutating func add(_ field: HeaderField, in around: [String]) {
        guard !field.bits.isEmpty else { return }
        numbers.append(Number(path: around + [field.name], bits: field.bits.map { around + [$0.name] }))
    }

    private mutating func add(_ expression: Expression, at path: [String]) {
        let sources = expression.paths.map { source in
            let isRooted = source.count > 1 && (source[0] == "fields" || source[0] == Remembering.root)
            return Self.names(isRooted ? Array(source.dropFirst()) : source)
        }
        computed.append(Computed(path: path, sources: sources.filter { !$0.isEmpty }))
    }

    /// A path without indices: the elements of a list are alike.
    private static func names(_ path: [String]) -> [String] { path.filter { Int($0) == nil && !$0.contains("=") } }
}

extension Format {
    /// The secrets, and the fields that show one of them, too, with the places of bytes that did not fit.
    ///
    /// - Parameter secrets: those of the format file.
    static func withCopies(_ secrets: [Secret], _ sides: PerDirection<DirectionFormat>) -> [Secret] {
        let (client, server) = (SecretLeftovers(sides.fromClient), SecretLeftovers(sides.fromServer))
        let secrets = secrets.map { secret in
            var secret = secret
            secret.leftovers = PerDirection(
                fromClient: client.paths(around: secret.path), fromServer: server.paths(around: secret.path))
            return secret
        }
        guard secrets.contains(where: { $0.path[0] == "fields" }) else { return secrets }
        let copies = SecretCopies(sides.fromClient.layouts + sides.fromServer.layouts)
        return secrets
            + secrets.filter { $0.path[0] == "fields" }.flatMap { secret in
                copies.paths(showing: Array(secret.path.dropFirst())).map {
                    Secret(path: ["fields"] + $0, condition: secret.condition)
                }
            }
    }
}
