import NIOCore
import Streams

/// Records one relayed connection. Called on the connection's event loop; must not wait.
protocol RelayRecording: AnyObject {
    /// Whether more may be read; false if the relay waits for the recorder (`--lossless`).
    var hasRoom: Bool { get }

    /// Calls back on the connection's event loop once there is room again.
    func whenThereIsRoom(_ resume: @escaping () -> Void)

    /// Bytes were read and, as a rule, passed on.
    func received(_ buffer: ByteBuffer, from direction: Direction)

    /// A direction has been held for a long time because the other side does not read; or it continues.
    func held(_ isHeld: Bool, from direction: Direction)

    /// Something other than bytes was noticed, such as TLS that broke.
    func noticed(_ notice: StreamNotice, from direction: Direction)

    /// One direction ended.
    func finished(_ ending: Ending, from direction: Direction)

    /// The proxy ends the connection because of a side's TLS. What stages hold is still passed on.
    func refused(_ side: Direction)

    /// The proxy ended the connection.
    func ended(_ reason: CloseReason)

    /// Bytes were read and passed on as they are.
    ///
    /// - Parameter isReceived: whether they count as read: not after the connection's end.
    func relayed(_ buffer: ByteBuffer, from direction: Direction, isReceived: Bool)

    /// Stages passed bytes on, of those that were read or of their own.
    func passedOn(_ buffer: ByteBuffer, from direction: Direction)

    /// Stages passed on the end of a direction.
    func passedOn(_ ending: Ending, from direction: Direction)

    /// Nothing can be passed on any more: both sides are gone.
    func passedOnLast()
}
