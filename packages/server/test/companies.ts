// Organizations with companies, and the companies that their lists and searches find.
import { expect } from 'vitest'
import type { CompanyCreate } from '../src/generated/contract.ts'
import type { Tenant, TestServer } from './harness.ts'

/** Creates an organization with these companies. */
export async function tenantWith(
	server: TestServer,
	...companies: (string | CompanyCreate)[]
): Promise<Tenant & { ids: string[] }> {
	const tenant = await server.newTenant()
	const ids: string[] = []
	for (const company of companies) {
		const body = typeof company === 'string' ? { name: company } : company
		ids.push((await tenant.ask('POST', '/api/companies', { body })).body.id)
	}
	return { ...tenant, ids }
}

/** The names of the companies in a list, in its order. */
export const names = async ({ ask }: Tenant, query: Record<string, string> = {}): Promise<string[]> => {
	const { status, body } = await ask('GET', `/api/companies?${new URLSearchParams(query)}`)
	expect(status).toBe(200)
	expect(body.meta.total).toBe(body.data.length)
	return body.data.map(({ name }: { name: string }) => name)
}
export const search = (tenant: Tenant, text: string) => names(tenant, { search: text })
