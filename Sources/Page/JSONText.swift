import Framing

/// Compact JSON as it is written: commas come by themselves.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    /// Whether the next value follows another one.
    private var follows = false

    private mutating func separate() {
        if follows { bytes.append(UInt8(ascii: ",")) }
        follows = true
    }

    /// An object of what `members` writes.
    mutating func object(_ members: (inout JSONText) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "{"))
        follows = false
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        follows = true
    }

    /// An array of what `values` writes.
    mutating func array(_ values: (inout JSONText) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "["))
        follows = false
        values(&self)
        bytes.append(UInt8(ascii: "]"))
        follows = true
    }

    /// A member's name; its value comes next.
    mutating func key(_ name: String) {
        separate()
        JSONOutput.string(name, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        follows = false
    }

    mutating func text(_ text: String) {
        separate()
        JSONOutput.string(text, into: &bytes)
    }

    mutating func number(_ number: Int) {
        separate()
        JSONOutput.integer(Int64(number), into: &bytes)
    }

    mutating func number(_ number: Double) {
        separate()
        bytes += Array((number.isFinite ? "\(number)" : "null").utf8)
    }

    mutating func boolean(_ value: Bool) {
        separate()
        bytes += Array((value ? "true" : "false").utf8)
    }

    mutating func null() {
        separate()
        bytes += Array("null".utf8)
    }

    /// A value that is JSON already.
    mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    mutating func value(_ value: JSONValue) {
        separate()
        value.write(into: &bytes)
    }
}

extension JSONText {
    mutating func member(_ name: String, _ number: Int) {
        key(name)
        self.number(number)
    }

    mutating func member(_ name: String, _ text: String?) {
        key(name)
        if let text { self.text(text) } else { null() }
    }

    mutating func member(_ name: String, _ value: Bool) {
        key(name)
        boolean(value)
    }

    /// A time: nanoseconds since 1970 as text, since programs read numbers of this size inexactly.
    mutating func member(_ name: String, time: Int64?) {
        key(name)
        if let time { text("\(time)") } else { null() }
    }

    mutating func member(_ name: String, event: Int?) {
        key(name)
        if let event { number(event) } else { null() }
    }

    /// What `members` writes, as an object.
    static func object(_ members: (inout JSONText) -> Void) -> [UInt8] {
        var json = JSONText()
        json.object(members)
        return json.bytes
    }
}
