import Certificates
import Testing

/// Certificates are kept, but not too many, and not too long.
@Suite struct LeafCacheTests {
    private let leaves: LeafCertificates

    init() throws {
        leaves = try LeafCertificates(of: try CertificateAuthority.create(now: now))
    }

    /// Asks for a certificate; whether it was issued for that.
    private func isIssued(_ name: String, _ cache: inout LeafCache, at time: CertificateTime = now) throws -> Bool {
        var isIssued = false
        let leaf = try cache.leaf(for: LeafRequest(names: [name]), now: time) { request throws(LeafError) in
            isIssued = true
            return try leaves.issue(request, now: time)
        }
        #expect(leaf.names == [try CertificateName(requested: name)])
        return isIssued
    }

    @Test func theLeastRecentlyUsedIsDropped() throws {
        var cache = LeafCache(limit: 2)
        #expect(try isIssued("a.example", &cache) && isIssued("b.example", &cache))
        #expect(try !isIssued("A.example.", &cache))
        #expect(try isIssued("c.example", &cache) && cache.count == 2)
        #expect(try !isIssued("a.example", &cache) && !isIssued("c.example", &cache))
        #expect(try isIssued("b.example", &cache) && cache.count == 2)
        #expect(try isIssued("a.example", &cache))
    }

    @Test func itHoldsAThousand() throws {
        var cache = LeafCache()
        let leaf = try leaves.issue(for: ["a.example"], now: now)
        for number in 0..<1_200 {
            _ = try cache.leaf(for: LeafRequest(names: ["host\(number).example"]), now: now) { _ in leaf }
        }
        #expect(cache.count == 1_000 && LeafCache(limit: 0).limit == 1)
    }

    @Test func whatExpiresSoonIsIssuedAgain() throws {
        var cache = LeafCache(limit: 1)
        #expect(try isIssued("a.example", &cache))
        #expect(try !isIssued("a.example", &cache, at: now.adding(days: 195)))
        #expect(try isIssued("a.example", &cache, at: now.adding(days: 196)))
        #expect(try !isIssued("a.example", &cache, at: now.adding(days: 197)) && cache.count == 1)
    }

    @Test func anotherOfTheSameNameTakesNoPlace() throws {
        var cache = LeafCache(limit: 2)
        #expect(try isIssued("a.example", &cache))
        #expect(try isIssued("b.example", &cache, at: now.adding(days: 100)))
        #expect(try isIssued("b.example", &cache, at: now.adding(days: 296)) && cache.count == 2)
        #expect(try !isIssued("a.example", &cache, at: now))
    }

    @Test func anErrorIsNotKept() throws {
        var cache = LeafCache()
        let request = try LeafRequest(names: ["a.example"])
        #expect(throws: LeafError.noNames) {
            try cache.leaf(for: request, now: now) { _ throws(LeafError) in throw LeafError.noNames }
        }
        #expect(try cache.count == 0 && isIssued("a.example", &cache))
    }

    @Test func aCopyIsAnotherCertificate() throws {
        let server = try leaves.issue(for: ["b.example"], now: now).chain[0]
        let plain = try LeafRequest(names: ["a.example"])
        #expect(try LeafRequest(like: server, names: ["a.example"]) != plain)
        #expect(try LeafRequest(like: [], names: ["a.example"]) == plain)
    }
}
