import Dispatch
import Control
import Framing
import Interception
import Pipeline
import Platform
import Streams
import Synchronization

/// The rules of a proxy as they are now: those of a file that may change, and those of the command line.
final class RuleStore: Sendable {
    /// The texts that rules are read from.
    private struct Texts {
        /// The file's name and its text.
        var file: (path: String, text: String)?
        /// Those of the command line.
        var own: [String]

        /// The rules, and the seed of the file.
        ///
        /// - Parameter isProvisional: whether they are read again once the format is known.
        func read(_ format: Format?, isProvisional: Bool) throws(FormatFileError) -> (rules: [Rule], seed: UInt64?) {
            var (rules, seed): ([Rule], UInt64?) = ([], nil)
            if let file {
                (rules, seed) = try RuleFile.load(
                    file.text, file: file.path, format: format, isProvisional: isProvisional)
            }
            let inFile = rules.count
            for (place, text) in own.enumerated() {
                rules.append(
                    try RuleFile.rule(
                        text, number: inFile + place + 1, format: format, isProvisional: isProvisional,
                        option: own.count > 1 ? "--rule number \(place + 1)" : "--rule"))
            }
            return (rules, seed)
        }
    }

    private struct State {
        var texts: Texts
        var rules: RuleSet
        /// The same, read for formats that were recognised; nil for those that they do not suit.
        var byFormat: [String: RuleSet?] = [:]
    }

    /// How much rules hold, and for how long.
    let limits: StageChain.Limits
    private let decoding: DecodingOptions
    private let state: Mutex<State>
    /// Whether the seed was given, so that a file's does not count.
    private let isSeeded: Bool

    /// The largest file.
    private static let largest = 1 << 20

    /// Reads the rules.
    ///
    /// - Parameters:
    ///   - path: a file of rules.
    ///   - own: rules of the command line.
    ///   - decoding: the formats of connections.
    init(
        _ path: String?, _ own: [String], seed: UInt64?, _ decoding: DecodingOptions, _ limits: StageChain.Limits
    ) throws {
        (self.decoding, self.limits, isSeeded) = (decoding, limits, seed != nil)
        let file = try path.map { path in
            (path, String(decoding: try FileInput.contents(of: path, limit: Self.largest), as: UTF8.self))
        }
        let texts = Texts(file: file, own: own)
        let (rules, given) = try Self.read(texts, decoding)
        let set = RuleSet(rules, seed: seed ?? given ?? .random(in: 0...UInt64(UInt32.max)))
        state = Mutex(State(texts: texts, rules: set))
    }

    /// Reads rules, and checks that there is a format that they suit.
    private static func read(
        _ texts: Texts, _ decoding: DecodingOptions
    ) throws(FormatFileError) -> (rules: [Rule], seed: UInt64?) {
        if case .fixed(let format) = decoding.choice, decoding.byPort.isEmpty {
            let read = try texts.read(format, isProvisional: false)
            for rule in read.rules {
                guard let condition = rule.selection.when else { continue }
                for complaint in ConditionCheck.complaints(about: condition, in: [format]) {
                    warn("the rule \(rule.name): \(complaint)")
                }
            }
            return read
        }
        let read = try texts.read(nil, isProvisional: true)
        var error: FormatFileError?
        for format in decoding.knownFormats where format.isFramed {
            do throws(FormatFileError) {
                _ = try texts.read(format, isProvisional: false)
                return read
            } catch let reason {
                error = error ?? reason
            }
        }
        if let error { throw error }
        return read
    }

    /// The rules as they are now.
    var rules: [Rule] { state.withLock { $0.rules.rules } }

    /// What decides all choices.
    var seed: UInt64 { state.withLock { $0.rules.seed } }

