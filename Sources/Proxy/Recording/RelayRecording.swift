import NIOCore
import Streams

/// What takes note of one relayed connection. Called on the connection's event loop; must not wait.
protocol RelayRecording: AnyObject {
    /// Whether more may be read; false where the relay waits for the recorder (`--lossless`).
    var hasRoom: Bool { get }

    /// Calls back on the connection's event loop once there is room again.
    func whenThereIsRoom(_ resume: @escaping () -> Void)

    /// Bytes were read and passed on.
    func received(_ buffer: ByteBuffer, from direction: Direction)

    /// What one direction sends has had to wait for long, since the other side does not take it; or it goes on.
    func held(_ isHeld: Bool, from direction: Direction)

    /// One direction ended.
    func finished(_ ending: Ending, from direction: Direction)

    /// Nothing was said for longer than is allowed: the connection is over.
    func expired()
}
