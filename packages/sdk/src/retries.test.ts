import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Arrived, json, problem, text } from '../test/answering-server.ts'
import { failure, farEnd } from '../test/far-end.ts'
import * as sdk from './index.ts'

const far = farEnd()

type Answer = typeof far.answer

const cut: Answer = (response) => response.destroy()
const cutInTheMiddle: Answer = (response) => {
	response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
	response.write('{"data":', () => response.destroy())
}
const atOnce = { 'Retry-After': '0' }
const created = json(201, { id: 'inv_1', invoiceNumber: 'INV-0001' })

/** Answers in turn; the last one again and again. */
const answers = (...all: Answer[]): Answer => {
	return (response, request) => (all.length > 1 ? (all.shift() as Answer) : (all[0] as Answer))(response, request)
}
const keys = () => far.arrived.map(({ headers }: Arrived) => headers['idempotency-key'])

const passing: [string, Answer][] = [
	['a cut connection', cut],
	['an answer that is cut', cutInTheMiddle],
	['408 of a proxy', text(408, '', atOnce)],
	['429', problem(429, 'rate_limited', atOnce)],
	['502 of a proxy', text(502, '<html>', atOnce)],
	['503', problem(503, 'unavailable', atOnce)],
	['504 of a proxy', text(504, '', atOnce)],
	['an unknown outcome', problem(500, 'outcome_unknown', atOnce)],
	['a call with its key that is under way', problem(409, 'idempotency_key_in_use', atOnce)],
]

describe.each(passing)('after %s', (_, failing) => {
	test('a read is repeated', async () => {
		far.answer = answers(failing, json(200, { data: { id: 'inv_1' } }))
		expect(await far.client({ maxRetries: 2 }).invoices.get('inv_1')).toEqual({ id: 'inv_1' })
		expect(far.arrived).toHaveLength(2)
	})

	test('a create is repeated with the key that it had, and another create has another key', async () => {
		far.answer = answers(failing, created)
		const remit = far.client({ maxRetries: 2 })
		await remit.invoices.create({ currency: 'EUR' })
		await remit.invoices.create({ currency: 'EUR' })
		const [first, second, third] = keys()
		expect(first).toMatch(/^[0-9a-f]{32}$/)
		expect([second, third === first]).toEqual([first, false])
		expect(new Set(far.arrived.map(({ body }) => body))).toEqual(new Set(['{"currency":"EUR"}']))
	})

	test('a change is repeated', async () => {
		far.answer = answers(failing, json(200, { ok: true }))
		const remit = far.client({ maxRetries: 2 })
		expect(await remit.companies.update('cmp_1', { name: 'A' }, { ifMatch: 3 })).toEqual({ ok: true })
		expect(far.arrived.map(({ headers }) => headers['if-match'])).toEqual(['"3"', '"3"'])
	})

	test('it fails after two retries, and says how often it was sent', async () => {
		far.answer = failing
		// A broken connection has no Retry-After.
		vi.spyOn(Math, 'random').mockReturnValue(0)
		expect(await failure(far.client({ maxRetries: 2 }).invoices.get('inv_1'))).toMatchObject({ attempts: 3 })
		expect(far.arrived).toHaveLength(3)
	})
})

test.each([
	['400', problem(400, 'invalid_request')],
	['401', problem(401, 'unauthorized')],
	['404', problem(404, 'invoice_not_found')],
	['409', problem(409, 'invoice_number_taken')],
	['412', problem(412, 'version_mismatch')],
	['500', text(500, '')],
	['a redirect', text(302, '', { Location: '/' })],
	['a page of a proxy', text(200, '<html>')],
])('%s is no reason to send it again', async (_, answer) => {
	far.answer = answer
	expect(await failure(far.client({ maxRetries: 2 }).invoices.get('inv_1'))).toMatchObject({ attempts: 1 })
	expect(far.arrived).toHaveLength(1)
})

