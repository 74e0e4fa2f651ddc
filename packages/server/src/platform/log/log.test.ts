import { hostname } from 'node:os'
import { expect, it } from 'vitest'
import { beginInfo, openLog, writeInfo } from './log.ts'
import type { LogSink } from './sink.ts'

/** A line of pino's and one that is written by hand. */
function linesOf(DATABASE_URL: string): object[] {
	const lines: object[] = []
	const log = openLog({ LOG_LEVEL: 'info', ROLE: 'worker', DATABASE_URL }, {
		write: (line: string) => void lines.push(JSON.parse(line)),
	} as LogSink)
	log.warn('by pino')
	writeInfo(log, `${beginInfo(log)},"msg":"by hand"}\n`)
	return lines
}

it('Each line says which process wrote it, where several may share a database', () => {
	const writer = { pid: process.pid, hostname: hostname(), role: 'worker' }
	expect(linesOf('postgres://127.0.0.1/remit')).toEqual([
		{ level: 40, time: expect.any(Number), ...writer, msg: 'by pino' },
		{ level: 30, time: expect.any(Number), ...writer, msg: 'by hand' },
	])
})

it('A line says nothing of the process where there is one alone', () => {
	expect(linesOf('')).toEqual([
		{ level: 40, time: expect.any(Number), msg: 'by pino' },
		{ level: 30, time: expect.any(Number), msg: 'by hand' },
	])
})
