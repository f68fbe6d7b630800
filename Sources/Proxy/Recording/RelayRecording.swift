import NIOCore
import Streams

/// Records one relayed connection. Called on the connection's event loop; must not wait.
protocol RelayRecording: AnyObject {
    /// The connection's number, from 1 in order of opening.
    var connection: Int { get }

    /// Whether more may be read; false if the relay waits for the recorder (`--lossless`).
    var hasRoom: Bool { get }

    /// Calls back on the connection's event loop once there is room again.
    func whenThereIsRoom(_ resume: @escaping () -> Void)

    /// Bytes were read and passed on.
    func received(_ buffer: ByteBuffer, from direction: Direction)

    /// A direction has been held for a long time because the other side does not read; or it continues.
    func held(_ isHeld: Bool, from direction: Direction)

    /// Something other than bytes was noticed, such as TLS that broke.
    func noticed(_ notice: StreamNotice, from direction: Direction)

    /// One direction ended.
    func finished(_ ending: Ending, from direction: Direction)

    /// The idle timeout expired: the connection is over.
    func expired()
}
