// What it costs to refuse a request, for every operation of the contract: CPU of the server's thread, in which the client runs too.
// COSTS=1 prints the table of docs/costs.md.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../src/accounts/api-keys/store.ts'
import { readConfig } from '../src/config.ts'
import type { Problem } from '../src/generated/contract.ts'
import { createOrganization } from '../src/introductions.ts'
import { scopes } from '../src/platform/auth/keys.ts'
import { bySystem } from '../src/platform/base/origin.ts'
import { type ContractOperation, contractOperations } from '../src/platform/contract/document.ts'
import { operations } from '../src/platform/contract/routes.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { badBodies, badParameters } from './costly.ts'
import { costOf, rawClient } from './raw-client.ts'
import { Remit } from './remit.ts'
import { pathOf } from './samples.ts'

const mostMs = 50

const folder = mkdtempSync(join(tmpdir(), 'remit-refusal-'))
let server: RunningServer
let client: ReturnType<typeof rawClient>
beforeAll(async () => {
	const settings = readConfig({ PORT: '0', DATA_DIR: folder, INVOICING_RATE_LIMIT: '0', INTEGRATION_RATE_LIMIT: '0' })
	const config = { ...settings, SMTP_URL: 'none' }
	const log = pino({ level: 'silent' })
	const db = await openDatabase(config, log)
	const key = await db.transaction(async (tx) => {
		const origin = bySystem(Date.now())
		const { id } = await createOrganization(tx, origin, { name: 'Refusing' })
		return (await createKey({ db: tx, origin }, id, { name: 'test', scopes })).key
	})
	server = await startServer({ db, config, log })
	client = rawClient(server.url, key)
})
afterAll(async () => {
	client.close()
	await server.close()
	rmSync(folder, { recursive: true })
	if (!process.env.COSTS) return
	for (const [id, { name, ms, megabytes }] of worst) {
		console.log(`| ${id} | ${name} | ${ms.toFixed(0)} | ${Math.max(0, megabytes).toFixed(0)} |`)
	}
})

interface Refusal {
	readonly status: number
	readonly text: string
	readonly body: Problem
}

