import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { json, problem, text } from '../test/answering-server.ts'
import { apiKey, failure, farEnd } from '../test/far-end.ts'
import * as sdk from './index.ts'

const far = farEnd()
const get = (options?: sdk.RequestOptions) => far.client().invoices.get('inv_1', options)

describe('an error answer', () => {
	test.each([
		[400, 'invalid_request', sdk.BadRequestError],
		[401, 'invalid_credentials', sdk.AuthenticationError],
		[403, 'insufficient_scope', sdk.PermissionDeniedError],
		[404, 'invoice_not_found', sdk.NotFoundError],
		[405, 'method_not_allowed', sdk.ApiError],
		[409, 'invoice_number_taken', sdk.ConflictError],
		[412, 'version_mismatch', sdk.PreconditionFailedError],
		[413, 'payload_too_large', sdk.ApiError],
		[415, 'unsupported_media_type', sdk.ApiError],
		[422, 'totals_mismatch', sdk.UnprocessableError],
		[429, 'rate_limited', sdk.RateLimitError],
		[500, 'internal_error', sdk.ServerError],
		[503, 'unavailable', sdk.ServerError],
	])('%i %s becomes its class', async (status, code, ErrorClass) => {
		const errors = [{ pointer: '/x', code: 'format', detail: 'no' }]
		far.answer = problem(status, code, { 'X-Extra': 'yes' }, { errors })
		const error = await failure(get())
		expect(error.constructor).toBe(ErrorClass)
		expect(error).toMatchObject({
			name: ErrorClass.name,
			status,
			code,
			title: 'Title',
			detail: 'Detail.',
			requestId: 'req_body',
			errors,
		})
		expect(error.message).toBe(`${status} ${code}: Detail. (request req_body)`)
		expect((error as sdk.ApiError).headers.get('x-extra')).toBe('yes')
	})

	test('without errors has an empty list', async () => {
		far.answer = problem(404, 'invoice_not_found')
		expect(await failure(get())).toMatchObject({ errors: [] })
	})

	test('that is not Remit’s has a status, no code, and the beginning of its text', async () => {
		far.answer = text(502, `<html>\n<h1>Bad   Gateway</h1>${'x'.repeat(5000)}`, {
			'Content-Type': 'text/html',
			'X-Request-Id': 'req_header',
		})
		const error = (await failure(get())) as sdk.ApiError
		expect(error).toBeInstanceOf(sdk.ServerError)
		expect(error).toMatchObject({ status: 502, code: undefined, requestId: 'req_header' })
		expect(error.detail).toMatch(/^text\/html: <html> <h1>Bad Gateway<\/h1>x+…$/)
		expect(error.message.length).toBeLessThan(350)
	})

	test.each([
		['no body at all', text(500, '')],
		['an empty body', text(500, '', { 'Content-Length': '0' })],
		['null', json(500, null)],
		['a text in JSON', json(500, 'oops')],
		['another system’s code', json(500, { code: 'ENOENT', title: 't', detail: 'd' })],
	])('with %s is a ServerError without code', async (_, answer) => {
		far.answer = answer
		const error = await failure(get())
		expect(error).toBeInstanceOf(sdk.ServerError)
		expect(error).toMatchObject({ status: 500, code: undefined, errors: [] })
	})

	test.each([
		['7', 7],
		[new Date(Date.now() + 90_500).toUTCString(), expect.closeTo(90, -0.7)],
		[new Date(0).toUTCString(), 0],
		['soon', undefined],
	])('429 with Retry-After %s says when to come back', async (value, seconds) => {
		far.answer = problem(429, 'rate_limited', { 'Retry-After': value })
		expect((await failure(get())) as sdk.RateLimitError).toHaveProperty('retryAfter', seconds)
	})
})

describe('a success', () => {
	test.each([
		['HTML', text(200, '<!doctype html>', { 'Content-Type': 'text/html' }), /text\/html: <!doctype html>/],
		['an empty body', text(200, ''), /an empty body/],
		['JSON without data', json(200, { hello: 1 }), /\{"hello":1\}/],
		['null', json(200, null), /null/],
	])('with %s is an ApiError that names it', async (_, answer, detail) => {
		far.answer = answer
		const error = await failure(get())
		expect(error.constructor).toBe(sdk.ApiError)
		expect(error).toMatchObject({ status: 200, code: undefined, detail: expect.stringMatching(detail), attempts: 1 })
	})

	test('without a list where a list should be is an ApiError', async () => {
		far.answer = json(200, { data: {} })
		expect(await failure(far.client().invoices.list())).toMatchObject({ name: 'ApiError', status: 200, attempts: 1 })
	})
})

test.each([301, 302, 307, 308])('a %i is not followed: a POST would become a GET', async (status) => {
	far.answer = text(status, '', { Location: `${far.url}/elsewhere` })
	const error = await failure(far.client().invoices.create({}))
	expect(error).toMatchObject({ name: 'ApiError', status, code: undefined })
	expect(error.message).toContain('/elsewhere')
	expect(far.arrived).toHaveLength(1)
})