test('a call without a key or version is sent once', async () => {
	far.answer = problem(503, 'unavailable', atOnce)
	await failure(far.client({ maxRetries: 2 }).invoices.preview({ currency: 'EUR' }))
	expect(far.arrived).toHaveLength(1)
})

test('the key of the caller is kept', async () => {
	far.answer = answers(cut, created)
	await far.client({ maxRetries: 2 }).invoices.create({}, { idempotencyKey: 'order-17' })
	expect(keys()).toEqual(['order-17', 'order-17'])
})

test('a call’s own maxRetries wins, and 0 sends no key', async () => {
	far.answer = problem(503, 'unavailable', atOnce)
	const remit = far.client({ maxRetries: 2 })
	expect(await failure(remit.invoices.create({}, { maxRetries: 0 }))).toMatchObject({ attempts: 1 })
	expect(keys()).toEqual([undefined])
	await failure(remit.invoices.get('inv_1', { maxRetries: 4 }))
	expect(far.arrived).toHaveLength(6)
})

test.each([-1, 1.5, Number.NaN, '2'])('maxRetries of %j is rejected', async (maxRetries) => {
	expect(() => far.client({ maxRetries: maxRetries as number })).toThrow(/maxRetries must be/)
	expect(await failure(far.client().invoices.get('inv_1', { maxRetries: maxRetries as number }))).toBeInstanceOf(sdk.RemitError)
	expect(far.arrived).toEqual([])
})

test('a mistake that is found before anything is sent has no attempts', async () => {
	expect(await failure(far.client({ maxRetries: 2 }).invoices.get('..'))).toMatchObject({ attempts: 0 })
})

test('a caller who aborts in a pause gets their reason', async () => {
	const controller = new AbortController()
	far.answer = (response, request) => {
		problem(503, 'unavailable', { 'Retry-After': '30' })(response, request)
		response.once('close', () => setImmediate(() => controller.abort(new Error('changed my mind'))))
	}
	const call = far.client({ maxRetries: 2 }).invoices.get('inv_1', { signal: controller.signal })
	expect(await failure(call)).toBe(controller.signal.reason)
})

test('a pause that would pass the timeout fails at once, with the server’s error', async () => {
	far.answer = problem(503, 'unavailable', { 'Retry-After': '61' })
	expect(await failure(far.client({ maxRetries: 2 }).invoices.get('inv_1'))).toMatchObject({ status: 503, attempts: 1 })
})

describe('the pause', () => {
	afterEach(() => {
		vi.useRealTimers()
		vi.restoreAllMocks()
	})

	const date = new Date('2026-11-24T10:00:00Z')
	const inThirty = String(date.getTime() / 1000 + 30)

	test.each([
		['is what Retry-After says', 503, { 'Retry-After': '7' }, [7_000, 7_000]],
		['is what Retry-After says of 429', 429, { 'Retry-After': '7', 'X-RateLimit-Reset': inThirty }, [7_000, 7_000]],
		['ends when the limit does, by the server’s clock', 429, { 'X-RateLimit-Reset': inThirty }, [30_000, 30_000]],
		['doubles, at random', 503, { 'X-RateLimit-Reset': inThirty }, [250, 500]],
	] as const)('%s', async (_, status, headers, pauses) => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
		vi.spyOn(Math, 'random').mockReturnValue(0.5)
		let sent = 0
		const fetch = async () => {
			sent++
			return new Response(null, { status, headers: { Date: date.toUTCString(), ...headers } })
		}
		const call = failure(far.client({ fetch, maxRetries: 2, timeout: 120_000 }).invoices.get('inv_1'))
		for (const [index, pause] of pauses.entries()) {
			await vi.advanceTimersByTimeAsync(pause - 1)
			expect(sent).toBe(index + 1)
			await vi.advanceTimersByTimeAsync(1)
			expect(sent).toBe(index + 2)
		}
		expect(await call).toMatchObject({ status, attempts: 3 })
		expect(vi.getTimerCount()).toBe(0)
	})
})