    /// The stages of a connection that opens now.
    ///
    /// - Parameters:
    ///   - isCommanded: whether frames may be injected and stopped by command: then there are stages without a rule, too.
    ///   - breakpoints: conditions on frames that are stopped.
    func stages(
        of connection: Int, to server: Endpoint, isCommanded: Bool = false, breakpoints: [String] = []
    ) -> StageChain? {
        let rules = state.withLock { $0.rules }
        if !rules.needsFormat, !isCommanded { return rules.stages(of: connection, format: nil, limits: limits) }
        // Frames can be stopped and sent whether or not the rules suit their format.
        let none = isCommanded ? RuleSet([], seed: rules.seed) : nil
        if let format = decoding.byPort[server.port] ?? decoding.lateByPort?(server.port) {
            return (self.rules(for: format) ?? none)?.stages(
                of: connection, format: format, limits: limits, isCommanded: isCommanded, breakpoints: breakpoints)
        }
        switch decoding.choice {
        case .fixed(let format):
            return (self.rules(for: format) ?? none)?.stages(
                of: connection, format: format, limits: limits, isCommanded: isCommanded, breakpoints: breakpoints)
        case .automatic(let formats):
            return rules.stages(of: connection, limits: limits, isCommanded: isCommanded, breakpoints: breakpoints) {
                FormatRecogniser(formats, port: server.port, limit: decoding.detectionLimit)
            } _: { format in
                self.rules(for: format) ?? none
            }
        }
    }

    /// The rules read for a format; nil if they do not suit it, which is reported once.
    private func rules(for format: Format) -> RuleSet? {
        // Reading takes less than a millisecond, and must not be overtaken by a file that changes.
        state.withLock { state in
            if let known = state.byFormat[format.label] { return known }
            var set: RuleSet?
            do throws(FormatFileError) {
                set = RuleSet(try state.texts.read(format, isProvisional: false).rules, seed: state.rules.seed)
            } catch {
                warn("\(error)\nthe rules do not apply to connections of the format \(format.name)")
            }
            state.byFormat[format.label] = .some(set)
            return set
        }
    }

    /// Reads the file again whenever it has changed. One with errors is reported, and the rules stay as they are.
    func watch() {
        guard let path = state.withLock({ $0.texts.file?.path }) else { return }
        DispatchQueue(label: "rules").async { [self] in
            var seen = Self.text(of: path)
            while true {
                usleep(500_000)
                guard let text = Self.text(of: path), text != seen else { continue }
                seen = text
                reload(text, path)
            }
        }
    }

    private func reload(_ text: String, _ path: String) {
        let texts = Texts(file: (path, text), own: state.withLock { $0.texts.own })
        do throws(FormatFileError) {
            let (read, given) = try Self.read(texts, decoding)
            state.withLock { state in
                (state.texts, state.rules.rules, state.byFormat) = (texts, read, [:])
                if let given, !isSeeded { state.rules.seed = given }
            }
            let count = read.count - texts.own.count
            warn("\(path) has changed: \(count) rules for connections that open from now on")
        } catch {
            warn("\(error)\nthe rules stay as they were")
        }
    }

    private static func text(of path: String) -> String? {
        (try? FileInput.contents(of: path, limit: largest)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension RuleStore: ListenerRules {
    var texts: [String] { state.withLock { $0.texts.own } }

    var format: Format? {
        if case .fixed(let format) = decoding.choice, decoding.byPort.isEmpty, decoding.lateByPort == nil {
            format
        } else {
            nil
        }
    }

    func set(_ texts: [String]) throws {
        let new = Texts(file: state.withLock { $0.texts.file }, own: texts)
        let rules = try Self.read(new, decoding).rules
        state.withLock { state in (state.texts, state.rules.rules, state.byFormat) = (new, rules, [:]) }
    }

    func stages(of connection: Int, to server: Endpoint, breakpoints: [String]) -> StageChain? {
        stages(of: connection, to: server, isCommanded: true, breakpoints: breakpoints)
    }
}

extension FormatRecogniser: FormatSearch {}
