/// The forms of parts of texts that differ in each run.
///
/// Each function returns how many bytes at the beginning of a text have the form; nil for none.
enum TextShapes {
    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
    static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }
    /// Letters, digits, and the other characters of both Base64 alphabets.
    static func isTokenByte(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) || "+/=_-".utf8.contains(byte) }

    private static func digits(_ text: ArraySlice<UInt8>, atMost most: Int = .max) -> Int {
        text.prefix(most).prefix(while: isDigit).count
    }

    /// Bytes by a pattern: `0` is a digit, `h` a hexadecimal digit, anything else itself.
    private static func fits(_ picture: String, _ text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= picture.utf8.count else { return nil }
        for (wanted, byte) in zip(picture.utf8, text) {
            switch wanted {
            case UInt8(ascii: "0"): guard isDigit(byte) else { return nil }
            case UInt8(ascii: "h"): guard isHexDigit(byte) else { return nil }
            default: guard byte == wanted else { return nil }
            }
        }
        return picture.utf8.count
    }

    static func uuid(_ text: ArraySlice<UInt8>) -> Int? { fits("hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", text) }

    /// `22:10:11`, `22:10:11.123`, `22:10`; the fraction belongs to it.
    static func time(_ text: ArraySlice<UInt8>) -> Int? {
        guard var length = fits("00:00:00", text) ?? fits("0:00:00", text) ?? fits("00:00", text) else { return nil }
        let rest = text.dropFirst(length)
        if let point = rest.first, point == 0x2e || point == 0x2c, length > 5 {
            let fraction = digits(rest.dropFirst())
            if fraction > 0 { length += 1 + fraction }
        }
        if let next = text.dropFirst(length).first, isDigit(next) || next == 0x3a { return nil }
        return length
    }

    /// A date in ISO 8601, HTTP's and mail's, C's or syslog's spelling, followed by the time of day and the zone.
    static func datetime(_ text: ArraySlice<UInt8>) -> Int? {
        if let date = fits("0000-00-00", text) ?? fits("0000/00/00", text) ?? fits("00.00.0000", text)
            ?? fits("00/00/0000", text)
        {
            return date + clock(text.dropFirst(date))
        }
        if let compact = fits("00000000T000000", text) { return compact + zone(text.dropFirst(compact)) }
        var length = 0
        func rest() -> ArraySlice<UInt8> { text.dropFirst(length) }
        // `Sat, 21 Nov 2026 22:10:11 GMT`, `Sat Nov 21 22:10:11 2026`, `Nov 21 22:10:11`
        if let day = name(rest(), among: days) {
            length += day
            if rest().first == 0x2c { length += 1 }
            guard rest().first == 0x20 else { return nil }
            length += 1
        }
        let first = digits(rest(), atMost: 2)
        if first > 0, let separator = rest().dropFirst(first).first, separator == 0x20 || separator == 0x2d,
            let month = name(rest().dropFirst(first + 1), among: months)
        {
            length += first + 1 + month
            guard rest().first == separator else { return nil }
            let year = digits(rest().dropFirst(), atMost: 4)
            guard year == 4 || year == 2 else { return nil }
            length += 1 + year
            return length + clock(rest())
        }
        guard let month = name(rest(), among: months) else { return nil }
        length += month
        let spaces = rest().prefix { $0 == 0x20 }.count
        let day = digits(rest().dropFirst(spaces), atMost: 2)
        guard (1...2).contains(spaces), day > 0 else { return nil }
        length += spaces + day
        guard rest().first == 0x20, let clock = time(rest().dropFirst()) else { return nil }
        length += 1 + clock
        if let year = fits(" 0000", rest()) { length += year }
        return length
    }

    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// A name, or its first three letters.
    private static func name(_ text: ArraySlice<UInt8>, among names: [String]) -> Int? {
        for name in names {
            for spelling in [name, String(name.prefix(3))] where text.starts(with: spelling.utf8) {
                if let next = text.dropFirst(spelling.utf8.count).first, isLetter(next) { continue }
                return spelling.utf8.count
            }
        }
        return nil
    }

    /// The time of day after a date, with its zone.
    private static func clock(_ text: ArraySlice<UInt8>) -> Int {
        guard let first = text.first, first == 0x54 || first == 0x20 || first == 0x74,
            let length = time(text.dropFirst())
        else { return 0 }
        return 1 + length + zone(text.dropFirst(1 + length))
    }

    private static func zone(_ text: ArraySlice<UInt8>) -> Int {
        if text.first == 0x5a { return 1 }
        for picture in [" GMT", " UTC", "+00:00", "-00:00", " +0000", " -0000", "+0000", "-0000"] {
            let length = picture.utf8.count
            if picture.hasSuffix("T") || picture.hasSuffix("C") {
                if text.starts(with: picture.utf8) { return length }
            } else if fits(picture, text) != nil {
                return length
            }
        }
        return 0
    }

    /// As many digits as possible, with a sign before and a fraction and an exponent after them.
    static func number(_ text: ArraySlice<UInt8>, _ least: Int, _ most: Int) -> Int? {
        var length = text.first == 0x2d ? 1 : 0
        let whole = digits(text.dropFirst(length))
        guard whole >= least, whole <= most else { return nil }
        length += whole
        let rest = text.dropFirst(length)
        if rest.first == 0x2e {
            let fraction = digits(rest.dropFirst())
            let following = rest.dropFirst(1 + fraction)
            // `1.2.3` is not one number, but three.
            if fraction > 0, !(following.first == 0x2e && digits(following.dropFirst()) > 0) {
                length += 1 + fraction
                if following.first.map({ $0 | 0x20 }) == 0x65 {
                    let sign = following.dropFirst().first.map { $0 == 0x2b || $0 == 0x2d } == true ? 1 : 0
                    let exponent = digits(following.dropFirst(1 + sign))
                    if exponent > 0 { length += 1 + sign + exponent }
                }
            }
        }
        return length
    }

    /// Whether letters and digits may be random: letters mixed with digits, capitals among small letters, or letters that cannot be a
    /// word.
    static func mayBeToken(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count >= 2, text.contains(where: { isDigit($0) || isLetter($0) }) else { return false }
        if text.contains(where: isDigit) {
            // `user-2` and `path/to/v1` are words with a number; in a token, letters and digits alternate.
            let parts = text.split { !isDigit($0) && !isLetter($0) }
            return parts.count == 1 || text.count >= 12 && turns(text) * 5 >= text.count
        }
        if text.dropFirst().contains(where: { isCapital($0) }), text.contains(where: { isLetter($0) && !isCapital($0) })
        {
            return turns(text) * 4 >= text.count
        }
        return text.count >= 8 && !isPronounceable(text)
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }

    /// How often small letters, capitals and digits alternate.
    private static func turns(_ text: ArraySlice<UInt8>) -> Int {
        func kind(_ byte: UInt8) -> Int { isDigit(byte) ? 0 : isCapital(byte) ? 1 : 2 }
        let known = text.filter { isDigit($0) || isLetter($0) }
        return zip(known, known.dropFirst()).count { kind($0) != kind($1) }
    }

    /// Whether letters could be a word: no more than three consonants, or three vowels, in a row.
    private static func isPronounceable(_ text: ArraySlice<UInt8>) -> Bool {
        var (run, wasVowel) = (0, false)
        for byte in text where isLetter(byte) {
            let isVowel = "aeiouy".utf8.contains(byte | 0x20)
            run = isVowel == wasVowel ? run + 1 : 1
            wasVowel = isVowel
            if run > 3 { return false }
        }
        return true
    }
}
