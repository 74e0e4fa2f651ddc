// The log: pino over a sink that never waits. The line of a request is written by hand, past pino.
import { hostname } from 'node:os'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogSink } from './sink.ts'

interface LogSettings {
	readonly LOG_LEVEL: string
	readonly ROLE: string
	readonly DATABASE_URL: string
}

/** Where several processes may share a database, and a log, each line says which one wrote it. */
export function openLog({ LOG_LEVEL, ROLE, DATABASE_URL }: LogSettings, sink: LogSink): Logger {
	const base = DATABASE_URL ? { pid: process.pid, hostname: hostname(), role: ROLE } : null
	return pino({ level: LOG_LEVEL, base }, sink)
}

/** Begins a line of level info as pino does, with what the log says in each of its lines. */
export const beginInfo = (log: Logger): string =>
	`{"level":30,"time":${Date.now()}${(log as unknown as Record<symbol, string>)[pino.symbols.chindingsSym]}`

/** Writes a line of level info as it is; it ends with a newline. */
export function writeInfo(log: Logger, line: string): void {
	const { [pino.symbols.streamSym]: destination } = log as unknown as Record<symbol, DestinationStream>
	destination?.write(line)
}
