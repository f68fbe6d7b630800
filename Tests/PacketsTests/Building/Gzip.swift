import CZlib

/// A gzip member, as gzip(1) writes it.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    guard frametap_deflate_init(&stream, 31) == Z_OK else { return [] }
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
    let left = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
            (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
            _ = deflate(&stream, Z_FINISH)
            return Int(stream.avail_out)
        }
    }
    return Array(output.dropLast(left))
}
