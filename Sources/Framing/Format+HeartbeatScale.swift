import Streams

extension Format {
    /// The format with a heartbeat contract whose intervals are multiplied, as those of a system that runs at another time
    /// scale.
    public func scalingHeartbeat(by scale: Double) -> Format {
        guard let contract = heartbeat else { return self }
        var scaled = self
        scaled.heartbeat?.every = .seconds(contract.every.seconds * scale)
        scaled.heartbeat?.gap = .seconds(contract.gap.seconds * scale)
        return scaled
    }
}
