import { describe, expect, test } from 'vitest'
import { json, problem } from '../test/answering-server.ts'
import { apiKey, farEnd } from '../test/far-end.ts'
import type { Middleware } from './index.ts'

const far = farEnd()

describe('steps around requests', () => {
	test('run around each try, the first outermost, and may change what is sent', async () => {
		const order: string[] = []
		const step =
			(name: string): Middleware =>
			async ({ url, init }, next) => {
				order.push(`${name} before`)
				const response = await next({
					url,
					init: { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), [name]: 'yes' } },
				})
				order.push(`${name} after ${response.status}`)
				return response
			}
		let isFirst = true
		far.answer = (response, request) => {
			const answer = isFirst ? problem(503, 'unavailable', { 'Retry-After': '0' }) : json(200, { data: { id: 'cmp_1' } })
			isFirst = false
			answer(response, request)
		}
		await far.client({ use: [step('x-outer'), step('x-inner')], maxRetries: 1 }).companies.get('cmp_1')
		const tried = (status: number) => ['x-outer before', 'x-inner before', `x-inner after ${status}`, `x-outer after ${status}`]
		expect(order).toEqual([...tried(503), ...tried(200)])
		expect(far.arrived[1]?.headers).toMatchObject({ 'x-outer': 'yes', 'x-inner': 'yes', authorization: `Bearer ${apiKey}` })
	})

	test('may answer by themselves', async () => {
		const cached: Middleware = async () => Response.json({ data: { id: 'cmp_cached' } })
		expect(await far.client({ use: [cached] }).companies.get('cmp_1')).toEqual({ id: 'cmp_cached' })
		expect(far.arrived).toEqual([])
	})
})

describe('the logger', () => {
	test('gets a line for each request and each repetition, without a secret, an id or a body', async () => {
		const lines: string[] = []
		const logger = { debug: (line: string) => lines.push(`debug ${line}`), warn: (line: string) => lines.push(`warn ${line}`) }
		let tries = 0
		far.answer = (response, request) =>
			(tries++ === 0
				? problem(503, 'unavailable', { 'Retry-After': '0' })
				: json(200, { data: [] }, { 'X-Request-Id': 'req_1' }))(response, request)
		const remit = far.client({ logger, maxRetries: 1 })
		await remit.companies.list({ search: 'planted' })
		far.answer = (response) => response.destroy()
		await remit.invoices.public.get('planted', { maxRetries: 0 }).catch(() => {})
		expect(lines.map((line) => line.replace(/\d+ ms/, 'N ms'))).toEqual([
			'debug GET /api/companies 503 in N ms',
			'warn GET /api/companies again in N ms: ServerError',
			'debug GET /api/companies 200 (req_1) in N ms',
			'debug GET /api/invoices/public/{token} failed in N ms',
		])
	})
})
