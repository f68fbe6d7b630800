// The values of traces, which tests look at.
@_exported import FrametapCore
// How heartbeats are compared.
@_exported import enum TraceDiff.HeartbeatComparison
