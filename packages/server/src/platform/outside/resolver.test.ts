// Look-ups against a real name server of this machine, which answers slowly, wrongly or not at all.
import { lookup as systemLookup } from 'node:dns/promises'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type NameAnswer, NameServer } from '../../../test/name-server.ts'
import { type Lookup, openResolver, ResolverUnavailable } from './resolver.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-names-'))
const hostsFile = join(folder, 'hosts')
let zone: Record<string, NameAnswer>
let server: NameServer
let clock: number
let lookup: Lookup
const timeoutMs = 300

const answerTo = (name: string): NameAnswer => zone[name] ?? (name.endsWith('dead.example') ? 'silence' : 'NXDOMAIN')
beforeAll(async () => {
	server = await new NameServer(answerTo).start()
})
beforeEach(() => {
	zone = { 'live.example': { addresses: ['127.0.0.1', '127.0.0.2'], ttl: 30 } }
	clock = 0
	server.asked.length = 0
	writeFileSync(hostsFile, '')
	lookup = openResolver({ servers: [server.address], hostsFile, timeoutMs, monotonic: () => clock })
})
afterAll(async () => {
	await server.stop()
	rmSync(folder, { recursive: true })
})

const live = [
	{ address: '127.0.0.1', family: 4 },
	{ address: '127.0.0.2', family: 4 },
]

describe('a name server that never answers', () => {
	it('fails the look-up in its time, and says nothing about the host', async () => {
		await expect(lookup('dead.example')).rejects.toThrow(ResolverUnavailable)
		expect(server.asked).toEqual(['dead.example'])
	})

	it('delays neither other look-ups nor the threads that files wait for', async () => {
		let ended = 0
		const dead = Array.from({ length: 100 }, (_, n) => lookup(`${n}.dead.example`).catch(() => ended++))
		expect(await lookup('live.example')).toEqual(live)
		await systemLookup('localhost')
		expect(ended).toBe(0)
		await Promise.all(dead)
		expect(ended).toBe(100)
	})

	it('uses up the look-ups of its own organization only, and gives them back', async () => {
		const dead = Array.from({ length: 8 }, (_, n) => lookup(`${n}.dead.example`, 'org_1').catch((error) => error))
		await expect(lookup('live.example', 'org_1')).rejects.toThrow('Too many look-ups of this organization')
		expect(await lookup('live.example', 'org_2')).toEqual(live)
		expect(await lookup('live.example', 'org_1')).toEqual(live)
		for (const error of await Promise.all(dead)) expect(error).toBeInstanceOf(ResolverUnavailable)
		zone['other.example'] = { addresses: ['127.0.0.3'], ttl: 30 }
		expect(await lookup('other.example', 'org_1')).toEqual([{ address: '127.0.0.3', family: 4 }])
	})

	it('is not asked again for five seconds, then once by all that wait', async () => {
		const ask = () => expect(lookup('dead.example')).rejects.toThrow(ResolverUnavailable)
		await Promise.all([ask(), ask(), ask()])
		clock = 4_999
		await ask()
		expect(server.asked).toEqual(['dead.example'])
		clock = 5_000
		await Promise.all([ask(), ask(), ask()])
		expect(server.asked).toEqual(['dead.example', 'dead.example'])
	})
})

describe('an answer', () => {
	it('is kept as long as it lives, at most a minute', async () => {
		zone['long.example'] = { addresses: ['127.0.0.1'], ttl: 86_400 }
		zone['fleeting.example'] = { addresses: ['127.0.0.1'], ttl: 0 }
		const names = ['live.example', 'long.example', 'fleeting.example']
		for (const now of [0, 29_999, 30_000, 59_999, 60_000]) {
			clock = now
			server.asked.length = 0
			for (const name of names) await lookup(name)
			const asked = { 0: names, 29999: [2], 30000: [0, 2], 59999: [2], 60000: [0, 1, 2] }[now] ?? []
			expect(server.asked, `at ${now}`).toEqual(asked.map((one) => (typeof one === 'number' ? names[one] : one)))
		}
	})

	it('that the host does not exist, has no address or cannot be served is about the host', async () => {
		zone['empty.example'] = { addresses: [], ttl: 30 }
		zone['broken.example'] = 'SERVFAIL'
		for (const name of ['none.example', 'empty.example', 'broken.example']) {
			const error = await lookup(name).catch((reason) => reason)
			expect(error, name).toBeInstanceOf(Error)
			expect(error, name).not.toBeInstanceOf(ResolverUnavailable)
		}
	})

	it('that no server can give, because none listens, is about the resolver', async () => {
		const gone = await new NameServer(answerTo).start()
		const { address } = gone
		await gone.stop()
		await expect(openResolver({ servers: [address], hostsFile, timeoutMs })('live.example')).rejects.toThrow(ResolverUnavailable)
	})
})

describe('the file of hosts', () => {
	it('goes before every name server, and is read again when it changes', async () => {
		writeFileSync(hostsFile, '# ours\n127.0.0.9\tLive.example other # and a comment\n::1 live.example\nnonsense live.example\n')
		const own = () => openResolver({ servers: [server.address], hostsFile, timeoutMs })
		const here = own()
		expect(await here('LIVE.example.')).toEqual([
			{ address: '127.0.0.9', family: 4 },
			{ address: '::1', family: 6 },
		])
		expect(await here('other')).toEqual([{ address: '127.0.0.9', family: 4 }])
		expect(server.asked).toEqual([])
		writeFileSync(hostsFile, '127.0.0.10 another.example\n')
		await expect.poll(() => here('live.example'), { timeout: 5_000 }).toEqual(live)
		expect(await here('another.example')).toEqual([{ address: '127.0.0.10', family: 4 }])
		rmSync(hostsFile)
		expect(await own()('live.example')).toEqual(live)
	})
})
