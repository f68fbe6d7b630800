import Streams
import Trace

/// Unpacks the connections of one format, of which nothing is held but a few bytes: a million of them take little memory.
final class PackedConnections: ReceiverSource {
    private let resources: ConnectionResources
    /// How they are framed; nil while their format is looked for.
    let plan: FormatPlan?
    /// How their format was chosen.
    let choice: SharedChoice?

    var isShared: Bool { true }

    init(_ resources: ConnectionResources, _ plan: FormatPlan?, _ choice: SharedChoice?) {
        (self.resources, self.plan, self.choice) = (resources, plan, choice)
    }

    func receiver(from numbers: inout PackedNumbers) -> any ConnectionReceiver {
        let connection = TracedConnection(&numbers, plan?.known, choice)
        return decoder(of: connection, from: &numbers)
    }

    /// What decodes a connection from now on.
    fileprivate func decoder(of connection: TracedConnection, from numbers: inout PackedNumbers) -> ConnectionDecoder {
        let decoder = ConnectionDecoder(connection, resources, framedBy: plan)
        numbers.beginPart()
        decoder.pass(through: &numbers)
        return decoder
    }
}

/// Unpacks a connection that others know: only what its decoder knows of it is packed.
final class KnownPackedConnection: ReceiverSource {
    private let others: PackedConnections
    private let connection: TracedConnection

    var isShared: Bool { false }

    init(_ connection: TracedConnection, like others: PackedConnections) {
        (self.connection, self.others) = (connection, others)
    }

    func receiver(from numbers: inout PackedNumbers) -> any ConnectionReceiver {
        others.decoder(of: connection, from: &numbers)
    }
}