describe('the network', () => {
	test('that refuses gives a ConnectionError with its cause', async () => {
		const error = await failure(far.client({ baseUrl: await closedPort() }).invoices.get('inv_1'))
		expect(error).toBeInstanceOf(sdk.ConnectionError)
		expect(error.message).toMatch(/ECONNREFUSED/)
		expect(error.cause).toBeInstanceOf(TypeError)
	})

	test('that breaks in the middle of the answer gives a ConnectionError', async () => {
		far.answer = (response) => {
			response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
			response.write('{"data":', () => response.destroy())
		}
		expect(await failure(get())).toBeInstanceOf(sdk.ConnectionError)
	})
})

describe('the timeout', () => {
	afterEach(() => vi.useRealTimers())

	test('covers waiting for the answer', async () => {
		far.answer = () => {}
		const error = await failure(get({ timeout: 50 }))
		expect(error).toBeInstanceOf(sdk.TimeoutError)
		expect(error).toMatchObject({ name: 'TimeoutError', timeout: 50 })
	})

	test('covers reading the body, of errors too', async () => {
		for (const status of [200, 500]) {
			far.answer = (response) => {
				response.writeHead(status, { 'Content-Type': 'application/json' }).write('{"data":')
			}
			expect(await failure(far.client({ timeout: 50 }).invoices.get('inv_1'))).toBeInstanceOf(sdk.TimeoutError)
		}
	})

	test('of one call wins over the client’s, and Infinity is no limit', async () => {
		far.answer = (response, request) => setTimeout(() => json(200, { data: { id: 'late' } })(response, request), 80)
		expect(await far.client({ timeout: 20 }).invoices.get('inv_1', { timeout: Infinity })).toEqual({ id: 'late' })
	})

	test('leaves no timer behind', async () => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
		const fetch = async () => Response.json({ data: {} })
		await far.client({ fetch }).invoices.get('inv_1')
		expect(vi.getTimerCount()).toBe(0)
	})

	test.each([0, -1, Number.NaN, '5'])('of %j is rejected', async (timeout) => {
		expect(await failure(get({ timeout: timeout as number }))).toBeInstanceOf(sdk.RemitError)
		expect(() => far.client({ timeout: timeout as number })).toThrow(/timeout must be/)
		expect(far.arrived).toEqual([])
	})
})

describe('an aborted signal', () => {
	test('rejects with its reason', async () => {
		far.answer = () => controller.abort(new Error('changed my mind'))
		const controller = new AbortController()
		expect(await failure(get({ signal: controller.signal }))).toBe(controller.signal.reason)
	})

	test('sends nothing when it was aborted before', async () => {
		expect(await failure(get({ signal: AbortSignal.abort() }))).toHaveProperty('name', 'AbortError')
		expect(far.arrived).toEqual([])
	})

	test('keeps no listener after the call', async () => {
		const { signal } = new AbortController()
		const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
		await get({ signal })
		expect(added).toHaveBeenCalledOnce()
		expect(removed).toHaveBeenCalledWith('abort', added.mock.calls.at(0)?.at(1))
	})
})

test('a failure that is awaited in any one way leaves no unhandled rejection', async () => {
	const unhandled = vi.fn()
	process.on('unhandledRejection', unhandled)
	far.answer = text(500, '')
	await failure(get().withResponse())
	await failure(get().finally(() => {}))
	expect(await get().catch(() => 'caught')).toBe('caught')
	await new Promise((resolve) => setTimeout(resolve, 20))
	process.off('unhandledRejection', unhandled)
	expect(unhandled).not.toHaveBeenCalled()
})

async function closedPort(): Promise<string> {
	const server = createServer()
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const { port } = server.address() as AddressInfo
	await new Promise((resolve) => server.close(resolve))
	return `http://127.0.0.1:${port}`
}

describe('a call has failed', () => {
	test('when the server rejects it', async () => {
		far.answer = problem(404, 'invoice_not_found')
		expect(sdk.failed<'invoices.get'>(await failure(get()))).toBe(true)
	})

	test('whichever copy of the SDK made the call', async () => {
		far.answer = problem(404, 'invoice_not_found')
		vi.resetModules()
		const copy = await import('./index.ts')
		const error = await failure(new copy.Remit({ apiKey, baseUrl: far.url }).invoices.get('inv_1'))
		expect(error).not.toBeInstanceOf(sdk.ApiError)
		expect(sdk.failed<'invoices.get'>(error)).toBe(true)
	})

	test('by no error of the server, of a proxy, or of the caller', async () => {
		const options = { maxRetries: 0 }
		far.answer = problem(503, 'unavailable')
		expect(sdk.failed<'invoices.get'>(await failure(get(options)))).toBe(false)
		far.answer = text(403, '<html>Forbidden</html>')
		expect(sdk.failed<'invoices.get'>(await failure(get(options)))).toBe(false)
		expect(sdk.failed<'invoices.get'>(await failure(far.client().invoices.get('')))).toBe(false)
		expect(sdk.failed<'invoices.get'>(undefined)).toBe(false)
	})
})
