// The log: pino over a sink that never waits. The line of a request is written by hand, past pino.
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogSink } from './sink.ts'

export const openLog = (level: string, sink: LogSink): Logger => pino({ level, base: null }, sink)

/** Writes a line of level info as it is; it ends with a newline. */
export function writeInfo(log: Logger, line: string): void {
	const { [pino.symbols.streamSym]: destination } = log as unknown as Record<symbol, DestinationStream>
	destination?.write(line)
}
