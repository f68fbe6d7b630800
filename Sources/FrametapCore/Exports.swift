// What a decoder reports is declared in these: whoever decodes needs them, too.
@_exported import Framing
@_exported import Streams
@_exported import Trace
