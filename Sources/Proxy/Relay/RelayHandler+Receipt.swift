import NIOCore
import Platform
import Streams

extension RelayHandler {
    /// Whether the program at the other end of the socket has read everything that was written here; nil if that cannot be known:
    /// it is on another machine, or in another network namespace, or TLS lies in between.
    func hasBeenRead(_ diagnosis: SocketDiagnosis) -> Bool? {
        hasTLS ? nil : channel?.peerHasRead(sentBytes, diagnosis)
    }
}
