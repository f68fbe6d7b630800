import Framing
import Interception
import Streams

/// The rules of listeners that the command line opened. The API can change them, for connections that open from then on.
package protocol ListenerRules: Sendable {
    /// The rules of the command line, or those that took their place; not those of a file.
    var texts: [String] { get }
    /// What decides all choices.
    var seed: UInt64 { get }
    /// The format of all connections; nil if it depends on the connection.
    var format: Format? { get }

    /// Changes the rules.
    ///
    /// - Throws: what is wrong with them; its description is for people.
    func set(_ texts: [String]) throws

    /// The stages of a connection that opens now.
    ///
    /// - Parameter breakpoints: conditions on frames that are stopped.
    func stages(of connection: Int, to server: Endpoint, breakpoints: [String]) -> StageChain?
}
