// Three parts read the contract: Routes (which operation), the compiled fast validators and express-openapi-validator. They
// must agree.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { parse } from 'node:querystring'
import express, { type Express, type Request, type RequestHandler } from 'express'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ContractOperation, contractOperations, type JsonSchema, resolved } from '../src/platform/contract/document.ts'
import { compileFastValidators, type Input, type Violation } from '../src/platform/contract/fast-validator.ts'
import { requestValidator } from '../src/platform/contract/full-validator.ts'
import { operations, Routes } from '../src/platform/contract/routes.ts'
import { toValidationError } from '../src/platform/contract/validation-errors.ts'
import { listViolations } from '../src/platform/contract/violations.ts'
import { fitting, mutants } from './arbitrary.ts'
import { pathOf } from './samples.ts'

const appOf = (validator: RequestHandler[]) => express().set('query parser', 'simple').use(validator)

interface FullResult extends Input {
	/** The operation that express-openapi-validator found; undefined with a `refusal`. */
	readonly operation: string | undefined
	readonly refusal: { status: number; message: string; errors?: readonly Violation[] } | undefined
}

/** Asks express-openapi-validator alone, without a network. */
function validateFully(
	app: Express,
	method: string,
	url: string,
	headers: Record<string, string> = {},
	body?: unknown,
): Promise<FullResult> {
	const req = new IncomingMessage(new Socket()) as Request & { openapi?: { schema: { operationId: string } } }
	Object.assign(req, {
		method,
		url,
		headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
		body,
	})
	return new Promise((resolve) => {
		const done = (refusal: FullResult['refusal']) => {
			const { params, query, headers, body } = req
			resolve({ operation: req.openapi?.schema?.operationId, refusal, params, query, headers, body })
		}
		app(req, new ServerResponse(req) as never, done as never)
	})
}

const runs = { numRuns: 150 * Number(process.env.FUZZ_FACTOR ?? 1) }

const routes = new Routes(operations)

describe('a path', () => {
	const app = appOf(requestValidator())
	const literals = [...new Set(operations.flatMap(({ path }) => path.slice(1).split('/')))].filter(
		(part) => !part.startsWith('{'),
	)
	const segment = fc.constantFrom(
		...literals,
		...literals,
		'inv_1',
		'cmp_1',
		'previe%77',
		'preview%2F',
		'a%20b',
		'%2e%2e',
		'..',
		'~',
		'x;y=1',
		'*',
		':id',
		'{id}',
		'send',
		'public',
	)
	const tail = fc.array(segment, { maxLength: 3 }).map((segments) => ['api', ...segments])
	const path = fc.oneof(tail, fc.array(segment, { maxLength: 5 })).map((segments) => `/${segments.join('/')}`)
	const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE')

	it('is of the same operation for the router and for the validator', async () => {
		await fc.assert(
			fc.asyncProperty(method, path, async (asked, url) => {
				const match = routes.match(url)
				const operation = match?.methods.get(asked)
				const { operation: found, refusal } = await validateFully(app, asked, url)
				if (operation) expect(found).toBe(operation.id)
				else if (match) expect(refusal?.status).toBe(405)
				else expect(refusal?.status).toBe(404)
			}),
			runs,
		)
	})

	it('gives the decoded parameters, and literals go before them', () => {
		expect(routes.match('/api/invoices/preview')?.params).toEqual({})
		expect([...(routes.match('/api/invoices/preview')?.methods.keys() ?? [])]).toEqual(['POST'])
		expect(routes.match('/api/invoices/previe%77')?.params).toEqual({ id: 'preview' })
		expect(routes.match('/api/invoices/a%2Fb')?.params).toEqual({ id: 'a/b' })
		expect(routes.match('/api/invoices/public/public')?.params).toEqual({ token: 'public' })
		expect(routes.match('/api/invoices/public/send')?.params).toEqual({ token: 'send' })
		expect(routes.match('/api/invoices/a%2Fb/payment-link')?.params).toEqual({ id: 'a/b' })
		expect(routes.match('/api/companies/preview')?.params).toEqual({ id: 'preview' })
		for (const none of [
			'/api/invoices/',
			'/api/invoices/%',
			'/api/invoices/%ff',
			'//api/invoices',
			'/',
			'',
			'*',
			'/api/invoices/__proto__/x',
		]) {
			expect(routes.match(none)).toBeUndefined()
		}
	})

	it('can have literals below a parameter, and parameters beside literals', () => {
		const make = (id: string, path: string) => ({ ...operations[0], id, path, method: 'GET' }) as never
		const all = new Routes([
			make('get', '/i/{id}'),
			make('send', '/i/{id}/send'),
			make('public', '/i/public/{token}'),
			make('new', '/i/new'),
		])
		const find = (path: string) => {
			const match = all.match(path)
			return match && { id: match.methods.get('GET')?.id, params: match.params }
		}
		expect(find('/i/new')).toEqual({ id: 'new', params: {} })
		expect(find('/i/new/send')).toEqual({ id: 'send', params: { id: 'new' } })
		expect(find('/i/public/send')).toEqual({ id: 'public', params: { token: 'send' } })
		expect(find('/i/public')).toEqual({ id: 'get', params: { id: 'public' } })
		expect(find('/i/a/send')).toEqual({ id: 'send', params: { id: 'a' } })
		expect(find('/i/a/b')).toBeUndefined()
	})
})

