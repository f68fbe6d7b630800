import Framing
import Streams

/// A machine on its connections, as a value without sockets: bytes and times go in, actions come out, in which all output is bytes.
///
/// What every peer does is done here: segmenting and encoding, keeping frames that are sent in parts together, reporting who
/// comes and goes, and connecting again.
package struct PeerSession<Machine: PeerMachine> {
    private struct Connection {
        var codec: FrameCodec
        let since: Timestamp
        /// What waits for the rest of a frame; nil if none is in progress.
        var held: [PeerAction]?
        /// The parts of that frame, and the pause between them, if only time decides when they are sent.
        var parts: ArraySlice<[UInt8]> = []
        var pause = Interval(nanoseconds: 0)
        /// The machine has closed it: what still arrives does not matter.
        var isClosing = false

        mutating func read(
            _ bytes: [UInt8], on number: Int, at now: Timestamp, by machine: inout Machine
        ) -> [PeerInput] {
            isClosing ? [] : machine.read(bytes, on: number, at: now, with: &codec.reader)
        }
    }

    /// The machine.
    package private(set) var machine: Machine
    private var connections: [Int: Connection] = [:]
    private var retries: Backoff?
    private var isConnecting = false
    private var hasEnded = false

    /// A machine without connections.
    package init(_ machine: Machine) {
        self.machine = machine
        retries = machine.retries
    }

    private var isClient: Bool { !machine.name.isEmpty }

    // MARK: Events

    /// The peer begins: a client connects.
    package mutating func started(at now: Timestamp) -> [PeerAction] {
        guard !hasEnded, !isConnecting else { return [] }
        return perform(machine.started(at: now)) + (isClient ? connect(after: .seconds(0)) : [])
    }

    /// A connection to `peer` is established. Its number is new, or for a client 1.
    package mutating func opened(_ number: Int, by peer: String, at now: Timestamp) -> [PeerAction] {
        isConnecting = false
        guard !hasEnded else { return [.close(connection: number)] }
        connections[number] = Connection(codec: machine.codec(), since: now)
        let said = isClient ? "\(machine.name) connected" : "#\(number) connected from \(peer)"
        return [.log(said)] + perform(machine.opened(number, at: now))
    }

    /// One read of a connection.
    package mutating func received(_ bytes: [UInt8], on number: Int, at now: Timestamp) -> [PeerAction] {
        let inputs = connections[number]?.read(bytes, on: number, at: now, by: &machine) ?? []
        return take(inputs, on: number, at: now)
    }

    /// A timer fired.
    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        switch timer {
        case .pause(timer.connection):
            return take(
                connections[timer.connection]?.codec.reader.pause(until: now) ?? [], on: timer.connection, at: now)
        case .part(timer.connection): return sendPart(on: timer.connection)
        default: return isClient && connections.isEmpty ? [] : perform(machine.due(timer, at: now))
        }
    }

    /// A connection is over, or an attempt failed; `error` if it did not end cleanly.
    package mutating func closed(_ number: Int, error: String?, at now: Timestamp) -> [PeerAction] {
        guard connections[number] != nil || isConnecting else { return [] }
        let rest = connections[number]?.codec.reader.finish() ?? []
        var actions = hasEnded && isClient ? [] : take(rest, on: number, at: now)
        let connection = connections.removeValue(forKey: number)
        isConnecting = false
        let who = machine.who(number)
        if isClient, !hasEnded {
            let byServer = connection?.isClosing == false
            let why = error ?? (byServer ? "the server closed the connection" : "the connection is closed")
            if let wait = retries?.next(after: connection.map { now - $0.since }) {
                actions += [.log("\(machine.name) \(why); connects again in \(wait.seconds) s")] + connect(after: wait)
            } else {
                actions.append(.log("\(machine.name) \(why)"))
            }
        } else if !isClient, connection?.isClosing == false {
            actions.append(.log("\(who) left" + (error.map { ": \($0)" } ?? "")))
        }
        return actions + perform(machine.closed(number, at: now))
    }

    /// Does something with the machine.
    package mutating func change(_ change: (inout Machine) -> [PeerAction]) -> [PeerAction] {
        perform(change(&machine))
    }

    /// The peer ends: its connections are closed for good.
    package mutating func end() -> [PeerAction] {
        guard !hasEnded else { return [] }
        hasEnded = true
        machine.ended()
        let said = isClient && !connections.isEmpty ? [PeerAction.log("\(machine.name) disconnects")] : []
        return said + connections.keys.sorted().map { .close(connection: $0) }
    }

    // MARK: Input

    private mutating func take(_ inputs: [PeerInput], on number: Int, at now: Timestamp) -> [PeerAction] {
        var actions: [PeerAction] = []
        let (who, got) = isClient ? (machine.name, "got ") : ("#\(number)", "")
        for input in inputs where connections[number]?.isClosing == false {
            switch input {
            case .message(let message): actions += perform(machine.take(message, on: number, at: now))
            case .note(let note): actions.append(.log("\(who) \(note)"))
            case .unframed(let byteCount, let detail):
                actions.append(.log("\(who) \(got)\(byteCount) B without frame: \(detail)"))
            case .crash(let why): actions += perform([.log("\(who) \(why)"), .close(connection: number)])
            }
        }
        guard let deadline = connections[number]?.codec.reader.deadline else { return actions }
        // A frame that only a pause can end is ended by one.
        let wait = max(deadline - now, Interval(nanoseconds: 0)).nanoseconds + 1_000_000
        return actions + [.wake(.pause(number), after: Interval(nanoseconds: wait))]
    }

    // MARK: Output

    private mutating func connect(after wait: Interval) -> [PeerAction] {
        isConnecting = true
        return [.connect(after: wait)]
    }

    private mutating func perform(_ actions: [PeerAction]) -> [PeerAction] { actions.flatMap { perform($0) } }

    private mutating func perform(_ action: PeerAction) -> [PeerAction] {
        switch action {
        case .log, .wake, .connect: return [action]
        case .send(.part(let bytes, let isLast), let number): return send(bytes, isLast: isLast, on: number)
        case .send(let output, let number):
            guard isFree(number, for: action) else { return [] }
            return encode(output, on: number) { _, bytes in [.send(.bytes(bytes), connection: number)] }
        case .sendCut(let output, let places, let pause, let number):
            guard isFree(number, for: action) else { return [] }
            return encode(output, on: number) { session, bytes in
                session.connections[number]?.parts = bytes.cut(at: places)[...]
                session.connections[number]?.pause = pause
                session.connections[number]?.held = []
                return session.sendPart(on: number)
            }
        case .close(let number):
            guard isFree(number, for: action) else { return [] }
            connections[number]?.isClosing = true
            return [action]
        }
    }

    /// Whether a connection is there to be written to. While a frame is in progress on it, the action waits.
    private mutating func isFree(_ number: Int, for action: PeerAction) -> Bool {
        guard let connection = connections[number], !connection.isClosing else { return false }
        connections[number]?.held?.append(action)
        return connection.held == nil
    }

    private mutating func encode(
        _ output: PeerOutput, on number: Int, then send: (inout Self, [UInt8]) -> [PeerAction]
    ) -> [PeerAction] {
        do throws(EncodingError) {
            return send(&self, try connections[number]?.codec.encode(output) ?? [])
        } catch {
            return [.log("\(isClient ? machine.name : "#\(number)") cannot send a message: \(error)")]
        }
    }

    private mutating func send(_ part: [UInt8], isLast: Bool, on number: Int) -> [PeerAction] {
        guard let connection = connections[number], !connection.isClosing else { return [] }
        let sent = PeerAction.send(.bytes(part), connection: number)
        connections[number]?.held = isLast ? nil : connection.held ?? []
        guard isLast else { return [sent] }
        return connection.held.map { [sent] + perform($0) } ?? []
    }

    private mutating func sendPart(on number: Int) -> [PeerAction] {
        guard let part = connections[number]?.parts.popFirst(), let connection = connections[number] else { return [] }
        let next = [PeerAction.wake(.part(number), after: connection.pause)]
        return send(part, isLast: connection.parts.isEmpty, on: number) + (connection.parts.isEmpty ? [] : next)
    }
}

extension PeerTimer {
    /// A frame of a connection may end by a pause.
    static func pause(_ number: Int) -> PeerTimer { PeerTimer("pause", number) }
    /// The next part of a frame is to be sent.
    static func part(_ number: Int) -> PeerTimer { PeerTimer("part", number) }
}
