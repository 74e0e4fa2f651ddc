// A CRM that a connection describes, in the memory of a test: companies with a web address, by which they can be looked up.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { MappingCreate } from '../src/generated/contract.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'
import { secret } from './leaks.ts'
import { FakeProvider } from './provider.ts'

export interface CrmCompany {
	id: string
	title: string | null
	www: string
	phone: string | null
}

const [here, there] = [
	{ system: 'internal', object: 'company' },
	{ system: 'http_json', object: 'firms' },
]

export const fromCrm: MappingCreate = {
	...{ name: 'From the CRM', source: there, target: here, status: 'active' },
	fields: [
		{ target: 'name', source: 'title', required: true },
		{ target: 'domain', source: 'www', transforms: [{ name: 'domainFromUrl' }] },
		{ target: 'phone', source: 'phone' },
	],
	match: { keys: ['domain'], onMultiple: 'conflict' },
}

export const toCrm: MappingCreate = {
	...{ name: 'To the CRM', source: here, target: there, status: 'active' },
	fields: [
		{ target: 'title', source: 'name' },
		{ target: 'www', source: 'domain' },
		{ target: 'phone', source: 'phone' },
	],
	match: { keys: ['www'], onMultiple: 'conflict' },
}

class Crm {
	readonly #provider = new FakeProvider()
	readonly firms = new Map<string, CrmCompany>()
	/** Whether a list has two firms a page. */
	pages = false
	/** What it answers in place of a text, as JSON that no JavaScript makes. */
	readonly raw = new Map<string, string>()
	/** What it was asked to write. */
	readonly writes: string[] = []

	async start(): Promise<this> {
		await this.#provider.start()
		this.#provider.answer = async (req, res) => {
			let text = ''
			for await (const part of req) text += part
			const { pathname, searchParams } = new URL(req.url ?? '', this.#provider.url)
			const all = this.#answer(req.method ?? '', pathname.split('/')[2], searchParams.get('www'), text)
			const from = (Number(searchParams.get('page') ?? 1) - 1) * 2
			const answer = this.pages && Array.isArray(all) ? all.slice(from, from + 2) : all
			const whole = JSON.stringify(answer ?? {}).replaceAll(/"raw (.*?)"/g, (as, name) => this.raw.get(name) ?? as)
			res.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(whole)
		}
		return this
	}

	stop = () => this.#provider.stop()

	clear(): void {
		this.firms.clear()
		this.raw.clear()
		this.writes.length = 0
	}

	put(id: string, firm: Partial<CrmCompany> & Pick<CrmCompany, 'www'>): void {
		this.firms.set(id, { title: `Firm ${id}`, phone: null, ...this.firms.get(id), ...firm, id })
	}

	#answer(method: string, id: string | undefined, www: string | null, text: string): unknown {
		if (method === 'GET' && id === undefined) return [...this.firms.values()].filter((firm) => www === null || firm.www === www)
		if (method === 'GET') return this.firms.get(id as string)
		this.writes.push(`${method} ${id ?? text}`)
		const key = id ?? String(1_000 + this.firms.size)
		if (method === 'DELETE') return this.firms.delete(key) ? {} : undefined
		if (id !== undefined && !this.firms.has(id)) return undefined
		this.put(key, JSON.parse(text))
		return this.firms.get(key)
	}

	/** An active connection to it. */
	async connect({ remit }: Tenant, object: object = {}): Promise<string> {
		const write = { path: '/firms', method: 'POST' }
		const one = (method: string) => ({ path: '/firms/{id}', method })
		const firms = {
			...{ name: 'firms', path: '/firms', idField: 'id', pagination: { style: 'none' as const }, readPath: '/firms/{id}' },
			...{ create: write, update: one('PATCH'), remove: one('DELETE'), lookUpFields: ['www'], ...object },
		}
		const credentials = { apiKey: secret('key-of-acme-0123456789') }
		const { id } = await remit.connections.create({
			...{ provider: 'http_json', name: 'CRM', authType: 'api_key', credentials },
			config: { baseUrl: this.#provider.url.replace('127.0.0.1', 'api.example'), objects: [firms as never] },
		})
		expect(await remit.connections.test(id)).toMatchObject({ status: 'active' })
		return id
	}
}

/** A server and an empty CRM for the tests of a file, each of which has a tenant of its own. What they are is filled in before the first test. */
export function useCrm(): { readonly server: TestServer; readonly tenant: Tenant; readonly crm: Crm } {
	const crm = new Crm()
	const server = {} as TestServer
	const tenant = {} as Tenant
	beforeAll(async () => {
		await crm.start()
		Object.assign(server, await startTestServer())
	})
	afterAll(async () => {
		await server.close()
		await crm.stop()
	})
	beforeEach(async () => {
		Object.assign(tenant, await server.newTenant())
		crm.clear()
	})
	return { server, tenant, crm }
}
