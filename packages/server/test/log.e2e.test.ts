// The log of `remit serve` when nobody takes it: every request is answered, and SIGTERM ends the server.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { Remit } from './remit.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-log-'))
afterAll(() => {
	remit.stop()
	rmSync(folder, { recursive: true, force: true })
})

const remit = new Remit({ LOG_LEVEL: 'info', DATA_DIR: join(folder, 'data') }, folder)

/** Sends requests, each of which logs a line of some 200 characters; every one must be answered. */
async function send(url: string, count: number): Promise<void> {
	const client = async () => {
		while (count-- > 0) expect((await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) })).status).toBe(200)
	}
	await Promise.all(Array.from({ length: 20 }, client))
}

/** A pipe with its reading end, which the test does not read, and its writing end. */
function newPipe(name: string): { reader: number; writer: number } {
	const path = join(folder, name)
	execFileSync('mkfifo', [path])
	const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
	return { reader, writer: openSync(path, 'w') }
}

describe('a server whose log', () => {
	it('has lost its reader answers, and ends', async () => {
		const { reader, writer } = newPipe('gone')
		const server = await remit.serveInto(writer)
		closeSync(reader)
		// Lines wait for the next flush when the reader has already gone.
		await send(server.url, 5)
		await sleep(1_100)
		await send(server.url, 500)
		expect(await server.end('SIGTERM')).toEqual([0, null])
	})

	it('goes to a full disk answers, and ends', async () => {
		const server = await remit.serveInto(openSync('/dev/full', 'w'))
		await send(server.url, 500)
		expect(await server.end('SIGTERM')).toEqual([0, null])
	})

	it('goes to a reader that stopped answers, and ends', async () => {
		const { reader, writer } = newPipe('stopped')
		const server = await remit.serveInto(writer)
		await send(server.url, 1_000)
		expect(await server.end('SIGTERM')).toEqual([0, null])
		// The pipe was full: it takes whole pages.
		expect(readSync(reader, Buffer.alloc(100_000))).toBeGreaterThan(30_000)
	})

	it('goes to a file has every line of it, and no half one', async () => {
		const file = join(folder, 'file.log')
		const server = await remit.serveInto(openSync(file, 'w'))
		await send(server.url, 500)
		expect(await server.end('SIGTERM')).toEqual([0, null])
		const lines = readFileSync(file, 'utf8')
			.trimEnd()
			.split('\n')
			.map((line) => JSON.parse(line))
		expect(lines.filter(({ msg }) => msg === 'request').length).toBeGreaterThan(500)
		expect(lines.at(-1)).toMatchObject({ msg: 'closed' })
	})
})