async function ask(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Refusal> {
	const { status, text } = await client.ask(method, path, body, headers)
	return { status, text, body: JSON.parse(text) }
}

interface Shape {
	readonly name: string
	readonly ms: number
	readonly megabytes: number
}

/** The most expensive refusal of each operation. */
const worst = new Map<string, Shape>()

/** Asks until the answer is cheap, five times at most: the first time compiles, and other programs use the caches too. */
async function expectCheap(id: string, name: string, asking: () => Promise<Refusal>): Promise<Refusal> {
	let least: Shape = { name, ms: Number.POSITIVE_INFINITY, megabytes: 0 }
	for (let tries = 0; tries < 5; tries++) {
		const { ms, megabytes, result } = await costOf(asking)
		if (ms < least.ms) least = { name, ms, megabytes }
		if (least.ms >= mostMs) continue
		if (least.ms > (worst.get(id)?.ms ?? 0)) worst.set(id, least)
		return result
	}
	throw new Error(`${name}: ${least.ms.toFixed(1)} ms`)
}

describe.each(operations)('$id', (operation) => {
	const { parameters, requestBody } = contractOperations.get(operation.id) as ContractOperation
	const schema = requestBody?.content['application/json']?.schema
	const path = pathOf(operation, 'unknown')

	if (schema) {
		it('refuses 512 KiB of mistakes of any shape in less than 50 ms, with a short answer', async () => {
			for (const [shape, body] of badBodies(schema)) {
				const refusal = await expectCheap(operation.id, shape, () => ask(operation.method, path, body))
				// The bytes of a logo may be that long: its own rule refuses them.
				const isLogo = operation.bodyLimit !== undefined && shape === 'long text'
				// A key is refused where only a session may call, before the body is read.
				expect(refusal, shape).toMatchObject({ status: isLogo ? 422 : operation.sessionOnly ? 403 : 400 })
				expect(refusal.text.length, shape).toBeLessThan(36_000)
				expect(refusal.body.errors?.length ?? 0, shape).toBeLessThanOrEqual(100)
			}
		})
	}

	it('refuses 15 KB of wrong parameters in less than 50 ms, with a short answer', async () => {
		for (const [shape, id, query, headers] of badParameters(parameters)) {
			const asking = () => ask(operation.method, `${pathOf(operation, id)}${query}`, schema && '{}', headers)
			const refusal = await expectCheap(operation.id, shape, asking)
			expect(refusal.status, shape).toBeGreaterThanOrEqual(400)
			expect(refusal.status, shape).toBeLessThan(500)
			expect(refusal.text.length, shape).toBeLessThan(6_000)
		}
	})
})

describe('the answer to a request with many mistakes', () => {
	const refuse = async (body: unknown) => (await ask('POST', '/api/invoices', JSON.stringify(body))).body

	it('names 100 of them in their order, and says that there are more', async () => {
		const lines = Array.from({ length: 1_000 }, (_, at) => ({ description: at < 5 ? 'right' : 1, quantity: '2' }))
		const { detail, errors, moreErrors } = await refuse({ lineItems: lines })
		const pointers = errors?.map(({ pointer }) => pointer)
		expect(pointers).toEqual(Array.from({ length: 100 }, (_, at) => `/lineItems/${at + 5}/description`))
		expect({ detail, moreErrors }).toEqual({
			detail: 'The request has more than 100 mistakes, the first: /lineItems/5/description must be string.',
			moreErrors: true,
		})
	})

	it('names them all up to 100, wherever they are', async () => {
		const wrong = new Set([0, 500, 999])
		const lines = Array.from({ length: 1_000 }, (_, at) => ({ quantity: wrong.has(at) ? 'two' : '2', taxes: [] }))
		const refusal = await refuse({ currency: 'usd', lineItems: lines, unknown: 1 })
		expect(refusal.errors?.map(({ pointer }) => pointer).sort()).toEqual(
			['/currency', '/unknown', ...[...wrong].map((at) => `/lineItems/${at}/quantity`)].sort(),
		)
		expect(refusal).not.toHaveProperty('moreErrors')
		const hundred = await refuse({ lineItems: Array.from({ length: 100 }, () => ({ quantity: 'two' })) })
		expect(hundred.errors).toHaveLength(100)
		expect(hundred.detail).toMatch(/^The request has 100 mistakes, the first: \/lineItems\/0\/quantity must be decimal text /)
		expect(hundred).not.toHaveProperty('moreErrors')
	})

	it('names a list or an object with too much in it once, whatever is in it', async () => {
		const metadata = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`name${at}`, at]))
		const taxes = Array.from({ length: 11 }, () => ({ percent: 'none' }))
		const { errors } = await refuse({ lineItems: [{ taxes, metadata }, ...Array(1).fill({})] })
		expect(errors).toEqual([
			{ pointer: '/lineItems/0/taxes', code: 'maxItems', detail: 'must have at most 10 items' },
			{ pointer: '/lineItems/0/metadata', code: 'maxProperties', detail: 'must have at most 20 fields' },
		])
		expect((await refuse({ lineItems: Array(1_001).fill(0) })).errors).toEqual([
			{ pointer: '/lineItems', code: 'maxItems', detail: 'must have at most 1000 items' },
		])
	})

	it('takes as many different names as the contract allows', async () => {
		const metadata = (line: number) => Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${line}.${at}`, '']))
		const lineItems = Array.from({ length: 1_000 }, (_, line) => ({ metadata: metadata(line) }))
		expect(await ask('POST', '/api/invoices/preview', JSON.stringify({ lineItems }))).toMatchObject({ status: 200 })
	})

	it('repeats no more of a name than its beginning', async () => {
		const { errors } = await refuse({ [`${'a'.repeat(200)}~${'b'.repeat(1_000)}`]: 1 })
		expect(errors).toEqual([
			{ pointer: `/${'a'.repeat(200)}~0${'b'.repeat(53)}…`, code: 'unknown_field', detail: 'is not a field of this request' },
		])
	})
})

describe('a new process', () => {
	const remit = new Remit({ DATA_DIR: join(folder, 'new'), SMTP_URL: 'none' }, folder)
	let demoKey: string | undefined
	afterAll(() => remit.stop())

	/** The longest time for which the first wrong request of each path held a new process, in milliseconds of CPU. */
	async function longestHolds(paths: readonly string[]): Promise<number[]> {
		const watch = `--import=${join(import.meta.dirname, 'longest-hold.ts')}`
		const started = await remit.serve({ NODE_OPTIONS: watch }, ['--demo'])
		const headers = { authorization: `Bearer ${demoKey ?? started.key}`, 'content-type': 'application/json' }
		demoKey ??= started.key
		for (const path of paths) {
			const { status } = await fetch(started.url + path, { method: 'POST', headers, body: '{"name": 1}' })
			expect(status).toBe(400)
		}
		await started.end('SIGTERM')
		return started.lines().flatMap((line) => /^longest hold: (.+) ms$/.exec(line)?.slice(1).map(Number) ?? [])
	}

	it('is held for less than 100 ms in one go by its first wrong requests', async () => {
		const paths = ['/api/companies', '/api/invoices']
		let least = Number.POSITIVE_INFINITY
		for (let tries = 0; tries < 3 && least >= 100; tries++) {
			const holds = await longestHolds(paths)
			expect(holds).toHaveLength(paths.length)
			least = Math.min(least, Math.max(...holds))
		}
		expect(least).toBeLessThan(100)
	})
})
