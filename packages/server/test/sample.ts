// What a folder's samples.ts says: how the tests ask its operations.
import type { ErrorCode } from '../src/generated/contract.ts'
import { suppress } from '../src/platform/mails/suppression-store.ts'
import type { Tenant } from './harness.ts'

/** What an operation is asked instead of a valid request. */
export interface Asked {
	readonly id?: string | readonly string[]
	readonly search?: string
	readonly body?: object
	readonly key?: string
}

export interface Sample {
	/** Makes what the path names; returns the id, the token, or several ids. */
	readonly make?: (tenant: Tenant) => Promise<string | readonly string[]>
	/** A body that is taken. */
	readonly body?: (tenant: Tenant) => Promise<object>
	/** Another body that is taken, where a longer text is none. */
	readonly altered?: object
	/** Of an organization of its own each. An operation is asked what has a code that it documents. */
	readonly rejected?: Rejected
}

/** What is rejected, by the code of the answer. */
export type Rejected = Readonly<Partial<Record<ErrorCode, (tenant: Tenant) => Promise<Asked>>>>

/** By resource, and for an operation that is asked otherwise than the rest of its resource. */
export type Samples = Record<string, Sample>

/** Creates a record and returns its id. */
export const made = async ({ ask }: Tenant, path: string, body?: object): Promise<string> =>
	(await ask('POST', path, { body })).body.id

/** Says as the server's operator that it sends no mail to the address. */
export async function suppressed({ db, clock }: Tenant, address: string): Promise<string> {
	await db.transaction((tx) => suppress(tx, { address, reason: 'bounce', suppressedAt: clock.now }))
	return address
}

/** What is rejected of an URL in a body. */
export const rejectedUrls = (body: (url: string) => object): Rejected => ({
	unsafe_url: async () => ({ body: body('http://private.example/') }),
	unresolvable_url: async () => ({ body: body('http://nowhere.invalid/') }),
})
