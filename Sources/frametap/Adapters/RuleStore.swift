import Dispatch
import Foundation
import Framing
import Interception
import Synchronization

/// The rules of a proxy as they are now: those of a file that may change, and those of the command line.
final class RuleStore: Sendable {
    private let path: String?
    private let own: [Rule]
    private let format: Format?
    private let limits: StageChain.Limits
    private let rules: Mutex<RuleSet>
    /// Whether the seed was given, so that a file's does not count.
    private let isSeeded: Bool

    /// The largest file.
    private static let largest = 1 << 20

    init(_ path: String?, _ own: [Rule], seed: UInt64?, format: Format?, _ limits: StageChain.Limits) throws {
        (self.path, self.own, self.format, self.limits, isSeeded) = (path, own, format, limits, seed != nil)
        let (read, given) = try path.map { try Self.read($0, format) } ?? ([], nil)
        rules = Mutex(RuleSet(read + own, seed: seed ?? given ?? .random(in: 0...UInt64(UInt32.max))))
    }

    /// Whether a rule applies to frames.
    var needsFormat: Bool { rules.withLock { $0.needsFormat } }

    /// What decides all choices.
    var seed: UInt64 { rules.withLock { $0.seed } }

    /// The stages of a connection that opens now.
    func stages(of connection: Int) -> StageChain? {
        rules.withLock { $0 }.stages(of: connection, format: format, limits: limits)
    }

    /// Reads the file again whenever it has changed. One with errors is reported, and the rules stay as they are.
    func watch() {
        guard let path else { return }
        let thread = Thread { [self] in
            var seen = Self.text(of: path)
            while true {
                Thread.sleep(forTimeInterval: 0.5)
                guard let text = Self.text(of: path), text != seen else { continue }
                seen = text
                reload(text, path)
            }
        }
        thread.name = "rules"
        thread.start()
    }

    private func reload(_ text: String, _ path: String) {
        do throws(FormatFileError) {
            let (read, given) = try RuleFile.load(text, file: path, format: format)
            if RuleSet(read, seed: 0).needsFormat, format == nil {
                return warn("\(path): rules for frames need --format NAME; the rules stay as they were")
            }
            rules.withLock { rules in
                rules.rules = read + own
                if let given, !isSeeded { rules.seed = given }
            }
            warn("\(path) has changed: \(read.count) rules for connections that open from now on")
        } catch {
            warn("\(error)\nthe rules stay as they were")
        }
    }

    private static func text(of path: String) -> String? {
        (try? FileInput.contents(of: path, limit: largest)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func read(_ path: String, _ format: Format?) throws -> (rules: [Rule], seed: UInt64?) {
        let bytes = try FileInput.contents(of: path, limit: largest)
        return try RuleFile.load(String(decoding: bytes, as: UTF8.self), file: path, format: format)
    }
}
