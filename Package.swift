// swift-tools-version: 6.1
import PackageDescription

#if canImport(Glibc)
import Glibc
#endif

// SwiftPM refuses a program with unsafe flags to packages that use this one, in its folder of checkouts or of a registry's downloads.
let isDependency =
    Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"
    || Context.packageDirectory.contains("/registry/downloads/")

// Set by .ci/run: one optimised build for the tests and the program. Only links differ: those of "tests" take Swift's shared libraries,
// as the libraries for tests do.
let builtOnce = isDependency ? "" : Context.environment["FRAMETAP_BUILT_ONCE"] ?? ""

// Set by scripts/fuzz alone: libFuzzer without its main, a static library. Then what reads foreign bytes is built with the counters
// that guide the fuzzer, and with AddressSanitizer; but for builds of everything once, whose modules the targets take as they are.
let fuzzer = Context.environment["FRAMETAP_FUZZ"]
let sanitized = fuzzer != nil && builtOnce.isEmpty
let fuzzed: [SwiftSetting] = sanitized ? [.unsafeFlags(["-sanitize=fuzzer,address"])] : []

// Swift's libraries in the program: it starts in half the time, and runs where Swift is not installed. Nothing loads the program as a
// library: without symbols for that, it is a tenth smaller.
var linkerFlags = [
    "-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections", "-use-ld=lld", "-Xlinker",
    "--no-export-dynamic",
    "-Xlinker", "--icf=safe",
]
#if canImport(Glibc)
// Its 100,000 relocations take 2 MB less in the form that glibc reads from 2.36 on: this machine's, where the program is meant to run.
var version = [CChar](repeating: 0, count: 64)
confstr(Int32(_CS_GNU_LIBC_VERSION), &version, version.count)
let numbers = String(decoding: version.map(UInt8.init(bitPattern:)), as: UTF8.self)
    .split { !$0.isNumber }.compactMap { Int($0) }
if !numbers.lexicographicallyPrecedes([2, 36]) {
    linkerFlags += ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
}
#endif
let staticallyLinked: [LinkerSetting] =
    isDependency || builtOnce == "tests"
    ? [] : [.unsafeFlags(linkerFlags, .when(platforms: [.linux], configuration: .release))]

// What decode and proxy do not run for each packet or message is built small.
let small: [SwiftSetting] = isDependency ? [] : [.unsafeFlags(["-Osize"], .when(configuration: .release))]

// Each function in a section of its own: the linker leaves out those that nothing calls.
let sections: [SwiftSetting] =
    isDependency
    ? [] : [.unsafeFlags(["-Xfrontend", "-function-sections"], .when(platforms: [.linux], configuration: .release))]

// In the folders of the systems, beside their peers; Framing, which reads formats, has links to them.
let systemFormats = [
    "Fixed/fixed.yaml", "IMJSON/im-json.yaml", "IMMagic/im-magic.yaml", "JSONEnvelope/json-envelope.yaml",
    "Len16ID/len16-id.yaml", "Line/line.yaml", "Marker/marker.yaml", "TLV32/tlv32.yaml",
    "TextHeartbeat/text-heartbeat.yaml",
]

