/// An analysis that remembers so much of all connections together, and no more.
///
/// Several of them, each for a share of the connections and with its part of the limit, find together what one finds for all of
/// them, unless one reaches its part.
package protocol SharedLimit: Analysis {
    /// Whether something was left out because of the limit.
    var hasReachedLimit: Bool { get }

    /// Takes a part of the limit; called before anything is seen.
    ///
    /// - Parameter count: among how many it is divided.
    func divideLimit(by count: Int)
}
