// Short functions to create, read and change the records of one path.
import { expect } from 'vitest'
import type { Answer, Tenant } from './harness.ts'

type Filters = Record<string, string>

export function recordsAt(path: string) {
	const at = (id: string) => `${path}/${id}`
	return {
		at,
		post: ({ ask }: Tenant, body: object): Promise<Answer> => ask('POST', path, { body }),
		get: ({ ask }: Tenant, id: string): Promise<Answer> => ask('GET', at(id)),
		patch: ({ ask }: Tenant, id: string, body: object): Promise<Answer> => ask('PATCH', at(id), { body }),
		remove: ({ ask }: Tenant, id: string): Promise<Answer> => ask('DELETE', at(id)),

		/** Creates a record; returns its id. */
		async create({ ask }: Tenant, body: object): Promise<string> {
			const { status, body: created } = await ask('POST', path, { body })
			expect({ status, created }).toEqual({ status: 201, created: { id: expect.any(String) } })
			return created.id
		},

		/** Changes a record, which must succeed; returns the changed record. */
		async changed({ ask }: Tenant, id: string, body: object) {
			expect((await ask('PATCH', at(id), { body })).body).toEqual({ ok: true })
			return (await ask('GET', at(id))).body.data
		},

		read: async ({ ask }: Tenant, id: string) => (await ask('GET', at(id))).body.data,

		/** The ids in a list, in its order. */
		async ids({ ask }: Tenant, filters: Filters = {}): Promise<string[]> {
			const { status, body } = await ask('GET', `${path}?${new URLSearchParams(filters)}`)
			expect(status).toBe(200)
			const meta = { total: body.data.length, limit: 50, offset: 0, hasMore: false, nextCursor: null }
			if (!filters.limit && !filters.offset) expect(body.meta).toEqual(meta)
			return body.data.map(({ id }: { id: string }) => id)
		},
	}
}

/** The answer that rejects a request for a business rule, and names the field. */
export const refused = (status: 409 | 422, code: string, pointer: string) => ({
	status,
	body: { code, errors: [expect.objectContaining({ pointer, code })] },
})

/** The answer that rejects a request by the contract, and names the field. */
export const invalid = (pointer: string) => ({
	status: 400,
	body: { code: 'invalid_request', errors: expect.arrayContaining([expect.objectContaining({ pointer })]) },
})
