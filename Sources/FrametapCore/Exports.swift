// Events and sinks refer to types of these modules: you use them without importing each.
@_exported import Framing
@_exported import Streams
@_exported import Trace
