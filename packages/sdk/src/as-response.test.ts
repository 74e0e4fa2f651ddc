import { describe, expect, test } from 'vitest'
import { json, problem } from '../test/answering-server.ts'
import { failure, farEnd } from '../test/far-end.ts'
import * as sdk from './index.ts'

const far = farEnd()

describe('asResponse', () => {
	test('gives a file as a stream, from its first bytes on', async () => {
		let end = () => {}
		far.answer = (response) => {
			response.writeHead(200, { 'Content-Type': 'application/pdf' }).write('%PDF-')
			end = () => response.end('rest')
		}
		const response = await far.client().invoices.pdf('inv_1').asResponse()
		expect(response.headers.get('content-type')).toBe('application/pdf')
		const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
		expect((await reader?.read())?.value).toBe('%PDF-')
		end()
		expect((await reader?.read())?.value).toBe('rest')
	})

	test('gives the body of a record, of a list and of a run as it came', async () => {
		far.answer = json(200, { data: { id: 'x' }, other: 1 })
		const remit = far.client()
		const calls = [remit.companies.get('cmp_1'), remit.companies.list(), remit.syncs.run('syn_1')]
		for (const call of calls) expect(await (await call.asResponse()).json()).toEqual({ data: { id: 'x' }, other: 1 })
	})

	test('gives 304 to a caller that has the record', async () => {
		far.answer = (response) => response.writeHead(304, { ETag: '"2"' }).end()
		const { status } = await far.client().companies.get('cmp_1', { ifNoneMatch: 2 }).asResponse()
		expect(status).toBe(304)
	})

	test('rejects what failed, and tries again before', async () => {
		far.answer = problem(404, 'company_not_found')
		expect(await failure(far.client().companies.get('cmp_1').asResponse())).toBeInstanceOf(sdk.NotFoundError)
		far.answer = (response, request) =>
			far.arrived.length < 3 ? response.writeHead(503, { 'Retry-After': '0' }).end() : json(200, { data: {} })(response, request)
		const response = await far.client({ maxRetries: 2 }).companies.get('cmp_1').asResponse()
		expect([response.status, far.arrived.length]).toEqual([200, 3])
	})

	test('says that it comes too late, and that the result is not there beside it', async () => {
		const call = far.client().companies.get('cmp_1')
		await call
		expect(await failure(call.asResponse())).toMatchObject({ message: expect.stringMatching(/too late/) })
		const other = far.client().companies.get('cmp_1')
		await other.asResponse()
		const error = await failure(other)
		expect(error).toBeInstanceOf(sdk.RemitError)
		expect(error.message).toMatch(/asResponse/)
	})

	test('leaves no rejection that nobody handles, and the time limit to the headers', async () => {
		far.answer = (response) => {
			response.writeHead(200, { 'Content-Type': 'application/pdf' }).write('%PDF-')
			setTimeout(() => response.end('rest'), 150)
		}
		const response = await far.client().invoices.pdf('inv_1', { timeout: 100 }).asResponse()
		expect(await response.text()).toBe('%PDF-rest')
	})
})
