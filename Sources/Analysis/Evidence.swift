import Framing
import Trace

extension Finding {
    /// The packet to look at first, if there are packets.
    var packet: Int? {
        for name in ["packet", "lastPacket", "sentPacket"] {
            if let number = data.number(name) { return Int(number) }
        }
        return nil
    }
}

extension [Field] {
    /// Where the frames of a finding end: the numbers of the packets that carried their last bytes, if there are packets.
    static func packets(_ named: (name: String, packet: Int)...) -> [Field] {
        named.filter { $0.packet > 0 }.map { Field($0.name, .integer(Int64($0.packet))) }
    }
}