describe.each(operations)('$id', (operation) => {
	const validateFast = compileFastValidators([operation]).get(operation.id)
	// For each schema that it compiles, one of all operations walks the whole document, which takes 200 ms.
	const app = appOf(requestValidator(operation))
	const contract = contractOperations.get(operation.id) as ContractOperation
	const bodySchema = contract.requestBody?.content['application/json']?.schema
	const inPlace = (place: string) => contract.parameters.filter((parameter) => parameter.in === place)

	const badTexts = fc.constantFrom(
		'',
		' ',
		'abc',
		'0',
		'-1',
		'1.5',
		'101',
		'1e2',
		'0x1',
		' 7 ',
		'null',
		'true',
		'Name',
		'a%00',
		'x'.repeat(65),
		'x'.repeat(201),
		'x'.repeat(256),
	)
	const texts = (schema: JsonSchema) => fc.oneof({ weight: 2, arbitrary: fitting(schema).map(String) }, badTexts)
	// Some at a time: of twenty, one would nearly always be bad.
	const record = (place: string): fc.Arbitrary<Record<string, string>> =>
		fc
			.subarray(inPlace(place), { maxLength: Math.min(4, inPlace(place).length) })
			.chain((some) => fc.record(Object.fromEntries(some.map(({ name, schema }) => [name, texts(schema)]))))
	const query = fc.tuple(record('query'), fc.constantFrom('', '', '', '', '&other=1', '&limit=1&limit=2', '&__proto__=1')).map(
		([values, more]) =>
			// The percent signs in badTexts are not encoded again: %00 is a NUL.
			Object.entries(values)
				.map(([name, value]) => `${name}=${value.isWellFormed() ? encodeURIComponent(value).replaceAll('%25', '%') : ''}`)
				.join('&') + more,
	)
	const headers = record('header').map((values) =>
		Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value])),
	)
	const body = bodySchema
		? fc.oneof(
				fitting(bodySchema),
				mutants(bodySchema).map(({ value }) => value),
			)
		: fc.constant(undefined)
	const id = fc.oneof(
		fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
		fc.constantFrom('preview', 'public', '~', 'a b', "'", 'x'.repeat(65), '\0'),
	)

	/** The full validator leaves a number as text where text is allowed, too. */
	const mixed = inPlace('query').flatMap(({ name, schema }) => (resolved(schema).anyOf ? name : []))
	const withText = (values: object) =>
		Object.fromEntries(Object.entries(values).map(([name, value]) => [name, mixed.includes(name) ? String(value) : value]))

	it('takes nothing that the full validator refuses, with the same values and defaults, and names the same mistakes', async () => {
		let accepted = 0
		await fc.assert(
			fc.asyncProperty(fc.record({ id, query, headers, body }), async (input) => {
				const path = pathOf(operation, input.id)
				const match = routes.match(path)
				// With the id `preview` the path belongs to another operation.
				fc.pre(match?.methods.get(operation.method) === operation)
				const type = bodySchema ? { 'content-type': 'application/json' } : {}
				const fast: Input = {
					params: { ...match?.params },
					query: { ...parse(input.query) },
					headers: { ...type, ...input.headers },
					body: structuredClone(input.body),
				}
				const violation = validateFast?.(fast)
				const full = await validateFully(
					app,
					operation.method,
					`${path}?${input.query}`,
					input.headers,
					structuredClone(input.body),
				)
				// The full validator may accept more: it takes `limit=1e400` for an integer.
				if (violation) {
					expect(violation.path).toMatch(/^\/(params|query|headers|body)/)
					const rejected = { ...fast, url: `${path}?${input.query}`, query: { ...parse(input.query) } }
					const errorsOf = (found: readonly Violation[] = []) => toValidationError(found, { body: input.body }, violation).errors
					const [named, fully = []] = [errorsOf(await listViolations(operation, rejected)), errorsOf(full.refusal?.errors)]
					// The full validator stops at the first name that it does not know.
					const stops = fully.some(({ code }) => code === 'unknown_parameter')
					expect(named).toEqual(stops ? expect.arrayContaining([...fully]) : fully)
					return
				}
				expect(full.refusal?.message).toBeUndefined()
				accepted++
				expect(withText(full.query)).toEqual(withText(fast.query))
				expect(full.body).toEqual(fast.body)
			}),
			runs,
		)
		expect(accepted).toBeGreaterThan(0)
	})
})
