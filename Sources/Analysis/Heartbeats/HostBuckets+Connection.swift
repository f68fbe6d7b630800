import Streams
import Trace

extension HostBuckets {
    /// The bucket of a connection.
    static func bucket(of connection: TracedConnection) -> Int {
        let opening = connection.opening
        return bucket(opening.client.address, opening.server.address)
    }
}
