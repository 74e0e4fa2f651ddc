// The SDKs that are compared, and the same calls with each.
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** What is called of a package whose types are not at hand: it is installed for the measurement. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Foreign = any

interface Calls {
	get(): Promise<unknown>
	create(): Promise<unknown>
	/** Goes through the records of all pages, where the SDK can. */
	list?(): AsyncIterable<unknown>
}

export interface Sdk {
	readonly name: string
	readonly install: string
	/** A program with one call, and `error` caught as its documentation says. */
	readonly program: string
	readonly client: (required: Foreign, port: number) => Calls
	/** An answer that no record is found, in its own form. */
	readonly notFound: { readonly body: object; readonly headers?: Record<string, string> }
	/** A page of two of six records; `from` is how many came before. */
	page?(from: number, url: string): { readonly body: object; readonly headers?: Record<string, string> }
	/** Five fields, as a program names them. */
	readonly fields: { readonly type: string; readonly names: readonly string[] }
}

const two = (from: number) => [{ id: `${from + 1}` }, { id: `${from + 2}` }]

export const sdks = (remit: string): readonly Sdk[] => [
	{
		name: '@remit/sdk',
		install: remit,
		program: `import { failed, Remit } from '@remit/sdk'
const client = new Remit({ apiKey: 'rmt_x' })
try {
	console.log((await client.companies.get('cmp_1')).name)
} catch (error) {
	if (failed<'companies.get'>(error)) console.log(error.code)
}
export type Shown = import('@remit/sdk').Invoice
`,
		client({ Remit }, port) {
			const client = new Remit({ apiKey: `rmt_${'x'.repeat(38)}`, baseUrl: `http://127.0.0.1:${port}` })
			return {
				get: () => client.companies.get('cmp_1'),
				create: () => client.companies.create({ name: 'Acme' }),
				list: () => client.companies.list({ limit: 2 }),
			}
		},
		notFound: {
			body: {
				type: 'urn:remit:problem:company_not_found',
				title: 'x',
				status: 404,
				detail: 'x',
				instance: '/',
				code: 'company_not_found',
				requestId: 'r',
			},
			headers: { 'content-type': 'application/problem+json', 'x-request-id': 'req_1' },
		},
		page: (from) => ({ body: { data: two(from), meta: { total: 6, limit: 2, offset: from } } }),
		fields: { type: 'Shown', names: ['totalCents', 'dueDate', 'status', 'amountDueCents', 'createdAt'] },
	},
	{
		name: 'stripe',
		install: 'stripe@23.1.0',
		program: `import Stripe from 'stripe'
const client = new Stripe('sk_test_x')
try {
	console.log((await client.customers.retrieve('cus_1')).id)
} catch (error) {
	if (error instanceof Stripe.errors.StripeError) console.log(error.code)
}
export type Shown = Stripe.Invoice
`,
		client(required, port) {
			const Stripe = required.default ?? required
			const client = new Stripe('sk_test_x', { host: '127.0.0.1', port, protocol: 'http', telemetry: false })
			return {
				get: () => client.customers.retrieve('cus_1'),
				create: () => client.customers.create({ name: 'Acme' }),
				list: () => client.customers.list({ limit: 2 }),
			}
		},
		notFound: {
			body: { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such customer' } },
			headers: { 'request-id': 'req_1' },
		},
		page: (from) => ({ body: { object: 'list', url: '/v1/customers', has_more: from < 4, data: two(from) } }),
		fields: { type: 'Shown', names: ['total', 'due_date', 'status', 'amount_due', 'created'] },
	},
	{
		name: 'openai',
		install: 'openai@6.30.1',
		program: `import OpenAI from 'openai'
const client = new OpenAI({ apiKey: 'x' })
try {
	console.log((await client.files.retrieve('file_1')).id)
} catch (error) {
	if (error instanceof OpenAI.APIError) console.log(error.code)
}
export type Shown = OpenAI.Files.FileObject
`,
		client({ OpenAI }, port) {
			const client = new OpenAI({ apiKey: 'x', baseURL: `http://127.0.0.1:${port}` })
			return {
				get: () => client.files.retrieve('file_1'),
				create: () => client.vectorStores.create({ name: 'Acme' }),
				list: () => client.files.list({ limit: 2 }),
			}
		},
		notFound: {
			body: { error: { message: 'No such file', code: 'not_found', type: 'x' } },
			headers: { 'x-request-id': 'req_1' },
		},
		page: (from) => ({ body: { object: 'list', data: two(from), has_more: from < 4 } }),
		fields: { type: 'Shown', names: ['bytes', 'expires_at', 'status', 'purpose', 'created_at'] },
	},
	{
		name: 'svix',
		install: 'svix@1.99.1',
		program: `import { ApiException, Svix } from 'svix'
const client = new Svix('testsk_x.eu')
try {
	console.log((await client.application.get('app_1')).name)
} catch (error) {
	if (error instanceof ApiException) console.log(error.body.code)
}
export type Shown = import('svix').EndpointOut
`,
		client({ Svix }, port) {
			const client = new Svix('testsk_x.eu', { serverUrl: `http://127.0.0.1:${port}` })
			return { get: () => client.application.get('app_1'), create: () => client.application.create({ name: 'Acme' }) }
		},
		notFound: { body: { code: 'not_found', detail: 'Entity not found' } },
		fields: { type: 'Shown', names: ['rateLimit', 'updatedAt', 'disabled', 'url', 'createdAt'] },
	},
]

export const required = (folder: string, name: string): Foreign => createRequire(join(folder, 'index.js'))(name)