let package = Package(
    name: "frametap",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "frametap", targets: ["frametap"]),
        .library(name: "TraceTesting", targets: ["TraceTesting"]),
        .library(name: "FrametapCore", targets: ["FrametapCore"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .target(name: "Platform", swiftSettings: fuzzed),
        .target(name: "Streams", swiftSettings: fuzzed),
        .target(name: "Expressions", dependencies: ["Streams"], swiftSettings: fuzzed),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(
            name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
        .target(name: "YAML", dependencies: ["CLibYAML"], swiftSettings: fuzzed),
        .target(
            name: "Framing",
            dependencies: [
                "CZlib", "CZstd", "Expressions", "Platform", "Streams", "YAML",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            resources: [.embedInCode("Formats"), .embedInCode("Examples")], swiftSettings: fuzzed),
        .target(
            name: "Packets",
            dependencies: [
                "CZlib", "Streams", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: fuzzed),
        .target(
            name: "TLS",
            dependencies: [
                "Streams", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ], swiftSettings: fuzzed),
        .target(name: "Trace", dependencies: ["Framing", "Streams"]),
        .target(
            name: "Analysis",
            dependencies: [
                "Framing", "Streams", "Trace",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ]),
        .target(
            name: "Tables",
            dependencies: [
                "Analysis", "CZstd", "Framing", "Streams", "Trace",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        .target(name: "TraceDiff", dependencies: ["Expressions", "Framing", "Streams", "Trace", "YAML"]),
        .target(
            name: "Pipeline",
            dependencies: [
                "Analysis", "Framing", "Packets", "Streams", "TLS", "Trace",
                .product(name: "BitCollections", package: "swift-collections"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ]),
        .target(
            name: "Interception",
            dependencies: [
                "Expressions", "Framing", "Streams", "YAML",
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        .target(
            name: "Certificates",
            dependencies: [
                "Platform", "Streams",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: small),
        .target(
            name: "Proxy",
            dependencies: [
                "Framing", "Interception", "Packets", "Pipeline", "Platform", "Streams", "TLS", "Trace",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        .target(
            name: "Replay",
            dependencies: [
                "Framing", "Pipeline", "Streams", "Trace", "TraceDiff",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: small),
        .target(
            name: "Control",
            dependencies: [
                "Expressions", "Framing", "Interception", "Proxy", "Streams", "Trace",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            resources: [.embedInCode("openapi.json")], swiftSettings: small),
        .target(
            name: "Page",
            dependencies: [
                "Analysis", "Control", "Expressions", "Framing", "Platform", "Proxy", "Streams", "Trace",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            resources: [.embedInCode("Web")]),
        .target(
            name: "Torture",
            dependencies: [
                "Framing", "Interception", "Pipeline", "Platform", "Proxy", "Replay", "Streams", "Trace", "TraceDiff",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: small),
        .target(name: "FrametapCore", dependencies: ["Framing", "Packets", "Pipeline", "Streams", "Trace"]),
        .target(
            name: "TraceTesting",
            dependencies: [
                "Expressions", "FrametapCore", "Framing", "Interception", "Packets", "Pipeline", "Proxy", "Replay",
                "Streams", "Torture", "Trace", "TraceDiff",
            ]),
        // Not linked but loaded when it is used: see its header. On macOS, it is always there.
        .systemLibrary(name: "CLibpcap", providers: [.apt(["libpcap-dev"]), .brew(["libpcap"])]),
        .target(
            name: "LiveCapture", dependencies: ["CLibpcap", "Packets", "Platform", "Streams"],
            linkerSettings: [.linkedLibrary("pcap", .when(platforms: [.macOS]))]),
        .target(
            name: "Systems", dependencies: ["Framing", "Streams"], exclude: systemFormats, swiftSettings: small),
        .target(
            name: "Peers",
            dependencies: [
                "Platform", "Streams", "Systems",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: small),
        .executableTarget(
            name: "frametap",
            dependencies: [
                "Analysis", "Certificates", "Control", "Framing", "Interception", "LiveCapture", "Packets", "Page",
                "Peers",
                "Pipeline", "Platform",
                "Proxy", "Replay", "Streams", "Systems", "TLS", "Tables", "Torture", "Trace", "TraceDiff",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: small, linkerSettings: staticallyLinked),
        .testTarget(name: "PlatformTests", dependencies: ["Platform"]),
        .testTarget(name: "StreamsTests", dependencies: ["Streams", "TestSupport"]),
        .testTarget(name: "YAMLTests", dependencies: ["TestSupport", "YAML"]),
        .testTarget(name: "ExpressionsTests", dependencies: ["Expressions", "Platform"]),
        .testTarget(
            name: "FramingTests",
            dependencies: [
                "CZlib", "CZstd", "Framing",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .testTarget(name: "PacketsTests", dependencies: ["CZlib", "Packets", "TestSupport"]),
        .testTarget(
            name: "TLSTests",
            dependencies: ["Packets", "Streams", "TLS", .product(name: "Crypto", package: "swift-crypto")]),
        .testTarget(name: "SystemsTests", dependencies: ["Framing", "Streams", "Systems", "TestSupport"]),
        .testTarget(
            name: "PeersTests", dependencies: ["Framing", "Peers", "Platform", "Streams", "Systems", "TestSupport"]),
        .testTarget(
            name: "TraceTests", dependencies: ["Framing", "Packets", "Pipeline", "Streams", "TestSupport", "Trace"]),
        .target(
            name: "TestSupport", dependencies: ["Framing", "Interception", "Packets", "Pipeline", "Streams", "Trace"],
            path: "Tests/TestSupport"),
        .testTarget(name: "AnalysisTests", dependencies: ["Analysis", "Framing", "Streams", "TestSupport", "Trace"]),
        .testTarget(
            name: "PipelineTests",
            dependencies: [
                "Analysis", "Expressions", "Framing", "Packets", "Pipeline", "Proxy", "Streams", "Systems", "TLS",
                "TestSupport", "Trace", .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .testTarget(
            name: "InterceptionTests", dependencies: ["Framing", "Interception", "Packets", "Streams", "TestSupport"]),
        .testTarget(
            name: "CertificatesTests",
            dependencies: [
                "Certificates", "Streams",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .testTarget(
            name: "TablesTests",
            dependencies: [
                "Analysis", "CZstd", "Framing", "Packets", "Pipeline", "Streams", "Tables", "TestSupport", "Trace",
            ]),
        .testTarget(
            name: "TraceDiffTests",
            dependencies: ["Framing", "Pipeline", "Streams", "TestSupport", "Trace", "TraceDiff"]),
        .testTarget(
            name: "ReplayTests",
            dependencies: [
                "Framing", "Peers", "Pipeline", "Replay", "Streams", "Systems", "TestSupport", "Trace", "TraceDiff",
                "TraceTesting",
            ]),
        .testTarget(
            name: "TortureTests",
            dependencies: [
                "Framing", "Pipeline", "Proxy", "Replay", "Streams", "TestSupport", "Torture", "Trace", "TraceDiff",
            ],
            exclude: ["Servers"]),
        .testTarget(name: "FrametapCoreTests", dependencies: ["FrametapCore"]),
        .testTarget(
            name: "TraceTestingTests",
            dependencies: [
                "Framing", "Peers", "Streams", "Systems", "TestSupport", "Trace", "TraceDiff", "TraceTesting",
            ]),
        .testTarget(
            name: "PageTests",
            dependencies: [
                "Analysis", "Control", "Expressions", "Framing", "Packets", "Page", "Pipeline", "Platform", "Proxy",
                "Streams",
                "TestSupport", "Trace", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], exclude: ["browser"]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "Certificates", "Framing", "Packets", "Pipeline", "Streams", "TestSupport", "Trace", "frametap",
            ]),
        .testTarget(
            name: "ProxyTests",
            dependencies: [
                "Control", "Framing", "Interception", "Packets", "Pipeline", "Proxy", "Streams", "TLS", "TestSupport",
                "Trace", "frametap",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            exclude: [
                "control.py", "control_api.py", "page.py", "ends.py", "listeners.py", "rules.py", "servers.bash",
                "tls.py",
                "traffic.py", "transparent.bash",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// For the libraries' documentation alone: who only uses them does not need the plug-in.
if Context.environment["FRAMETAP_DOCC"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

if let fuzzer {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["CFuzzer", "Expressions", "Framing", "Packets", "Streams", "TLS"],
            path: "Fuzz/Targets", swiftSettings: fuzzed,
            linkerSettings: [
                .unsafeFlags((sanitized ? ["-sanitize=address"] : []) + ["-Xclang-linker", fuzzer, "-lstdc++"])
            ]),
    ]
}

// A file sees only what it imports itself: what it uses is what it says.
for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.enableUpcomingFeature("MemberImportVisibility")]
}

for target in package.targets where [.regular, .executable].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + sections
}

// What tests see of a module must not be optimised away. They themselves run in less time than it takes to optimise them, as do modules that
// CI neither measures nor runs for long.
let seldomRun: Set = [
    "Certificates", "Control", "LiveCapture", "Page", "Peers", "Replay", "Systems", "Torture", "frametap", "fuzz",
]
for target in package.targets where !builtOnce.isEmpty && target.type != .system {
    let isPlain = target.type == .test || seldomRun.contains(target.name)
    target.swiftSettings =
        (target.swiftSettings ?? [])
        + [.unsafeFlags(["-enable-testing"] + (isPlain ? ["-Onone"] : []), .when(configuration: .release))]
}
