import Testing

/// A filter that no frame of the format can match is rejected before anything begins.
@Suite struct FilterCheckTests {
    @Test func theProxyRefusesAFilterThatNamesNoField() throws {
        let arguments = [
            "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--format", "len16-id", "--filter",
            "fields.lenth > 3",
        ]
        let result = try Program.run("frametap", arguments, input: [])
        #expect(result.status == 64)
        #expect(result.errors.contains("there is no field lenth; did you mean length?"), "\(result.errors)")
    }
}
