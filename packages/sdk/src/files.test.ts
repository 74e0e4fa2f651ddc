import { describe, expect, test } from 'vitest'
import { json, problem, text } from '../test/answering-server.ts'
import { failure, farEnd } from '../test/far-end.ts'
import * as sdk from './index.ts'

const far = farEnd()
const pdf = (options?: sdk.RequestOptions) => far.client().invoices.pdf('inv_1', options)

/** Not UTF-8: read as text, the bytes would change. */
const bytes = Uint8Array.of(0x25, 0x50, 0x44, 0x46, 0x2d, 0xff, 0x00, 0xc3, 0x28)

const file = (body: Uint8Array | undefined, headers: Record<string, string> = {}): typeof far.answer => {
	return (response) => response.writeHead(200, { 'Content-Type': 'application/pdf', ...headers }).end(body)
}

describe('a file', () => {
	test('comes as its bytes, and its media type is in Accept', async () => {
		far.answer = file(bytes)
		const found = await pdf()
		expect(found.constructor).toBe(Uint8Array)
		expect(found).toEqual(bytes)
		expect(far.arrived[0]).toMatchObject({
			method: 'GET',
			url: '/api/invoices/inv_1/pdf',
			headers: { accept: 'application/pdf' },
		})
	})

	test('has its name in the headers', async () => {
		far.answer = file(bytes, { 'Content-Disposition': 'inline; filename="INV-0001.pdf"' })
		const { response } = await pdf().withResponse()
		expect(response.headers.get('content-disposition')).toContain('INV-0001.pdf')
	})

	test('of a client link is read by the link’s token', async () => {
		far.answer = file(bytes)
		expect(await far.client().invoices.public.pdf('token-1')).toEqual(bytes)
		expect(far.arrived[0]?.url).toBe('/api/invoices/public/token-1/pdf')
	})

	test('that the server answers with an error rejects with that error', async () => {
		far.answer = problem(404, 'invoice_not_found')
		const error = await failure(pdf())
		expect(error).toBeInstanceOf(sdk.NotFoundError)
		expect(error).toMatchObject({ code: 'invoice_not_found', detail: 'Detail.', requestId: 'req_body' })
	})

	test.each([
		['an empty answer', text(200, '', { 'Content-Type': 'application/pdf' }), /application\/pdf.*an empty body/],
		['an empty answer that says so', file(undefined, { 'Content-Length': '0' }), /an empty body/],
		['a page', text(200, '<!doctype html>', { 'Content-Type': 'text/html' }), /application\/pdf.*text\/html: <!doctype html>/],
		['JSON', json(200, { ok: true }), /application\/pdf.*\{"ok":true\}/],
	])('is not %s', async (_, answer, detail) => {
		far.answer = answer
		const error = await failure(pdf())
		expect(error.constructor).toBe(sdk.ApiError)
		expect(error).toMatchObject({ status: 200, code: undefined, detail: expect.stringMatching(detail) })
	})

	test('that does not end in time rejects with a TimeoutError', async () => {
		far.answer = (response) => {
			response.writeHead(200, { 'Content-Type': 'application/pdf' }).write(bytes)
		}
		expect(await failure(pdf({ timeout: 50 }))).toBeInstanceOf(sdk.TimeoutError)
	})

	test('that breaks off rejects with a ConnectionError', async () => {
		far.answer = (response) => {
			response.writeHead(200, { 'Content-Type': 'application/pdf', 'Content-Length': '100' })
			response.write(bytes, () => response.destroy())
		}
		expect(await failure(pdf())).toBeInstanceOf(sdk.ConnectionError)
	})
})
