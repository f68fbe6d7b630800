import Streams

/// Replaces the values at some paths of a JSON text.
struct JSONRedaction {
    /// What a secret is shown as.
    static let mark = "«secret»"

    private let paths: [[String]]
    /// For each open container, how far each path has been followed there: indices of paths and of their components.
    private var followed: [Set<Step>] = []
    private var indices: [Int] = []

    private struct Step: Hashable {
        var path: Int
        var component: Int
    }

    /// A redaction of the values at these paths: names of members and indices into arrays. A name that meets an array is
    /// looked for in each of its elements.
    init(_ paths: [[String]]) {
        self.paths = paths
    }

    /// The text, compact, with the values replaced; nil where it is no JSON.
    mutating func of(_ text: RawSpan) -> [UInt8]? {
        var output = JSONCompaction()
        var tokens = JSONTokens()
        var key: Range<Int>?
        /// How many containers are open inside a value that is replaced.
        var hidden = 0
        do throws(JSONSyntaxError) {
            while let token = try tokens.next(text) {
                if hidden > 0 {
                    switch token {
                    case .beginObject, .beginArray: hidden += 1
                    case .endObject, .endArray: hidden -= 1
                    case .key, .scalar: break
                    }
                    continue
                }
                switch token {
                case .key(let range):
                    key = range
                    output.append(token, of: text)
                case .endObject, .endArray:
                    followed.removeLast()
                    indices.removeLast()
                    output.append(token, of: text)
                case .scalar, .beginObject, .beginArray:
                    let steps = self.steps(to: key, text)
                    key = nil
                    let isSecret = steps.contains { $0.component == paths[$0.path].count }
                    var isContainer = true
                    if case .scalar = token { isContainer = false }
                    if isSecret {
                        output.append(string: Self.mark)
                        if isContainer { hidden = 1 }
                    } else {
                        output.append(token, of: text)
                        if isContainer {
                            followed.append(steps)
                            indices.append(0)
                        }
                    }
                }
            }
        } catch {
            return nil
        }
        return output.bytes
    }

    /// How far the paths lead to the value that starts here.
    private mutating func steps(to key: Range<Int>?, _ text: RawSpan) -> Set<Step> {
        guard let around = followed.last else { return Set(paths.indices.map { Step(path: $0, component: 0) }) }
        guard let key else {
            let index = String(indices[indices.count - 1])
            indices[indices.count - 1] += 1
            return around.union(next(around, index))
        }
        return next(around, JSONText.string(key, escaped: true, in: text))
    }

    private func next(_ steps: Set<Step>, _ name: String) -> Set<Step> {
        Set(
            steps.filter { paths[$0.path][$0.component] == name }.map {
                Step(path: $0.path, component: $0.component + 1)
            })
    }
}
